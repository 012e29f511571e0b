// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SHARD_OUT_H
#define GRADNIC_SWITCH_DAEMON_SHARD_OUT_H
/// Datagrams that leave a shard. All of it in the shard's thread, with the lock.

#include "switch/daemon/shard.h"

/// The channel that a port of the core belongs to.
static inline gn_channel *gn_shard_channel(gn_shard *shard, unsigned port)
{
    return &shard->channels[port / GN_SOURCES_MAX];
}

/// Sends a datagram over the bad link.
void gn_shard_send_badly(gn_shard *shard, gn_source *to, const uint8_t *data, size_t bytes);

/// Sends what the bad link has held back for long enough. @return nanoseconds until there is more;
/// UINT64_MAX: there is none
uint64_t gn_shard_release_out(gn_shard *shard);

/// Seals a datagram to source `port`, where they are sealed.
static inline void gn_shard_seal(gn_shard *shard, unsigned port, uint8_t *data, size_t bytes)
{
    const gn_channel_keys *keys = &gn_shard_channel(shard, port)->keys;
    if (keys->sealed) gn_agg_seal(port % GN_SOURCES_MAX < GN_AGG_WORKERS_MAX ? keys->down : keys->up, data, bytes);
}

/// Sends a datagram, which lies in the outbox's room, to source `port`: over the bad link, if there
/// is one.
static inline void gn_shard_send(gn_shard *shard, unsigned port, const uint8_t *data, size_t bytes)
{
    gn_channel *channel = gn_shard_channel(shard, port);
    gn_source *to = &channel->sources.source[port % GN_SOURCES_MAX];
    channel->counters.out_datagrams++;
    channel->counters.out_bytes += bytes;
    if (gn_fault_active(shard->out))
        gn_shard_send_badly(shard, to, data, bytes);
    else
        gn_outbox_post(shard->box, channel->fd, to, data, bytes);
}

#endif
