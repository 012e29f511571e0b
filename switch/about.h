// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_ABOUT_H
#define GRADNIC_SWITCH_ABOUT_H
/// One packet at a switch: what it has been found to be about. core.c finds it out, and asks the memory mode (partitioned.c, shared.c)
/// what to do.

#include "state.h"

typedef struct gn_about {
    gn_switch *sw;
    uint64_t now_ns;
    const gn_agg_packet *packet;
    size_t bytes;   ///< of the datagram
    uint16_t port;  ///< where it came in
    gn_job_state *job;
    unsigned job_index;
    uint32_t copy_index;
    gn_copy *copy;
    gn_copy *other;     ///< partitioned: the slot's other copy
    gn_window *window;  ///< not partitioned
    gn_action *actions;
} gn_about;

unsigned gn_about_drop(gn_about *a, gn_drop reason);

/// Adds the packet's values to its copy and counts them. `first`: it opens the copy.
/// @return the reason to drop it, or GN_DROP_NONE
gn_drop gn_about_add(gn_about *a, bool first);

/// The packet has been added, and nothing is to be sent.
unsigned gn_about_added(gn_about *a);

/// A packet of this switch's own about a copy of job `job_index`, as the first action (written in place, for it is large); to the parent or the
/// parameter server with the bits that it stands for there.
gn_action *gn_about_say(const gn_about *a, gn_action_kind kind, gn_agg_type type, unsigned job_index,
                        const gn_copy *copy, uint32_t sums_index);

/// The packet itself goes on.
unsigned gn_about_forward(gn_about *a, gn_action_kind kind, uint16_t port, gn_agg_type type);

/// From the child that it says it is from, for this switch? @return the reason to drop it, or GN_DROP_NONE
gn_drop gn_about_from_child(gn_about *a);

/// What a memory mode does with the types that are its own.
unsigned gn_partitioned_rx(gn_about *a);
unsigned gn_shared_rx(gn_about *a);

/// Whether the packet's chunk is known to have no sum of integers, so that its values go past the slots as binary32.
bool gn_partitioned_overflowed(const gn_about *a);
bool gn_shared_overflowed(const gn_about *a);

#endif
