// SPDX-License-Identifier: Apache-2.0
// Integers to sums of integers in AVX2. Compiled with the flags of avx2.c.
#include "avx2.h"

bool gn_avx2_add_words(int32_t *sums, const uint8_t *words, size_t count)
{
    enum { AT_ONCE = 4 * GN_GROUP, LONG = 16 * GN_GROUP };  // for few words the loop as it is was faster
    output o = {.overflow = _mm256_setzero_si256()};
    for (; count >= LONG; count -= AT_ONCE, sums += AT_ONCE, words += 4 * AT_ONCE) {
#pragma GCC unroll 4
        for (size_t i = 0; i < AT_ONCE; i += GN_GROUP)
            put_integers(ADD_INTEGER, &o, sums + i, GN_GROUP, load_lanes(words + 4 * i, GN_GROUP));
    }
    for (; count >= GN_GROUP; count -= GN_GROUP, sums += GN_GROUP, words += 4 * GN_GROUP)
        put_integers(ADD_INTEGER, &o, sums, GN_GROUP, load_lanes(words, GN_GROUP));
    if (count) put_integers(ADD_INTEGER, &o, sums, count, load_lanes(words, count));
    return flags_of(&o) != 0;
}
