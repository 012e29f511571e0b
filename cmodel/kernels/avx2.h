// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_AVX2_H
#define GRADNIC_AVX2_H
/// Internal: shared by the AVX2 kernels of all profiles: lattice's quantiser, and parts of a group.

#include <immintrin.h>

#include "x86.h"

INLINE __m256i magnitude_of(__m256i v)
{
    return _mm256_and_si256(v, _mm256_set1_epi32(0x7fffffff));
}

// |q| of |f| = `a`, on the lattice. More than 32767 means raw. The adder rounds |f| + magic to a
// multiple of the step, ties to even. An |f| that is too large for that is far above 32767 steps;
// so are infinities and NaNs, because positive floats are ordered as their bits.
INLINE __m256i lattice_steps(const params *p, __m256i a)
{
    __m256 magic = _mm256_set1_ps(p->magic);
    return _mm256_sub_epi32(_mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(a), magic)),
                            _mm256_castps_si256(magic));
}

// ---- a part of a group

// All ones in the first `lanes` lanes.
INLINE __m256i lane_mask(size_t lanes)
{
    static const int32_t window[2 * GN_GROUP] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256((const __m256i *)(window + GN_GROUP - lanes));
}

// Loads `lanes` values, the rest +0.0. Reads nothing behind them.
INLINE __m256i load_lanes(const void *values, size_t lanes)
{
    if (lanes >= GN_GROUP) return _mm256_loadu_si256(values);
    return _mm256_maskload_epi32(values, lane_mask(lanes));
}

INLINE void store_lanes(void *values, size_t lanes, __m256 v)
{
    if (lanes >= GN_GROUP)
        _mm256_storeu_ps(values, v);
    else
        _mm256_maskstore_epi32(values, lane_mask(lanes), _mm256_castps_si256(v));
}

// Writes values; with `add`, adds them to those that are there. Adding +0.0 matters: -0.0 becomes
// +0.0.
INLINE void put_values(bool add, void *to, size_t lanes, __m256 v)
{
    if (add) v = _mm256_add_ps(_mm256_castsi256_ps(load_lanes(to, lanes)), v);
    store_lanes(to, lanes, v);
}

// Stores 8 values past the cache. `to` has the alignment FAR_ALIGN, which any malloc() gives.
// Halves fill whole lines as well, because stores follow each other.
enum { FAR_ALIGN = sizeof(__m128) };
INLINE void store_far(void *to, __m256 v)
{
    _mm_stream_ps(to, _mm256_castps256_ps128(v));
    _mm_stream_ps((float *)to + 4, _mm256_extractf128_ps(v, 1));
}

// ---- what is done with decoded lanes

typedef enum action { STORE, STORE_FAR, ADD, STORE_INTEGER, ADD_INTEGER } action;

typedef struct output {
    float step;        // for STORE and ADD, unless params has it
    __m256i overflow;  // sign bits: a sum has left int32
    unsigned raw;      // there is a raw lane: its integer is 0
} output;

INLINE bool of_integers(action act)
{
    return act == STORE_INTEGER || act == ADD_INTEGER;
}

// Writes or adds 8 integers, of which `lanes` are there. q is 0 in the others.
INLINE void put_integers(action act, output *o, void *to, size_t lanes, __m256i q)
{
    if (act == ADD_INTEGER) {
        __m256i old = load_lanes(to, lanes), sum = _mm256_add_epi32(old, q);
        // A sum that fits is less than the old one if, and only if, the addend is negative.
        o->overflow = _mm256_or_si256(o->overflow, _mm256_xor_si256(_mm256_cmpgt_epi32(old, sum), q));
        q = sum;
    }
    store_lanes(to, lanes, _mm256_castsi256_ps(q));
}

// The GN_SUM_ bits.
INLINE unsigned flags_of(const output *o)
{
    int overflow = _mm256_movemask_ps(_mm256_castsi256_ps(o->overflow));
    return (o->raw ? GN_SUM_RAW : 0u) | (overflow ? GN_SUM_OVERFLOW : 0u);
}

#endif
