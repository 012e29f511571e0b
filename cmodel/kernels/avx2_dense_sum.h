// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_AVX2_DENSE_SUM_H
#define GRADNIC_AVX2_DENSE_SUM_H
/// Internal: gn_stream_sum() in AVX2, with or without GFNI (avx2_dense.h). A quad of all streams is
/// added before the next one is read, so sums stay in registers as integers.
///
/// Integers are exact where no lane is raw or a word. Then a sum of GN_SUM_STREAMS streams is below
/// 2^24 steps, and is what binary32 would give. All other quads are added as values.
#include <gradnic/sum.h>

#include "avx2_dense.h"

// A stream that is read quad by quad. Near its end it goes on in a copy that can be read past the
// end, as decode() does.
typedef struct reader {
    const uint8_t *in, *safe;  // an item that begins at or before `safe` can be read without a look; may be NULL
    const uint8_t *end;
    uint8_t *tail;  // 2 * REACH bytes
    bool in_tail;
    size_t run;  // quads of zeros that are still to come
} reader;

static reader reader_of(const gn_stream_view *stream, uint8_t *tail)
{
    const uint8_t *in = stream->bytes, *end = in + stream->length;
    return (reader){.in = in, .safe = stream->length >= REACH ? end - REACH : NULL, .end = end, .tail = tail};
}

// For an item behind `safe`. @return false when the stream ends before it
static bool reader_refill(reader *r)
{
    if (!r->in_tail) {
        if (r->in >= r->end) return false;
        size_t rest = (size_t)(r->end - r->in);
        memcpy(r->tail, r->in, rest);
        memset(r->tail + rest, 0, 2 * REACH - rest);
        r->in = r->tail;
        r->end = r->tail + rest;
        r->safe = NULL;
        r->in_tail = true;
    }
    return r->in < r->end;
}

// The header of the next item; 0 for a quad of zeros, which is then done. A run is entered here.
// `quads` are left with this one.
INLINE bool next_header(reader *r, size_t quads, unsigned *header)
{
    *header = 0;
    if (__builtin_expect(r->run != 0, 0)) {
        r->run--;
        return true;
    }
    if (__builtin_expect(!r->safe || r->in > r->safe, 0) && !reader_refill(r)) return false;
    uint32_t word;
    memcpy(&word, r->in, sizeof word);
    *header = word & 0xffff;
    if (__builtin_expect(*header != 0, 1)) return true;
    r->run = word >> 16 & 255;
    r->in += GN_RUN_ITEM;
    return r->run < quads;
}

INLINE bool has_words(unsigned header)
{
    return (header & header >> 1 & header >> 2 & header >> 3 & 0x1111) != 0;
}

// Adds the next record to integers. None of its classes are words.
INLINE void add_record(reader *r, unsigned header, __m256i q[GN_QUAD_GROUPS])
{
    const uint8_t *in = r->in + GN_QUAD_HEADER;
    if (__builtin_expect(is_narrow(header), 1)) {
        r->in = narrow_quad(header, in, true, q);
        return;
    }
    int32_t wide[GN_QUAD] __attribute__((aligned(32)));
    output o = {.raw = 0};
    r->in = get_wide(STORE_INTEGER, &o, header, in, (uint8_t *)wide);
#pragma GCC unroll 4
    for (int g = 0; g < GN_QUAD_GROUPS; g++)
        q[g] = _mm256_add_epi32(q[g], _mm256_load_si256((const __m256i *)(const void *)(wide + GN_GROUP * g)));
}

typedef struct summing {
    const gn_sum *sum;
    params p;
    output o;
    reader *readers;
    gn_dense_writer writer;
} summing;

// Where |q| of a value is beyond what a code holds: the value is raw.
INLINE __m256i beyond_code(__m256i magnitude)
{
    return _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(32767));
}

INLINE __m256 value_of(const summing *s, __m256i q)
{
    return _mm256_mul_ps(_mm256_cvtepi32_ps(q), _mm256_set1_ps(s->p.step));
}

// What a reader sees of values that are quantised.
INLINE void seen_quad(const summing *s, const lanes *l, const __m256i v[GN_QUAD_GROUPS], __m256 seen[GN_QUAD_GROUPS])
{
#pragma GCC unroll 4
    for (int g = 0; g < GN_QUAD_GROUPS; g++)
        seen[g] = _mm256_blendv_ps(value_of(s, l->q[g]), _mm256_castsi256_ps(v[g]),
                                   _mm256_castsi256_ps(beyond_code(l->magnitude[g])));
}

