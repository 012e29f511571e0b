// SPDX-License-Identifier: Apache-2.0
#include "block_float.h"

#include <math.h>
#include <string.h>

static int log2_up(unsigned n)
{
    return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
}

int8_t gn_block_unit(const float *values, size_t count, unsigned ranks, bool *finite)
{
    uint32_t most = 0;
    *finite = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        bits &= 0x7fffffff;  // as integers, magnitudes have the order that they have as numbers
        if (bits >= 0x7f800000)
            *finite = false;
        else if (bits > most)
            most = bits;
    }
    if (!most) return GN_UNIT_MIN;
    float magnitude;
    memcpy(&magnitude, &most, sizeof magnitude);
    // Strictly greater than the magnitude: frexp() gives a fraction below 1, also for powers of two (where the paper's rounding
    // gives the power itself, and n of those are 2^31).
    int exponent;
    (void)frexpf(magnitude, &exponent);
    const int unit = exponent + log2_up(ranks) - 30;
    return (int8_t)(unit < GN_UNIT_MIN ? GN_UNIT_MIN : unit > GN_UNIT_MAX ? GN_UNIT_MAX : unit);
}

bool gn_block_to_integers(const float *values, size_t count, int8_t unit, unsigned ranks, int32_t *integers)
{
    const double scale = ldexp(1, -unit), limit = ldexp(1, 30 - log2_up(ranks));
    bool fits = true;
    for (size_t i = 0; i < count; i++) {
        const double scaled = rint((double)values[i] * scale);
        const bool ok = fabs(scaled) <= limit;  // false for NaN
        integers[i] = ok ? (int32_t)scaled : 0;
        fits &= ok;
    }
    return fits;
}

void gn_block_to_floats(const void *sums, size_t count, int8_t unit, float *values)
{
    const double step = ldexp(1, unit);
    for (size_t i = 0; i < count; i++) {
        int32_t sum;
        memcpy(&sum, (const uint8_t *)sums + sizeof sum * i, sizeof sum);
        values[i] = (float)(sum * step);
    }
}
