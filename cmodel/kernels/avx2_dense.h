// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_AVX2_DENSE_H
#define GRADNIC_AVX2_DENSE_H
/// Internal: profile dense in AVX2, a quad at a time. Lanes become bytes. One transposition of four
/// 8x8 bit matrices makes planes of them, or bytes of planes. A byte shuffle cuts or extends the
/// sign. avx2_dense.c is compiled with the flags of avx2.c, gfni_dense.c with GFNI too.
#include "../dense.h"
#include "avx2.h"
#include "dense_tables.h"
#include "scalar.h"

enum {
    // Bytes behind the begin of an item that may be read or written, however short it is.
    REACH = GN_QUAD_MAX + 16,
    FAR_VALUES = 8 << 20,                               // whose results are not kept in the cache
    NARROW_REACH = GN_QUAD_HEADER + GN_QUAD_GROUPS * 8  // where no class has more than 8 planes
};

static const uint8_t narrow_class[256] __attribute__((aligned(64))) = {GN_TABLE_256(GN_NARROW_CLASS)};
static const uint8_t narrow_bytes[256] __attribute__((aligned(64))) = {GN_TABLE_256(GN_NARROW_BYTES)};
static const uint8_t wide_class[2][16] = {{GN_TABLE_16(GN_POSITIVE_CLASS, 0)}, {GN_TABLE_16(GN_SIGNED_CLASS, 0)}};
static const uint8_t first_bytes[256] __attribute__((aligned(64))) = {GN_TABLE_256(GN_FIRST_BYTES)};
static const uint8_t pair_bytes[256] __attribute__((aligned(64))) = {GN_TABLE_256(GN_PAIR_BYTES)};
static const uint64_t expand_pair[256][2] __attribute__((aligned(64))) = {GN_TABLE_256(GN_EXPAND_PAIR)};
static const uint64_t expand_16[GN_CLASS_COUNT][2] __attribute__((aligned(64))) = {GN_TABLE_16(GN_EXPAND_16, 0)};

// ---- bits

// In each 64-bit element, bit j of byte i becomes bit i of byte j.
INLINE __m256i transpose(__m256i x)
{
#if defined(__GFNI__)
    // Each byte of the left operand times the matrix on the right, whose rows are its bytes from
    // the last to the first. Byte j of the left is the unit vector j, so byte j of the result is
    // column j.
    const __m256i reversed =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    return _mm256_gf2p8affine_epi64_epi8(_mm256_set1_epi64x((long long)0x8040201008040201),
                                         _mm256_shuffle_epi8(x, reversed), 0);
#else
    // swaps squares of 1, 2 and 4 bits across the diagonal
    __m256i t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 7)), _mm256_set1_epi64x(0x00aa00aa00aa00aa));
    x = _mm256_xor_si256(x, _mm256_xor_si256(t, _mm256_slli_epi64(t, 7)));
    t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 14)), _mm256_set1_epi64x(0x0000cccc0000cccc));
    x = _mm256_xor_si256(x, _mm256_xor_si256(t, _mm256_slli_epi64(t, 14)));
    t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, 28)), _mm256_set1_epi64x(0x00000000f0f0f0f0));
    return _mm256_xor_si256(x, _mm256_xor_si256(t, _mm256_slli_epi64(t, 28)));
#endif
}

