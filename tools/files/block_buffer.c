// SPDX-License-Identifier: Apache-2.0
#include "block_buffer.h"

#include <stdlib.h>

gn_block_buffer *gn_block_buffer_new(gn_profile profile, size_t values)
{
    gn_block_buffer *slot = calloc(1, sizeof *slot);
    if (!slot) return NULL;
    slot->room = gn_container_block_bound(profile, values);
    slot->packed = malloc(slot->room);
    slot->values = malloc(values * sizeof *slot->values);
    if (slot->packed && slot->values) return slot;
    gn_block_buffer_free(slot);
    return NULL;
}

void gn_block_buffer_free(void *slot)
{
    gn_block_buffer *s = slot;
    if (!s) return;
    free(s->packed);
    free(s->values);
    free(s);
}

size_t gn_block_buffer_bytes(gn_profile profile, size_t values)
{
    return values * sizeof(float) + gn_container_block_bound(profile, values);
}
