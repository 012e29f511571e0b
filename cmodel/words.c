// SPDX-License-Identifier: Apache-2.0
// Words: the public entry points. The codec's kernel moves the data.
#include <gradnic/words.h>

#include <string.h>

#include "kernels/kernel.h"

bool gn_words_add(const gn_codec *codec, const void *words, int32_t *sums, size_t count)
{
    return codec->kernel->words->add(sums, words, count);
}

float gn_words_largest(const gn_codec *codec, const float *values, size_t count, bool *finite)
{
    float largest;
    const uint32_t bits = codec->kernel->words->largest(values, count, finite);
    memcpy(&largest, &bits, sizeof largest);
    return largest;
}

// 2^exponent, a normal number: -126 <= exponent <= 126.
static float power_of_two(int exponent)
{
    const uint32_t bits = (uint32_t)(127 + exponent) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

bool gn_words_from_values(const gn_codec *codec, const float *values, size_t count, int exponent, int32_t limit,
                          int32_t *words)
{
    return codec->kernel->words->from_values(values, count, power_of_two(exponent), limit, words);
}

void gn_words_to_values(const gn_codec *codec, const void *words, size_t count, int exponent, float *values)
{
    codec->kernel->words->to_values(words, count, power_of_two(exponent), values);
}

bool gn_words_add_halves(const gn_codec *codec, const void *halves, int32_t *sums, size_t count)
{
    return codec->kernel->words->add_halves(sums, halves, count);
}

void gn_words_to_halves(const gn_codec *codec, const void *words, size_t count, void *halves)
{
    codec->kernel->words->to_halves(words, count, halves);
}
