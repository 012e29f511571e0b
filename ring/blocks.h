// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_BLOCKS_H
#define GRADNIC_RING_BLOCKS_H
/// How a ring divides a vector: block b of N begins at this value. The first blocks have one value
/// more when N does not divide the count.

#include <stddef.h>

static inline size_t gn_block_start(size_t count, int ranks, int block)
{
    const size_t n = (size_t)ranks, b = (size_t)block;
    return count / n * b + (b < count % n ? b : count % n);
}

static inline size_t gn_block_values(size_t count, int ranks, int block)
{
    return gn_block_start(count, ranks, block + 1) - gn_block_start(count, ranks, block);
}

/// The block of step `step` at `rank`: the one it sends (`behind` 0) or receives (`behind` 1).
static inline int gn_block_of(int rank, int ranks, int step, int behind)
{
    return ((rank - step - behind) % ranks + ranks) % ranks;
}

#endif
