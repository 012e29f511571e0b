// SPDX-License-Identifier: Apache-2.0
// Profiles paper and lattice in AVX2, four groups at a time. A value becomes a word with its
// payload, and a tag. One byte shuffle per half group moves the payloads together, or apart. A
// profile is three functions (classes_of, values_of, seen_of) and two shuffle tables. All movement
// of bytes is shared. Compiled with -mavx2 -mbmi2 -mlzcnt -mpopcnt. dispatch.c makes sure that
// nothing here runs on a machine without them.
#include <immintrin.h>
#include <string.h>

#include "../record.h"
#include "avx2.h"
#include "tables.h"

enum {
    QUAD = 4 * GN_GROUP,                  // values done at a time
    QUAD_TAGS = 4 * GN_TAG_WORD,          // bytes of their records at least
    QUAD_MAX = 4 * GN_RECORD_MAX,         // and at most
    QUAD_REACH = 3 * GN_RECORD_MAX,       // where the last of them begins at most
    WINDOW = 2048,                        // bytes of a stream whose records are measured at a time
    REST_MAX = WINDOW - QUAD_REACH - 32,  // bytes of a stream's end that decode_rest() takes
    HALF_STORE = 16                       // bytes that a half group's store or load touches
};

static const uint64_t pack_low[256][2] __attribute__((aligned(64))) = {GN_TABLE_256(GN_PACK_LOW)};
static const uint64_t pack_top[256][2] __attribute__((aligned(64))) = {GN_TABLE_256(GN_PACK_TOP)};
static const uint32_t expand_split[256][4] __attribute__((aligned(64))) = {GN_TABLE_256(GN_EXPAND_SPLIT)};
static const uint32_t expand_top[256][4] __attribute__((aligned(64))) = {GN_TABLE_256(GN_EXPAND_TOP)};
static const uint8_t half_bytes[256] __attribute__((aligned(64))) = {GN_TABLE_256(GN_HALF_BYTES)};

// ---- profiles

// Eight values as the encoder sees them. Class i of a lane (above_*) is all ones or all zeros.
typedef struct classes {
    __m256i above_zero, above_short, raw;  // tag > 0, > 1, > 2
    __m256i fixed;                         // |f| quantised: lattice |q|, paper |f| * 2^31 truncated
} classes;

INLINE classes classes_of(const params *p, __m256i v)
{
    __m256i a = magnitude_of(v);
    if (p->profile == GN_LATTICE) {
        __m256i q = lattice_steps(p, a);
        return (classes){.above_zero = _mm256_cmpgt_epi32(q, _mm256_setzero_si256()),
                         .above_short = _mm256_cmpgt_epi32(q, _mm256_set1_epi32(127)),
                         .raw = _mm256_cmpgt_epi32(q, _mm256_set1_epi32(32767)),
                         .fixed = q};
    }
    __m256 scaled = _mm256_mul_ps(_mm256_castsi256_ps(a), _mm256_set1_ps(0x1p31f));  // exact
    return (classes){.above_zero = _mm256_cmpgt_epi32(a, _mm256_set1_epi32(p->above_zero)),
                     .above_short = _mm256_cmpgt_epi32(a, _mm256_set1_epi32(p->above_short)),
                     .raw = _mm256_cmpgt_epi32(a, _mm256_set1_epi32((127 << 23) - 1)),
                     .fixed = _mm256_cvttps_epi32(scaled)};
}

// The words from which pack_low (lattice) or pack_top (paper) takes the payloads.
INLINE __m256i payload_words(const params *p, __m256i v, classes c)
{
    __m256i coded;
    if (p->profile == GN_LATTICE)
        coded = _mm256_sign_epi32(c.fixed, v);
    else
        coded = _mm256_or_si256(c.fixed, _mm256_andnot_si256(_mm256_set1_epi32(0x7fffffff), v));
    return _mm256_blendv_epi8(coded, v, c.raw);
}

// lattice: q * 2^8 of words whose payloads expand_split put in place. Tag 1 has q * 2^8 in the high
// half, tag 2 has q in the low half. One multiply-add makes q * 2^8 of both.
INLINE __m256i steps_256_of(__m256i words)
{
    return _mm256_madd_epi16(words, _mm256_set1_epi32(0x00010100));
}

