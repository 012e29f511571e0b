// SPDX-License-Identifier: Apache-2.0
// Streams, through every kernel: all tag words, lengths, alignments and capacities. What a decoder
// must reject. Real gradients.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/codec.h>

#include "streams.h"
#include "suite.h"

enum { MOST = 400 };  // values in the sweeps

static size_t bound_of(const gn_codec *codec, size_t count)
{
    return gn_stream_bound(codec->profile, count);
}

// ---- every combination of tags

static void check_tag_words(const gn_codec *codec)
{
    enum { GROUPS = 65536, VALUES = GROUPS * 8 };
    uint64_t state = 1;
    float *values = malloc(VALUES * sizeof *values), *back = malloc(VALUES * sizeof *back);
    uint32_t *seen = malloc(VALUES * sizeof *seen);
    uint8_t *want = malloc(bound_of(codec, VALUES)), *stream = malloc(bound_of(codec, VALUES));
    size_t *ends = malloc(GROUPS * sizeof *ends), bytes;
    ck_assert(values && back && seen && want && stream && ends);

    float pool[4][256];
    for (unsigned tag = 0; tag < 4; tag++)
        for (unsigned i = 0; i < 256; i++) pool[tag][i] = stream_value(codec, tag, &state);
    for (size_t i = 0; i < VALUES; i++) values[i] = pool[i / 8 >> 2 * (i % 8) & 3][stream_random(&state) & 255];
    size_t length = stream_reference(codec, values, VALUES, want, ends);
    stream_seen(codec, values, VALUES, seen);

    ck_assert_int_eq(gn_stream_encode(codec, values, VALUES, stream, bound_of(codec, VALUES), &bytes), GN_OK);
    ck_assert_uint_eq(bytes, length);
    ck_assert_int_eq(memcmp(stream, want, length), 0);
    ck_assert_int_eq(gn_stream_decode(codec, stream, bytes, back, VALUES, NULL), GN_OK);
    ck_assert_int_eq(memcmp(back, seen, VALUES * sizeof *seen), 0);

    for (size_t g = 0; g < GROUPS && codec->profile != GN_DENSE; g++) {  // alone: the ways for short pieces
        size_t begin = g ? ends[g - 1] : 0, room = ends[g] - begin;
        uint8_t record[GN_RECORD_MAX];
        float one[8];
        bool good = (want[begin] | (size_t)want[begin + 1] << 8) == g;
        good = good && gn_stream_encode(codec, values + 8 * g, 8, record, room, &bytes) == GN_OK;
        good = good && bytes == room && !memcmp(record, want + begin, bytes);
        good = good && gn_stream_decode(codec, record, bytes, one, 8, NULL) == GN_OK;
        good = good && !memcmp(one, seen + 8 * g, sizeof one);
        if (!good) ck_abort_msg("%s: tag word %04zx", gn_codec_kernel_name(codec), g);
    }
    free(values), free(back), free(seen), free(want), free(stream), free(ends);
}

/// A kernel may measure records ahead, 2048 bytes at a time. Four of the longest begin where only
/// three of them and the beginning of the fourth lie in these bytes.
static void check_end_of_window(const gn_codec *codec)
{
    enum { LONGEST = 57, LONG = 34, SHORT = 3, EMPTY = 2, BEFORE = LONGEST * LONG + 2 * SHORT + EMPTY, GROUPS = 200 };
    static float values[8 * GROUPS], back[8 * GROUPS];
    static uint32_t seen[8 * GROUPS];
    uint64_t state = 5;
    uint8_t *stream = malloc(bound_of(codec, 8 * GROUPS));
    size_t bytes, ends[GROUPS];
    if (codec->profile == GN_DENSE) return free(stream);  // has no records
    ck_assert_uint_eq(BEFORE, 2048 - 3 * LONG);
    for (unsigned g = 0; g < GROUPS; g++)
        for (unsigned i = 0; i < 8; i++) {
            const bool is_short = g == LONGEST || g == LONGEST + 1, is_empty = g == LONGEST + 2;
            values[8 * g + i] = is_short && !i ? stream_value(codec, 1, &state) : is_short || is_empty ? 0 : 1e30f;
        }
    stream_seen(codec, values, 8 * GROUPS, seen);
    ck_assert_uint_gt(stream_reference(codec, values, 8 * GROUPS, stream, ends), 0);
    ck_assert_uint_eq(ends[LONGEST + 2], BEFORE);
    ck_assert_int_eq(gn_stream_encode(codec, values, 8 * GROUPS, stream, bound_of(codec, 8 * GROUPS), &bytes), GN_OK);
    ck_assert_int_eq(gn_stream_decode(codec, stream, bytes, back, 8 * GROUPS, NULL), GN_OK);
    ck_assert_int_eq(memcmp(back, seen, sizeof seen), 0);
    free(stream);
}

