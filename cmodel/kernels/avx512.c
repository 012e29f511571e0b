// SPDX-License-Identifier: Apache-2.0
// Profiles paper and lattice in AVX-512 with VBMI2: the byte compression instruction encodes two
// groups at a time. Its mask has one bit for each byte to keep. avx2.c needs tables and a store per
// half group for that. Everything but encoding is avx2.c's. Compiled with the flags that dispatch.c
// asks for.
#include <immintrin.h>

#include "../record.h"
#include "scalar.h"
#include "x86.h"

enum {
    QUAD = 4 * GN_GROUP,           // values done at a time
    QUAD_TAGS = 4 * GN_TAG_WORD,   // bytes of their records at least
    QUAD_MAX = 4 * GN_RECORD_MAX,  // and at most; a pair's store of 64 bytes stays within that
};

// 16 values. Bit i of a mask is lane i's.
typedef struct classes {
    __m512i words;                          // payload in the lowest bytes (paper: highest)
    uint32_t above_zero, above_short, raw;  // tag > 0, > 1, > 2
} classes;

// The same quantisers as in avx2.c and avx2.h, which say why they are right.
INLINE classes classes_of(const params *p, __m512i v)
{
    const __m512i sign = _mm512_set1_epi32((int)0x80000000u);
    __m512i a = _mm512_andnot_si512(sign, v), coded;
    __mmask16 above_zero, above_short, raw;
    if (p->profile == GN_LATTICE) {
        __m512 magic = _mm512_set1_ps(p->magic);
        __m512i q = _mm512_sub_epi32(_mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), magic)),
                                     _mm512_castps_si512(magic));
        above_zero = _mm512_cmpgt_epi32_mask(q, _mm512_setzero_si512());
        above_short = _mm512_cmpgt_epi32_mask(q, _mm512_set1_epi32(127));
        raw = _mm512_cmpgt_epi32_mask(q, _mm512_set1_epi32(32767));
        coded = _mm512_mask_sub_epi32(q, _mm512_movepi32_mask(v), _mm512_setzero_si512(), q);
    } else {
        above_zero = _mm512_cmpgt_epi32_mask(a, _mm512_set1_epi32(p->above_zero));
        above_short = _mm512_cmpgt_epi32_mask(a, _mm512_set1_epi32(p->above_short));
        raw = _mm512_cmpgt_epi32_mask(a, _mm512_set1_epi32((127 << 23) - 1));
        __m512 scaled = _mm512_mul_ps(_mm512_castsi512_ps(a), _mm512_set1_ps(0x1p31f));
        coded = _mm512_or_si512(_mm512_cvttps_epi32(scaled), _mm512_and_si512(v, sign));
    }
    return (classes){_mm512_mask_mov_epi32(coded, raw, v), above_zero, above_short, raw};
}

// Puts two records without raw lanes together in a register and compresses both at once. Writes 64
// bytes.
INLINE uint8_t *put_pair(const params *p, uint8_t *out, const classes *c)
{
    const uint64_t lows = 0x55555555, highs = 0xaaaaaaaa;
    // two bits a lane
    uint64_t kept = _pdep_u64(c->above_zero, lows) | _pdep_u64(c->above_short, highs);
    uint64_t tags = kept ^ (kept >> 1 & lows);  // 11 means tag 2: 10
    __m512i words = c->words;
    if (p->profile == GN_PAPER) {  // the high byte is the one that tag 1 keeps
        words = _mm512_srli_epi32(words, 16);
        kept = (kept >> 1 & lows) | (kept << 1 & highs);
    }
    // 18 halfwords: a tag word and 8 lanes, twice. Index 32 and 33: the tag words.
    const __m512i order = _mm512_set_epi16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 14, 13, 12, 11, 10, 9, 8, 33,
                                           7, 6, 5, 4, 3, 2, 1, 0, 32);
    __m512i halves = _mm512_castsi256_si512(_mm512_cvtepi32_epi16(words));
    __m512i records = _mm512_permutex2var_epi16(halves, order, _mm512_castsi128_si512(_mm_cvtsi32_si128((int)tags)));
    uint64_t mask = _pdep_u64(kept, 0xffff3fffcull) | 0xc0003ull;
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(mask, records));
    return out + __builtin_popcountll(mask);
}

