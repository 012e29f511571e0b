// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_X86_H
#define GRADNIC_X86_H
/// Internal: shared by the x86 kernels.

#include "vector.h"

/// The functions of avx2.c, for kernels that do only a part better. They need the instructions of
/// avx2.
#define GN_AVX2_ROW(name)                                                                                              \
    size_t gn_avx2_##name##_encode(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream,        \
                                   size_t capacity, size_t *bytes);                                                    \
    bool gn_avx2_##name##_decode(const gn_codec *codec, const uint8_t *stream, size_t bytes, uint8_t *values,          \
                                 size_t count);                                                                        \
    void gn_avx2_##name##_quantise(const gn_codec *codec, const float *values, float *quantised, float *residual,      \
                                   size_t count);                                                                      \
    void gn_avx2_##name##_add(const gn_codec *codec, const uint8_t *stream, size_t bytes, float *sums, size_t count)

GN_AVX2_ROW(paper);
GN_AVX2_ROW(lattice);

/// The functions that only lattice has.
unsigned gn_avx2_add_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *sums, size_t count);
bool gn_avx2_get_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *integers, size_t count,
                          unsigned *flags);
size_t gn_avx2_encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, uint8_t *stream,
                               size_t capacity, size_t *bytes);

extern const gn_kernel_row gn_avx2_paper, gn_avx2_lattice, gn_avx2_dense;
extern const gn_kernel_row gn_gfni_dense, gn_avx512_paper, gn_avx512_lattice;
extern const gn_words_row gn_avx2_words;

#endif