// The values of words whose payloads expand_split (lattice) or expand_top (paper) put in place.
// Lanes with tag 3 are left to the caller.
INLINE __m256 values_of(const params *p, __m256i words)
{
    if (p->profile == GN_LATTICE)
        return _mm256_mul_ps(_mm256_cvtepi32_ps(steps_256_of(words)), _mm256_set1_ps(p->step_256));
    // through a two's complement integer, so that a zero magnitude loses its sign
    __m256i fraction = _mm256_sign_epi32(magnitude_of(words), words);
    return _mm256_mul_ps(_mm256_cvtepi32_ps(fraction), _mm256_set1_ps(0x1p-31f));
}

// decode(encode(v)) without bytes
INLINE __m256 seen_of(const params *p, __m256i v, classes c)
{
    __m256 seen;
    if (p->profile == GN_LATTICE) {
        seen = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sign_epi32(c.fixed, v)), _mm256_set1_ps(p->step));
    } else {
        __m256i kept = _mm256_or_si256(_mm256_and_si256(c.above_zero, _mm256_set1_epi32(0x7f000000)),
                                       _mm256_and_si256(c.above_short, _mm256_set1_epi32(0x00ff0000)));
        __m256i fraction = _mm256_sign_epi32(_mm256_and_si256(c.fixed, kept), v);
        seen = _mm256_mul_ps(_mm256_cvtepi32_ps(fraction), _mm256_set1_ps(0x1p-31f));
    }
    return _mm256_blendv_ps(seen, _mm256_castsi256_ps(v), _mm256_castsi256_ps(c.raw));
}

INLINE uint64_t load_64(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

// memcpy for 2..34 bytes, without a call
INLINE void copy_record(uint8_t *to, const uint8_t *from, size_t bytes)
{
    if (bytes >= 16) {
        __m128i first = _mm_loadu_si128((const __m128i *)from),
                last = _mm_loadu_si128((const __m128i *)(from + bytes - 16));
        if (bytes > 32) _mm_storeu_si128((__m128i *)(to + 16), _mm_loadu_si128((const __m128i *)(from + 16)));
        _mm_storeu_si128((__m128i *)to, first);
        _mm_storeu_si128((__m128i *)(to + bytes - 16), last);
    } else if (bytes >= 8) {
        memcpy(to, from, 8);
        memcpy(to + bytes - 8, from + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(to, from, 4);
        memcpy(to + bytes - 4, from + bytes - 4, 4);
    } else {
        memcpy(to, from, 2);
        to[bytes - 1] = from[bytes - 1];
    }
}

// ---- encode

// Four groups: their payload words, and their four tag words in one integer.
typedef struct quad {
    __m256i words[4];
    uint64_t tags;
} quad;

INLINE quad quad_of(const params *p, const __m256i v[4])
{
    quad q;
    __m256i t[4];  // minus the tag
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        classes c = classes_of(p, v[j]);
        q.words[j] = payload_words(p, v[j], c);
        t[j] = _mm256_add_epi32(_mm256_add_epi32(c.above_zero, c.above_short), c.raw);
    }
    // Packing works within 128-bit halves. The lower half gets lanes 0..3 of the four groups, one
    // byte per tag; the upper half gets lanes 4..7. Then 4 tags become a byte: t0 + 4 t1 + 16 t2 +
    // 64 t3, with the sign turned.
    __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(t[0], t[1]), _mm256_packs_epi32(t[2], t[3]));
    __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi16(0x0401), bytes);
    __m256i halves = _mm256_madd_epi16(pairs, _mm256_set1_epi32((int)0xfff0ffffu));  // -1, -16
    __m128i tags = _mm_or_si128(_mm256_castsi256_si128(halves), _mm_slli_epi32(_mm256_extracti128_si256(halves, 1), 8));
    q.tags = (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi32(tags, tags));
    return q;
}

// Writes one record. Touches GN_RECORD_MAX bytes from `out`, whatever its length. @return its end
INLINE uint8_t *put_record(const params *p, uint8_t *out, __m256i words, unsigned tags)
{
    const uint64_t(*pack)[2] = p->profile == GN_LATTICE ? pack_low : pack_top;
    unsigned low = tags & 0xff, high = tags >> 8;
    __m128i first = _mm_shuffle_epi8(_mm256_castsi256_si128(words), _mm_load_si128((const __m128i *)pack[low]));
    __m128i second = _mm_shuffle_epi8(_mm256_extracti128_si256(words, 1), _mm_load_si128((const __m128i *)pack[high]));
    uint16_t tag_word = (uint16_t)tags;
    memcpy(out, &tag_word, GN_TAG_WORD);
    out += GN_TAG_WORD;
    _mm_storeu_si128((__m128i *)out, first);
    out += half_bytes[low];
    _mm_storeu_si128((__m128i *)out, second);
    return out + half_bytes[high];
}