INLINE void store_quad(float *to, size_t present, const __m256 v[GN_QUAD_GROUPS], bool far)
{
#pragma GCC unroll 4
    for (size_t g = 0; g < GN_QUAD_GROUPS; g++) {
        const size_t first = g * GN_GROUP;
        if (far)
            store_far(to + first, v[g]);
        else if (present > first)
            store_lanes(to + first, present - first, v[g]);
    }
}

// What quantising leaves. A raw value leaves nothing.
INLINE void store_residual(const summing *s, float *to, size_t present, const lanes *l, const __m256i v[GN_QUAD_GROUPS])
{
    __m256 left[GN_QUAD_GROUPS];
#pragma GCC unroll 4
    for (int g = 0; g < GN_QUAD_GROUPS; g++)
        left[g] = _mm256_andnot_ps(_mm256_castsi256_ps(beyond_code(l->magnitude[g])),
                                   _mm256_sub_ps(_mm256_castsi256_ps(v[g]), value_of(s, l->q[g])));
    store_quad(to, present, left, false);
}

// Appends a record near the end of the room.
static bool append_last(gn_dense_writer *writer, const lanes *l, const __m256i v[GN_QUAD_GROUPS])
{
    uint8_t record[REACH];
    return gn_dense_append(writer, record, (size_t)(put_record(record, l, false, v) - record));
}

INLINE bool append_record(gn_dense_writer *writer, const lanes *l, const __m256i v[GN_QUAD_GROUPS])
{
    if (_mm256_testz_si256(l->any, l->any)) return gn_dense_append_zeros(writer);
    if (__builtin_expect(writer->end - writer->out < REACH, 0)) return append_last(writer, l, v);
    writer->out = put_record(writer->out, l, false, v);
    writer->run = 0;
    return true;
}

// Adds the rest of a quad as values, from stream `first` on, whose header is known. They begin
// with `seen`. `l` and `v` become those of the sum.
static bool add_as_values(summing *s, size_t at, size_t present, unsigned first, unsigned header,
                          const __m256 seen[GN_QUAD_GROUPS], lanes *l, __m256i v[GN_QUAD_GROUPS])
{
    const size_t quads = gn_quad_count(s->sum->count - at);
    float values[GN_QUAD] __attribute__((aligned(32)));
    store_quad(values, GN_QUAD, seen, false);
    for (unsigned i = first; i < s->sum->stream_count; i++) {
        reader *r = &s->readers[i];
        if (i > first && !next_header(r, quads, &header)) return false;
        if (!header) {
            put_zeros(ADD, (uint8_t *)values, GN_QUAD);
            continue;
        }
        if (present < GN_QUAD && !gn_dense_missing_empty(r->in, present)) return false;
        const uint8_t *in = r->in + GN_QUAD_HEADER;
        if (i || s->sum->own)
            r->in = get_wide(ADD, &s->o, header, in, (uint8_t *)values);
        else
            r->in = get_wide(STORE, &s->o, header, in, (uint8_t *)values);
    }
    load_quad((const uint8_t *)values, GN_QUAD, v);
    *l = lanes_of(&s->p, false, v);
    return true;
}

