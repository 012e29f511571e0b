// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_COLLECTIVES_LINK_H
#define GRADNIC_RING_COLLECTIVES_LINK_H
/// Bytes over the connections of a ring: to the right neighbour, and from the left one.

#include "ring/group.h"

/// Sends and receives at the same time, until both are done. With 0 bytes there is nothing to do
/// that way. Nothing is received before the left neighbour has said that it is in the same call.
/// @return GN_OK, or the status with which the communicator has failed
gn_status gn_link_exchange(gn_comm *comm, const void *out, size_t out_bytes, void *in, size_t in_bytes);

/// Runs a gather, scatter, all_to_all or transfer.
gn_status gn_linked_run(gn_comm *comm, const gn_call *call);

#endif