START_TEST(end_of_a_window)
{
    stream_each_kernel(10, check_end_of_window);
}
END_TEST

START_TEST(every_tag_word)
{
    stream_each_kernel(10, check_tag_words);
}
END_TEST

// ---- lengths and alignments

static void check_length(const gn_codec *codec, const float *values, size_t count, size_t shift)
{
    uint32_t seen[MOST];
    uint8_t want[MOST / 8 * GN_RECORD_MAX];
    size_t bytes, length = stream_reference(codec, values, count, want, NULL);
    stream_seen(codec, values, count, seen);

    fence in = fence_new(count * 4, shift), stream = fence_new(length, shift * 7 % 64),
          back = fence_new(count * 4, shift * 3 % 64);
    memcpy(in.at, values, count * 4);
    ck_assert_int_eq(gn_stream_encode(codec, in.at, count, stream.at, length, &bytes), GN_OK);
    ck_assert_msg(bytes == length && !memcmp(stream.at, want, length), "%s: %zu values at +%zu",
                  gn_codec_kernel_name(codec), count, shift);
    ck_assert_int_eq(gn_stream_decode(codec, stream.at, length, back.at, count, NULL), GN_OK);
    ck_assert(!memcmp(back.at, seen, count * 4));
    ck_assert(fence_intact(&in) && fence_intact(&stream) && fence_intact(&back));
    fence_free(&in), fence_free(&stream), fence_free(&back);
}

static void check_lengths(const gn_codec *codec)
{
    uint64_t state = 7;
    float values[MOST] = {0};
    for (unsigned classes = 1; classes < 16; classes += 2) {  // with tag 0 always: runs of zeros happen for 1
        stream_mixed(codec, classes, values, MOST, &state);
        for (size_t count = 0; count <= 300; count++) check_length(codec, values, count, (count * 5 + classes) % 64);
        check_length(codec, values, 362, classes);  // an Ethernet packet's TCP payload
    }
    stream_mixed(codec, 0x7, values, MOST, &state);
    for (size_t shift = 0; shift < 64; shift++) check_length(codec, values, 77, shift);
    memset(values + 64, 0, 128 * sizeof *values);  // empty quads between others
    for (size_t count = 0; count <= 300; count++) check_length(codec, values, count, 4);
}

START_TEST(lengths_and_alignments)
{
    stream_each_kernel(10, check_lengths);
}
END_TEST

// Nothing to do is done, without touching any pointer.
static void check_nothing(const gn_codec *codec)
{
    size_t bytes = 9, taken = 9, offset = 9;
    uint8_t byte = 0;
    gn_tally tally = {0};
    ck_assert_int_eq(gn_stream_encode(codec, NULL, 0, NULL, 0, &bytes), GN_OK);
    ck_assert_uint_eq(bytes, 0);
    ck_assert_int_eq(gn_stream_encode_fit(codec, NULL, 0, NULL, 0, &taken, &bytes), GN_OK);
    ck_assert_uint_eq(taken, 0);
    ck_assert_int_eq(gn_stream_decode(codec, NULL, 0, NULL, 0, &offset), GN_OK);
    ck_assert_int_eq(gn_stream_decode(codec, &byte, 1, NULL, 0, &offset), GN_CORRUPT);
    ck_assert_uint_eq(offset, 0);
    ck_assert_int_eq(gn_stream_tally(codec, NULL, 0, 0, &tally), GN_OK);
    ck_assert_int_eq(gn_quantise(codec, NULL, NULL, NULL, 0), GN_OK);
}

