// SPDX-License-Identifier: Apache-2.0
// Any bytes as a stream, through every kernel:
// - Kernels agree on whether it is good, where it is not, and on all values. The tally agrees with
//   them.
// - What was decoded survives encoding, also where it just does not fit.
// - What is added, in binary32 and in integers, is what was decoded.
// - For dense, a second reader and writer of the bytes says what is right.
//
// Input: flags, k, count (16 bits), stream. Flags: bits 0 and 2: profile (paper, lattice, dense,
// dense); bit 1: take as many values as the items give.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/index.h>

#include "../unit/dense_reference.h"
#include "fuzz.h"

enum { HEAD = 4, NATURAL_MOST = 1 << 16 };

static bool equal(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || !memcmp(a, b, bytes);
}

static gn_codec codec_of(uint8_t flags, uint8_t k, const char *kernel)
{
    gn_profile profile = flags & 4 ? GN_DENSE : flags & 1 ? GN_LATTICE : GN_PAPER;
    int low, high;
    gn_codec codec;
    check(gn_profile_range(profile, &low, &high) == GN_OK);
    check(gn_codec_init_kernel(&codec, profile, low + k % (high - low + 1), kernel) == GN_OK);
    return codec;
}

// Counts the values of the longest good stream at the start of the bytes. Empty lanes at the end of
// its last record do not count.
static size_t natural_count(const uint8_t *stream, size_t bytes)
{
    size_t count = 0;
    for (size_t at = 0; at + 2 <= bytes;) {
        unsigned tags = stream[at] | (unsigned)stream[at + 1] << 8;
        size_t length = 2;
        for (unsigned lane = 0; lane < 8; lane++) length += (0x4210u >> 4 * (tags >> 2 * lane & 3)) & 15;
        if (length > bytes - at) break;
        at += length;
        count += 8;
        if (at == bytes) count -= tags >> 14 ? 0 : tags >> 8 ? 1 : tags ? 4 : 7;
    }
    return count;
}

static size_t natural_count_dense(const uint8_t *stream, size_t bytes)
{
    size_t count = 0;
    for (size_t at = 0; at + 3 <= bytes && count < NATURAL_MOST;) {
        size_t length = 2;
        for (unsigned g = 0; g < 4; g++) length += dense_bytes[stream[at + g / 2] >> 4 * (g % 2) & 15];
        if (length == 2) length = 3, count += (size_t)DENSE_QUAD * stream[at + 2];
        if (length > bytes - at) break;
        at += length;
        count += DENSE_QUAD;
    }
    return count;
}

// Values that fit when a byte of the stream's room is missing; the stream is the second writer's.
static size_t fitting_dense(const gn_codec *codec, const float *values, size_t count, const uint8_t *stream,
                            size_t bytes)
{
    dense_lane *lanes = exact(count * sizeof *lanes);
    size_t groups = (count + 7) / 8, *ends = exact(groups * sizeof *ends), fit = 0;
    uint8_t *want = exact(gn_stream_bound(GN_DENSE, count));
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        gn_code code = gn_lane_encode(codec, bits);
        lanes[i] = (dense_lane){code.tag == 3, code.payload};
        if (code.tag == 1) lanes[i].word = (uint32_t)(int8_t)code.payload;
        if (code.tag == 2) lanes[i].word = (uint32_t)(int16_t)code.payload;
    }
    check(dense_write(lanes, count, want, ends) == bytes && equal(want, stream, bytes));
    while (fit < groups && ends[fit] < bytes) fit++;
    free(lanes), free(ends), free(want);
    return 8 * fit;
}

// One kernel encodes what was decoded. The stream decodes to what gn_quantise() says, and that is a
// fixed point.
static void check_again(const gn_codec *codec, const float *values, size_t count)
{
    size_t room = gn_stream_bound(codec->profile, count), bytes, again, taken;
    uint8_t *stream = exact(room), *tight;
    float *seen = exact(count * 4), *back = exact(count * 4);
    check(gn_stream_encode(codec, values, count, stream, room, &bytes) == GN_OK);
    check(gn_quantise(codec, values, seen, NULL, count) == GN_OK);
    check(gn_stream_decode(codec, stream, bytes, back, count, NULL) == GN_OK && equal(back, seen, count * 4));
    check(gn_quantise(codec, seen, back, NULL, count) == GN_OK && equal(back, seen, count * 4));
    tight = exact(bytes);
    check(gn_stream_encode(codec, values, count, tight, bytes, &again) == GN_OK && again == bytes);
    check(equal(tight, stream, bytes));
    if (codec->profile != GN_PAPER) {  // (paper has payloads of zero)
        check(gn_stream_encode(codec, seen, count, tight, bytes, &again) == GN_OK && again == bytes);
        check(equal(tight, stream, bytes));
    }
    free(tight);
    if (bytes) {
        size_t fitting =
            codec->profile == GN_DENSE ? fitting_dense(codec, values, count, stream, bytes) : (count - 1) / 8 * 8;
        tight = exact(bytes - 1);
        check(gn_stream_encode(codec, values, count, tight, bytes - 1, &again) == GN_NO_SPACE && again == 0);
        check(gn_stream_encode_fit(codec, values, count, tight, bytes - 1, &taken, &again) == GN_OK);
        check(taken == fitting && again < bytes);
        free(tight);
    }
    free(stream), free(seen), free(back);
}