// Packing works within 128-bit halves: this puts its 4-byte pieces in the order of the lanes.
INLINE __m256i in_order(__m256i packed)
{
    return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// 8 words to 4 elements, which hold byte 0, 1, 2, 3 of all of them; and back.
INLINE __m256i bytes_of_words(__m256i words)
{
    const __m256i by_byte =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return in_order(_mm256_shuffle_epi8(words, by_byte));
}

INLINE __m256i words_of_bytes(__m256i bytes)
{
    const __m256i by_byte =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m256i halves = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
    return _mm256_shuffle_epi8(halves, by_byte);
}

// ---- encode

// A quad to write: its integers and their magnitudes.
typedef struct lanes {
    __m256i q[GN_QUAD_GROUPS], magnitude[GN_QUAD_GROUPS];
    __m256i any;  // all magnitudes' bits
} lanes;

INLINE lanes lanes_of(const params *p, bool integers, const __m256i v[GN_QUAD_GROUPS])
{
    lanes l;
#pragma GCC unroll 4
    for (int g = 0; g < GN_QUAD_GROUPS; g++) {
        l.magnitude[g] = integers ? _mm256_abs_epi32(v[g]) : lattice_steps(p, magnitude_of(v[g]));
        l.q[g] = integers ? v[g] : _mm256_sign_epi32(l.magnitude[g], v[g]);
    }
    l.any = _mm256_or_si256(_mm256_or_si256(l.magnitude[0], l.magnitude[1]),
                            _mm256_or_si256(l.magnitude[2], l.magnitude[3]));
    return l;
}

INLINE void put_header(uint8_t *out, unsigned c0, unsigned c1, unsigned c2, unsigned c3)
{
    uint16_t header = (uint16_t)(c0 | c1 << 4 | c2 << 8 | c3 << 12);
    memcpy(out, &header, GN_QUAD_HEADER);
}

// The signed bytes of four groups of integers. Those beyond a byte become -128 or 127.
INLINE __m256i bytes_of_lanes(const __m256i q[GN_QUAD_GROUPS])
{
    return in_order(_mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3])));
}

// Writes a record where every q is in -128...127. Touches at most REACH bytes, as the other two do.
// @return the record's end
INLINE uint8_t *put_narrow(uint8_t *out, __m256i bytes)
{
    __m256i planes = transpose(bytes);
    // Which of planes 0 to 6 differ from plane 7, the sign's? Is that one empty?
    const __m256i signs =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(7, 7, 7, 7, 7, 7, 7, -1, 15, 15, 15, 15, 15, 15, 15, -1));
    __m256i same = _mm256_cmpeq_epi8(planes, _mm256_shuffle_epi8(planes, signs));
    unsigned differ = ~(unsigned)_mm256_movemask_epi8(same);
    unsigned i0 = differ & 255, i1 = differ >> 8 & 255, i2 = differ >> 16 & 255, i3 = differ >> 24;
    put_header(out, narrow_class[i0], narrow_class[i1], narrow_class[i2], narrow_class[i3]);
    out += GN_QUAD_HEADER;
    __m128i low = _mm256_castsi256_si128(planes), high = _mm256_extracti128_si256(planes, 1);
    size_t second = narrow_bytes[i0], third = second + narrow_bytes[i1], fourth = third + narrow_bytes[i2];
    _mm_storel_epi64((__m128i *)(void *)out, low);
    _mm_storeh_pi((__m64 *)(void *)(out + second), _mm_castsi128_ps(low));
    _mm_storel_epi64((__m128i *)(void *)(out + third), high);
    _mm_storeh_pi((__m64 *)(void *)(out + fourth), _mm_castsi128_ps(high));
    return out + fourth + narrow_bytes[i3];
}

INLINE unsigned class_of_16(unsigned differ)
{
    return wide_class[differ >> 15 & 1][32 - _lzcnt_u32(differ & 0x7fff)];
}

// Four groups with 16 planes each, two to a register. planes[0] has groups 0 and 2, planes[1]
// groups 1 and 3.
INLINE void planes_of_16(const lanes *l, __m256i planes[2], unsigned class[GN_QUAD_GROUPS])
{
    const __m256i low_byte = _mm256_set1_epi16(255);
    const __m256i signs =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, -1));
    __m256i first = _mm256_packs_epi32(l->q[0], l->q[1]), second = _mm256_packs_epi32(l->q[2], l->q[3]);
    __m256i low =
        transpose(in_order(_mm256_packus_epi16(_mm256_and_si256(first, low_byte), _mm256_and_si256(second, low_byte))));
    __m256i high = transpose(in_order(_mm256_packus_epi16(_mm256_srli_epi16(first, 8), _mm256_srli_epi16(second, 8))));
    planes[0] = _mm256_unpacklo_epi64(low, high);
    planes[1] = _mm256_unpackhi_epi64(low, high);
    for (unsigned i = 0; i < 2; i++) {
        __m256i same = _mm256_cmpeq_epi8(planes[i], _mm256_shuffle_epi8(planes[i], signs));
        unsigned differ = ~(unsigned)_mm256_movemask_epi8(same);
        class[i] = class_of_16(differ);
        class[i + 2] = class_of_16(differ >> 16);
    }
}

