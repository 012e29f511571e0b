// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SCALAR_H
#define GRADNIC_SCALAR_H
/// Internal: shared by the files of the scalar kernel. Other kernels use it for what they do not do
/// better.

#include <string.h>

#include "kernel.h"

extern const gn_kernel_row gn_scalar_paper, gn_scalar_lattice, gn_scalar_dense;
extern const gn_words_row gn_scalar_words;

void gn_scalar_quantise(const gn_codec *codec, const float *values, float *quantised, float *residual, size_t count);

/// The calls for integers, for streams of records.
unsigned gn_scalar_add_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *sums,
                                size_t count);
bool gn_scalar_get_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *integers, size_t count,
                            unsigned *flags);
size_t gn_scalar_encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, uint8_t *stream,
                                 size_t capacity, size_t *bytes);

static inline void gn_scalar_add(float *sum, uint32_t value_bits)
{
    float value;
    memcpy(&value, &value_bits, sizeof value);
    *sum += value;
}

static inline void gn_scalar_add_integer(int32_t *sum, int32_t q, unsigned *flags)
{
    if (__builtin_add_overflow(*sum, q, sum)) *flags |= GN_SUM_OVERFLOW;  // wraps
}

#endif
