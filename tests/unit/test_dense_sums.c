// SPDX-License-Identifier: Apache-2.0
// Streams that are added to sums, and streams that are made of sums: in binary32 (all profiles) and
// in integers (lattice, dense).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <gradnic/codec.h>

#include "cage.h"
#include "dense_made.h"
#include "streams.h"
#include "suite.h"

enum { MOST = 1400, ROOM = MOST / 8 * GN_RECORD_MAX + 300 };

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

// ---- in binary32: decode, then add

static void fill_sums(uint32_t *sums, size_t count, uint64_t *state)
{
    static const uint32_t special[8] = {0x80000000, 0,          0x7f800000, 0xff800000,
                                        0x7fc00001, 0x00000001, 0x80000003, 0x7f7fffff};
    for (size_t i = 0; i < count; i++) {
        uint32_t r = (uint32_t)stream_random(state);
        sums[i] = r % 4 == 0 ? special[r >> 4 & 7] : (r & 0x80ffffff) | (0x38000000 + (r >> 2 & 0x07000000));
    }
}

// One stream, to buffers of exactly its size.
static void check_add(const gn_codec *codec, const uint8_t *bytes, size_t length, size_t count, uint64_t *state)
{
    static cage stream_cage, sums_cage;
    static uint32_t sums[MOST], decoded[MOST];
    if (!sums_cage.room) stream_cage = cage_new(ROOM), sums_cage = cage_new(sizeof sums);
    fill_sums(sums, count, state);
    cage_side side = stream_random(state) & 1 ? CAGE_HIGH : CAGE_LOW;
    const uint8_t *stream = cage_place(&stream_cage, side, bytes, length);
    void *to = cage_place(&sums_cage, side, sums, 4 * count);
    size_t fault;
    bool good = gn_stream_decode(codec, stream, length, decoded, count, NULL) == GN_OK;
    good = good && gn_stream_add(codec, stream, length, to, count, &fault) == GN_OK && cage_intact(&sums_cage);
    for (size_t i = 0; i < count && good; i++) {
        volatile float a, b, sum;  // the addition of the language, whatever a compiler makes of the loop
        uint32_t want, got;
        memcpy((void *)&a, &sums[i], 4), memcpy((void *)&b, &decoded[i], 4);
        sum = a + b;
        memcpy(&want, (void *)&sum, 4), memcpy(&got, sums_cage.at + 4 * i, 4);
        // which of two NaNs a sum becomes is left open
        good = got == want || (is_nan(sums[i]) && is_nan(decoded[i]) && is_nan(got));
        if (!good)
            ck_abort_msg("%s %s: %08x + %08x is %08x, not %08x, at %zu of %zu", gn_profile_name(codec->profile),
                         gn_codec_kernel_name(codec), sums[i], decoded[i], got, want, i, count);
    }
    if (!good) ck_abort_msg("%s %s: %zu values", gn_profile_name(codec->profile), gn_codec_kernel_name(codec), count);
}

static void check_adds(const gn_codec *codec)
{
    uint64_t state = 1;
    static float values[MOST];
    static uint8_t stream[ROOM];
    for (unsigned classes = 1; classes < 16; classes++) {
        for (size_t count = 0; count <= 300; count += classes == 7 ? 1 : 13) {
            stream_mixed(codec, classes, values, count, &state);
            if (count > 200) memset(values + 48, 0, 4 * 100);  // empty groups and quads between others
            check_add(codec, stream, stream_reference(codec, values, count, stream, NULL), count, &state);
        }
    }
    memset(values, 0, sizeof values);
    for (size_t count = 1; count <= MOST; count += 99)
        check_add(codec, stream, stream_reference(codec, values, count, stream, NULL), count, &state);
}

START_TEST(add_is_decode_and_add)
{
    stream_each_kernel(10, check_adds);
    stream_each_kernel(31, check_adds);
}
END_TEST

// Streams that no encoder makes, with words of 32 bits, NaNs and -0.0.
static void check_add_any(const gn_codec *codec)
{
    uint64_t state = 2;
    static uint8_t stream[ROOM];
    static size_t starts[MOST];
    for (int round = 0; round < 2000; round++) {
        size_t count = 1 + stream_random(&state) % 300, items = dense_make_stream(count, stream, starts, &state);
        check_add(codec, stream, starts[items], count, &state);
    }
}

START_TEST(add_of_any_stream)
{
    stream_each_kernel_of(GN_DENSE, 10, check_add_any);
    stream_each_kernel_of(GN_DENSE, -31, check_add_any);
}
END_TEST

