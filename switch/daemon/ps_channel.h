// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_PS_CHANNEL_H
#define GRADNIC_SWITCH_DAEMON_PS_CHANNEL_H
/// The parameter server's end of a channel: what the switch below sends goes to ps.h, and what that
/// has to say goes back. All of it in the shard's thread, with the lock.

#include "switch/daemon/shard.h"

/// A datagram from the switch.
void gn_ps_channel_take(gn_shard *shard, gn_channel *channel, const uint8_t *data, size_t bytes);

/// Sends what is due in all channels. @return nanoseconds until something will be due though
/// nothing comes in; UINT64_MAX: never
uint64_t gn_ps_channels_send(gn_shard *shard);

#endif
