// SPDX-License-Identifier: Apache-2.0
// Profile dense for any machine: the quantiser of lane.c and the bytes of dense.c, one quad after
// the other.
#include <string.h>

#include "../little_endian.h"
#include "../profile.h"
#include "scalar_dense.h"

// Loads `lanes` lanes of a quad, from binary32 or integers. The rest is zero.
typedef void source(const gn_codec *codec, const void *values, size_t lanes, gn_dense_quad quad);

static void from_values(const gn_codec *codec, const void *values, size_t lanes, gn_dense_quad quad)
{
    memset(quad, 0, sizeof(gn_dense_quad));
    for (size_t i = 0; i < lanes; i++) {
        gn_dense_group *group = &quad[i / GN_GROUP];
        gn_code code = gn_lattice_encode(codec->bound_exp, gn_load32((const uint8_t *)values + 4 * i));
        if (code.tag == 3) group->raw |= 1u << (i % GN_GROUP);
        group->word[i % GN_GROUP] = code.tag == 3 ? code.payload : (uint32_t)gn_lattice_integer(code);
    }
}

static void from_integers(const gn_codec *codec, const void *integers, size_t lanes, gn_dense_quad quad)
{
    (void)codec;
    memset(quad, 0, sizeof(gn_dense_quad));
    for (size_t i = 0; i < lanes; i++) quad[i / GN_GROUP].word[i % GN_GROUP] = (uint32_t)((const int32_t *)integers)[i];
}

static size_t encode_from(source *load, const gn_codec *codec, const uint8_t *values, size_t count,
                          gn_dense_writer *writer)
{
    size_t taken = 0;
    while (taken < count) {
        size_t lanes = count - taken < GN_QUAD ? count - taken : GN_QUAD;
        // The last quad that fits may be a part of one. More groups never make a stream shorter.
        for (bool fits = false; !fits && lanes; lanes = fits ? lanes : (lanes - 1) / GN_GROUP * GN_GROUP) {
            gn_dense_quad quad;
            uint8_t record[GN_QUAD_MAX];
            load(codec, values + 4 * taken, lanes, quad);
            fits = gn_dense_append(writer, record, gn_dense_put(quad, record));
        }
        taken += lanes;
        if (lanes < GN_QUAD) break;
    }
    return taken;
}

size_t gn_scalar_dense_encode(const gn_codec *codec, const uint8_t *values, size_t count, gn_dense_writer *writer)
{
    return encode_from(from_values, codec, values, count, writer);
}

size_t gn_scalar_dense_encode_integers(const gn_codec *codec, const int32_t *integers, size_t count,
                                       gn_dense_writer *writer)
{
    return encode_from(from_integers, codec, (const uint8_t *)integers, count, writer);
}

static size_t encode(const gn_codec *codec, const uint8_t *values, size_t count, uint8_t *stream, size_t capacity,
                     size_t *bytes)
{
    gn_dense_writer writer = {.out = stream, .end = stream + capacity};
    const size_t taken = gn_scalar_dense_encode(codec, values, count, &writer);
    *bytes = (size_t)(writer.out - stream);
    return taken;
}

static size_t encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, uint8_t *stream,
                              size_t capacity, size_t *bytes)
{
    gn_dense_writer writer = {.out = stream, .end = stream + capacity};
    const size_t taken = gn_scalar_dense_encode_integers(codec, integers, count, &writer);
    *bytes = (size_t)(writer.out - stream);
    return taken;
}

// decode_to() calls a sink with every quad of a stream that walk() has passed, also with those of
// zero runs.
typedef void sink(const gn_codec *codec, const gn_dense_quad quad, void *values, size_t lanes, unsigned *flags);

static unsigned decode_to(sink *put, const gn_codec *codec, const uint8_t *stream, void *values, size_t count)
{
    unsigned flags = 0;
    for (size_t done = 0, run = 0; done < count; done += GN_QUAD) {
        gn_dense_quad quad;
        if (run) {
            run--;
        } else if (gn_quad_header(stream)) {
            gn_dense_get(stream, quad);
            stream += gn_quad_bytes(gn_quad_header(stream));
        } else {
            memset(quad, 0, sizeof quad);
            run = stream[GN_QUAD_HEADER];
            stream += GN_RUN_ITEM;
        }
        put(codec, quad, (uint8_t *)values + 4 * done, count - done < GN_QUAD ? count - done : GN_QUAD, &flags);
    }
    return flags;
}

static uint32_t value_of(const gn_codec *codec, const gn_dense_quad quad, size_t i)
{
    const gn_dense_group *group = &quad[i / GN_GROUP];
    uint32_t word = group->word[i % GN_GROUP];
    return group->raw >> (i % GN_GROUP) & 1 ? word : gn_lattice_value(codec->bound_exp, (int32_t)word);
}

static void to_values(const gn_codec *codec, const gn_dense_quad quad, void *values, size_t lanes, unsigned *flags)
{
    (void)flags;
    for (size_t i = 0; i < lanes; i++) gn_store32((uint8_t *)values + 4 * i, value_of(codec, quad, i));
}

static void to_sums(const gn_codec *codec, const gn_dense_quad quad, void *sums, size_t lanes, unsigned *flags)
{
    (void)flags;
    for (size_t i = 0; i < lanes; i++) gn_scalar_add((float *)sums + i, value_of(codec, quad, i));
}

