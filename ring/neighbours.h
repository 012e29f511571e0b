// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_NEIGHBOURS_H
#define GRADNIC_RING_NEIGHBOURS_H
/// The ranks that a communicator has connections with.

#include "ring/group.h"

/// Makes those that the algorithm needs, without connections yet. @return GN_OK, GN_NO_MEMORY
gn_status gn_neighbours_make(gn_comm *comm, gn_error *error);
/// Whether this rank connects to its neighbour `index`. Otherwise it accepts: in a ring the left
/// neighbour, and else the higher ranks.
bool gn_neighbours_calls(const gn_comm *comm, int index);
/// Closes their connections and frees them.
void gn_neighbours_close(gn_comm *comm);

/// Sends the header of the last call as a message, where it went ahead of values. Whoever reads
/// what comes behind it then knows what this rank has called. Those values may come later.
void gn_neighbours_tell_call_locked(gn_comm *comm);
/// Sends a message to all but `except`, which may be NULL.
void gn_neighbours_tell_locked(gn_comm *comm, const gn_neighbour *except, const uint8_t *frame, size_t length);

#endif
