// SPDX-License-Identifier: Apache-2.0
// Profile lattice in NEON, a group at a time. One byte shuffle per half group moves the payloads
// together, or apart, as in avx2.c.
#include "neon.h"

#include "../record.h"
#include "tables.h"

static const uint64_t pack_low[256][2] __attribute__((aligned(64))) = {GN_TABLE_256(GN_PACK_LOW)};
static const uint32_t expand_split[256][4] __attribute__((aligned(64))) = {GN_TABLE_256(GN_EXPAND_SPLIT)};
static const uint8_t half_bytes[256] __attribute__((aligned(64))) = {GN_TABLE_256(GN_HALF_BYTES)};

// ---- encode

// Four lanes: their payload words, and minus their tags.
typedef struct half {
    int32x4_t words, tags;
} half;

INLINE half half_of(const params *p, int32x4_t v)
{
    int32x4_t q = steps_of(p, v);
    uint32x4_t raw = vcgtq_s32(q, vdupq_n_s32(32767));
    uint32x4_t above = vaddq_u32(vcgtzq_s32(q), vcgtq_s32(q, vdupq_n_s32(127)));
    return (half){.words = vbslq_s32(raw, v, with_sign_of(v, q)), .tags = vreinterpretq_s32_u32(vaddq_u32(above, raw))};
}

INLINE uint8x16_t shuffle(uint8x16_t bytes, const void *control)
{
    return vqtbl1q_u8(bytes, vld1q_u8(control));
}

// Writes one record. Touches GN_RECORD_MAX bytes from `out`, whatever its length. @return its end
INLINE uint8_t *put_record(const params *p, uint8_t *out, group v)
{
    const half a = half_of(p, v.val[0]), b = half_of(p, v.val[1]);
    static const int32_t weights[4] = {-1, -4, -16, -64};
    const int32x4_t weight = vld1q_s32(weights);
    const unsigned low = (unsigned)vaddvq_s32(vmulq_s32(a.tags, weight)),
                   high = (unsigned)vaddvq_s32(vmulq_s32(b.tags, weight));
    out[0] = (uint8_t)low;
    out[1] = (uint8_t)high;
    out += GN_TAG_WORD;
    vst1q_u8(out, shuffle(vreinterpretq_u8_s32(a.words), pack_low[low]));
    out += half_bytes[low];
    vst1q_u8(out, shuffle(vreinterpretq_u8_s32(b.words), pack_low[high]));
    return out + half_bytes[high];
}

// Whole groups, as long as the longest record fits. The scalar kernel goes on. @return values taken
INLINE size_t encode(const gn_codec *codec, bool integers, const uint8_t *values, size_t count, uint8_t *stream,
                     size_t capacity, size_t *bytes)
{
    const params p = params_of(GN_LATTICE, codec->bound_exp);
    const uint8_t *end = stream + capacity;
    uint8_t *out = stream;
    size_t taken = 0;
    for (; count - taken >= GN_GROUP && end - out >= GN_RECORD_MAX; taken += GN_GROUP) {
        prefetch_ahead(values + 4 * taken);
        group v = load_group(values + 4 * taken);
        if (integers) v = (group){{values_of(p.step, v.val[0]), values_of(p.step, v.val[1])}};
        out = put_record(&p, out, v);
    }
    *bytes = (size_t)(out - stream);
    return taken;
}

static size_t encode_values(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream,
                            size_t capacity, size_t *bytes)
{
    size_t more = 0, taken = encode(codec, false, values, count, stream, capacity, bytes);
    if (taken < count)
        taken += gn_scalar_lattice.encode(codec, values + 4 * taken, count - taken, stream + *bytes, capacity - *bytes,
                                          &more);
    *bytes += more;
    return taken;
}

static size_t encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, uint8_t *stream,
                              size_t capacity, size_t *bytes)
{
    size_t more = 0, taken = encode(codec, true, (const uint8_t *)integers, count, stream, capacity, bytes);
    if (taken < count)
        taken += gn_scalar_encode_integers(codec, integers + taken, count - taken, stream + *bytes, capacity - *bytes,
                                           &more);
    *bytes += more;
    return taken;
}

// ---- decode

// q of words whose payloads expand_split put in place. Tag 1 has q * 2^8 in the high half, tag 2
// has q in the low half.
INLINE int32x4_t integers_of(int32x4_t words)
{
    return vaddq_s32(vshrq_n_s32(vshlq_n_s32(words, 16), 16), vshrq_n_s32(words, 24));
}