// Writes one record of any classes, lanes 0 to 7 of `c`, if it fits into `room`. @return its bytes
INLINE size_t put_record(const params *p, uint8_t *out, size_t room, const classes *c)
{
    uint32_t zero = c->above_zero & 0xff, rest = c->above_short & 0xff, raw = c->raw & 0xff;
    uint32_t tags = _pdep_u32(zero ^ rest ^ raw, 0x5555) | _pdep_u32(rest, 0xaaaa);
    uint32_t kept;  // four bits a lane
    if (p->profile == GN_LATTICE)
        kept = _pdep_u32(zero, 0x11111111) | _pdep_u32(rest, 0x22222222) | _pdep_u32(raw, 0x44444444) * 3;
    else
        kept = _pdep_u32(zero, 0x88888888) | _pdep_u32(rest, 0x44444444) | _pdep_u32(raw, 0x11111111) * 3;
    size_t payload = (size_t)__builtin_popcount(kept), bytes = GN_TAG_WORD + payload;
    if (bytes > room) return bytes;
    uint16_t tag_word = (uint16_t)tags;
    memcpy(out, &tag_word, GN_TAG_WORD);
    __m256i packed = _mm256_maskz_compress_epi8(kept, _mm512_castsi512_si256(c->words));
    if (room >= GN_RECORD_MAX)
        _mm256_storeu_si256((__m256i *)(out + GN_TAG_WORD), packed);
    else
        _mm256_mask_storeu_epi8(out + GN_TAG_WORD, _bzhi_u32(~0u, (unsigned)payload), packed);
    return bytes;
}

// Raw lanes take a compression per record, and then avx2.c is faster. It gets so many values from
// there on.
enum { RAW_RUN = 8 * QUAD };

// As in gn_kernel_row.
typedef size_t encoder(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream, size_t capacity,
                       size_t *bytes);

INLINE size_t encode(const gn_codec *codec, const params p, encoder *avx2, const uint8_t *values, size_t count,
                     uint8_t *stream, size_t capacity, size_t *bytes)
{
    uint8_t *out = stream;
    const uint8_t *end = stream + capacity;
    size_t taken = 0;
    while (count - taken >= QUAD && end - out >= QUAD_MAX) {
        prefetch_ahead(values + 4 * taken);
        prefetch_ahead(values + 4 * taken + 64);
        classes first = classes_of(&p, _mm512_loadu_si512(values + 4 * taken));
        classes second = classes_of(&p, _mm512_loadu_si512(values + 4 * taken + 64));
        if (__builtin_expect((first.raw | second.raw) != 0, 0)) {
            size_t run = count - taken < RAW_RUN ? (count - taken) / QUAD * QUAD : RAW_RUN, length;
            size_t fitted = avx2(codec, values + 4 * taken, run, out, (size_t)(end - out), &length);
            out += length;
            taken += fitted;
            if (fitted < run) break;
        } else if ((first.above_zero | second.above_zero) == 0) {
            memset(out, 0, QUAD_TAGS);
            out += QUAD_TAGS;
            taken += QUAD;
        } else {
            out = put_pair(&p, out, &first);
            out = put_pair(&p, out, &second);
            taken += QUAD;
        }
    }
    while (taken < count) {  // one at a time, as long as they fit
        size_t lanes = count - taken < GN_GROUP ? count - taken : GN_GROUP;
        __m256i v = _mm256_maskz_loadu_epi32((__mmask8)((1u << lanes) - 1), values + 4 * taken);
        classes c = classes_of(&p, _mm512_castsi256_si512(v));
        size_t room = (size_t)(end - out), length = put_record(&p, out, room, &c);
        if (length > room) break;
        out += length;
        taken += lanes;
    }
    *bytes = (size_t)(out - stream);
    return taken;
}

static size_t paper_encode(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream, size_t capacity,
                           size_t *bytes)
{
    return encode(codec, params_of(GN_PAPER, codec->bound_exp), gn_avx2_paper_encode, values, count, stream, capacity,
                  bytes);
}

static size_t lattice_encode(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream,
                             size_t capacity, size_t *bytes)
{
    return encode(codec, params_of(GN_LATTICE, codec->bound_exp), gn_avx2_lattice_encode, values, count, stream,
                  capacity, bytes);
}

const gn_kernel_row gn_avx512_paper = {
    paper_encode, gn_avx2_paper_decode, gn_avx2_paper_quantise, gn_avx2_paper_add, NULL, NULL, NULL, NULL};
const gn_kernel_row gn_avx512_lattice = {
    lattice_encode,       gn_avx2_lattice_decode, gn_avx2_lattice_quantise, gn_avx2_lattice_add,
    gn_avx2_add_integers, gn_avx2_get_integers,   gn_avx2_encode_integers,  NULL};
