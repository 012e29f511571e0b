// SPDX-License-Identifier: Apache-2.0
// The bad link out of a shard. What had to wait on it lies in memory that is freed next, so it is
// copied.
#include "switch/daemon/shard_out.h"

#include <string.h>

static void link_out(void *context, const void *to, const gn_wire_packet *packets, size_t count)
{
    gn_shard *shard = context;
    gn_source *source = (gn_source *)(uintptr_t)to;
    for (size_t i = 0; i < count && source->used; i++) {
        const size_t bytes = packets[i].head_bytes;
        const uint8_t *data = packets[i].head;
        if (data < shard->box->arena || data >= shard->box->arena + GN_OUTBOX_BYTES) {
            uint8_t *room = gn_outbox_room(shard->box, bytes);
            memcpy(room, data, bytes);
            gn_outbox_keep(shard->box, bytes);
            data = room;
        }
        gn_outbox_post(shard->box, gn_shard_channel(shard, source->port)->fd, source, data, bytes);
    }
}

void gn_shard_send_badly(gn_shard *shard, gn_source *to, const uint8_t *data, size_t bytes)
{
    const gn_wire_packet packet = {.head = data, .head_bytes = (uint32_t)bytes};
    gn_fault_send(shard->out, &(gn_fault_sink){link_out, shard}, to, &packet, 1, shard->now);
}

uint64_t gn_shard_release_out(gn_shard *shard)
{
    return gn_fault_release(shard->out, &(gn_fault_sink){link_out, shard}, shard->now);
}