// ---- in integers

// What has to become of `sums`; returns the flags.
static unsigned add_reference(const dense_lane *lanes, size_t count, int32_t *sums)
{
    unsigned flags = 0;
    for (size_t i = 0; i < count; i++) {
        if (lanes[i].raw) {
            flags |= GN_SUM_RAW;
            continue;
        }
        int64_t sum = (int64_t)sums[i] + (int32_t)lanes[i].word;
        if (sum < INT32_MIN || sum > INT32_MAX) flags |= GN_SUM_OVERFLOW;
        sums[i] = (int32_t)(uint32_t)(sum & 0xffffffff);
    }
    return flags;
}

// The integers themselves: what adding to zeros would give.
static void check_get(const gn_codec *codec, const uint8_t *stream, size_t bytes, const dense_lane *lanes, size_t count)
{
    static cage get_cage;
    if (!get_cage.room) get_cage = cage_new(4 * MOST);
    int32_t want[MOST] = {0};
    void *to = cage_place(&get_cage, bytes & 1 ? CAGE_HIGH : CAGE_LOW, NULL, 4 * count);
    unsigned want_flags = add_reference(lanes, count, want), flags = 99;
    bool good = gn_stream_get_integers(codec, stream, bytes, to, count, &flags, NULL) == GN_OK;
    if (!good || flags != want_flags || memcmp(to, want, 4 * count) || !cage_intact(&get_cage))
        ck_abort_msg("%s %s: %zu integers, flags %u, not %u", gn_profile_name(codec->profile),
                     gn_codec_kernel_name(codec), count, flags, want_flags);
}

static void check_sum(const gn_codec *codec, const uint8_t *stream, size_t bytes, const dense_lane *lanes, size_t count,
                      int32_t *sums)
{
    static cage sums_cage;
    if (!sums_cage.room) sums_cage = cage_new(4 * MOST);
    check_get(codec, stream, bytes, lanes, count);
    void *to = cage_place(&sums_cage, bytes & 1 ? CAGE_HIGH : CAGE_LOW, sums, 4 * count);
    unsigned want = add_reference(lanes, count, sums), flags = 99;
    bool good = gn_stream_add_integers(codec, stream, bytes, to, count, &flags, NULL) == GN_OK;
    if (!good || flags != want || memcmp(to, sums, 4 * count) || !cage_intact(&sums_cage))
        ck_abort_msg("%s %s: %zu values, flags %u, not %u", gn_profile_name(codec->profile),
                     gn_codec_kernel_name(codec), count, flags, want);
}

// Sums of canonical streams of values.
static void check_sums(const gn_codec *codec)
{
    uint64_t state = 3;
    static float values[MOST];
    static uint8_t stream[ROOM];
    static dense_lane lanes[MOST];
    for (size_t count = 1; count <= 300; count += count < 40 ? 1 : 17) {
        int32_t sums[MOST];
        for (size_t i = 0; i < count; i++) sums[i] = (int32_t)stream_random(&state) >> stream_random(&state) % 32;
        for (unsigned n = 0; n < 15; n++) {
            stream_mixed(codec, 1 + n, values, count, &state);
            if (n & 1 && count > 200) memset(values + 48, 0, 4 * 100);
            stream_lanes(codec, values, count, lanes);
            check_sum(codec, stream, stream_reference(codec, values, count, stream, NULL), lanes, count, sums);
        }
    }
}

START_TEST(integers_add_as_integers)
{
    stream_each_kernel_of(GN_LATTICE, 10, check_sums);
    stream_each_kernel_of(GN_DENSE, 10, check_sums);
}
END_TEST

// Any legal stream: words of 32 bits, overflows in both directions, raw lanes beside.
static void check_sums_any(const gn_codec *codec)
{
    uint64_t state = 4;
    static uint8_t stream[ROOM];
    static size_t starts[MOST];
    static dense_lane lanes[MOST];
    for (int round = 0; round < 3000; round++) {
        int32_t sums[300];
        size_t count = 1 + stream_random(&state) % 300, items = dense_make_stream(count, stream, starts, &state), fault;
        for (size_t i = 0; i < count; i++) sums[i] = (int32_t)stream_random(&state) >> stream_random(&state) % 32;
        ck_assert_int_eq(dense_read(stream, starts[items], count, lanes, NULL, &fault), GN_OK);
        check_sum(codec, stream, starts[items], lanes, count, sums);
    }
}

START_TEST(integers_of_any_stream)
{
    stream_each_kernel_of(GN_DENSE, 10, check_sums_any);
}
END_TEST