INLINE __m128i planes_of_group(const __m256i planes[2], unsigned group)
{
    __m256i p = planes[group % 2];
    return group < 2 ? _mm256_castsi256_si128(p) : _mm256_extracti128_si256(p, 1);
}

// Writes a record where every |q| <= 32767.
INLINE uint8_t *put_16(uint8_t *out, const lanes *l)
{
    __m256i planes[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    unsigned class[GN_QUAD_GROUPS];
    planes_of_16(l, planes, class);
    put_header(out, class[0], class[1], class[2], class[3]);
    out += GN_QUAD_HEADER;
#pragma GCC unroll 4
    for (unsigned g = 0; g < GN_QUAD_GROUPS; g++) {
        _mm_storeu_si128((__m128i *)(void *)out, planes_of_group(planes, g));
        out += gn_class_bytes[class[g]];
    }
    return out;
}

// Writes any record. `v` has the words of lanes beyond 16 bits: raw binary32, or integers.
INLINE uint8_t *put_words(uint8_t *out, const lanes *l, bool integers, const __m256i v[GN_QUAD_GROUPS])
{
    __m256i in_16[GN_QUAD_GROUPS];
    unsigned beyond[GN_QUAD_GROUPS], class[GN_QUAD_GROUPS];
#pragma GCC unroll 4
    for (unsigned g = 0; g < GN_QUAD_GROUPS; g++) {
        // magnitudes are unsigned: the most negative integer has 2^31
        in_16[g] = _mm256_cmpeq_epi32(_mm256_srli_epi32(l->magnitude[g], 15), _mm256_setzero_si256());
        beyond[g] = 255u & ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(in_16[g]));
    }
    __m256i planes[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    if (beyond[0] && beyond[1] && beyond[2] && beyond[3])
        class[0] = class[1] = class[2] = class[3] = GN_CLASS_WORDS;
    else
        planes_of_16(l, planes, class);
    uint8_t *payload = out + GN_QUAD_HEADER;
#pragma GCC unroll 4
    for (unsigned g = 0; g < GN_QUAD_GROUPS; g++) {
        if (beyond[g]) {
            class[g] = GN_CLASS_WORDS;
            __m256i words = _mm256_blendv_epi8(v[g], l->q[g], in_16[g]);
            _mm256_storeu_si256((__m256i *)(void *)payload, transpose(bytes_of_words(words)));
            payload[32] = (uint8_t)(integers ? 0 : beyond[g]);
        } else {
            _mm_storeu_si128((__m128i *)(void *)payload, planes_of_group(planes, g));
        }
        payload += gn_class_bytes[class[g]];
    }
    put_header(out, class[0], class[1], class[2], class[3]);
    return payload;
}

// The record of a quad that is not all zeros.
INLINE uint8_t *put_record(uint8_t *out, const lanes *l, bool integers, const __m256i v[GN_QUAD_GROUPS])
{
    if (__builtin_expect(_mm256_testz_si256(l->any, _mm256_set1_epi32(~127)), 1))
        return put_narrow(out, bytes_of_lanes(l->q));
    if (__builtin_expect(_mm256_testz_si256(l->any, _mm256_set1_epi32(~32767)), 1)) return put_16(out, l);
    return put_words(out, l, integers, v);
}

INLINE void load_quad(const uint8_t *values, size_t count, __m256i v[GN_QUAD_GROUPS])
{
    for (size_t g = 0; g < GN_QUAD_GROUPS; g++) {
        size_t first = g * GN_GROUP;
        v[g] = count > first ? load_lanes(values + 4 * first, count - first) : _mm256_setzero_si256();
    }
}

// Integers of a quad in three instructions a group. Where |q| > 32767, they are beyond a byte, too:
// |v| + 1.5 * 2^(24-k) keeps its order, and what is left of it wraps far from zero.
INLINE void quick_lanes(const params *p, bool integers, const __m256i v[GN_QUAD_GROUPS], __m256i q[GN_QUAD_GROUPS])
{
    const __m256 magic = _mm256_set1_ps(p->quick);
#pragma GCC unroll 4
    for (int g = 0; g < GN_QUAD_GROUPS; g++)
        q[g] = integers ? v[g]
                        : _mm256_sub_epi32(_mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(v[g]), magic)),
                                           _mm256_castps_si256(magic));
}

