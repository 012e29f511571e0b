// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_VECTOR_H
#define GRADNIC_VECTOR_H
/// Internal: shared by the kernels with vector instructions, of any processor.

#include <string.h>

#include "kernel.h"

#define INLINE static inline __attribute__((always_inline))

// Asks for the cache line that encoders read a while later. Values come from memory, and the
// prefetchers of the hardware stop at each page of 4 KiB.
INLINE void prefetch_ahead(const uint8_t *values)
{
    enum { AHEAD = 2048 };
    __builtin_prefetch((const void *)((uintptr_t)values + AHEAD));
}

// Constants of a codec, made once per call.
typedef struct params {
    gn_profile profile;           // a constant wherever it is used, so branches on it cost nothing
    float magic;                  // lattice: 2^(24-k), whose last mantissa bit is one step
    float quick;                  // lattice: 1.5 times that
    float step;                   // lattice: 2^(1-k)
    float step_256;               // lattice: 2^(1-k) / 256
    int above_short, above_zero;  // paper: the largest |f|, as bits, of tag 1 and of tag 0
} params;

INLINE float power_of_two(int exponent)
{
    uint32_t bits = (uint32_t)(127 + exponent) << 23;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

INLINE params params_of(gn_profile profile, int bound_exp)
{
    if (profile == GN_LATTICE)
        return (params){.profile = profile,
                        .magic = power_of_two(24 - bound_exp),
                        .quick = 1.5f * power_of_two(24 - bound_exp),
                        .step = power_of_two(1 - bound_exp),
                        .step_256 = power_of_two(1 - 8 - bound_exp)};
    int lowest = 127 - bound_exp;
    return (params){.profile = profile,
                    .above_zero = (lowest << 23) - 1,
                    .above_short = ((lowest + (bound_exp + 1) / 2) << 23) - 1};
}

#endif