// Every payload of 8 and of 16 bits that a record can have, canonical or not, as two's complement.
static void check_codes(const gn_codec *codec)
{
    for (unsigned bytes = 1; bytes <= 2; bytes++) {
        const uint32_t codes = bytes == 1 ? 256 : 65536;
        for (uint32_t first = 0; first < codes; first += 64) {
            uint8_t stream[8 * (GN_RECORD_MAX)], *out = stream;
            dense_lane lanes[64] = {{0}};
            for (uint32_t i = 0; i < 64; i++) {
                const uint32_t code = first + i;
                if (i % 8 == 0) *out++ = bytes == 1 ? 0x55 : 0xaa, *out++ = bytes == 1 ? 0x55 : 0xaa;
                *out++ = (uint8_t)code;
                if (bytes == 2) *out++ = (uint8_t)(code >> 8);
                lanes[i].word = bytes == 1 ? (uint32_t)(int8_t)(uint8_t)code : (uint32_t)(int16_t)(uint16_t)code;
            }
            check_get(codec, stream, (size_t)(out - stream), lanes, 64);
        }
    }
}

START_TEST(every_code_of_lattice)
{
    stream_each_kernel_of(GN_LATTICE, 10, check_codes);
}
END_TEST

// In each lane, by hand: sums at the ends of int32, and one further.
static void check_ends(const gn_codec *codec)
{
    static const struct {
        int32_t sum, q, want;
        unsigned flags;
    } cases[] = {
        {INT32_MAX, 0, INT32_MAX, 0},
        {INT32_MAX - 1, 1, INT32_MAX, 0},
        {INT32_MAX, 1, INT32_MIN, GN_SUM_OVERFLOW},
        {INT32_MIN, -1, INT32_MAX, GN_SUM_OVERFLOW},
        {INT32_MIN, 1, INT32_MIN + 1, 0},
        {INT32_MIN, INT32_MIN, 0, GN_SUM_OVERFLOW},
        {0, INT32_MIN, INT32_MIN, 0},
        {-1, INT32_MIN, INT32_MAX, GN_SUM_OVERFLOW},
        {INT32_MAX, INT32_MIN, -1, 0},
        {INT32_MAX, INT32_MAX, -2, GN_SUM_OVERFLOW},
        {70000, -32768, 37232, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t at = 0; at < 40; at++) {
            int32_t integers[40] = {0}, sums[40] = {0}, want[40] = {0};
            uint8_t stream[300];
            size_t bytes;
            unsigned flags = 99;
            integers[at] = cases[i].q, sums[at] = cases[i].sum, want[at] = cases[i].want;
            bool good = gn_stream_encode_integers(codec, integers, 40, stream, sizeof stream, &bytes) == GN_OK;
            good = good && gn_stream_add_integers(codec, stream, bytes, sums, 40, &flags, NULL) == GN_OK;
            if (!good || flags != cases[i].flags || memcmp(sums, want, sizeof want))
                ck_abort_msg("%s: case %zu in lane %zu", gn_codec_kernel_name(codec), i, at);
        }
    }
}

START_TEST(ends_of_int32)
{
    stream_each_kernel_of(GN_DENSE, 10, check_ends);
}
END_TEST

// ---- streams of integers

static int32_t any_integer(uint64_t *state)
{
    static const int32_t edges[] = {0,     1,      -1,     127,    -128,      128,       32767,
                                    32768, -32767, -32768, -32769, INT32_MAX, INT32_MIN, 16777217};
    uint64_t r = stream_random(state);
    if (r % 16 == 0) return edges[r / 16 % (sizeof edges / sizeof *edges)];
    return (int32_t)(r >> 32) >> (r / 16 % 32);
}

// Integers of `bits` bits and fewer; 32: now and then one of the special ones.
static void fill_integers(int32_t *integers, size_t count, unsigned bits, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        integers[i] = bits == 32 ? any_integer(state) : bits ? (int32_t)stream_random(state) >> (32 - bits) : 0;
        if (bits > 16 && i / 32 % 3 == 1) integers[i] = 0;
    }
}

static size_t integers_reference(const gn_codec *codec, const int32_t *integers, size_t count, uint8_t *stream,
                                 size_t *ends, dense_lane *lanes)
{
    float values[MOST];
    for (size_t i = 0; i < count; i++) lanes[i] = (dense_lane){.word = (uint32_t)integers[i]};
    if (codec->profile == GN_DENSE) return dense_write(lanes, count, stream, ends);
    dense_make_values(lanes, count, codec->bound_exp, values);  // lattice: the nearest values, perhaps raw
    stream_lanes(codec, values, count, lanes);
    return stream_reference(codec, values, count, stream, ends);
}

