// SPDX-License-Identifier: Apache-2.0
// Words for any machine. Plain enough for a compiler to make vectors of it.
#include <math.h>

#include "../half.h"
#include "scalar.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are little-endian, and are read as they come");

enum { NO_SIGN = 0x7fffffff, INFINITE = 0x7f800000 };

static bool add(int32_t *restrict sums, const uint8_t *restrict words, size_t count)
{
    uint32_t left = 0;  // sign bit: some sum has another sign than both addends
    for (size_t i = 0; i < count; i++) {
        uint32_t a = (uint32_t)sums[i], b;
        memcpy(&b, words + sizeof b * i, sizeof b);
        const uint32_t sum = a + b;
        left |= (sum ^ a) & (sum ^ b);
        sums[i] = (int32_t)sum;
    }
    return left >> 31;
}

static uint32_t largest(const float *values, size_t count, bool *finite)
{
    uint32_t most = 0;
    *finite = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        bits &= NO_SIGN;  // magnitudes are ordered as their bits
        if (bits >= INFINITE)
            *finite = false;
        else if (bits > most)
            most = bits;
    }
    return most;
}

// The product is exact, or so small that it rounds to 0 in any case.
static bool from_values(const float *values, size_t count, float scale, int32_t limit, int32_t *words)
{
    bool fits = true;
    for (size_t i = 0; i < count; i++) {
        const float rounded = rintf(values[i] * scale);
        const bool ok = fabsf(rounded) <= (float)limit;  // false for NaN
        words[i] = ok ? (int32_t)rounded : 0;
        fits &= ok;
    }
    return fits;
}

// The conversion rounds. The product is exact, because it is no less than a step, which is a normal
// number.
static void to_values(const uint8_t *words, size_t count, float step, float *values)
{
    for (size_t i = 0; i < count; i++) {
        int32_t word;
        memcpy(&word, words + sizeof word * i, sizeof word);
        values[i] = (float)word * step;
    }
}

static bool add_halves(int32_t *restrict sums, const uint8_t *restrict halves, size_t count)
{
    uint32_t left = 0;  // sign bit: some sum has another sign than both addends
    bool strange = false;
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, halves + sizeof half * i, sizeof half);
        const bool finite = (half & 0x7C00) != 0x7C00;
        const uint32_t a = (uint32_t)sums[i], b = (uint32_t)(int32_t)rintf(gn_half_widen(finite ? half : 0) * 0x1p15f);
        const uint32_t sum = a + b;
        left |= (sum ^ a) & (sum ^ b);
        strange |= !finite;
        sums[i] = (int32_t)sum;
    }
    return left >> 31 || strange;
}

static void to_halves(const uint8_t *words, size_t count, uint8_t *halves)
{
    for (size_t i = 0; i < count; i++) {
        int32_t word;
        memcpy(&word, words + sizeof word * i, sizeof word);
        const float value = (float)word * 0x1p-15f;
        const uint16_t half = gn_half_narrow(value > 65504 ? 65504 : value < -65504 ? -65504 : value);
        memcpy(halves + sizeof half * i, &half, sizeof half);
    }
}

const gn_words_row gn_scalar_words = {add, largest, from_values, to_values, add_halves, to_halves};
