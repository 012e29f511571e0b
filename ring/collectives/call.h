// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_COLLECTIVES_CALL_H
#define GRADNIC_RING_COLLECTIVES_CALL_H
/// What a caller wants: is it right, how large is it, and how is it told to the other ranks? Pure
/// functions.

#include "ring/group.h"

gn_call gn_call_of_bucket(const gn_bucket *bucket);

/// @return NULL, or what is wrong with a call by itself, for people
const char *gn_call_wrong(const gn_comm *comm, const gn_call *call);

/// Elements of the block of rank `block`, where a vector is cut by ranks. GN_BROADCAST and
/// GN_REDUCE have one block, that of the root.
size_t gn_call_block(const gn_call *call, int block);
/// Where the blocks of `size` ranks begin, and where the last one ends. @return elements of all
size_t gn_call_starts(const gn_call *call, int size, size_t starts[GN_RANKS_MAX + 1]);

/// Whether what the call moves is not compressed, whatever the codec.
bool gn_call_is_exact(const gn_call *call);

/// Whether it takes the connections for messages (peers/): where no connections for values lead to
/// all ranks, or a NIC would compress what must arrive as it is.
bool gn_call_by_messages(const gn_comm *comm, const gn_call *call);

/// The call as its header says it. Sequence and exponent are left to the caller.
gn_op_header gn_call_header(const gn_comm *comm, const gn_call *call);

#endif
