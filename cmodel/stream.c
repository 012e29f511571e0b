// SPDX-License-Identifier: Apache-2.0
// Streams: the public entry points. The codec's kernel moves the data.
#include <assert.h>

#include "dense.h"
#include "kernels/kernel.h"
#include "profile.h"

static const gn_kernel_row *kernel_of(const gn_codec *codec)
{
    return codec->kernel->rows[codec->profile];
}

size_t gn_stream_bound(gn_profile profile, size_t count)
{
    const gn_profile_row *row = gn_profile_row_of(profile);
    return row ? row->bound(count) : 0;
}

gn_status gn_stream_encode(const gn_codec *codec, const void *values, size_t count, void *stream, size_t capacity,
                           size_t *bytes)
{
    size_t taken;
    gn_stream_encode_fit(codec, values, count, stream, capacity, &taken, bytes);
    if (taken == count) return GN_OK;
    *bytes = 0;
    return GN_NO_SPACE;
}

gn_status gn_stream_encode_fit(const gn_codec *codec, const void *values, size_t count, void *stream, size_t capacity,
                               size_t *taken, size_t *bytes)
{
    *taken = *bytes = 0;
    if (count && capacity) *taken = kernel_of(codec)->encode(codec, values, count, stream, capacity, bytes);
    return GN_OK;
}

// The profile's check, for calls that must not begin with a bad stream.
static gn_status check(const gn_codec *codec, const void *stream, size_t bytes, size_t count, size_t *error_offset)
{
    gn_tally tally;
    size_t offset;
    gn_status status = gn_profile_row_of(codec->profile)->walk(stream, bytes, count, &tally, &offset);
    if (status != GN_OK && error_offset) *error_offset = offset;
    return status;
}

gn_status gn_stream_decode(const gn_codec *codec, const void *stream, size_t bytes, void *values, size_t count,
                           size_t *error_offset)
{
    if (count && bytes && kernel_of(codec)->decode(codec, stream, bytes, values, count)) return GN_OK;
    gn_status status = check(codec, stream, bytes, count, error_offset);
    assert(status != GN_OK || !count);  // kernel and walk reject the same streams
    return status;
}

gn_status gn_stream_add(const gn_codec *codec, const void *stream, size_t bytes, float *sums, size_t count,
                        size_t *error_offset)
{
    gn_status status = check(codec, stream, bytes, count, error_offset);
    if (status == GN_OK && count) kernel_of(codec)->add(codec, stream, bytes, sums, count);
    return status;
}

gn_status gn_stream_add_integers(const gn_codec *codec, const void *stream, size_t bytes, int32_t *sums, size_t count,
                                 unsigned *flags, size_t *error_offset)
{
    if (flags) *flags = 0;
    if (!kernel_of(codec)->add_integers) return GN_UNSUPPORTED;
    gn_status status = check(codec, stream, bytes, count, error_offset);
    if (status != GN_OK || !count) return status;
    unsigned found = kernel_of(codec)->add_integers(codec, stream, bytes, sums, count);
    if (flags) *flags = found;
    return GN_OK;
}

gn_status gn_stream_get_integers(const gn_codec *codec, const void *stream, size_t bytes, int32_t *integers,
                                 size_t count, unsigned *flags, size_t *error_offset)
{
    unsigned found = 0;
    if (flags) *flags = 0;
    if (!kernel_of(codec)->get_integers) return GN_UNSUPPORTED;
    if (count && bytes && kernel_of(codec)->get_integers(codec, stream, bytes, integers, count, &found)) {
        if (flags) *flags = found;
        return GN_OK;
    }
    gn_status status = check(codec, stream, bytes, count, error_offset);
    assert(status != GN_OK || !count);  // kernel and walk reject the same streams
    return status;
}

gn_status gn_stream_encode_integers(const gn_codec *codec, const int32_t *integers, size_t count, void *stream,
                                    size_t capacity, size_t *bytes)
{
    *bytes = 0;
    if (!kernel_of(codec)->encode_integers) return GN_UNSUPPORTED;
    if (!count) return GN_OK;
    if (capacity && kernel_of(codec)->encode_integers(codec, integers, count, stream, capacity, bytes) == count)
        return GN_OK;
    *bytes = 0;
    return GN_NO_SPACE;
}

gn_status gn_stream_index(const gn_codec *codec, const void *stream, size_t bytes, size_t count, uint64_t *index,
                          size_t *error_offset)
{
    if (codec->profile != GN_DENSE) return GN_UNSUPPORTED;
    size_t offset;
    gn_status status = gn_dense_index(stream, bytes, count, index, &offset);
    if (status != GN_OK && error_offset) *error_offset = offset;
    return status;
}

gn_status gn_stream_sum(const gn_codec *codec, const gn_sum *sum, size_t *bytes, gn_sum_fault *fault)
{
    if (bytes) *bytes = 0;
    if (!kernel_of(codec)->sum) return GN_UNSUPPORTED;
    if (sum->stream_count > GN_SUM_STREAMS || (!sum->own && !sum->stream_count)) return GN_INVALID;
    if (kernel_of(codec)->sum(codec, sum, bytes)) return GN_OK;
    if (bytes) *bytes = 0;
    for (unsigned s = 0; s < sum->stream_count; s++) {
        size_t offset;
        gn_status status = check(codec, sum->streams[s].bytes, sum->streams[s].length, sum->count, &offset);
        if (status == GN_OK) continue;
        if (fault) *fault = (gn_sum_fault){s, offset};
        return status;
    }
    return GN_NO_SPACE;
}

gn_status gn_quantise(const gn_codec *codec, const float *values, float *quantised, float *residual, size_t count)
{
    kernel_of(codec)->quantise(codec, values, quantised, residual, count);
    return GN_OK;
}

gn_status gn_stream_tally(const gn_codec *codec, const void *stream, size_t bytes, size_t count, gn_tally *tally)
{
    gn_tally added;
    size_t offset;
    gn_status status = gn_profile_row_of(codec->profile)->walk(stream, bytes, count, &added, &offset);
    if (status != GN_OK) return status;
    gn_tally_add(tally, &added);
    return GN_OK;
}

void gn_tally_add(gn_tally *tally, const gn_tally *more)
{
    tally->values += more->values;
    tally->groups += more->groups;
    for (int tag = 0; tag < 4; tag++) tally->tags[tag] += more->tags[tag];
    for (unsigned class = 0; class < GN_CLASS_COUNT; class ++) tally->classes[class] += more->classes[class];
    tally->stream_bytes += more->stream_bytes;
}

uint64_t gn_tally_payload_bytes(const gn_tally *tally)
{
    uint64_t bytes = tally->tags[1] + 2 * tally->tags[2] + 4 * tally->tags[3];
    for (unsigned class = 0; class < GN_CLASS_COUNT; class ++) bytes += tally->classes[class] * gn_class_bytes[class];
    return bytes;
}