static void check_tally(const gn_codec *codec, const uint8_t *stream, size_t bytes, size_t count, gn_status status,
                        const uint64_t classes[DENSE_CLASSES])
{
    gn_tally tally = {0};
    check(gn_stream_tally(codec, stream, bytes, count, &tally) == status);
    uint64_t *index = exact((count + GN_PART - 1) / GN_PART * sizeof *index);
    gn_status indexed = gn_stream_index(codec, stream, bytes, count, index, NULL);
    check(indexed == (codec->profile == GN_DENSE ? status : GN_UNSUPPORTED));
    for (size_t part = 1; indexed == GN_OK && part * GN_PART < count; part++)
        check(index[part] > index[part - 1] && index[part] >> GN_PART_ITEM_SHIFT < bytes);
    free(index);
    if (status) return;
    check(tally.stream_bytes == bytes && tally.values == count && tally.groups == (count + 7) / 8);
    if (codec->profile == GN_DENSE) {
        check(equal(tally.classes, classes, sizeof tally.classes));
        return;
    }
    check(tally.tags[0] + tally.tags[1] + tally.tags[2] + tally.tags[3] == count);
    check(2 * tally.groups + tally.tags[1] + 2 * tally.tags[2] + 4 * tally.tags[3] == bytes);
}

// ---- sums. What they are at first: small and large, with zeros of both signs

static uint32_t first_sum(size_t i)
{
    uint32_t x = (uint32_t)i * 0x9e3779b1u;
    return x % 5 == 0 ? x & 0x80000000 : x % 5 == 1 ? x & 0xffff : x & 0xbfffffff;
}

static void check_add(const gn_codec *codec, const uint8_t *stream, size_t bytes, const float *values, size_t count,
                      gn_status status)
{
    uint32_t *sums = exact(count * 4);
    for (size_t i = 0; i < count; i++) sums[i] = first_sum(i);
    check(gn_stream_add(codec, stream, bytes, (float *)(void *)sums, count, NULL) == status);
    for (size_t i = 0; i < count; i++) {
        uint32_t first = first_sum(i), want = first;
        float sum;
        memcpy(&sum, &first, sizeof sum);
        if (!status) {
            sum += values[i];  // never two NaNs: which of them the sum is, is left open
            memcpy(&want, &sum, sizeof sum);
        }
        check(sums[i] == want);
    }
    free(sums);
}

// What has to become of sums when a dense stream's lanes are added.
static unsigned add_lanes(const dense_lane *lanes, size_t count, int32_t *sums)
{
    unsigned flags = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t sum = (int64_t)sums[i] + (int32_t)lanes[i].word;
        if (lanes[i].raw) {
            flags |= GN_SUM_RAW;
            continue;
        }
        if (sum != (int32_t)sum) flags |= GN_SUM_OVERFLOW;
        sums[i] = (int32_t)(uint32_t)(sum & 0xffffffff);
    }
    return flags;
}

// The stream of integers: dense's is the second writer's, and adds up to what it was made of.
static void check_integers(const gn_codec *codec, const int32_t *integers, size_t count)
{
    size_t room = gn_stream_bound(codec->profile, count), bytes, again;
    uint8_t *stream = exact(room), *want = exact(room);
    int32_t *back = exact(count * 4);
    unsigned flags;
    check(gn_stream_encode_integers(codec, integers, count, stream, room, &bytes) == GN_OK);
    if (count) memset(back, 0, count * 4);
    check(gn_stream_add_integers(codec, stream, bytes, back, count, &flags, NULL) == GN_OK);
    if (codec->profile == GN_DENSE) {
        dense_lane *lanes = exact(count * sizeof *lanes);
        for (size_t i = 0; i < count; i++) lanes[i] = (dense_lane){.word = (uint32_t)integers[i]};
        check(dense_write(lanes, count, want, NULL) == bytes && equal(want, stream, bytes));
        check(flags == 0 && equal(back, integers, count * 4));
        free(lanes);
    }
    if (bytes) check(gn_stream_encode_integers(codec, integers, count, want, bytes - 1, &again) == GN_NO_SPACE);
    free(stream), free(want), free(back);
}

