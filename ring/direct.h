// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_DIRECT_H
#define GRADNIC_RING_DIRECT_H
/// Algorithm direct: what its three ways have in common (direct.c without a code, direct_coded.c
/// with one, direct_small.c for vectors that go to all at once).

#include "ring/blocks.h"
#include "ring/coded.h"

/// The block that a rank sums.
typedef struct gn_block {
    size_t first, count;  ///< values
} gn_block;

static inline gn_block gn_direct_block(const gn_exchange *x, int rank)
{
    const size_t count = x->bucket->count;
    return (gn_block){gn_block_start(count, x->comm->size, rank), gn_block_values(count, x->comm->size, rank)};
}

/// Bytes of values that both legs bring to this rank.
static inline uint64_t gn_direct_expected(const gn_exchange *x)
{
    const size_t own = gn_direct_block(x, x->comm->rank).count, others = (size_t)x->comm->size - 1;
    return (x->bucket->count - own + others * own) * sizeof(float);
}

/// Whether a vector of so many values goes to all at once. The same at all ranks, whoever
/// compresses.
bool gn_direct_is_small(const gn_comm *comm, size_t count);
/// Bytes of memory that gn_direct_small_run() needs.
size_t gn_direct_small_memory(const gn_comm *comm);
gn_status gn_direct_small_run(gn_exchange *x);
/// Waits until all have begun a collective without values, whose headers lead them.
gn_status gn_direct_meet(gn_comm *comm);

#endif