static void to_integer_sums(const gn_codec *codec, const gn_dense_quad quad, void *sums, size_t lanes, unsigned *flags)
{
    (void)codec;
    for (size_t i = 0; i < lanes; i++) {
        const gn_dense_group *group = &quad[i / GN_GROUP];
        if (group->raw >> (i % GN_GROUP) & 1)
            *flags |= GN_SUM_RAW;
        else
            gn_scalar_add_integer((int32_t *)sums + i, (int32_t)group->word[i % GN_GROUP], flags);
    }
}

static bool decode(const gn_codec *codec, const uint8_t *stream, size_t bytes, uint8_t *values, size_t count)
{
    gn_tally tally;
    size_t offset;
    if (gn_dense_walk(stream, bytes, count, &tally, &offset)) return false;
    decode_to(to_values, codec, stream, values, count);
    return true;
}

static void add(const gn_codec *codec, const uint8_t *stream, size_t bytes, float *sums, size_t count)
{
    (void)bytes;
    decode_to(to_sums, codec, stream, sums, count);
}

static unsigned add_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *sums, size_t count)
{
    (void)bytes;
    return decode_to(to_integer_sums, codec, stream, sums, count);
}

static bool get_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, int32_t *integers, size_t count,
                         unsigned *flags)
{
    gn_tally tally;
    size_t offset;
    *flags = 0;
    if (gn_dense_walk(stream, bytes, count, &tally, &offset)) return false;
    memset(integers, 0, sizeof *integers * count);
    *flags = decode_to(to_integer_sums, codec, stream, integers, count);
    return true;
}

// ---- sum

// The next quad, which stands for `lanes` values; `quads` are left with this one.
static bool next(gn_dense_reader *r, size_t lanes, size_t quads, gn_dense_quad quad)
{
    memset(quad, 0, sizeof(gn_dense_quad));
    if (r->run) {
        r->run--;
        return true;
    }
    if (r->end - r->in < GN_RUN_ITEM) return false;
    unsigned header = gn_quad_header(r->in);
    if (!header) {
        r->run = r->in[GN_QUAD_HEADER];
        r->in += GN_RUN_ITEM;
        return r->run < quads;
    }
    if ((size_t)(r->end - r->in) < gn_quad_bytes(header) || !gn_dense_missing_empty(r->in, lanes)) return false;
    gn_dense_get(r->in, quad);
    r->in += gn_quad_bytes(header);
    return true;
}

// The values of one quad: own ones, and those of all streams in turn.
static bool values_of_quad(const gn_codec *codec, const gn_sum *sum, gn_dense_reader *readers, size_t at, size_t lanes,
                           float *sums)
{
    const size_t quads = gn_quad_count(sum->count - at);
    unsigned flags;
    if (sum->own) gn_scalar_quantise(codec, sum->own + at, sums, sum->residual ? sum->residual + at : NULL, lanes);
    for (unsigned s = 0; s < sum->stream_count; s++) {
        gn_dense_quad quad;
        if (!next(&readers[s], lanes, quads, quad)) return false;
        (s || sum->own ? to_sums : to_values)(codec, quad, sums, lanes, &flags);
    }
    return true;
}

gn_dense_writer gn_dense_sum_begin(const gn_sum *sum, gn_dense_reader *readers)
{
    for (unsigned s = 0; s < sum->stream_count; s++)
        readers[s] = (gn_dense_reader){sum->streams[s].bytes,
                                       (const uint8_t *)sum->streams[s].bytes + sum->streams[s].length, 0};
    return (gn_dense_writer){.out = sum->stream, .end = sum->stream ? (uint8_t *)sum->stream + sum->capacity : NULL};
}

bool gn_scalar_dense_sum_quad(const gn_codec *codec, const gn_sum *sum, gn_dense_reader *readers, size_t at,
                              size_t lanes, gn_dense_writer *writer)
{
    float values[GN_QUAD];
    gn_dense_quad quad;
    unsigned flags;
    if (!values_of_quad(codec, sum, readers, at, lanes, values)) return false;
    from_values(codec, values, lanes, quad);
    if (sum->sums) to_values(codec, quad, sum->sums + at, lanes, &flags);
    uint8_t record[GN_QUAD_MAX];
    return !sum->stream || gn_dense_append(writer, record, gn_dense_put(quad, record));
}

bool gn_dense_sum_end(const gn_sum *sum, const gn_dense_reader *readers, const gn_dense_writer *writer, size_t *bytes)
{
    if (bytes) *bytes = sum->stream ? (size_t)(writer->out - (uint8_t *)sum->stream) : 0;
    for (unsigned s = 0; s < sum->stream_count; s++)
        if (readers[s].in != readers[s].end) return false;
    return true;
}

static bool sum_streams(const gn_codec *codec, const gn_sum *sum, size_t *bytes)
{
    gn_dense_reader readers[GN_SUM_STREAMS];
    gn_dense_writer writer = gn_dense_sum_begin(sum, readers);
    for (size_t at = 0; at < sum->count; at += GN_QUAD) {
        const size_t lanes = sum->count - at < GN_QUAD ? sum->count - at : GN_QUAD;
        if (!gn_scalar_dense_sum_quad(codec, sum, readers, at, lanes, &writer)) return false;
    }
    return gn_dense_sum_end(sum, readers, &writer, bytes);
}

const gn_kernel_row gn_scalar_dense = {encode,       decode,       gn_scalar_quantise, add,
                                       add_integers, get_integers, encode_integers,    sum_streams};
