// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_RANDOM_H
#define GRADNIC_EXAMPLES_TRAIN_RANDOM_H
/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014):
/// the same numbers on every machine. Neighbouring seeds give independent numbers, so each image
/// of an epoch can have its own generator.

#include <stddef.h>
#include <stdint.h>

typedef struct gn_random {
    uint64_t state;
} gn_random;

static inline uint64_t gn_random_next(gn_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/// A generator for each purpose and item. It depends on all of its arguments.
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

/// Uniform in 0 .. bound - 1, for bounds far below 2^32. It multiplies and shifts; the bias is
/// bound / 2^32.
static inline uint32_t gn_random_below(gn_random *random, uint32_t bound)
{
    return (uint32_t)((gn_random_next(random) >> 32) * bound >> 32);
}

#endif