INLINE size_t quad_bytes(uint64_t tags)
{
    const uint64_t lows = 0x5555555555555555;
    int payload =
        __builtin_popcountll(tags) + __builtin_popcountll(tags & ~lows) + __builtin_popcountll(tags & tags >> 1 & lows);
    return QUAD_TAGS + (size_t)payload;
}

// The values to encode; with `integers`, the values that integers stand for.
INLINE __m256i load_values(const params *p, bool integers, const uint8_t *values, size_t lanes)
{
    __m256i v = load_lanes(values, lanes);
    if (!integers) return v;
    return _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(v), _mm256_set1_ps(p->step)));
}

// For the end of encode(): up to four groups, the last one possibly partial, as long as they fit.
INLINE size_t encode_rest(const params *p, bool integers, const uint8_t *values, size_t count, uint8_t **out,
                          const uint8_t *end)
{
    __m256i v[4];
    for (size_t j = 0; j < 4; j++)
        v[j] = load_values(p, integers, values + 32 * j * (count > 8 * j), count > 8 * j ? count - 8 * j : 0);
    quad q = quad_of(p, v);
    size_t taken = 0;
    for (unsigned j = 0; j < 4 && taken < count; j++) {
        unsigned tags = q.tags >> (16 * j) & 0xffff;
        size_t room = (size_t)(end - *out), bytes = gn_record_bytes(tags);
        if (room >= GN_RECORD_MAX) {
            put_record(p, *out, q.words[j], tags);
        } else {
            uint8_t record[GN_RECORD_MAX];
            if (bytes > room) break;
            put_record(p, record, q.words[j], tags);
            copy_record(*out, record, bytes);
        }
        *out += bytes;
        taken += count - taken < GN_GROUP ? count - taken : GN_GROUP;
    }
    return taken;
}

INLINE size_t encode(const params p, bool integers, const uint8_t *values, size_t count, uint8_t *stream,
                     size_t capacity, size_t *bytes)
{
    uint8_t *out = stream;
    const uint8_t *end = stream + capacity;
    size_t taken = 0;
    for (; count - taken >= QUAD; taken += QUAD) {
        __m256i v[4];
        prefetch_ahead(values + 4 * taken);
        prefetch_ahead(values + 4 * taken + 64);
        for (size_t j = 0; j < 4; j++) v[j] = load_values(&p, integers, values + 4 * taken + 32 * j, GN_GROUP);
        quad q = quad_of(&p, v);
        size_t room = (size_t)(end - out);
        if (room < QUAD_MAX && room < quad_bytes(q.tags) + HALF_STORE) break;
        if (q.tags == 0) {
            memset(out, 0, QUAD_TAGS);
            out += QUAD_TAGS;
            continue;
        }
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) out = put_record(&p, out, q.words[j], q.tags >> (16 * j) & 0xffff);
    }
    for (size_t more = QUAD; taken < count && more == QUAD; taken += more)
        more = encode_rest(&p, integers, values + 4 * taken, count - taken, &out, end);
    *bytes = (size_t)(out - stream);
    return taken;
}

// ---- decode

// Reads one group, and writes `lanes` of its lanes to `to`. At least GN_RECORD_MAX bytes can be
// read. `raw`: the group may have lanes with tag 3.
INLINE void get_record(const params *p, action act, output *o, const uint8_t *record, bool raw, void *to, size_t lanes)
{
    const uint32_t(*expand)[4] = p->profile == GN_LATTICE ? expand_split : expand_top;
    unsigned tags = gn_read_tags(record), low = tags & 0xff, high = tags >> 8;
    const uint8_t *payload = record + GN_TAG_WORD;
    __m128i first =
        _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)payload), _mm_load_si128((const __m128i *)expand[low]));
    __m128i second = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(payload + half_bytes[low])),
                                      _mm_load_si128((const __m128i *)expand[high]));
    __m256i words = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1), is_raw = _mm256_setzero_si256();
    if (raw) {
        __m256i lane = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
        __m256i both = _mm256_srlv_epi32(_mm256_set1_epi32((int)(tags & tags >> 1)), lane);
        is_raw = _mm256_srai_epi32(_mm256_slli_epi32(both, 31), 31);
    }
    if (of_integers(act)) {
        o->raw |= raw ? tags & tags >> 1 & 0x5555 : 0;
        put_integers(act, o, to, lanes, _mm256_andnot_si256(is_raw, _mm256_srai_epi32(steps_256_of(words), 8)));
        return;
    }
    __m256 v = values_of(p, words);
    if (raw) v = _mm256_blendv_ps(v, _mm256_castsi256_ps(words), _mm256_castsi256_ps(is_raw));
    put_values(act == ADD, to, lanes, v);
}

