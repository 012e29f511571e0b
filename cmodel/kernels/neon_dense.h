// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NEON_DENSE_H
#define GRADNIC_NEON_DENSE_H
/// Internal: the records of profile dense in NEON, a quad at a time, as in avx2_dense.h: lanes
/// become bytes, and a transposition of 8x8 bit matrices makes planes of them, or bytes of planes.

#include "../dense.h"
#include "dense_tables.h"
#include "neon.h"

enum { REACH = GN_QUAD_MAX + 16 };  // bytes behind the begin of an item that may be read or written

static const uint8_t narrow_class[256] __attribute__((aligned(64))) = {GN_TABLE_256(GN_NARROW_CLASS)};
static const uint8_t narrow_bytes[256] __attribute__((aligned(64))) = {GN_TABLE_256(GN_NARROW_BYTES)};
static const uint8_t wide_class[2][16] = {{GN_TABLE_16(GN_POSITIVE_CLASS, 0)}, {GN_TABLE_16(GN_SIGNED_CLASS, 0)}};
static const uint8_t first_bytes[256] __attribute__((aligned(64))) = {GN_TABLE_256(GN_FIRST_BYTES)};
static const uint8_t pair_bytes[256] __attribute__((aligned(64))) = {GN_TABLE_256(GN_PAIR_BYTES)};
static const uint64_t expand_pair[256][2] __attribute__((aligned(64))) = {GN_TABLE_256(GN_EXPAND_PAIR)};
static const uint64_t expand_16[GN_CLASS_COUNT][2] __attribute__((aligned(64))) = {GN_TABLE_16(GN_EXPAND_16, 0)};

/// The integers of a quad, or its values as bits.
typedef group quad[GN_QUAD_GROUPS];

// ---- bits

// In each 64-bit element, bit j of byte i becomes bit i of byte j: swaps squares of 1, 2 and 4 bits
// across the diagonal.
INLINE uint8x16_t transpose(uint8x16_t bytes)
{
    uint64x2_t x = vreinterpretq_u64_u8(bytes);
    uint64x2_t t = vandq_u64(veorq_u64(x, vshrq_n_u64(x, 7)), vdupq_n_u64(0x00aa00aa00aa00aa));
    x = veorq_u64(x, veorq_u64(t, vshlq_n_u64(t, 7)));
    t = vandq_u64(veorq_u64(x, vshrq_n_u64(x, 14)), vdupq_n_u64(0x0000cccc0000cccc));
    x = veorq_u64(x, veorq_u64(t, vshlq_n_u64(t, 14)));
    t = vandq_u64(veorq_u64(x, vshrq_n_u64(x, 28)), vdupq_n_u64(0x00000000f0f0f0f0));
    return vreinterpretq_u8_u64(veorq_u64(x, veorq_u64(t, vshlq_n_u64(t, 28))));
}

// A mask with a bit for each byte, where the byte is all ones or zeros.
INLINE uint8x16_t weigh(uint8x16_t bytes)
{
    return vandq_u8(bytes, vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201)));
}

INLINE unsigned mask_of_16(uint8x16_t bytes)
{
    const uint8x16_t bits = weigh(bytes);
    return vaddv_u8(vget_low_u8(bits)) | (unsigned)vaddv_u8(vget_high_u8(bits)) << 8;
}

INLINE uint32_t mask_of_32(uint8x16_t low, uint8x16_t high)
{
    uint8x16_t sums = vpaddq_u8(weigh(low), weigh(high));
    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u32(vreinterpretq_u32_u8(vpaddq_u8(sums, sums)), 0);
}

INLINE uint8x16_t byte_table(const uint8_t bytes[16])
{
    return vld1q_u8(bytes);
}

// 8 words to bytes: in `halves`, byte 0 and byte 1 of all of them, then byte 2 and 3. And back.
INLINE void bytes_of_words(group words, uint8x16_t halves[2])
{
    static const uint8_t from[2][16] = {{0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29},
                                        {2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31}};
    const uint8x16x2_t all = {{vreinterpretq_u8_s32(words.val[0]), vreinterpretq_u8_s32(words.val[1])}};
    for (int i = 0; i < 2; i++) halves[i] = vqtbl2q_u8(all, byte_table(from[i]));
}

INLINE group words_of_bytes(uint8x16_t first, uint8x16_t second)
{
    static const uint8_t from[2][16] = {{0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27},
                                        {4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31}};
    const uint8x16x2_t all = {{first, second}};
    return (group){{vreinterpretq_s32_u8(vqtbl2q_u8(all, byte_table(from[0]))),
                    vreinterpretq_s32_u8(vqtbl2q_u8(all, byte_table(from[1])))}};
}

