// SPDX-License-Identifier: Apache-2.0
// Integers to sums of integers, for any machine. Plain enough for a compiler to make vectors of it.
#include "scalar.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are little-endian, and are read as they come");

bool gn_scalar_add_words(int32_t *restrict sums, const uint8_t *restrict words, size_t count)
{
    uint32_t left = 0;  // its sign: some sum has another sign than both of what was added
    for (size_t i = 0; i < count; i++) {
        uint32_t a = (uint32_t)sums[i], b;
        memcpy(&b, words + sizeof b * i, sizeof b);
        const uint32_t sum = a + b;
        left |= (sum ^ a) & (sum ^ b);
        sums[i] = (int32_t)sum;
    }
    return left >> 31;
}