// length[i] = bytes of the record if one begins at in[i], for `bytes` positions (a multiple of 32).
// Reads one byte more. Where a record begins depends on all records before it. A load and a dozen
// dependent instructions for each would take longer than all the rest. Measured ahead like this,
// the chain is one byte load and an addition.
INLINE void measure(const uint8_t *in, size_t bytes, uint8_t *length)
{
    const __m256i pair_bytes = _mm256_broadcastsi128_si256(  // payload bytes of two lanes, by tags
        _mm_setr_epi8(0, 1, 2, 4, 1, 2, 3, 5, 2, 3, 4, 6, 4, 5, 6, 8));
    const __m256i nibble = _mm256_set1_epi8(15);
    for (size_t i = 0; i < bytes; i += 32) {
        __m256i total = _mm256_set1_epi8(GN_TAG_WORD);
        for (int b = 0; b < GN_TAG_WORD; b++) {
            __m256i tags = _mm256_loadu_si256((const __m256i *)(in + i + b));
            __m256i even = _mm256_and_si256(tags, nibble), odd = _mm256_and_si256(_mm256_srli_epi16(tags, 4), nibble);
            total = _mm256_add_epi8(
                total, _mm256_add_epi8(_mm256_shuffle_epi8(pair_bytes, even), _mm256_shuffle_epi8(pair_bytes, odd)));
        }
        _mm256_store_si256((__m256i *)(length + i), total);
    }
}

// Decodes whole quads as long as all four records begin in the first `bytes` bytes of `in` (a
// multiple of 32, at most WINDOW). GN_RECORD_MAX more bytes can be read. `*at`: where the next
// record begins.
// @return values decoded, at most `count`
INLINE size_t decode_window(const params *p, action act, output *o, const uint8_t *in, size_t bytes, uint8_t *values,
                            size_t count, size_t *at)
{
    uint8_t length[WINDOW] __attribute__((aligned(32)));
    size_t next = 0, done = 0, last = bytes - QUAD_REACH;
    measure(in, bytes, length);
    for (; done + QUAD <= count && next < last; done += QUAD) {
        uint8_t *out = values + 4 * done;
        if (load_64(in + next) == 0) {
            // Values are added even here, because -0.0 becomes +0.0.
            for (size_t j = 0; j < 4 && act != ADD_INTEGER; j++)
                put_values(act == ADD, out + 32 * j, GN_GROUP, _mm256_setzero_ps());
            next += QUAD_TAGS;
            continue;
        }
        size_t begin[4];
        unsigned raw = 0;
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++) {
            unsigned tags = gn_read_tags(in + next);
            raw |= tags & tags >> 1;
            begin[j] = next;
            // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): measure() stored it
            next += length[next];
        }
        if (__builtin_expect((raw & 0x5555) == 0, 1)) {
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; j++) get_record(p, act, o, in + begin[j], false, out + 32 * j, GN_GROUP);
        } else {
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; j++) get_record(p, act, o, in + begin[j], true, out + 32 * j, GN_GROUP);
        }
    }
    *at = next;
    return done;
}

// The end of decode(). Works on a copy that can be read past its end, where it holds empty groups.
// So one comparison afterwards tells whether the records stayed within the stream.
INLINE bool decode_rest(const params *p, action act, output *o, const uint8_t *stream, size_t bytes, uint8_t *values,
                        size_t count)
{
    uint8_t copy[WINDOW + GN_RECORD_MAX];
    if (bytes > REST_MAX) return false;  // more than `count` values can take: see decode()
    memcpy(copy, stream, bytes);
    memset(copy + bytes, 0, QUAD_REACH + 32 + GN_RECORD_MAX);
    size_t at, done = decode_window(p, act, o, copy, (bytes + QUAD_REACH + 31) & ~(size_t)31, values, count, &at);
    for (size_t left = count - done; left > 0; left -= left < GN_GROUP ? left : GN_GROUP) {
        if (at >= bytes) return false;
        unsigned tags = gn_read_tags(copy + at);
        if (tags & gn_padding_mask(left < GN_GROUP ? left : GN_GROUP)) return false;
        get_record(p, act, o, copy + at, true, values + 4 * (count - left), left);
        at += gn_record_bytes(tags);
    }
    return at == bytes;
}