// ---- write a record

// Halfwords and bytes of integers. Those that do not fit become the largest or the least that does.
INLINE int16x8_t halfwords_of(group q)
{
    return vcombine_s16(vqmovn_s32(q.val[0]), vqmovn_s32(q.val[1]));
}

INLINE void bytes_of_quad(const quad q, int8x16_t bytes[2])
{
    bytes[0] = vcombine_s8(vqmovn_s16(halfwords_of(q[0])), vqmovn_s16(halfwords_of(q[1])));
    bytes[1] = vcombine_s8(vqmovn_s16(halfwords_of(q[2])), vqmovn_s16(halfwords_of(q[3])));
}

// Whether a byte may stand for an integer beyond it.
INLINE bool saturated(const int8x16_t bytes[2])
{
    return vmaxvq_s8(vmaxq_s8(bytes[0], bytes[1])) == INT8_MAX || vminvq_s8(vminq_s8(bytes[0], bytes[1])) == INT8_MIN;
}

INLINE bool all_zero(const int8x16_t bytes[2])
{
    return vmaxvq_u8(vreinterpretq_u8_s8(vorrq_s8(bytes[0], bytes[1]))) == 0;
}

INLINE void put_header(uint8_t *out, const unsigned class[GN_QUAD_GROUPS])
{
    const uint16_t header = (uint16_t)(class[0] | class[1] << 4 | class[2] << 8 | class[3] << 12);
    memcpy(out, &header, GN_QUAD_HEADER);
}

// Writes a record of integers that fit into bytes. Touches at most REACH bytes, as put_wide() does.
// @return the record's end
INLINE uint8_t *put_narrow(uint8_t *out, const int8x16_t bytes[2])
{
    static const uint8_t sign[16] = {7, 7, 7, 7, 7, 7, 7, 255, 15, 15, 15, 15, 15, 15, 15, 255};
    const uint8x16_t signs = byte_table(sign);
    uint8x16_t planes[2], differ[2];
    for (int i = 0; i < 2; i++) {
        // Which of planes 0 to 6 differ from plane 7, the sign's? Is that one empty?
        planes[i] = transpose(vreinterpretq_u8_s8(bytes[i]));
        differ[i] = vmvnq_u8(vceqq_u8(planes[i], vqtbl1q_u8(planes[i], signs)));
    }
    const uint32_t mask = mask_of_32(differ[0], differ[1]);
    unsigned class[GN_QUAD_GROUPS];
    uint8_t *to[GN_QUAD_GROUPS + 1] = {out + GN_QUAD_HEADER};
    for (int g = 0; g < GN_QUAD_GROUPS; g++) {
        class[g] = narrow_class[mask >> 8 * g & 255];
        to[g + 1] = to[g] + narrow_bytes[mask >> 8 * g & 255];
    }
    put_header(out, class);
    vst1_u8(to[0], vget_low_u8(planes[0]));
    vst1_u8(to[1], vget_high_u8(planes[0]));
    vst1_u8(to[2], vget_low_u8(planes[1]));
    vst1_u8(to[3], vget_high_u8(planes[1]));
    return to[4];
}

// Writes a group of 16-bit integers. @return its class
INLINE unsigned put_16(uint8_t *out, int16x8_t halfwords)
{
    static const uint8_t sign[16] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 255};
    const uint16x8_t words = vreinterpretq_u16_s16(halfwords);
    const uint8x16_t planes = transpose(vcombine_u8(vmovn_u16(words), vshrn_n_u16(words, 8)));
    const unsigned differ = mask_of_16(vmvnq_u8(vceqq_u8(planes, vqtbl1q_u8(planes, byte_table(sign)))));
    vst1q_u8(out, planes);
    return wide_class[differ >> 15][31 - __builtin_clz((differ & 0x7fff) << 1 | 1)];
}

