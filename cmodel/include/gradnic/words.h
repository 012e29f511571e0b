// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_WORDS_H
#define GRADNIC_WORDS_H
/// @file words.h
/// Words: int32 values that travel as they are, little-endian, at any alignment. Here are their
/// sums, and the steps of block floating point between words and binary32. The caller chooses the
/// exponents.
///
/// Halves: words that travel in 16 bits, as binary16, little-endian. They keep 11 significant bits.
/// - The half of word w is w * 2^-15, rounded to binary32, then to binary16. Beyond 65504 it is
///   65504. So a word with at most 11 significant bits keeps its value.
/// - The word of half h is h * 2^15, rounded to nearest, ties to even. Every finite half has one.
///
/// Every call takes a codec, of which only the kernel matters. All kernels give the same bits.
/// Thread-safe; default floating-point environment, as codec.h.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Adds `count` words to `sums`, wrapping. Returns true when a sum left int32.
GN_API bool gn_words_add(const gn_codec *codec, const void *words, int32_t *sums, size_t count);

/// Returns the largest magnitude among the finite values. `*finite` says whether all are finite.
GN_API float gn_words_largest(const gn_codec *codec, const float *values, size_t count, bool *finite);

/// Computes words[i] = values[i] * 2^exponent, rounded to nearest, ties to even. `exponent` is -104
/// to
/// 126. `limit` is a power of two, at most 2^30.
/// @return false when a magnitude is more than `limit` or a value is not a number; its word is 0.
GN_API bool gn_words_from_values(const gn_codec *codec, const float *values, size_t count, int exponent, int32_t limit,
                                 int32_t *words);

/// Adds the words of `count` halves to `sums`, wrapping. Infinities and NaNs have no word: 0 is
/// added. Returns true when there was one, or when a sum left int32.
GN_API bool gn_words_add_halves(const gn_codec *codec, const void *halves, int32_t *sums, size_t count);

/// Writes the halves of `count` words.
GN_API void gn_words_to_halves(const gn_codec *codec, const void *words, size_t count, void *halves);

/// Computes values[i] = words[i] * 2^exponent, rounded once. `exponent` is -126 to 104.
GN_API void gn_words_to_values(const gn_codec *codec, const void *words, size_t count, int exponent, float *values);

#ifdef __cplusplus
}
#endif
#endif