// Whether a byte may stand for an integer beyond it.
INLINE bool saturated(__m256i bytes)
{
    __m256i next = _mm256_add_epi8(bytes, _mm256_set1_epi8(1));  // 127 and -128 become -128 and -127
    __m256i ends = _mm256_cmpgt_epi8(_mm256_set1_epi8(-126), next);
    return !_mm256_testz_si256(ends, ends);
}

// Appends a quad where there are REACH bytes of room.
INLINE void append(const params *p, bool integers, gn_dense_writer *writer, const __m256i v[GN_QUAD_GROUPS])
{
    __m256i q[GN_QUAD_GROUPS];
    quick_lanes(p, integers, v, q);
    __m256i bytes = bytes_of_lanes(q);
    if (_mm256_testz_si256(bytes, bytes)) {
        gn_dense_append_zeros(writer);
        return;
    }
    writer->run = 0;
    if (__builtin_expect(!saturated(bytes), 1)) {
        writer->out = put_narrow(writer->out, bytes);
        return;
    }
    lanes l = lanes_of(p, integers, v);
    writer->out = put_record(writer->out, &l, integers, v);
}

INLINE size_t encode(const params p, bool integers, const uint8_t *values, size_t count, uint8_t *stream,
                     size_t capacity, size_t *bytes)
{
    gn_dense_writer writer = {.out = stream, .end = stream + capacity};
    size_t taken = 0;
    __m256i v[GN_QUAD_GROUPS];
    gn_dense_writer fast = writer;  // stays in registers
    for (; count - taken >= GN_QUAD && fast.end - fast.out >= REACH; taken += GN_QUAD) {
        prefetch_ahead(values + 4 * taken);
        prefetch_ahead(values + 4 * taken + 64);
        load_quad(values + 4 * taken, GN_QUAD, v);
        append(&p, integers, &fast, v);
    }
    writer = fast;
    if (taken < count && count - taken < GN_QUAD && writer.end - writer.out >= REACH) {
        load_quad(values + 4 * taken, count - taken, v);
        append(&p, integers, &writer, v);
        taken = count;
    }
    while (taken < count) {  // near the end of the stream's room
        size_t present = count - taken < GN_QUAD ? count - taken : GN_QUAD, fitted = 0;
        // The last quad that fits may be a part of one. More groups never make a stream shorter.
        for (size_t some = present; some && !fitted; some = (some - 1) / GN_GROUP * GN_GROUP) {
            uint8_t record[REACH];
            load_quad(values + 4 * taken, some, v);
            lanes l = lanes_of(&p, integers, v);
            bool zero = _mm256_testz_si256(l.any, l.any);
            size_t length = zero ? 0 : (size_t)(put_record(record, &l, integers, v) - record);
            if (gn_dense_append(&writer, record, length)) fitted = some;
        }
        taken += fitted;
        if (fitted < present) break;
    }
    *bytes = (size_t)(writer.out - stream);
    return taken;
}

