// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_COLLECTIVES_MESH_H
#define GRADNIC_RING_COLLECTIVES_MESH_H
/// Collectives where what a rank has for another one goes straight there: on the connections for
/// values where every rank has them with every other, and else as messages (peers/).

#include "ring/collectives/link.h"
#include "ring/exchange.h"

/// Exchanges with all at the same time: a part for each rank. `parts` is used up. On connections
/// for values, nothing is received from a rank before it has said that it is in the same call.
/// Messages need that all have.
/// @return GN_OK, or the status with which the communicator has failed
gn_status gn_mesh_exchange(gn_comm *comm, gn_part parts[], bool by_messages);

/// Runs a gather, scatter, all_to_all or transfer.
gn_status gn_mesh_run(gn_comm *comm, const gn_call *call, bool by_messages);

/// Runs any other collective as messages, once prepared. A sum is made of reduced blocks, piece by
/// piece.
gn_status gn_mesh_move(gn_exchange *exchange);

/// Runs an all_gather or broadcast where the values already are in the caller's buffer, by blocks.
gn_status gn_mesh_gather(gn_exchange *exchange);
/// Whether it is better than a ring, and changes nothing of the values.
bool gn_mesh_gathers(const gn_exchange *exchange);

/// Runs a reduce_scatter or reduce, by blocks. What comes is kept at the end of the stage
/// (stage.h), which has gn_mesh_room() bytes for it, the same at all ranks.
gn_status gn_mesh_reduce(gn_exchange *exchange);
size_t gn_mesh_room(const gn_exchange *exchange);
/// Whether contributions fit there, and travel as they are. The same at all ranks.
bool gn_mesh_reduces(const gn_exchange *exchange);

#endif
