// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_WORDS_H
#define GRADNIC_WORDS_H
/// @file words.h
/// Integers that travel as they are: little-endian int32, at any alignment. Sums of them, and the steps of block floating point between them and
/// binary32 (which exponents, that is for the caller to say). Of the codec that every call takes only the kernel matters; all kernels give the same
/// bits. Thread-safe; default floating-point environment, as codec.h.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Adds `count` words to `sums`, wrapping. @return whether a sum has left int32.
GN_API bool gn_words_add(const gn_codec *codec, const void *words, int32_t *sums, size_t count);

/// The largest magnitude among the finite values. `*finite`: are they all?
GN_API float gn_words_largest(const gn_codec *codec, const float *values, size_t count, bool *finite);

/// words[i] = values[i] * 2^exponent, rounded to nearest, ties to even. -104 <= exponent <= 126; `limit`: a power of two, at most 2^30.
/// @return false when some magnitude is more than `limit`, or not a number: its word is 0.
GN_API bool gn_words_from_values(const gn_codec *codec, const float *values, size_t count, int exponent, int32_t limit,
                                 int32_t *words);

/// values[i] = words[i] * 2^exponent, rounded once. -126 <= exponent <= 104.
GN_API void gn_words_to_values(const gn_codec *codec, const void *words, size_t count, int exponent, float *values);

#ifdef __cplusplus
}
#endif
#endif