// Reads one group. At least GN_RECORD_MAX bytes can be read. @return the record's end
INLINE const uint8_t *get_record(action act, output *o, const uint8_t *record, uint8_t *to)
{
    const unsigned low = record[0], high = record[1], tags = low | high << 8, raw = tags & tags >> 1 & 0x5555;
    const uint8_t *first = record + GN_TAG_WORD, *second = first + half_bytes[low];
    const group words = {{vreinterpretq_s32_u8(shuffle(vld1q_u8(first), expand_split[low])),
                          vreinterpretq_s32_u8(shuffle(vld1q_u8(second), expand_split[high]))}};
    group q = {{integers_of(words.val[0]), integers_of(words.val[1])}};
    if (__builtin_expect(!raw, 1)) {
        put_group(act, o, to, q);
        return second + half_bytes[high];
    }
    for (int i = 0; i < 2; i++) {
        static const uint32_t bits[2][4] = {{1, 4, 16, 64}, {256, 1024, 4096, 16384}};
        const uint32x4_t is_raw = vtstq_u32(vdupq_n_u32(raw), vld1q_u32(bits[i]));
        q.val[i] = of_integers(act) ? vbicq_s32(q.val[i], vreinterpretq_s32_u32(is_raw))
                                    : vbslq_s32(is_raw, words.val[i], values_of(o->step, q.val[i]));
    }
    if (of_integers(act)) {
        o->raw |= raw;
        put_group(act, o, to, q);
    } else {
        put_values(act, to, q);
    }
    return second + half_bytes[high];
}

typedef struct cursor {
    const uint8_t *in;
    uint8_t *to;
    size_t count;  // values left
} cursor;

// Whole groups, as long as the longest record can be read. The scalar kernel goes on.
INLINE cursor get_records(action act, output *o, const uint8_t *stream, size_t bytes, void *to, size_t count)
{
    const uint8_t *end = stream + bytes;
    cursor c = {stream, to, count};
    for (; c.count >= GN_GROUP && end - c.in >= GN_RECORD_MAX; c.count -= GN_GROUP, c.to += 4 * GN_GROUP)
        c.in = get_record(act, o, c.in, c.to);
    return c;
}

static bool decode(const gn_codec *codec, const uint8_t *stream, size_t bytes, uint8_t *values, size_t count)
{
    output o = output_of(codec);
    const cursor c = get_records(STORE, &o, stream, bytes, values, count);
    return gn_scalar_lattice.decode(codec, c.in, bytes - (size_t)(c.in - stream), c.to, c.count);
}

static void add(const gn_codec *codec, const uint8_t *stream, size_t bytes, float *sums, size_t count)
{
    output o = output_of(codec);
    const cursor c = get_records(ADD, &o, stream, bytes, sums, count);
    gn_scalar_lattice.add(codec, c.in, bytes - (size_t)(c.in - stream), sums + (count - c.count), c.count);
}

static unsigned add_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *sums, size_t count)
{
    output o = output_of(codec);
    const cursor c = get_records(ADD_INTEGER, &o, stream, bytes, sums, count);
    return flags_of(&o) |
           gn_scalar_add_integers(codec, c.in, bytes - (size_t)(c.in - stream), sums + (count - c.count), c.count);
}

static bool get_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *integers, size_t count,
                         unsigned *flags)
{
    output o = output_of(codec);
    const cursor c = get_records(STORE_INTEGER, &o, stream, bytes, integers, count);
    const bool good = gn_scalar_get_integers(codec, c.in, bytes - (size_t)(c.in - stream), integers + (count - c.count),
                                             c.count, flags);
    *flags |= flags_of(&o);
    return good;
}

// ---- quantise

void gn_neon_quantise(const gn_codec *codec, const float *values, float *quantised, float *residual, size_t count)
{
    const params p = params_of(GN_LATTICE, codec->bound_exp);
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const int32x4_t v = vreinterpretq_s32_f32(vld1q_f32(values + i)), steps = steps_of(&p, v);
        const uint32x4_t raw = vcgtq_s32(steps, vdupq_n_s32(32767));
        const float32x4_t seen = vreinterpretq_f32_s32(vbslq_s32(raw, v, values_of(p.step, with_sign_of(v, steps))));
        // A raw value is exact, or has no difference.
        const uint32x4_t left = vbicq_u32(vreinterpretq_u32_f32(vsubq_f32(vreinterpretq_f32_s32(v), seen)), raw);
        vst1q_f32(quantised + i, seen);
        if (residual) vst1q_f32(residual + i, vreinterpretq_f32_u32(left));
    }
    if (i < count) gn_scalar_quantise(codec, values + i, quantised + i, residual ? residual + i : NULL, count - i);
}

const gn_kernel_row gn_neon_lattice = {encode_values, decode,       gn_neon_quantise, add,
                                       add_integers,  get_integers, encode_integers,  NULL};