static void check_integers(const gn_codec *codec)
{
    uint64_t state = 5;
    cage cages[2] = {cage_new(4 * MOST), cage_new(ROOM)};
    for (unsigned bits = 0; bits <= 32; bits++) {
        for (size_t count = 1; count <= 300; count += bits % 8 ? 37 : 1) {
            int32_t integers[300], sums[300] = {0};
            uint8_t want[ROOM];
            uint32_t back[300];
            dense_lane lanes[300];
            size_t bytes;
            fill_integers(integers, count, bits, &state);
            size_t length = integers_reference(codec, integers, count, want, NULL, lanes);
            cage_side side = count & 1 ? CAGE_HIGH : CAGE_LOW;
            const void *from = cage_place(&cages[0], side, integers, 4 * count);
            uint8_t *stream = cage_place(&cages[1], side, NULL, length);
            bool good = gn_stream_encode_integers(codec, from, count, stream, length, &bytes) == GN_OK;
            good = good && bytes == length && !memcmp(stream, want, length) && cage_intact(&cages[1]);
            good = good && gn_stream_decode(codec, stream, length, back, count, NULL) == GN_OK;
            for (size_t i = 0; i < count; i++) good = good && back[i] == dense_value(lanes[i], codec->bound_exp);
            if (!good) ck_abort_msg("%s: %zu integers of %u bits", gn_codec_kernel_name(codec), count, bits);
            check_sum(codec, stream, length, lanes, count, sums);
            if (codec->profile == GN_DENSE) ck_assert(!memcmp(sums, integers, 4 * count));  // nothing is lost
        }
    }
    cage_free(&cages[0]), cage_free(&cages[1]);
}

static void check_integer_room(const gn_codec *codec)
{
    uint64_t state = 6;
    cage room_cage = cage_new(ROOM);
    static const unsigned widths[] = {0, 3, 8, 16, 20, 32};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (size_t count = 1; count <= 140; count += 15) {
            int32_t integers[140];
            uint8_t want[ROOM];
            dense_lane lanes[140];
            size_t bytes = 99;
            fill_integers(integers, count, widths[w], &state);
            size_t length = integers_reference(codec, integers, count, want, NULL, lanes);
            for (size_t room = 0; room <= length + 300; room++) {
                uint8_t *stream = cage_place(&room_cage, room & 1 ? CAGE_HIGH : CAGE_LOW, NULL, room);
                gn_status status = gn_stream_encode_integers(codec, integers, count, stream, room, &bytes);
                bool fits = room >= length, good = status == (fits ? GN_OK : GN_NO_SPACE);
                good = good && bytes == (fits ? length : 0) && !memcmp(stream, want, bytes) && cage_intact(&room_cage);
                if (!good) ck_abort_msg("%s: %zu integers in %zu bytes", gn_codec_kernel_name(codec), count, room);
            }
        }
    }
    size_t bytes = 9;
    ck_assert_int_eq(gn_stream_encode_integers(codec, NULL, 0, NULL, 0, &bytes), GN_OK);
    ck_assert_uint_eq(bytes, 0);
    cage_free(&room_cage);
}

START_TEST(streams_of_integers)
{
    for (gn_profile profile = GN_LATTICE; profile <= GN_DENSE; profile++) {
        stream_each_kernel_of(profile, 10, check_integers);
        stream_each_kernel_of(profile, -31, check_integers);
        stream_each_kernel_of(profile, 31, check_integers);
        stream_each_kernel_of(profile, 10, check_integer_room);
    }
}
END_TEST

// Every integer within 17 bits becomes the bytes that the reference makes of it.
static void check_each_integer(const gn_codec *codec)
{
    gn_codec reference;
    ck_assert_int_eq(gn_codec_init_kernel(&reference, codec->profile, codec->bound_exp, "scalar"), GN_OK);
    for (int32_t first = -70000; first < 70000; first += 100) {
        int32_t integers[100];
        uint8_t got[ROOM], want[ROOM];
        size_t bytes, length;
        for (int32_t i = 0; i < 100; i++) integers[i] = first + i;
        bool good = gn_stream_encode_integers(codec, integers, 100, got, sizeof got, &bytes) == GN_OK;
        good = good && gn_stream_encode_integers(&reference, integers, 100, want, sizeof want, &length) == GN_OK;
        if (!good || bytes != length || memcmp(got, want, bytes))
            ck_abort_msg("%s: integers from %d on", gn_codec_kernel_name(codec), first);
    }
}