// Writes any record. `magnitudes` are those of `q`; where one is beyond 16 bits, `v` has the word:
// raw binary32, or with `integers` the integer.
INLINE uint8_t *put_wide(uint8_t *out, const quad magnitudes, const quad q, bool integers, const quad v)
{
    unsigned class[GN_QUAD_GROUPS];
    uint8_t *payload = out + GN_QUAD_HEADER;
    for (int g = 0; g < GN_QUAD_GROUPS; g++) {
        uint32x4_t beyond[2];
        for (int i = 0; i < 2; i++)
            beyond[i] = vcgtq_u32(vreinterpretq_u32_s32(magnitudes[g].val[i]), vdupq_n_u32(32767));
        if (vmaxvq_u32(vorrq_u32(beyond[0], beyond[1])) == 0) {
            class[g] = put_16(payload, halfwords_of(q[g]));
        } else {
            static const uint32_t bits[2][4] = {{1, 2, 4, 8}, {16, 32, 64, 128}};
            uint8x16_t halves[2];
            bytes_of_words((group){{vbslq_s32(beyond[0], v[g].val[0], q[g].val[0]),
                                    vbslq_s32(beyond[1], v[g].val[1], q[g].val[1])}},
                           halves);
            vst1q_u8(payload, transpose(halves[0]));
            vst1q_u8(payload + 16, transpose(halves[1]));
            const unsigned raw = vaddvq_u32(vandq_u32(beyond[0], vld1q_u32(bits[0]))) |
                                 vaddvq_u32(vandq_u32(beyond[1], vld1q_u32(bits[1])));
            payload[32] = (uint8_t)(integers ? 0 : raw);
            class[g] = GN_CLASS_WORDS;
        }
        payload += gn_class_bytes[class[g]];
    }
    put_header(out, class);
    return payload;
}

// ---- read a record

INLINE group words_of_halfwords(int16x8_t q)
{
    return (group){{vmovl_s16(vget_low_s16(q)), vmovl_high_s16(q)}};
}

INLINE bool is_narrow(unsigned header)
{
    return (header & header << 1 & 0x8888) == 0;  // no class of 12 or more
}

INLINE bool has_words(unsigned header)
{
    return (header & header >> 1 & header >> 2 & header >> 3 & 0x1111) != 0;
}

// The integers of a quad whose classes have at most 8 planes. @return the end of its payload
INLINE const uint8_t *narrow_quad(unsigned header, const uint8_t *in, quad q)
{
    for (int i = 0; i < 2; i++) {
        const unsigned pair = header >> 8 * i & 255;
        const uint8x16_t planes = vcombine_u8(vld1_u8(in), vld1_u8(in + first_bytes[pair]));
        const int8x16_t bytes =
            vreinterpretq_s8_u8(transpose(vqtbl1q_u8(planes, vreinterpretq_u8_u64(vld1q_u64(expand_pair[pair])))));
        q[2 * i] = words_of_halfwords(vmovl_s8(vget_low_s8(bytes)));
        q[2 * i + 1] = words_of_halfwords(vmovl_high_s8(bytes));
        in += pair_bytes[pair];
    }
    return in;
}

// The integers of a group with at most 16 planes.
INLINE group group_of_16(unsigned class, const uint8_t *in)
{
    const uint8x16_t bytes = transpose(vqtbl1q_u8(vld1q_u8(in), vreinterpretq_u8_u64(vld1q_u64(expand_16[class]))));
    return words_of_halfwords(vreinterpretq_s16_u8(vzip1q_u8(bytes, vextq_u8(bytes, bytes, 8))));
}

// Writes a group of class 15 to `to`.
INLINE void put_class_15(action act, output *o, void *to, const uint8_t *payload)
{
    group words = words_of_bytes(transpose(vld1q_u8(payload)), transpose(vld1q_u8(payload + 16)));
    const unsigned raw = payload[32];
    for (int i = 0; i < 2; i++) {
        static const uint32_t bits[2][4] = {{1, 2, 4, 8}, {16, 32, 64, 128}};
        const uint32x4_t is_raw = vtstq_u32(vdupq_n_u32(raw), vld1q_u32(bits[i]));
        words.val[i] = of_integers(act) ? vbicq_s32(words.val[i], vreinterpretq_s32_u32(is_raw))
                                        : vbslq_s32(is_raw, words.val[i], values_of(o->step, words.val[i]));
    }
    if (of_integers(act)) {
        o->raw |= raw;
        put_group(act, o, to, words);
    } else {
        put_values(act, to, words);
    }
}

// Reads any quad. @return the end of its payload
INLINE const uint8_t *get_quad(action act, output *o, unsigned header, const uint8_t *in, uint8_t *to)
{
    if (__builtin_expect(is_narrow(header), 1)) {
        quad q;
        in = narrow_quad(header, in, q);
        for (size_t g = 0; g < GN_QUAD_GROUPS; g++) put_group(act, o, to + 32 * g, q[g]);
        return in;
    }
    for (unsigned g = 0; g < GN_QUAD_GROUPS; g++, to += 4 * GN_GROUP) {
        const unsigned class = gn_quad_class(header, g);
        if (class == GN_CLASS_WORDS)
            put_class_15(act, o, to, in);
        else
            put_group(act, o, to, group_of_16(class, in));
        in += gn_class_bytes[class];
    }
    return in;
}

#endif