// One quad, of which `present` values are there: all but the last are whole.
INLINE bool sum_quad(summing *s, size_t at, size_t present, unsigned stream_count, bool far)
{
    const gn_sum *sum = s->sum;
    const size_t quads = gn_quad_count(sum->count - at);
    __m256i v[GN_QUAD_GROUPS];
    lanes l;
    if (sum->own) {
        prefetch_ahead((const uint8_t *)(sum->own + at));
        prefetch_ahead((const uint8_t *)(sum->own + at) + 64);
        load_quad((const uint8_t *)(sum->own + at), present, v);
        l = lanes_of(&s->p, false, v);
        if (sum->residual) store_residual(s, sum->residual + at, present, &l, v);
    } else {
        l.any = l.q[0] = l.q[1] = l.q[2] = l.q[3] = _mm256_setzero_si256();
    }
    bool exact = _mm256_testz_si256(l.any, _mm256_set1_epi32(~32767));
    unsigned i = 0, header = 0;
    for (; exact && i < stream_count; i++) {
        reader *r = &s->readers[i];
        if (!next_header(r, quads, &header)) return false;
        if (!header) continue;
        if (__builtin_expect(has_words(header), 0)) break;
        if (__builtin_expect(present < GN_QUAD, 0) && !gn_dense_missing_empty(r->in, present)) return false;
        add_record(r, header, l.q);
    }
    __m256 seen[GN_QUAD_GROUPS];
    if (__builtin_expect(exact && i == stream_count, 1)) {
#pragma GCC unroll 4
        for (int g = 0; g < GN_QUAD_GROUPS; g++) {
            seen[g] = value_of(s, l.q[g]);
            v[g] = _mm256_castps_si256(seen[g]);
            l.magnitude[g] = _mm256_abs_epi32(l.q[g]);
        }
        l.any = _mm256_or_si256(_mm256_or_si256(l.magnitude[0], l.magnitude[1]),
                                _mm256_or_si256(l.magnitude[2], l.magnitude[3]));
    } else {
        if (exact) {
            for (int g = 0; g < GN_QUAD_GROUPS; g++) seen[g] = value_of(s, l.q[g]);
        } else {
            seen_quad(s, &l, v, seen);
            if (stream_count && !next_header(&s->readers[0], quads, &header)) return false;
        }
        if (!add_as_values(s, at, present, i, header, seen, &l, v)) return false;
        seen_quad(s, &l, v, seen);
    }
    if (sum->sums) store_quad(sum->sums + at, present, seen, far);
    return !sum->stream || append_record(&s->writer, &l, v);
}

// The last quad, which is not whole.
static bool sum_last(summing *s, size_t at)
{
    return sum_quad(s, at, s->sum->count - at, s->sum->stream_count, false);
}

// ---- the usual quad: no lane is raw, no class has more than 8 planes, nothing ends

INLINE bool is_usual(const reader *r, size_t quads)
{
    if (r->run) return true;
    if (!r->safe || r->in > r->safe) return false;
    const unsigned header = gn_quad_header(r->in);
    return header ? is_narrow(header) : r->in[GN_QUAD_HEADER] < quads;
}

INLINE void add_usual(reader *r, __m256i q[GN_QUAD_GROUPS])
{
    if (__builtin_expect(r->run != 0, 0)) {
        r->run--;
        return;
    }
    const unsigned header = gn_quad_header(r->in);
    if (__builtin_expect(header != 0, 1)) {
        r->in = narrow_quad(header, r->in + GN_QUAD_HEADER, true, q);
        return;
    }
    r->run = r->in[GN_QUAD_HEADER];
    r->in += GN_RUN_ITEM;
}

// Whether |q| of a quad may be beyond 32767. Packed halfwords are then at their ends.
INLINE bool beyond_halfwords(const __m256i q[GN_QUAD_GROUPS])
{
    const __m256i one = _mm256_set1_epi16(1), ends = _mm256_set1_epi16(-32766);
    const __m256i low = _mm256_cmpgt_epi16(ends, _mm256_add_epi16(_mm256_packs_epi32(q[0], q[1]), one));
    const __m256i high = _mm256_cmpgt_epi16(ends, _mm256_add_epi16(_mm256_packs_epi32(q[2], q[3]), one));
    const __m256i any = _mm256_or_si256(low, high);
    return !_mm256_testz_si256(any, any);
}

// Appends the record of a sum. There are REACH bytes of room.
INLINE void append_sum(const params *p, gn_dense_writer *writer, const __m256i q[GN_QUAD_GROUPS])
{
    const __m256i bytes = bytes_of_lanes(q);
    if (_mm256_testz_si256(bytes, bytes)) {
        gn_dense_append_zeros(writer);
        return;
    }
    writer->run = 0;
    if (__builtin_expect(!saturated(bytes), 1)) {
        writer->out = put_narrow(writer->out, bytes);
        return;
    }
    lanes l = lanes_of(p, true, q);
    __m256i v[GN_QUAD_GROUPS];
#pragma GCC unroll 4
    for (int g = 0; g < GN_QUAD_GROUPS; g++)
        v[g] = _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(q[g]), _mm256_set1_ps(p->step)));
    writer->out = put_record(writer->out, &l, false, v);
}