// ---- decode

// Writes 8 values to `to`, or adds them.
INLINE void put_whole(action act, void *to, __m256 v)
{
    if (act == STORE_FAR)
        store_far(to, v);
    else
        put_values(act == ADD, to, GN_GROUP, v);
}

// Writes 8 integers to `to`, as integers or as values.
INLINE void put_group(action act, output *o, void *to, __m256i q)
{
    if (of_integers(act))
        put_integers(act, o, to, GN_GROUP, q);
    else
        put_whole(act, to, _mm256_mul_ps(_mm256_cvtepi32_ps(q), _mm256_set1_ps(o->step)));
}

INLINE void put_zeros(action act, uint8_t *to, size_t count)
{
    if (act == ADD_INTEGER) return;
    for (; count >= GN_GROUP; count -= GN_GROUP, to += sizeof(float) * GN_GROUP)
        put_whole(act, to, _mm256_setzero_ps());
    if (count) put_values(act == ADD, to, count, _mm256_setzero_ps());
}

// Writes a group of class 15 to `to`.
INLINE void put_class_15(action act, output *o, void *to, const uint8_t *payload)
{
    __m256i words = words_of_bytes(transpose(_mm256_loadu_si256((const __m256i *)(const void *)payload)));
    unsigned raw = payload[32];
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i is_raw = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)raw), bit), bit);
    if (of_integers(act)) {
        o->raw |= raw;
        put_group(act, o, to, _mm256_andnot_si256(is_raw, words));
    } else {
        __m256 values = _mm256_castsi256_ps(words);
        if (raw != 255)
            values = _mm256_blendv_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(words), _mm256_set1_ps(o->step)), values,
                                      _mm256_castsi256_ps(is_raw));
        put_whole(act, to, values);
    }
}

// Loads 8 bytes each from two places.
INLINE __m128i load_pair(const uint8_t *low, const uint8_t *high)
{
    __m128 first = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)low));
    return _mm_castps_si128(_mm_loadh_pi(first, (const __m64 *)(const void *)high));
}

// The integers of a quad whose classes have at most 8 planes; with `add`, added to `q`. @return the
// end of its payload
INLINE const uint8_t *narrow_quad(unsigned header, const uint8_t *in, bool add, __m256i q[GN_QUAD_GROUPS])
{
    unsigned low = header & 255, high = header >> 8;
    const uint8_t *third = in + pair_bytes[low];
    __m128i planes = load_pair(in, in + first_bytes[low]), more = load_pair(third, third + first_bytes[high]);
    planes = _mm_shuffle_epi8(planes, _mm_load_si128((const __m128i *)expand_pair[low]));
    more = _mm_shuffle_epi8(more, _mm_load_si128((const __m128i *)expand_pair[high]));
    __m256i bytes = transpose(_mm256_inserti128_si256(_mm256_castsi128_si256(planes), more, 1));
    __m128i first = _mm256_castsi256_si128(bytes), second = _mm256_extracti128_si256(bytes, 1);
    __m256i found[GN_QUAD_GROUPS] = {_mm256_cvtepi8_epi32(first), _mm256_cvtepi8_epi32(_mm_srli_si128(first, 8)),
                                     _mm256_cvtepi8_epi32(second), _mm256_cvtepi8_epi32(_mm_srli_si128(second, 8))};
#pragma GCC unroll 4
    for (int g = 0; g < GN_QUAD_GROUPS; g++) q[g] = add ? _mm256_add_epi32(q[g], found[g]) : found[g];
    return third + pair_bytes[high];
}

// Reads a quad whose classes have at most 8 planes. @return the end of its payload
INLINE const uint8_t *get_narrow(action act, output *o, unsigned header, const uint8_t *in, uint8_t *to)
{
    __m256i q[GN_QUAD_GROUPS];
    in = narrow_quad(header, in, false, q);
#pragma GCC unroll 4
    for (int g = 0; g < GN_QUAD_GROUPS; g++) put_group(act, o, to + 32 * g, q[g]);
    return in;
}

