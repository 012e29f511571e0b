// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_BOOTSTRAP_SIGNS_H
#define GRADNIC_RING_BOOTSTRAP_SIGNS_H
/// Signs of life while a group is set up, between rank 0 and each other rank. A process that was
/// stopped keeps its connections. Without signs of life, ranks that wait for its next step would
/// name the wrong one.

#include "ring/bootstrap/bootstrap.h"

/// Sends a sign of life if one is due. To be called wherever a rank waits.
void gn_bootstrap_beat(gn_bootstrap *boot);
/// When one is due, or the deadline.
uint64_t gn_bootstrap_beat_until(const gn_bootstrap *boot);

/// All have come: from here on silence counts, and connecting has a time of its own.
void gn_bootstrap_all_here(gn_bootstrap *boot);
/// This rank is connected. It gives the others a little more time, because a rank that is not knows
/// better why.
void gn_bootstrap_ready(gn_bootstrap *boot);

/// @return GN_OK, or GN_PEER_LOST when somebody has been silent for longer than `patience`
gn_status gn_bootstrap_alive(const gn_bootstrap *boot, gn_error *error);

#endif
