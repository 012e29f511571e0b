// SPDX-License-Identifier: Apache-2.0
// Profile dense in NEON: whole quads. The scalar kernel does what is left at the ends.
#include "neon_dense.h"
#include "scalar_dense.h"

// ---- encode

INLINE void load_quad(const uint8_t *values, quad v)
{
    for (size_t g = 0; g < GN_QUAD_GROUPS; g++) v[g] = load_group(values + 32 * g);
}

// Integers of a quad, as quick_lanes() in avx2_dense.h: where |q| > 32767, they are beyond a byte.
INLINE void quick_quad(const params *p, const quad v, quad q)
{
    const float32x4_t magic = vdupq_n_f32(p->quick);
    for (int g = 0; g < GN_QUAD_GROUPS; g++)
        for (int i = 0; i < 2; i++)
            q[g].val[i] = vsubq_s32(vreinterpretq_s32_f32(vaddq_f32(vreinterpretq_f32_s32(v[g].val[i]), magic)),
                                    vreinterpretq_s32_f32(magic));
}

INLINE uint8_t *put_values_wide(const params *p, uint8_t *out, const quad v)
{
    quad q, magnitudes;
    for (int g = 0; g < GN_QUAD_GROUPS; g++)
        for (int i = 0; i < 2; i++) {
            magnitudes[g].val[i] = steps_of(p, v[g].val[i]);
            q[g].val[i] = with_sign_of(v[g].val[i], magnitudes[g].val[i]);
        }
    return put_wide(out, magnitudes, q, false, v);
}

// Writes integers whose values are `v`. A value beyond 32767 steps is raw; with `integers`, a word.
INLINE uint8_t *put_integers_wide(uint8_t *out, const quad q, bool integers, const quad v)
{
    quad magnitudes;
    for (int g = 0; g < GN_QUAD_GROUPS; g++)
        for (int i = 0; i < 2; i++) magnitudes[g].val[i] = vabsq_s32(q[g].val[i]);
    return put_wide(out, magnitudes, q, integers, v);
}

// Whole quads, as long as there are REACH bytes of room.
INLINE size_t encode(const gn_codec *codec, bool integers, const uint8_t *values, size_t count, gn_dense_writer *writer)
{
    const params p = params_of(GN_LATTICE, codec->bound_exp);
    gn_dense_writer fast = *writer;  // stays in registers
    size_t taken = 0;
    for (; count - taken >= GN_QUAD && fast.end - fast.out >= REACH; taken += GN_QUAD) {
        quad v, q;
        int8x16_t bytes[2];
        prefetch_ahead(values + 4 * taken);
        prefetch_ahead(values + 4 * taken + 64);
        load_quad(values + 4 * taken, v);
        if (integers)
            memcpy(q, v, sizeof q);
        else
            quick_quad(&p, v, q);
        bytes_of_quad(q, bytes);
        if (all_zero(bytes)) {
            gn_dense_append_zeros(&fast);
            continue;
        }
        fast.run = 0;
        if (__builtin_expect(!saturated(bytes), 1))
            fast.out = put_narrow(fast.out, bytes);
        else if (integers)
            fast.out = put_integers_wide(fast.out, q, true, v);
        else
            fast.out = put_values_wide(&p, fast.out, v);
    }
    *writer = fast;
    return taken;
}

static size_t encode_values(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream,
                            size_t capacity, size_t *bytes)
{
    gn_dense_writer writer = {.out = stream, .end = stream + capacity};
    size_t taken = encode(codec, false, values, count, &writer);
    taken += gn_scalar_dense_encode(codec, values + 4 * taken, count - taken, &writer);
    *bytes = (size_t)(writer.out - stream);
    return taken;
}

static size_t encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, uint8_t *stream,
                              size_t capacity, size_t *bytes)
{
    gn_dense_writer writer = {.out = stream, .end = stream + capacity};
    size_t taken = encode(codec, true, (const uint8_t *)integers, count, &writer);
    taken += gn_scalar_dense_encode_integers(codec, integers + taken, count - taken, &writer);
    *bytes = (size_t)(writer.out - stream);
    return taken;
}