START_TEST(nothing)
{
    stream_each_kernel(10, check_nothing);
}
END_TEST

// ---- every capacity

static void check_capacity(const gn_codec *codec, const float *values, size_t count, size_t capacity,
                           const size_t *ends)
{
    uint8_t want[MOST / 8 * GN_RECORD_MAX];
    size_t groups = (count + 7) / 8, fit = 0, bytes = 99, taken = 99;
    while (fit < groups && ends[fit] <= capacity) fit++;
    size_t want_taken = fit == groups ? count : 8 * fit, want_bytes = fit ? ends[fit - 1] : 0;

    ck_assert_uint_eq(stream_reference(codec, values, want_taken, want, NULL), want_bytes);

    fence stream = fence_new(capacity, capacity % 32);
    ck_assert_int_eq(gn_stream_encode_fit(codec, values, count, stream.at, capacity, &taken, &bytes), GN_OK);
    ck_assert_msg(taken == want_taken && bytes == want_bytes, "%s: %zu values, capacity %zu: took %zu, not %zu",
                  gn_codec_kernel_name(codec), count, capacity, taken, want_taken);
    ck_assert(!memcmp(stream.at, want, bytes));
    ck_assert(fence_intact(&stream));

    gn_status status = gn_stream_encode(codec, values, count, stream.at, capacity, &bytes);
    ck_assert_int_eq(status, fit == groups ? GN_OK : GN_NO_SPACE);
    ck_assert_uint_eq(bytes, fit == groups ? want_bytes : 0);
    ck_assert(fence_intact(&stream));
    fence_free(&stream);
}

static void check_each_capacity(const gn_codec *codec, const float *values, size_t count)
{
    uint8_t stream[MOST / 8 * GN_RECORD_MAX];
    size_t ends[MOST / 8], most = stream_reference(codec, values, count, stream, ends) + 40;
    for (size_t capacity = 0; capacity <= most; capacity++) check_capacity(codec, values, count, capacity, ends);
}

static void check_capacities(const gn_codec *codec)
{
    static const size_t counts[] = {1, 2, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 100, 129};
    uint64_t state = 11;
    for (unsigned classes = 1; classes < 16; classes += SANITIZED ? 3 : 1) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            float values[MOST];
            stream_mixed(codec, classes, values, counts[i], &state);
            check_each_capacity(codec, values, counts[i]);
        }
    }
    float sparse[MOST] = {0};  // here and there a value: runs of empty quads end where there is no more room
    for (size_t i = 37; i < MOST; i += 1 + (size_t)stream_random(&state) % 80)
        sparse[i] = stream_value(codec, 1 + (unsigned)i % 3, &state);
    for (size_t count = MOST - 70; count <= MOST; count += 7) check_each_capacity(codec, sparse, count);
}

START_TEST(every_capacity)
{
    stream_each_kernel(10, check_capacities);
}
END_TEST

// ---- what a decoder rejects, and where

static void check_bad(const gn_codec *codec, const uint8_t *stream, size_t bytes, size_t count, gn_status want,
                      size_t offset)
{
    uint8_t *exact = malloc(bytes ? bytes : 1);  // a sanitizer sees a read past its end
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, stream, bytes);
    fence back = fence_new(count * 4, 4);
    size_t at = SIZE_MAX;
    gn_status status = gn_stream_decode(codec, exact, bytes, back.at, count, &at);
    ck_assert_msg(status == want && at == offset, "%s: %zu bytes, %zu values: %s at %zu, not %s at %zu",
                  gn_codec_kernel_name(codec), bytes, count, gn_status_string(status), at, gn_status_string(want),
                  offset);
    ck_assert(fence_intact(&back));
    ck_assert_int_eq(gn_stream_decode(codec, exact, bytes, back.at, count, NULL), want);
    if (codec->profile != GN_PAPER) {
        unsigned flags = 99;
        at = SIZE_MAX;
        status = gn_stream_get_integers(codec, exact, bytes, (int32_t *)(void *)back.at, count, &flags, &at);
        ck_assert(status == want && at == offset && flags == 0 && fence_intact(&back));
    }

    gn_tally tally = {.values = 1, .groups = 2, .tags = {3, 4, 5, 6}, .stream_bytes = 7}, before = tally;
    ck_assert_int_eq(gn_stream_tally(codec, exact, bytes, count, &tally), want);
    ck_assert_mem_eq(&tally, &before, sizeof tally);
    free(exact);
    fence_free(&back);
}

