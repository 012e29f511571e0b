// SPDX-License-Identifier: Apache-2.0
// Any bytes as two streams of dense, added to values by gn_stream_sum() through every kernel. The
// separate calls of the scalar kernel say what is right, and which stream is wrong where.
//
// Input: flags, k, count (16 bits), bytes of the first stream (16 bits), both streams. Flags: bit
// 0: own values; bit 1: no second stream; bits 2 to 7: what the own values are made of.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/sum.h>

#include "fuzz.h"

enum { HEAD = 6 };

typedef struct expected {
    gn_status status;
    gn_sum_fault fault;
    float *sums;
    uint8_t *stream;
    size_t bytes;
} expected;

static gn_codec codec_of(uint8_t k, const char *kernel)
{
    gn_codec codec;
    check(gn_codec_init_kernel(&codec, GN_DENSE, k % 63 - 31, kernel) == GN_OK);
    return codec;
}

// Values around the lattice's ends, and any bits but NaNs. It is left open which of two NaNs a sum
// is.
static float *own_values(uint8_t flags, size_t count)
{
    float *own = exact(count * sizeof *own);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)(i + 1) * 0x9e3779b1u * (flags >> 2 | 1);
        if (flags & 4) bits = (bits & 0x80ffffff) | 0x3a000000;
        if ((bits & 0x7f800000) == 0x7f800000) bits &= 0x80000000;
        memcpy(&own[i], &bits, sizeof bits);
    }
    return own;
}

static bool same_or_nans(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && (a[i] == a[i] || b[i] == b[i])) return false;
    return true;
}

static expected expect(const gn_codec *codec, const gn_sum *sum)
{
    expected e = {.sums = exact(sum->count * sizeof(float)), .stream = exact(gn_stream_bound(GN_DENSE, sum->count))};
    if (sum->own) gn_quantise(codec, sum->own, e.sums, NULL, sum->count);
    for (unsigned s = 0; s < sum->stream_count && !e.status; s++) {
        const gn_stream_view *v = &sum->streams[s];
        e.fault.stream = s;
        if (s || sum->own)
            e.status = gn_stream_add(codec, v->bytes, v->length, e.sums, sum->count, &e.fault.offset);
        else
            e.status = gn_stream_decode(codec, v->bytes, v->length, e.sums, sum->count, &e.fault.offset);
    }
    if (e.status) return e;
    check(gn_stream_encode(codec, e.sums, sum->count, e.stream, gn_stream_bound(GN_DENSE, sum->count), &e.bytes) ==
          GN_OK);
    gn_quantise(codec, e.sums, e.sums, NULL, sum->count);
    return e;
}

static bool has_nan(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] != values[i]) return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) return 0;
    const size_t count = data[2] | (size_t)data[3] << 8, all = size - HEAD;
    size_t first = data[4] | (size_t)data[5] << 8;
    if (first > all) first = all;
    uint8_t *streams[2] = {exact(first), exact(all - first)};
    memcpy(streams[0], data + HEAD, first);
    memcpy(streams[1], data + HEAD + first, all - first);
    const gn_stream_view views[2] = {{streams[0], first}, {streams[1], all - first}};
    float *own = own_values(data[0], count);
    gn_sum sum = {
        .own = data[0] & 1 ? own : NULL, .count = count, .streams = views, .stream_count = data[0] & 2 ? 1 : 2};

    const gn_codec reference = codec_of(data[1], "scalar");
    expected e = expect(&reference, &sum);
    for (unsigned n = 0; gn_kernel_name(n); n++) {
        const gn_codec codec = codec_of(data[1], gn_kernel_name(n));
        float *sums = exact(count * sizeof *sums);
        const bool nans = !e.status && has_nan(e.sums, count);
        // exactly what the stream takes, unless NaNs make it open
        const size_t room = nans || e.status ? gn_stream_bound(GN_DENSE, count) : e.bytes;
        uint8_t *stream = exact(room);
        size_t bytes = 0;
        gn_sum_fault fault = {0};
        sum.sums = sums, sum.stream = stream, sum.capacity = room, sum.far = n & 1;
        check(gn_stream_sum(&codec, &sum, &bytes, &fault) == e.status);
        if (e.status) {
            check(fault.stream == e.fault.stream && fault.offset == e.fault.offset);
        } else {
            check(same_or_nans(sums, e.sums, count));
            check(nans || (bytes == e.bytes && (!bytes || !memcmp(stream, e.stream, bytes))));
            if (bytes && !nans) {
                sum.capacity = bytes - 1;
                check(gn_stream_sum(&codec, &sum, &bytes, NULL) == GN_NO_SPACE);
            }
        }
        free(sums), free(stream);
    }
    free(e.sums), free(e.stream), free(own), free(streams[0]), free(streams[1]);
    return 0;
}