INLINE bool decode(const params p, action act, output *o, const uint8_t *stream, size_t bytes, void *to, size_t count)
{
    uint8_t *values = to;
    while (count >= QUAD && bytes > REST_MAX) {
        size_t window = bytes >= WINDOW + GN_RECORD_MAX ? WINDOW : (bytes - GN_RECORD_MAX) & ~(size_t)31;
        size_t used, done = decode_window(&p, act, o, stream, window, values, count, &used);
        stream += used, bytes -= used;
        values += 4 * done, count -= done;
    }
    // Now less than 4 groups are left, which take at most QUAD_MAX bytes, or at most REST_MAX
    // bytes.
    return decode_rest(&p, act, o, stream, bytes, values, count);
}

// ---- quantise

INLINE void quantise(const params p, const float *values, float *quantised, float *residual, size_t count)
{
    for (size_t i = 0; i < count; i += GN_GROUP) {
        size_t lanes = count - i;
        __m256i v = load_lanes(values + i, lanes);
        classes c = classes_of(&p, v);
        __m256 seen = seen_of(&p, v, c);
        store_lanes(quantised + i, lanes, seen);
        // A raw value is exact, or has no difference.
        __m256 left = _mm256_andnot_ps(_mm256_castsi256_ps(c.raw), _mm256_sub_ps(_mm256_castsi256_ps(v), seen));
        if (residual) store_lanes(residual + i, lanes, left);
    }
}

// ---- the table: the shared code, compiled once per profile

#define ROW(name, profile, add_integers, get_integers, encode_integers)                                                \
    size_t gn_avx2_##name##_encode(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream,        \
                                   size_t capacity, size_t *bytes)                                                     \
    {                                                                                                                  \
        return encode(params_of(profile, codec->bound_exp), false, values, count, stream, capacity, bytes);            \
    }                                                                                                                  \
    bool gn_avx2_##name##_decode(const gn_codec *codec, const uint8_t *stream, size_t bytes, uint8_t *values,          \
                                 size_t count)                                                                         \
    {                                                                                                                  \
        output none = {0};                                                                                             \
        return decode(params_of(profile, codec->bound_exp), STORE, &none, stream, bytes, values, count);               \
    }                                                                                                                  \
    void gn_avx2_##name##_quantise(const gn_codec *codec, const float *values, float *quantised, float *residual,      \
                                   size_t count)                                                                       \
    {                                                                                                                  \
        quantise(params_of(profile, codec->bound_exp), values, quantised, residual, count);                            \
    }                                                                                                                  \
    void gn_avx2_##name##_add(const gn_codec *codec, const uint8_t *stream, size_t bytes, float *sums, size_t count)   \
    {                                                                                                                  \
        output none = {0};                                                                                             \
        decode(params_of(profile, codec->bound_exp), ADD, &none, stream, bytes, sums, count);                          \
    }                                                                                                                  \
    const gn_kernel_row gn_avx2_##name = {gn_avx2_##name##_encode,                                                     \
                                          gn_avx2_##name##_decode,                                                     \
                                          gn_avx2_##name##_quantise,                                                   \
                                          gn_avx2_##name##_add,                                                        \
                                          add_integers,                                                                \
                                          get_integers,                                                                \
                                          encode_integers,                                                             \
                                          NULL}

unsigned gn_avx2_add_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *sums, size_t count)
{
    output o = {.overflow = _mm256_setzero_si256()};
    decode(params_of(GN_LATTICE, codec->bound_exp), ADD_INTEGER, &o, stream, bytes, sums, count);
    return flags_of(&o);
}

bool gn_avx2_get_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *integers, size_t count,
                          unsigned *flags)
{
    output o = {.overflow = _mm256_setzero_si256()};
    bool good = decode(params_of(GN_LATTICE, codec->bound_exp), STORE_INTEGER, &o, stream, bytes, integers, count);
    *flags = flags_of(&o);
    return good;
}

size_t gn_avx2_encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, uint8_t *stream,
                               size_t capacity, size_t *bytes)
{
    return encode(params_of(GN_LATTICE, codec->bound_exp), true, (const uint8_t *)integers, count, stream, capacity,
                  bytes);
}

ROW(paper, GN_PAPER, NULL, NULL, NULL);
ROW(lattice, GN_LATTICE, gn_avx2_add_integers, gn_avx2_get_integers, gn_avx2_encode_integers);
