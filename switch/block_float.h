// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_BLOCK_FLOAT_H
#define GRADNIC_SWITCH_BLOCK_FLOAT_H
/// Block floating point, for format int32: a chunk's values are integers times 2^unit (Sapio et
/// al., section 3.7 and Theorem 2). `codec` is there for its kernel alone.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/words.h>

enum {
    /// Of a chunk of zeros, or of values so small that they lose bits: each by at most 2^-127.
    GN_UNIT_MIN = -126,
    GN_UNIT_MAX = 104
};

/// The smallest unit with which `ranks` chunks like this one can be summed in int32, whatever their
/// signs. With 2^e greater than every magnitude and 2^l >= ranks, unit = e + l - 30. Only finite
/// values count; `*finite` tells whether all are finite.
int8_t gn_block_unit(const gn_codec *codec, const float *values, size_t count, unsigned ranks, bool *finite);

/// integers[i] = values[i] / 2^unit, rounded to nearest, ties to even. @return false, with
/// unspecified content, when `unit` was not made for these values: one is not finite, or its
/// magnitude is not below 2^30 divided by `ranks` rounded up to a power of two
bool gn_block_to_integers(const gn_codec *codec, const float *values, size_t count, int8_t unit, unsigned ranks,
                          int32_t *integers);

/// values[i] = sums[i] * 2^unit, rounded once.
void gn_block_to_floats(const gn_codec *codec, const void *sums, size_t count, int8_t unit, float *values);

#endif
