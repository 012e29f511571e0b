// SPDX-License-Identifier: Apache-2.0
// A plain addition of integers: one loop, which the compiler vectorises.
#include <string.h>

#include "switch.h"

static inline __attribute__((always_inline)) void add(int32_t *restrict sums, const uint8_t *restrict words,
                                                      size_t count)
{
#pragma GCC unroll 4
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, words + sizeof word * i, sizeof word);
        sums[i] = (int32_t)((uint32_t)sums[i] + word);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"), aligned(GN_BENCH_LINE))) static void add_avx2(int32_t *sums, const uint8_t *words,
                                                                             size_t count)
{
    add(sums, words, count);
}
#endif

void gn_bench_plain_add(int32_t *sums, const uint8_t *words, size_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        add_avx2(sums, words, count);
        return;
    }
#endif
    add(sums, words, count);
}