// The rejections of streams of records; dense's: test_dense_hostile.c.
static void check_rejections(const gn_codec *codec)
{
    uint64_t state = 13;
    static const size_t counts[] = {1, 8, 13, 40, 64, 100, 362};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        float values[MOST];
        uint8_t stream[MOST / 8 * GN_RECORD_MAX + 64] = {0};
        size_t ends[MOST / 8], count = counts[i];
        stream_mixed(codec, i % 2 ? 0xf : 0x7, values, count, &state);
        size_t length = stream_reference(codec, values, count, stream, ends);
        for (size_t bytes = 0, g = 0; bytes < length; bytes++) {  // cut anywhere
            while (ends[g] <= bytes) g++;
            check_bad(codec, stream, bytes, count, GN_TRUNCATED, g ? ends[g - 1] : 0);
        }
        for (size_t more = 1; more <= 64; more++)  // bytes behind, also such as would be empty records
            check_bad(codec, stream, length + more, count, GN_CORRUPT, length);
    }
}

// Many more bytes than any stream of so few values has.
static void check_much_behind(const gn_codec *codec)
{
    uint8_t *stream = calloc(1, 10000);
    ck_assert_ptr_nonnull(stream);
    for (size_t count = 1; count < 100; count += 7)
        check_bad(codec, stream, 10000, count, GN_CORRUPT, (count + 7) / 8 * 2);
    check_bad(codec, stream, 10000, 1000000, GN_TRUNCATED, 10000);
    memset(stream, 0xff, 10000);
    check_bad(codec, stream, 10000, 1000000, GN_TRUNCATED, 10000 / 34 * 34);
    free(stream);
}

static void check_padding(const gn_codec *codec)
{
    for (size_t groups = 0; groups <= 9; groups += 3) {
        for (unsigned lanes = 1; lanes < 8; lanes++) {
            for (unsigned lane = lanes; lane < 8; lane++) {
                uint8_t stream[9 * 2 + GN_RECORD_MAX] = {0};
                for (unsigned tag = 1; tag < 4; tag++) {
                    unsigned tags = tag << 2 * lane;
                    stream[2 * groups] = (uint8_t)tags, stream[2 * groups + 1] = (uint8_t)(tags >> 8);
                    check_bad(codec, stream, 2 * groups + 2 + (tag == 3 ? 4 : tag), 8 * groups + lanes, GN_CORRUPT,
                              2 * groups);
                }
            }
        }
    }
}

START_TEST(truncated_trailing_padding)
{
    for (gn_profile profile = GN_PAPER; profile <= GN_LATTICE; profile++) {
        stream_each_kernel_of(profile, 10, check_rejections);
        stream_each_kernel_of(profile, 10, check_much_behind);
        stream_each_kernel_of(profile, 10, check_padding);
    }
}
END_TEST

// Random bytes: all kernels say the same, and give the same values.
START_TEST(kernels_agree_on_any_bytes)
{
    uint64_t state = 17;
    for (unsigned round = 0; round < (SANITIZED ? 6000 : 30000); round++) {
        gn_profile profile = round % GN_PROFILE_COUNT;
        size_t bytes = stream_random(&state) % 500, count = stream_random(&state) % 400;
        unsigned sparse = stream_random(&state) & 3;
        uint8_t *stream = malloc(bytes ? bytes : 1);
        ck_assert_ptr_nonnull(stream);
        for (size_t i = 0; i < bytes; i++)
            stream[i] = (stream_random(&state) & sparse) ? 0 : (uint8_t)stream_random(&state);
        uint32_t values[2][400];
        gn_status status[2] = {0};
        size_t offset[2] = {0};
        for (unsigned n = 0; gn_kernel_name(n); n++) {
            gn_codec codec;
            ck_assert_int_eq(gn_codec_init_kernel(&codec, profile, 10, gn_kernel_name(n)), GN_OK);
            status[n > 0] = gn_stream_decode(&codec, stream, bytes, values[n > 0], count, &offset[n > 0]);
            if (n == 0) continue;
            ck_assert_int_eq(status[1], status[0]);
            if (status[0])
                ck_assert_uint_eq(offset[1], offset[0]);
            else
                ck_assert(!memcmp(values[1], values[0], count * 4));
        }
        free(stream);
    }
}
END_TEST