// Reads any quad. @return the end of its payload
INLINE const uint8_t *get_wide(action act, output *o, unsigned header, const uint8_t *in, uint8_t *to)
{
    const uint8_t *begin[GN_QUAD_GROUPS];
    unsigned words = 0;
#pragma GCC unroll 4
    for (unsigned g = 0; g < GN_QUAD_GROUPS; g++) {
        unsigned class = gn_quad_class(header, g);
        begin[g] = in;
        in += gn_class_bytes[class];
        words |= (unsigned)(class == GN_CLASS_WORDS) << g;
    }
    if (words != 15) {
        __m128i planes[GN_QUAD_GROUPS];
#pragma GCC unroll 4
        for (unsigned g = 0; g < GN_QUAD_GROUPS; g++)
            planes[g] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)begin[g]),
                                         _mm_load_si128((const __m128i *)expand_16[gn_quad_class(header, g)]));
        __m256i low =
            transpose(_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi64(planes[0], planes[1])),
                                              _mm_unpacklo_epi64(planes[2], planes[3]), 1));
        __m256i high =
            transpose(_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpackhi_epi64(planes[0], planes[1])),
                                              _mm_unpackhi_epi64(planes[2], planes[3]), 1));
        __m256i even = _mm256_unpacklo_epi8(low, high), odd = _mm256_unpackhi_epi8(low, high);
        if (!(words & 1)) put_group(act, o, to, _mm256_cvtepi16_epi32(_mm256_castsi256_si128(even)));
        if (!(words & 2)) put_group(act, o, to + 32, _mm256_cvtepi16_epi32(_mm256_castsi256_si128(odd)));
        if (!(words & 4)) put_group(act, o, to + 64, _mm256_cvtepi16_epi32(_mm256_extracti128_si256(even, 1)));
        if (!(words & 8)) put_group(act, o, to + 96, _mm256_cvtepi16_epi32(_mm256_extracti128_si256(odd, 1)));
    }
    for (unsigned g = 0; words && g < GN_QUAD_GROUPS; g++)
        if (words >> g & 1) put_class_15(act, o, to + (size_t)32 * g, begin[g]);
    return in;
}

INLINE bool is_narrow(unsigned header)
{
    return (header & header << 1 & 0x8888) == 0;  // no class of 12 or more
}

typedef struct cursor {
    const uint8_t *in;
    uint8_t *to;
    size_t count;  // values left
} cursor;

// Reads items as long as a whole quad is left, and as long as an item may read no further than
// `end`. @return false for a run that is too long
INLINE bool get_items(action act, output *o, cursor *c, const uint8_t *end)
{
    const uint8_t *in = c->in;
    uint8_t *to = c->to;
    size_t count = c->count;
    bool good = true;
    while (count >= GN_QUAD && end - in >= NARROW_REACH) {
        uint32_t word;  // the third byte too: quads - 1 of a run
        memcpy(&word, in, sizeof word);
        unsigned header = word & 0xffff;
        if (header) {
            if (__builtin_expect(is_narrow(header), 1)) {
                in = get_narrow(act, o, header, in + GN_QUAD_HEADER, to);
            } else {
                if (end - in < REACH) break;
                in = get_wide(act, o, header, in + GN_QUAD_HEADER, to);
            }
            to += sizeof(float) * GN_QUAD;
            count -= GN_QUAD;
            continue;
        }
        size_t run = ((word >> 16 & 255) + (size_t)1) * GN_QUAD;
        if (run > count) {
            if (run - count >= GN_QUAD) {
                good = false;
                break;
            }
            run = count;  // a run up to the last quad, which is not whole
        }
        put_zeros(act, to, run);
        in += GN_RUN_ITEM;
        to += sizeof(float) * run;
        count -= run;
    }
    *c = (cursor){in, to, count};
    return good;
}