// ---- decode

typedef struct cursor {
    const uint8_t *in;
    size_t count;  // values left
} cursor;

// Whole quads, as long as the longest record can be read. It stops before anything that is wrong,
// and the scalar kernel finds it.
INLINE cursor get_items(action act, output *o, const uint8_t *stream, size_t bytes, void *values, size_t count)
{
    const uint8_t *end = stream + bytes;
    uint8_t *to = values;
    cursor c = {stream, count};
    while (c.count >= GN_QUAD && end - c.in >= GN_RUN_ITEM) {
        const unsigned header = gn_quad_header(c.in);
        size_t done = GN_QUAD;
        if (header) {
            if (end - c.in < REACH) break;
            c.in = get_quad(act, o, header, c.in + GN_QUAD_HEADER, to);
        } else {
            done *= (size_t)c.in[GN_QUAD_HEADER] + 1;
            if (done > c.count) break;
            put_zeros(act, to, done / GN_GROUP);
            c.in += GN_RUN_ITEM;
        }
        to += sizeof(float) * done;
        c.count -= done;
    }
    return c;
}

static bool decode(const gn_codec *codec, const uint8_t *stream, size_t bytes, uint8_t *values, size_t count)
{
    output o = output_of(codec);
    const cursor c = get_items(STORE, &o, stream, bytes, values, count);
    return gn_scalar_dense.decode(codec, c.in, bytes - (size_t)(c.in - stream), values + 4 * (count - c.count),
                                  c.count);
}

static void add(const gn_codec *codec, const uint8_t *stream, size_t bytes, float *sums, size_t count)
{
    output o = output_of(codec);
    const cursor c = get_items(ADD, &o, stream, bytes, sums, count);
    gn_scalar_dense.add(codec, c.in, bytes - (size_t)(c.in - stream), sums + (count - c.count), c.count);
}

static unsigned add_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *sums, size_t count)
{
    output o = output_of(codec);
    const cursor c = get_items(ADD_INTEGER, &o, stream, bytes, sums, count);
    return flags_of(&o) | gn_scalar_dense.add_integers(codec, c.in, bytes - (size_t)(c.in - stream),
                                                       sums + (count - c.count), c.count);
}

static bool get_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *integers, size_t count,
                         unsigned *flags)
{
    output o = output_of(codec);
    const cursor c = get_items(STORE_INTEGER, &o, stream, bytes, integers, count);
    const bool good = gn_scalar_dense.get_integers(codec, c.in, bytes - (size_t)(c.in - stream),
                                                   integers + (count - c.count), c.count, flags);
    *flags |= flags_of(&o);
    return good;
}

// ---- sum

// Whether the next quad of a stream can be added as integers without a look at its end.
INLINE bool is_plain(const gn_dense_reader *r)
{
    if (r->run) return true;
    if (r->end - r->in < REACH) return false;
    return !has_words(gn_quad_header(r->in));
}

// Adds the next quad of a stream to integers. `quads` are left with this one.
INLINE bool add_next(gn_dense_reader *r, size_t quads, quad q)
{
    if (r->run) {
        r->run--;
        return true;
    }
    const unsigned header = gn_quad_header(r->in);
    if (!header) {
        r->run = r->in[GN_QUAD_HEADER];
        r->in += GN_RUN_ITEM;
        return r->run < quads;
    }
    quad more;
    if (is_narrow(header)) {
        r->in = narrow_quad(header, r->in + GN_QUAD_HEADER, more);
    } else {
        const uint8_t *in = r->in + GN_QUAD_HEADER;
        for (unsigned g = 0; g < GN_QUAD_GROUPS; g++) {
            more[g] = group_of_16(gn_quad_class(header, g), in);
            in += gn_class_bytes[gn_quad_class(header, g)];
        }
        r->in = in;
    }
    for (int g = 0; g < GN_QUAD_GROUPS; g++)
        for (int i = 0; i < 2; i++) q[g].val[i] = vaddq_s32(q[g].val[i], more[g].val[i]);
    return true;
}