// `sums`, `flags`: what the first kernel made of them, or the second reader's lanes would.
static void check_add_integers(const gn_codec *codec, const uint8_t *stream, size_t bytes, size_t count,
                               gn_status status, const int32_t *want, unsigned want_flags)
{
    int32_t *sums = exact(count * 4);
    unsigned flags = 99;
    for (size_t i = 0; i < count; i++) sums[i] = (int32_t)first_sum(i);
    check(gn_stream_add_integers(codec, stream, bytes, sums, count, &flags, NULL) == status);
    if (status)
        for (size_t i = 0; i < count; i++) check(sums[i] == (int32_t)first_sum(i));
    else
        check(flags == want_flags && equal(sums, want, count * 4));
    if (!status) check_integers(codec, sums, count);
    free(sums);
}

// The integers themselves: what the first kernel adds to zeros.
static void check_get_integers(const gn_codec *codec, const gn_codec *reference, const uint8_t *stream, size_t bytes,
                               size_t count, gn_status status)
{
    int32_t *got = exact(count * 4), *want = exact(count * 4);
    unsigned flags = 99, want_flags = 0;
    check(gn_stream_get_integers(codec, stream, bytes, got, count, &flags, NULL) == status);
    if (count) memset(want, 0, count * 4);
    if (!status) check(gn_stream_add_integers(reference, stream, bytes, want, count, &want_flags, NULL) == GN_OK);
    check(flags == want_flags && (status || equal(got, want, count * 4)));
    free(got), free(want);
}

// ---- one input

typedef struct expected {
    gn_status status;
    size_t offset;
    uint32_t *values;
    int32_t *sums;
    unsigned flags;
    uint64_t classes[DENSE_CLASSES];
} expected;

// From the second reader; for paper and lattice from the reference kernel.
static expected expect(const gn_codec *reference, const uint8_t *stream, size_t bytes, size_t count)
{
    expected e = {.values = exact(count * 4), .sums = exact(count * 4)};
    for (size_t i = 0; i < count; i++) e.sums[i] = (int32_t)first_sum(i);
    if (reference->profile == GN_DENSE) {
        dense_lane *lanes = exact(count * sizeof *lanes);
        e.status = dense_read(stream, bytes, count, lanes, e.classes, &e.offset);
        for (size_t i = 0; i < count && !e.status; i++) e.values[i] = dense_value(lanes[i], reference->bound_exp);
        if (!e.status) e.flags = add_lanes(lanes, count, e.sums);
        free(lanes);
    } else {
        e.status = gn_stream_decode(reference, stream, bytes, e.values, count, &e.offset);
        if (reference->profile == GN_LATTICE && !e.status)
            check(gn_stream_add_integers(reference, stream, bytes, e.sums, count, &e.flags, NULL) == GN_OK);
    }
    return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) return 0;
    size_t bytes = size - HEAD, count = data[2] | (size_t)data[3] << 8;
    uint8_t *stream = exact(bytes);
    memcpy(stream, data + HEAD, bytes);
    if (data[0] & 2) count = data[0] & 4 ? natural_count_dense(stream, bytes) : natural_count(stream, bytes);

    const gn_codec reference = codec_of(data[0], data[1], "scalar");
    expected e = expect(&reference, stream, bytes, count);
    for (unsigned n = 0; gn_kernel_name(n); n++) {
        const gn_codec codec = codec_of(data[0], data[1], gn_kernel_name(n));
        float *values = exact(count * 4);
        size_t offset = 0;
        check(gn_stream_decode(&codec, stream, bytes, values, count, &offset) == e.status);
        check(e.status ? offset == e.offset : equal(values, e.values, count * 4));
        check_tally(&codec, stream, bytes, count, e.status, e.classes);
        check_add(&codec, stream, bytes, values, count, e.status);
        if (codec.profile != GN_PAPER) {
            check_add_integers(&codec, stream, bytes, count, e.status, e.sums, e.flags);
            check_get_integers(&codec, &reference, stream, bytes, count, e.status);
        }
        if (!e.status) check_again(&codec, values, count);
        free(values);
    }
    free(e.values), free(e.sums);
    free(stream);
    return 0;
}
