// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/ps_channel.h"

#include "switch/daemon/shard_out.h"

void gn_ps_channel_take(gn_shard *shard, gn_channel *channel, const uint8_t *data, size_t bytes)
{
    (void)gn_ps_rx(channel->ps, (int64_t)shard->now, data, bytes);
}

/// @return as gn_ps_channels_send()
static uint64_t send_due(gn_shard *shard, gn_channel *channel)
{
    const int64_t now = (int64_t)shard->now;
    const unsigned below = channel->sources.source[0].port;
    for (;;) {
        uint8_t *room = gn_outbox_room(shard->box, shard->bound);
        const size_t bytes = gn_ps_send(channel->ps, now, room, shard->bound);
        if (!bytes) break;
        gn_outbox_keep(shard->box, bytes);
        gn_shard_seal(shard, below, room, bytes);
        gn_shard_send(shard, below, room, bytes);
    }
    const int64_t due = gn_ps_deadline(channel->ps);
    return due < 0 ? UINT64_MAX : due > now ? (uint64_t)(due - now) : 0;
}

uint64_t gn_ps_channels_send(gn_shard *shard)
{
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < shard->channel_count; i++) {
        if (!shard->channels[i].used || !shard->channels[i].ps) continue;
        const uint64_t due = send_due(shard, &shard->channels[i]);
        if (due < first) first = due;
    }
    return first;
}
