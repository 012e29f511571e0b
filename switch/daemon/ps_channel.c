// SPDX-License-Identifier: Apache-2.0
// The parameter server's end of a stream: what the switch below sends goes to ps.h, and what that has to say goes back.
#include "switch/daemon/shard.h"

void gn_ps_stream_take(gn_shard *shard, gn_stream *stream, const uint8_t *data, size_t bytes)
{
    (void)gn_ps_rx(stream->ps, (int64_t)shard->now, data, bytes);
}

/// @return as gn_ps_streams_send()
static uint64_t send_due(gn_shard *shard, gn_stream *stream)
{
    const int64_t now = (int64_t)shard->now;
    const unsigned below = stream->sources.source[0].port;
    for (;;) {
        uint8_t *room = gn_outbox_room(shard->box, shard->bound);
        const size_t bytes = gn_ps_send(stream->ps, now, room, shard->bound);
        if (!bytes) break;
        gn_outbox_keep(shard->box, bytes);
        gn_shard_send(shard, below, room, bytes);
    }
    const int64_t due = gn_ps_deadline(stream->ps);
    return due < 0 ? UINT64_MAX : due > now ? (uint64_t)(due - now) : 0;
}

uint64_t gn_ps_streams_send(gn_shard *shard)
{
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < shard->stream_count; i++) {
        if (!shard->streams[i].used || !shard->streams[i].ps) continue;
        const uint64_t due = send_due(shard, &shard->streams[i]);
        if (due < first) first = due;
    }
    return first;
}

void gn_ps_stats_add(gn_ps_stats *to, const gn_ps_stats *from)
{
    to->received += from->received, to->ignored += from->ignored, to->sent += from->sent;
    to->in_bytes += from->in_bytes, to->out_bytes += from->out_bytes;
    to->whole += from->whole, to->merged += from->merged, to->overflows += from->overflows;
    to->answers += from->answers, to->overlaps += from->overlaps, to->duplicates += from->duplicates;
    to->reminders_switch += from->reminders_switch, to->reminders_worker += from->reminders_worker;
}
