// SPDX-License-Identifier: Apache-2.0
// Words in AVX2, and halves with F16C. Compiled with the flags of avx2.c, and -mf16c.
#include "avx2.h"

enum { LARGEST = 0x7f7fffff };  // the bits of the largest finite value

// A packet has few words, so each takes as little work as possible. Without `restrict` the compiler
// loads again behind every store.
static bool add(int32_t *restrict sums, const uint8_t *restrict words, size_t count)
{
    enum { AT_ONCE = 8 * GN_GROUP };
    output o = {.overflow = _mm256_setzero_si256()};
    size_t i = 0;
    for (; i + AT_ONCE <= count; i += AT_ONCE) {
#pragma GCC unroll 8
        for (size_t j = i; j < i + AT_ONCE; j += GN_GROUP)
            put_integers(ADD_INTEGER, &o, sums + j, GN_GROUP, load_lanes(words + 4 * j, GN_GROUP));
    }
    for (; i < count; i += GN_GROUP) {
        const size_t lanes = count - i < GN_GROUP ? count - i : GN_GROUP;
        put_integers(ADD_INTEGER, &o, sums + i, lanes, load_lanes(words + 4 * i, lanes));
    }
    return flags_of(&o) != 0;
}

static uint32_t largest_lane(__m256i most)
{
    __m128i half = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(half);
}

// Of the finite values. Magnitudes are ordered as their bits.
static uint32_t largest_finite(const float *values, size_t count)
{
    __m256i most = _mm256_setzero_si256();
    for (size_t i = 0; i < count; i += GN_GROUP) {
        __m256i bits = magnitude_of(load_lanes(values + i, count - i));
        most = _mm256_max_epi32(most, _mm256_andnot_si256(_mm256_cmpgt_epi32(bits, _mm256_set1_epi32(LARGEST)), bits));
    }
    return largest_lane(most);
}

// Nearly always all are finite. Four maxima do not wait for each other.
static uint32_t largest(const float *values, size_t count, bool *finite)
{
    enum { AT_ONCE = 4 * GN_GROUP };
    __m256i most[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    size_t i = 0;
    for (; i + AT_ONCE <= count; i += AT_ONCE) {
        prefetch_ahead((const uint8_t *)(values + i));
        prefetch_ahead((const uint8_t *)(values + i) + 64);
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++)
            most[j] = _mm256_max_epi32(most[j], magnitude_of(load_lanes(values + i + j * GN_GROUP, GN_GROUP)));
    }
    for (; i < count; i += GN_GROUP)
        most[0] = _mm256_max_epi32(most[0], magnitude_of(load_lanes(values + i, count - i)));
    const uint32_t found =
        largest_lane(_mm256_max_epi32(_mm256_max_epi32(most[0], most[1]), _mm256_max_epi32(most[2], most[3])));
    *finite = found <= LARGEST;
    return *finite ? found : largest_finite(values, count);
}

// A value that is not a number, or not within int32, becomes the most negative integer. Its
// magnitude is beyond every limit.
static bool from_values(const float *values, size_t count, float scale, int32_t limit, int32_t *words)
{
    const __m256 scales = _mm256_set1_ps(scale);
    const __m256i most = _mm256_set1_epi32(limit), least = _mm256_set1_epi32(-limit);
    __m256i bad = _mm256_setzero_si256();
    for (size_t i = 0; i < count; i += GN_GROUP) {
        __m256 v = _mm256_castsi256_ps(load_lanes(values + i, count - i));
        __m256i q = _mm256_cvtps_epi32(_mm256_mul_ps(v, scales));
        __m256i beyond = _mm256_or_si256(_mm256_cmpgt_epi32(q, most), _mm256_cmpgt_epi32(least, q));
        bad = _mm256_or_si256(bad, beyond);
        store_lanes(words + i, count - i, _mm256_castsi256_ps(_mm256_andnot_si256(beyond, q)));
    }
    return _mm256_testz_si256(bad, bad);
}

static void to_values(const uint8_t *words, size_t count, float step, float *values)
{
    const __m256 steps = _mm256_set1_ps(step);
    for (size_t i = 0; i < count; i += GN_GROUP)
        store_lanes(values + i, count - i,
                    _mm256_mul_ps(_mm256_cvtepi32_ps(load_lanes(words + 4 * i, count - i)), steps));
}

// The words of 8 halves, as numbers. No half is beyond int32, so only what has no word becomes the
// most negative integer.
INLINE __m256i words_of(__m128i halves)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtph_ps(halves), _mm256_set1_ps(0x1p15f)));
}

INLINE void add_some_halves(output *o, __m256i *strange, int32_t *sums, size_t lanes, __m128i halves)
{
    const __m256i words = words_of(halves), none = _mm256_cmpeq_epi32(words, _mm256_set1_epi32(INT32_MIN));
    *strange = _mm256_or_si256(*strange, none);
    put_integers(ADD_INTEGER, o, sums, lanes, _mm256_andnot_si256(none, words));
}

static bool add_halves(int32_t *restrict sums, const uint8_t *restrict halves, size_t count)
{
    output o = {.overflow = _mm256_setzero_si256()};
    __m256i strange = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + GN_GROUP <= count; i += GN_GROUP)
        add_some_halves(&o, &strange, sums + i, GN_GROUP,
                        _mm_loadu_si128((const __m128i *)(const void *)(halves + 2 * i)));
    if (i < count) {
        uint8_t rest[2 * GN_GROUP] = {0};
        memcpy(rest, halves + 2 * i, 2 * (count - i));
        add_some_halves(&o, &strange, sums + i, count - i, _mm_loadu_si128((const __m128i *)(const void *)rest));
    }
    return flags_of(&o) != 0 || !_mm256_testz_si256(strange, strange);
}

INLINE __m128i halves_of(__m256i words)
{
    const __m256 most = _mm256_set1_ps(65504),
                 value = _mm256_mul_ps(_mm256_cvtepi32_ps(words), _mm256_set1_ps(0x1p-15f));
    const __m256 within = _mm256_min_ps(_mm256_max_ps(value, _mm256_sub_ps(_mm256_setzero_ps(), most)), most);
    return _mm256_cvtps_ph(within, _MM_FROUND_TO_NEAREST_INT);
}

static void to_halves(const uint8_t *words, size_t count, uint8_t *halves)
{
    size_t i = 0;
    for (; i + GN_GROUP <= count; i += GN_GROUP)
        _mm_storeu_si128((__m128i *)(void *)(halves + 2 * i), halves_of(load_lanes(words + 4 * i, GN_GROUP)));
    if (i < count) {
        uint8_t rest[2 * GN_GROUP];
        _mm_storeu_si128((__m128i *)(void *)rest, halves_of(load_lanes(words + 4 * i, count - i)));
        memcpy(halves + 2 * i, rest, 2 * (count - i));
    }
}

const gn_words_row gn_avx2_words = {add, largest, from_values, to_values, add_halves, to_halves};
