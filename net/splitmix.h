// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_SPLITMIX_H
#define GRADNIC_NET_SPLITMIX_H
/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014),
/// for C and C++: the same numbers on every machine, so that a seed is enough to repeat what
/// happened.

#include <stdint.h>

static inline uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
