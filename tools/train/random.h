// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_RANDOM_H
#define GRADNIC_TOOLS_TRAIN_RANDOM_H
/// SplitMix64: seeded, the same on every machine, and as good from neighbouring seeds, so that each image of an epoch can have a
/// generator of its own.

#include <stddef.h>
#include <stdint.h>

#include "net/splitmix.h"

typedef struct gn_random {
    uint64_t state;
} gn_random;

static inline uint64_t gn_random_next(gn_random *random)
{
    return splitmix64(&random->state);
}

/// A generator that depends on all of its arguments: one stream per purpose and item.
static inline gn_random gn_random_for(uint64_t seed, uint64_t purpose, uint64_t item)
{
    gn_random random = {seed};
    random.state = gn_random_next(&random) ^ purpose;
    random.state = gn_random_next(&random) ^ item;
    return random;
}

/// Uniform in [low, high).
static inline float gn_random_uniform(gn_random *random, float low, float high)
{
    return low + (high - low) * ((float)(gn_random_next(random) >> 40) * 0x1p-24f);
}

/// Uniform in 0 .. bound - 1, for bounds far below 2^32 (multiply and shift; the bias is bound / 2^32).
static inline uint32_t gn_random_below(gn_random *random, uint32_t bound)
{
    return (uint32_t)((gn_random_next(random) >> 32) * bound >> 32);
}

#endif