// Whole quads from `at` on, as long as they are usual ones. What it changes stays in registers.
// @return where it stopped
INLINE size_t sum_usual(summing *s, size_t at, unsigned stream_count, bool far)
{
    const gn_sum sum = *s->sum;
    const params p = s->p;
    gn_dense_writer writer = s->writer;
    reader one = s->readers[0], *readers = stream_count == 1 ? &one : s->readers;
    for (; sum.count - at >= GN_QUAD && (!sum.stream || writer.end - writer.out >= REACH); at += GN_QUAD) {
        bool usual = true;
        for (unsigned i = 0; usual && i < stream_count; i++)
            usual = is_usual(&readers[i], gn_quad_count(sum.count - at));
        if (__builtin_expect(!usual, 0)) break;
        __m256i v[GN_QUAD_GROUPS], q[GN_QUAD_GROUPS];
        if (sum.own) {
            prefetch_ahead((const uint8_t *)(sum.own + at));
            prefetch_ahead((const uint8_t *)(sum.own + at) + 64);
            load_quad((const uint8_t *)(sum.own + at), GN_QUAD, v);
            quick_lanes(&p, false, v, q);
            if (__builtin_expect(beyond_halfwords(q), 0)) break;
            if (sum.residual)
#pragma GCC unroll 4
                for (int g = 0; g < GN_QUAD_GROUPS; g++)
                    _mm256_storeu_ps(sum.residual + at + GN_GROUP * g,
                                     _mm256_sub_ps(_mm256_castsi256_ps(v[g]), value_of(s, q[g])));
        } else {
            q[0] = q[1] = q[2] = q[3] = _mm256_setzero_si256();
        }
        for (unsigned i = 0; i < stream_count; i++) add_usual(&readers[i], q);
        if (sum.sums) {
            __m256 seen[GN_QUAD_GROUPS];
#pragma GCC unroll 4
            for (int g = 0; g < GN_QUAD_GROUPS; g++) seen[g] = value_of(s, q[g]);
            store_quad(sum.sums + at, GN_QUAD, seen, far);
        }
        if (sum.stream) append_sum(&p, &writer, q);
    }
    s->writer = writer;
    if (stream_count == 1) s->readers[0] = one;
    return at;
}

// One stream is the usual number: a hop of the ring, and any stream that is only decoded.
__attribute__((noinline)) static size_t usual_one(summing *s, size_t at)
{
    return sum_usual(s, at, 1, false);
}

__attribute__((noinline)) static size_t usual_one_far(summing *s, size_t at)
{
    return sum_usual(s, at, 1, true);
}

__attribute__((noinline)) static size_t usual_some(summing *s, size_t at, bool far)
{
    return sum_usual(s, at, s->sum->stream_count, far);
}

static bool sum_all(summing *s, unsigned stream_count, bool far)
{
    size_t at = 0;
    while (s->sum->count - at >= GN_QUAD) {
        if (stream_count != 1)
            at = usual_some(s, at, far);
        else
            at = far ? usual_one_far(s, at) : usual_one(s, at);
        if (s->sum->count - at < GN_QUAD) break;
        if (!sum_quad(s, at, GN_QUAD, stream_count, far)) return false;
        at += GN_QUAD;
    }
    return at == s->sum->count || sum_last(s, at);
}

static bool sum_streams(const gn_codec *codec, const gn_sum *sum, size_t *bytes)
{
    uint8_t tails[GN_SUM_STREAMS][2 * REACH];
    reader readers[GN_SUM_STREAMS];
    for (unsigned i = 0; i < sum->stream_count; i++) readers[i] = reader_of(&sum->streams[i], tails[i]);
    summing s = {.sum = sum,
                 .p = params_of(GN_LATTICE, codec->bound_exp),
                 .readers = readers,
                 .writer = {.out = sum->stream, .end = sum->stream ? (uint8_t *)sum->stream + sum->capacity : NULL}};
    s.o.step = s.p.step;
    const bool far = sum->far && sum->sums && (uintptr_t)sum->sums % FAR_ALIGN == 0;
    bool good = sum_all(&s, sum->stream_count, far);
    if (far) _mm_sfence();
    for (unsigned i = 0; i < sum->stream_count; i++) good &= readers[i].in == readers[i].end;
    if (bytes) *bytes = sum->stream ? (size_t)(s.writer.out - (uint8_t *)sum->stream) : 0;
    return good;
}

/// The row of a kernel, in the file that includes this one.
#define GN_DENSE_ROW                                                                                                   \
    {                                                                                                                  \
        encode_values, decode_values, gn_avx2_lattice_quantise, add, add_integers, get_integers, encode_integers,      \
            sum_streams                                                                                                \
    }

#endif
