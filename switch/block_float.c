// SPDX-License-Identifier: Apache-2.0
// Units of chunks. The arithmetic on vectors is in cmodel (gradnic/words.h).
#include "block_float.h"

#include <math.h>

/// The logarithm of n rounded up to a power of two.
static int log2_up(unsigned n)
{
    return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
}

int8_t gn_block_unit(const gn_codec *codec, const float *values, size_t count, unsigned ranks, bool *finite)
{
    const float magnitude = gn_words_largest(codec, values, count, finite);
    if (magnitude == 0) return GN_UNIT_MIN;
    // 2^exponent is strictly greater than the magnitude: frexp() gives a fraction below 1, also for
    // a power of two. There the paper's rounding gives the power itself, and n of those are 2^31.
    int exponent;
    (void)frexpf(magnitude, &exponent);
    const int unit = exponent + log2_up(ranks) - 30;
    return (int8_t)(unit < GN_UNIT_MIN ? GN_UNIT_MIN : unit > GN_UNIT_MAX ? GN_UNIT_MAX : unit);
}

bool gn_block_to_integers(const gn_codec *codec, const float *values, size_t count, int8_t unit, unsigned ranks,
                          int32_t *integers)
{
    return gn_words_from_values(codec, values, count, -unit, 1 << (30 - log2_up(ranks)), integers);
}

void gn_block_to_floats(const gn_codec *codec, const void *sums, size_t count, int8_t unit, float *values)
{
    gn_words_to_values(codec, sums, count, unit, values);
}
