// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_COLLECTIVES_LINK_H
#define GRADNIC_RING_COLLECTIVES_LINK_H
/// Bytes over the connections for values: with any neighbours, or round a ring.

#include <string.h>

#include "ring/group.h"

/// What this rank has for another one, and where what that one has for it goes.
typedef struct gn_part {
    const uint8_t *out;
    uint8_t *in;
    size_t to_send, to_receive;  ///< bytes
} gn_part;

/// Sends and receives at the same time, until all is done. `parts` is by index of neighbour; NULL:
/// nothing. They are used up. Nothing is received from a neighbour before it has said that it is in
/// the same call.
/// @return GN_OK, or the status with which the communicator has failed
gn_status gn_link_parts(gn_comm *comm, gn_part *const parts[]);

/// The same to the right neighbour of a ring, and from the left one. With 0 bytes there is nothing
/// to do that way.
gn_status gn_link_exchange(gn_comm *comm, const void *out, size_t out_bytes, void *in, size_t in_bytes);

/// Runs a gather, scatter, all_to_all or transfer.
gn_status gn_linked_run(gn_comm *comm, const gn_call *call);

/// Copies a rank's own part. It may be in place already.
static inline void gn_link_copy(void *to, const void *from, size_t bytes)
{
    if (bytes && to != from) memcpy(to, from, bytes);
}

#endif