// Reads the last quad, which is not whole, not with STORE_FAR. At least REACH bytes can be read.
INLINE bool get_last(action act, output *o, cursor *c)
{
    unsigned header = gn_quad_header(c->in);
    if (!header) {
        if (c->in[GN_QUAD_HEADER]) return false;
        put_zeros(act, c->to, c->count);
        c->in += GN_RUN_ITEM;
        return true;
    }
    if (!gn_dense_missing_empty(c->in, c->count)) return false;
    __m256i whole[GN_QUAD_GROUPS];
    // the sums so far
    load_quad(c->to, act == STORE || act == STORE_INTEGER ? 0 : c->count, whole);
    c->in = get_wide(act, o, header, c->in + GN_QUAD_HEADER, (uint8_t *)whole);
    for (size_t g = 0; g * GN_GROUP < c->count; g++)
        store_lanes(c->to + 32 * g, c->count - g * GN_GROUP, _mm256_castsi256_ps(whole[g]));
    return true;
}

INLINE bool decode(action act, output *o, const uint8_t *stream, size_t bytes, void *values, size_t count)
{
    cursor c = {stream, values, count};
    if (!get_items(act, o, &c, stream + bytes)) return false;
    size_t rest = bytes - (size_t)(c.in - stream);
    if (c.count == 0) return rest == 0;
    if (rest > REACH) return false;  // less than a quad is left, which takes fewer bytes
    // Reads the end from a copy that can be read past it. Nothing behind it ends an item, so one
    // comparison tells whether all items stayed within the stream.
    uint8_t copy[2 * REACH];
    memcpy(copy, c.in, rest);
    memset(copy + rest, 0, REACH);
    c.in = copy;
    if (!get_items(act, o, &c, copy + rest + REACH)) return false;
    if (c.count && (c.in >= copy + rest || !get_last(act == STORE_FAR ? STORE : act, o, &c))) return false;
    return c.in == copy + rest;
}

// ---- the table

static size_t encode_values(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream,
                            size_t capacity, size_t *bytes)
{
    return encode(params_of(GN_LATTICE, codec->bound_exp), false, values, count, stream, capacity, bytes);
}

static size_t encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, uint8_t *stream,
                              size_t capacity, size_t *bytes)
{
    return encode(params_of(GN_LATTICE, codec->bound_exp), true, (const uint8_t *)integers, count, stream, capacity,
                  bytes);
}

// The result is larger than a core's share of any cache: it would only drive out what is there.
static bool decode_far(output *o, const uint8_t *stream, size_t bytes, uint8_t *values, size_t count)
{
    bool good = decode(STORE_FAR, o, stream, bytes, values, count);
    _mm_sfence();
    return good;
}

static bool decode_values(const gn_codec *codec, const uint8_t *stream, size_t bytes, uint8_t *values, size_t count)
{
    output o = {.step = params_of(GN_LATTICE, codec->bound_exp).step};
    if (count >= FAR_VALUES && (uintptr_t)values % FAR_ALIGN == 0) return decode_far(&o, stream, bytes, values, count);
    return decode(STORE, &o, stream, bytes, values, count);
}

static void add(const gn_codec *codec, const uint8_t *stream, size_t bytes, float *sums, size_t count)
{
    output o = {.step = params_of(GN_LATTICE, codec->bound_exp).step};
    decode(ADD, &o, stream, bytes, sums, count);
}

static unsigned add_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *sums, size_t count)
{
    (void)codec;
    output o = {.overflow = _mm256_setzero_si256()};
    decode(ADD_INTEGER, &o, stream, bytes, sums, count);
    return flags_of(&o);
}

static bool get_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *integers, size_t count,
                         unsigned *flags)
{
    (void)codec;
    output o = {.overflow = _mm256_setzero_si256()};
    bool good = decode(STORE_INTEGER, &o, stream, bytes, integers, count);
    *flags = flags_of(&o);
    return good;
}

#endif