// Quantises the rank's own values. @return false when one is raw: then nothing is written
INLINE bool own_quad(const params *p, const gn_sum *sum, size_t at, quad q)
{
    quad v;
    uint32x4_t beyond = vdupq_n_u32(0);
    prefetch_ahead((const uint8_t *)(sum->own + at));
    prefetch_ahead((const uint8_t *)(sum->own + at) + 64);
    load_quad((const uint8_t *)(sum->own + at), v);
    for (int g = 0; g < GN_QUAD_GROUPS; g++)
        for (int i = 0; i < 2; i++) {
            const int32x4_t steps = steps_of(p, v[g].val[i]);
            beyond = vorrq_u32(beyond, vcgtq_s32(steps, vdupq_n_s32(32767)));
            q[g].val[i] = with_sign_of(v[g].val[i], steps);
        }
    if (vmaxvq_u32(beyond)) return false;
    for (size_t g = 0; sum->residual && g < GN_QUAD_GROUPS; g++)
        for (size_t i = 0; i < 2; i++)
            vst1q_f32(
                sum->residual + at + GN_GROUP * g + 4 * i,
                vsubq_f32(vreinterpretq_f32_s32(v[g].val[i]), vreinterpretq_f32_s32(values_of(p->step, q[g].val[i]))));
    return true;
}

// Stores a sum, and appends its record.
INLINE bool put_sum(const params *p, const gn_sum *sum, size_t at, const quad q, gn_dense_writer *writer)
{
    quad v;
    for (size_t g = 0; g < GN_QUAD_GROUPS; g++) {
        v[g] = (group){{values_of(p->step, q[g].val[0]), values_of(p->step, q[g].val[1])}};
        if (sum->sums) store_group(sum->sums + at + GN_GROUP * g, v[g]);
    }
    if (!sum->stream) return true;
    int8x16_t bytes[2];
    bytes_of_quad(q, bytes);
    if (all_zero(bytes)) return gn_dense_append_zeros(writer);
    uint8_t near[REACH];  // for the end of the room
    const bool room = writer->end - writer->out >= REACH;
    uint8_t *out = room ? writer->out : near;
    uint8_t *end = saturated(bytes) ? put_integers_wide(out, q, false, v) : put_narrow(out, bytes);
    if (!room) return gn_dense_append(writer, near, (size_t)(end - near));
    writer->out = end;
    writer->run = 0;
    return true;
}

// One whole quad. All quads that are not plain are the scalar kernel's.
INLINE bool sum_quad(const gn_codec *codec, const params *p, const gn_sum *sum, gn_dense_reader *readers, size_t at,
                     gn_dense_writer *writer)
{
    bool plain = true;
    for (unsigned s = 0; plain && s < sum->stream_count; s++) plain = is_plain(&readers[s]);
    quad q;
    if (plain && sum->own)
        plain = own_quad(p, sum, at, q);
    else
        memset(q, 0, sizeof q);
    if (!plain) return gn_scalar_dense_sum_quad(codec, sum, readers, at, GN_QUAD, writer);
    for (unsigned s = 0; s < sum->stream_count; s++)
        if (!add_next(&readers[s], gn_quad_count(sum->count - at), q)) return false;
    return put_sum(p, sum, at, q, writer);
}

static bool sum_streams(const gn_codec *codec, const gn_sum *sum, size_t *bytes)
{
    const params p = params_of(GN_LATTICE, codec->bound_exp);
    gn_dense_reader readers[GN_SUM_STREAMS];
    gn_dense_writer writer = gn_dense_sum_begin(sum, readers);
    size_t at = 0;
    for (; sum->count - at >= GN_QUAD; at += GN_QUAD)
        if (!sum_quad(codec, &p, sum, readers, at, &writer)) return false;
    if (at < sum->count && !gn_scalar_dense_sum_quad(codec, sum, readers, at, sum->count - at, &writer)) return false;
    return gn_dense_sum_end(sum, readers, &writer, bytes);
}

const gn_kernel_row gn_neon_dense = {encode_values, decode,       gn_neon_quantise, add,
                                     add_integers,  get_integers, encode_integers,  sum_streams};
