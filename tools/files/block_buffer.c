// SPDX-License-Identifier: Apache-2.0
#include "block_buffer.h"

#include <stdlib.h>

gn_block_buffer *gn_block_buffer_new(gn_profile profile, size_t values)
{
    gn_block_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return NULL;
    buffer->room = gn_container_block_bound(profile, values);
    buffer->packed = malloc(buffer->room);
    buffer->values = malloc(values * sizeof *buffer->values);
    if (buffer->packed && buffer->values) return buffer;
    gn_block_buffer_free(buffer);
    return NULL;
}

void gn_block_buffer_free(void *buffer)
{
    gn_block_buffer *b = buffer;
    if (!b) return;
    free(b->packed);
    free(b->values);
    free(b);
}

size_t gn_block_buffer_bytes(gn_profile profile, size_t values)
{
    return values * sizeof(float) + gn_container_block_bound(profile, values);
}