START_TEST(each_integer)
{
    stream_each_kernel_of(GN_LATTICE, 10, check_each_integer);
    stream_each_kernel_of(GN_LATTICE, -31, check_each_integer);
    stream_each_kernel_of(GN_LATTICE, 31, check_each_integer);
    stream_each_kernel_of(GN_DENSE, 10, check_each_integer);
}
END_TEST

// What no single value quantises to is written as words, though 16 planes would hold it.
static void check_word_rule(const gn_codec *codec)
{
    static const int32_t edges[] = {32767, -32767, -32768, 32768};
    for (size_t i = 0; i < 4; i++) {
        int32_t integers[8] = {[2] = edges[i]};
        uint8_t stream[40];
        size_t bytes;
        ck_assert_int_eq(gn_stream_encode_integers(codec, integers, 8, stream, sizeof stream, &bytes), GN_OK);
        ck_assert_uint_eq(stream[0], i < 2 ? 14 : 15);
        ck_assert_uint_eq(bytes, i < 2 ? 18 : 35);
        if (i >= 2) ck_assert_uint_eq(stream[34], 0);  // none is raw
    }
}

START_TEST(integers_beyond_32767_are_words)
{
    stream_each_kernel_of(GN_DENSE, 10, check_word_rule);
}
END_TEST

static void check_unsupported(const gn_codec *codec)
{
    int32_t integers[8] = {0};
    uint8_t stream[40] = {0};
    size_t bytes = 9, fault;
    unsigned flags = 9;
    ck_assert_int_eq(gn_stream_encode_integers(codec, integers, 8, stream, sizeof stream, &bytes), GN_UNSUPPORTED);
    ck_assert_uint_eq(bytes, 0);
    ck_assert_int_eq(gn_stream_add_integers(codec, stream, 2, integers, 8, &flags, &fault), GN_UNSUPPORTED);
    ck_assert_int_eq(gn_stream_get_integers(codec, stream, 2, integers, 8, &flags, &fault), GN_UNSUPPORTED);
    ck_assert_uint_eq(flags, 0);
}

START_TEST(paper_has_no_integers)
{
    stream_each_kernel_of(GN_PAPER, 10, check_unsupported);
}
END_TEST

// ---- sums of workers: the same in every order, in integers as in binary32

static void check_workers(const gn_codec *codec)
{
    enum { WORKERS = 4, COUNT = 262144 };
    static uint8_t stream[COUNT / 8 * GN_RECORD_MAX];
    static int32_t sums[COUNT], first[COUNT];
    static float floats[COUNT], expected[COUNT];
    static const int orders[3][WORKERS] = {{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 3, 1, 0}};
    for (int order = 0; order < 3; order++) {
        memset(sums, 0, sizeof sums), memset(floats, 0, sizeof floats);
        for (int w = 0; w < WORKERS; w++) {
            char path[512];
            size_t count, bytes;
            unsigned flags;
            snprintf(path, sizeof path, "%s/gradients/cnn-it30-w%d.npy.gz", GN_TEST_DATA, orders[order][w]);
            float *values = stream_load_npy(path, &count);
            ck_assert_uint_eq(count, COUNT);
            ck_assert_int_eq(gn_stream_encode(codec, values, count, stream, sizeof stream, &bytes), GN_OK);
            ck_assert_int_eq(gn_stream_add_integers(codec, stream, bytes, sums, count, &flags, NULL), GN_OK);
            ck_assert_uint_eq(flags, 0);
            ck_assert_int_eq(gn_stream_add(codec, stream, bytes, floats, count, NULL), GN_OK);
            free(values);
        }
        if (order == 0) memcpy(first, sums, sizeof sums);
        ck_assert(!memcmp(sums, first, sizeof sums));
        for (size_t i = 0; i < COUNT; i++) expected[i] = (float)sums[i] / 512;
        ck_assert(!memcmp(floats, expected, sizeof floats));
    }
}

START_TEST(sums_of_workers_have_no_order)
{
    stream_each_kernel_of(GN_LATTICE, 10, check_workers);
    stream_each_kernel_of(GN_DENSE, 10, check_workers);
}
END_TEST

int main(void)
{
    return RUN_SUITE("dense_sums", NULL, NULL, add_is_decode_and_add, add_of_any_stream, integers_add_as_integers,
                     integers_of_any_stream, every_code_of_lattice, each_integer, ends_of_int32, streams_of_integers,
                     integers_beyond_32767_are_words, paper_has_no_integers, sums_of_workers_have_no_order);
}