// ---- content

static void check_tally(const gn_codec *codec)
{
    uint64_t state = 19;
    float values[MOST];
    uint8_t stream[MOST / 8 * GN_RECORD_MAX];
    gn_tally tally = {0}, want = {0};
    for (size_t count = 1; count <= MOST; count += 19) {
        uint64_t classes[DENSE_CLASSES];
        dense_lane lanes[MOST];
        size_t fault;
        stream_mixed(codec, 0xf, values, count, &state);
        size_t bytes = stream_reference(codec, values, count, stream, NULL);
        for (size_t i = 0; i < count; i++) {
            uint32_t bits;
            memcpy(&bits, &values[i], sizeof bits);
            if (codec->profile != GN_DENSE) want.tags[gn_lane_encode(codec, bits).tag]++;
        }
        if (codec->profile == GN_DENSE) {
            ck_assert_int_eq(dense_read(stream, bytes, count, lanes, classes, &fault), GN_OK);
            for (int class = 0; class < DENSE_CLASSES; class ++) want.classes[class] += classes[class];
        }
        want.values += count, want.groups += (count + 7) / 8, want.stream_bytes += bytes;
        ck_assert_int_eq(gn_stream_tally(codec, stream, bytes, count, &tally), GN_OK);
        ck_assert_mem_eq(&tally, &want, sizeof tally);
    }
}

START_TEST(tally_counts_tags_or_classes)
{
    stream_each_kernel(10, check_tally);
}
END_TEST

static void check_gradients(const gn_codec *codec)
{
    static const char *const files[] = {"cnn-it30-w0", "cnn-it100-w3", "mlp-it1000-w1"};
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        char path[512];
        size_t count, bytes, again;
        snprintf(path, sizeof path, "%s/gradients/%s.npy.gz", GN_TEST_DATA, files[f]);
        float *values = stream_load_npy(path, &count), *back = malloc(count * 4);
        uint32_t *seen = malloc(count * 4);
        size_t room = bound_of(codec, count);
        uint8_t *stream = malloc(room), *want = malloc(room);
        ck_assert(back && seen && stream && want && count == 262144);
        stream_seen(codec, values, count, seen);
        size_t length = stream_reference(codec, values, count, want, NULL);
        ck_assert_int_eq(gn_stream_encode(codec, values, count, stream, room, &bytes), GN_OK);
        ck_assert(bytes == length && !memcmp(stream, want, length));
        ck_assert_uint_lt(bytes, count * 4 / 2);
        ck_assert_int_eq(gn_stream_decode(codec, stream, bytes, back, count, NULL), GN_OK);
        ck_assert(!memcmp(back, seen, count * 4));
        float worst = 0;
        for (size_t i = 0; i < count; i++) worst = fmaxf(worst, fabsf(values[i] - back[i]));
        if (codec->profile != GN_PAPER) ck_assert(worst > 0 && worst <= ldexpf(1, -codec->bound_exp));
        ck_assert_int_eq(gn_stream_encode(codec, back, count, stream, room, &again), GN_OK);
        ck_assert_int_eq(gn_stream_decode(codec, stream, again, back, count, NULL), GN_OK);
        ck_assert(!memcmp(back, seen, count * 4));
        free(values), free(back), free(seen), free(stream), free(want);
    }
}

START_TEST(real_gradients)
{
    stream_each_kernel(10, check_gradients);
    stream_each_kernel(6, check_gradients);
}
END_TEST

int main(void)
{
    return RUN_TESTS("streams", end_of_a_window, every_tag_word, lengths_and_alignments, nothing, every_capacity,
                     truncated_trailing_padding, kernels_agree_on_any_bytes, tally_counts_tags_or_classes,
                     real_gradients);
}
