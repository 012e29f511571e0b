// SPDX-License-Identifier: Apache-2.0
// Profile dense, through every kernel: the specification's vectors, every combination of classes,
// runs, and legal streams that no encoder makes. What is not legal: test_dense_hostile.c. Lengths,
// alignments and capacities: test_streams.c.
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <gradnic/codec.h>

#include "cage.h"
#include "dense_made.h"
#include "streams.h"
#include "suite.h"

enum { VALUES_MAX = 8193, STREAM_MAX = 256 };

typedef struct vector {
    size_t count;
    struct {
        size_t at;
        int q;  // RAW: the bits 42800000
    } set[8];
    const char *stream;
} vector;

enum { RAW = 1 << 20 };

// Values are multiples of 2^-9 (bound 2^-10); those that are not listed are 0.
static const vector vectors[] = {
    {1, {{0, 0}}, "000000"},
    {32, {{0, 0}}, "000000"},
    {33, {{0, 0}}, "000001"},
    {8192, {{0, 0}}, "0000ff"},
    {8193, {{0, 0}}, "0000ff000000"},
    {8, {{0, 1}}, "090001"},
    {8, {{0, -1}}, "010001"},
    {8, {{0, 1}, {1, -1}}, "02000302"},
    {8, {{0, -2}}, "02000001"},
    {8, {{7, 2}}, "0a000080"},
    {8, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}}, "0b00556678"},
    {8, {{0, 8}}, "05000000000100"},
    {8, {{0, -128}, {1, 127}}, "08000202020202020201"},
    {8, {{0, 128}}, "0c0000000000000000010000"},
    {8, {{1, -513}}, "0d00020202020202020202000202"},
    {8, {{0, 32767}, {1, -32767}}, "0e0003010101010101010101010101010102"},
    {8, {{0, -1}, {1, RAW}}, "0f00010101010101010101010101010101010101010101010103010301010101030102"},
    {32, {{8, 1}, {16, -1}}, "90010101"},
    {40, {{39, 3}}, "0000000a008080"},
    {96, {{0, 1}}, "090001000001"},
};

static size_t from_hex(const char *text, uint8_t *bytes)
{
    size_t n = strlen(text) / 2;
    for (size_t i = 0; i < n; i++) {
        const char digits[3] = {text[2 * i], text[2 * i + 1], 0};
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return n;
}

static void fill(const vector *v, float *values)
{
    memset(values, 0, VALUES_MAX * sizeof *values);
    for (size_t i = 0; i < 8; i++)
        if (v->set[i].q) values[v->set[i].at] = v->set[i].q == RAW ? 64.0f : (float)v->set[i].q / 512;
}

START_TEST(vectors_of_the_specification)
{
    for (unsigned kernel = 0; gn_kernel_name(kernel); kernel++) {
        gn_codec codec;
        ck_assert_int_eq(gn_codec_init_kernel(&codec, GN_DENSE, 10, gn_kernel_name(kernel)), GN_OK);
        for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
            const vector *v = &vectors[i];
            static float values[VALUES_MAX], back[VALUES_MAX];
            uint8_t want[STREAM_MAX], stream[STREAM_MAX];
            size_t length = from_hex(v->stream, want), bytes;
            fill(v, values);
            ck_assert_int_eq(gn_stream_encode(&codec, values, v->count, stream, length, &bytes), GN_OK);
            ck_assert_msg(bytes == length && !memcmp(stream, want, bytes), "%s: vector %zu", gn_kernel_name(kernel), i);
            ck_assert_int_eq(gn_stream_encode(&codec, values, v->count, stream, length - 1, &bytes), GN_NO_SPACE);
            ck_assert_int_eq(gn_stream_decode(&codec, want, length, back, v->count, NULL), GN_OK);
            ck_assert_msg(!memcmp(back, values, v->count * sizeof *values), "%s: vector %zu", gn_kernel_name(kernel),
                          i);
        }
    }
}
END_TEST

// ---- every combination of four classes

static struct {
    dense_lane lanes[65536 * DENSE_QUAD];
    float values[65536 * DENSE_QUAD];
    uint32_t want[65536 * DENSE_QUAD], back[65536 * DENSE_QUAD];
    uint8_t stream[65536 * DENSE_RECORD_MAX], again[65536 * DENSE_RECORD_MAX];
    size_t starts[65536 + 1];
} all;

static size_t lanes_read(size_t bytes, size_t count, int k)
{
    size_t fault;
    ck_assert_int_eq(dense_read(all.stream, bytes, count, all.lanes, NULL, &fault), GN_OK);
    for (size_t i = 0; i < count; i++) all.want[i] = dense_value(all.lanes[i], k);
    return bytes;
}

static void check_decodes(const gn_codec *codec, size_t bytes, size_t count)
{
    ck_assert_int_eq(gn_stream_decode(codec, all.stream, bytes, all.back, count, NULL), GN_OK);
    ck_assert(!memcmp(all.back, all.want, 4 * count));
}

// One quad alone, in buffers of exactly its size: kernels treat short pieces differently. `count`:
// how many of its 32 values.
static void check_alone(const gn_codec *codec, size_t quad, size_t count, bool canonical, cage cages[3])
{
    const uint8_t *item = all.stream + all.starts[quad];
    size_t length = all.starts[quad + 1] - all.starts[quad], bytes = length;
    for (cage_side side = CAGE_LOW; side < CAGE_SIDES; side++) {
        void *values = cage_place(&cages[0], side, all.values + DENSE_QUAD * quad, 4 * count);
        void *stream = cage_place(&cages[1], side, canonical ? NULL : item, length);
        void *back = cage_place(&cages[2], side, NULL, 4 * count);
        bool good = !canonical || gn_stream_encode(codec, values, count, stream, length, &bytes) == GN_OK;
        good = good && bytes == length && !memcmp(stream, item, length);
        good = good && gn_stream_decode(codec, stream, length, back, count, NULL) == GN_OK;
        good = good && !memcmp(back, all.want + DENSE_QUAD * quad, 4 * count);
        good = good && cage_intact(&cages[0]) && cage_intact(&cages[1]) && cage_intact(&cages[2]);
        if (!good) ck_abort_msg("%s: header %02x%02x", gn_codec_kernel_name(codec), item[1], item[0]);
    }
}

static void check_canonical(const gn_codec *codec)
{
    cage cages[3] = {cage_new(4096), cage_new(4096), cage_new(4096)};
    uint64_t state = 41;
    size_t bytes = 0, written;
    for (size_t header = 0; header < 65536; header++) {
        dense_lane *lanes = all.lanes + DENSE_QUAD * header;
        for (unsigned g = 0; g < 4; g++) dense_make_lanes(header >> 4 * g & 15, lanes + 8 * g, &state);
        all.starts[header] = bytes;
        bytes += dense_write(lanes, DENSE_QUAD, all.stream + bytes, NULL);
        const uint8_t *item = all.stream + all.starts[header];
        if ((item[0] | (size_t)item[1] << 8) != header) ck_abort_msg("header %zx", header);
    }
    all.starts[65536] = bytes;
    dense_make_values(all.lanes, 65536 * DENSE_QUAD, codec->bound_exp, all.values);
    memcpy(all.want, all.values, sizeof all.want);

    size_t room = sizeof all.again;
    ck_assert_int_eq(gn_stream_encode(codec, all.values, 65536 * DENSE_QUAD, all.again, room, &written), GN_OK);
    ck_assert(written == bytes && !memcmp(all.again, all.stream, bytes));
    check_decodes(codec, bytes, 65536 * DENSE_QUAD);
    for (size_t header = 0; header < 65536; header++) check_alone(codec, header, DENSE_QUAD, true, cages);
}

START_TEST(every_header)
{
    stream_each_kernel_of(GN_DENSE, 10, check_canonical);
}
END_TEST

// Any planes in any class decode by the same formulas. So do numbers that a smaller class holds,
// and numbers that need a wider one.
static void check_any_planes(const gn_codec *codec)
{
    cage cages[3] = {cage_new(4096), cage_new(4096), cage_new(4096)};
    uint64_t state = 43;
    size_t bytes = 0;
    for (size_t header = 0; header < 65536; header++) {
        all.starts[header] = bytes;
        all.stream[bytes++] = (uint8_t)header, all.stream[bytes++] = (uint8_t)(header >> 8);
        if (!header) bytes++;  // a run of one
        for (unsigned g = 0; g < 4; g++)
            for (unsigned b = dense_bytes[header >> 4 * g & 15]; b > 0; b--)
                all.stream[bytes++] = (uint8_t)stream_random(&state);
    }
    all.starts[65536] = lanes_read(bytes, 65536 * DENSE_QUAD, codec->bound_exp);
    check_decodes(codec, bytes, 65536 * DENSE_QUAD);
    for (size_t header = 0; header < 65536; header++) check_alone(codec, header, DENSE_QUAD, false, cages);
}

static void check_made_streams(const gn_codec *codec)
{
    uint64_t state = 47;
    for (size_t round = 0; round < 3000; round++) {
        size_t count = 1 + stream_random(&state) % (round % 10 ? 300 : 20000);
        size_t items = dense_make_stream(count, all.stream, all.starts, &state);
        lanes_read(all.starts[items], count, codec->bound_exp);
        check_decodes(codec, all.starts[items], count);
    }
}

START_TEST(streams_that_no_encoder_makes)
{
    stream_each_kernel_of(GN_DENSE, 10, check_any_planes);
    stream_each_kernel_of(GN_DENSE, 10, check_made_streams);
    stream_each_kernel_of(GN_DENSE, 31, check_made_streams);
    stream_each_kernel_of(GN_DENSE, -31, check_made_streams);
}
END_TEST

// By hand; k = 1, where a step is 1. Values that are not listed are 0.
START_TEST(examples_that_no_encoder_makes)
{
    static const struct {
        size_t count;
        const char *stream;
        double values[4];
    } examples[] = {
        {8, "08000100000000000000", {1}},                       // 8 planes where 1 would do
        {8, "02000100", {1}},                                   // signed where nothing is negative
        {8, "0a000200", {0, 1}},                                // unsigned with an empty plane
        {8, "010000", {0}},                                     // one plane, empty
        {8, "08000000000000000001", {-128}},                    // the code 80
        {8, "0c0000000000000000000001", {-512}},                // the most negative of 10 planes
        {8, "0d00000000000000000000000001", {-2048}},           // and of 12
        {8, "0e0000000000000000000000000000000001", {-32768}},  // of 16: it fits, but encoders write words
        {64, "000000000000", {0}},                              // a run in pieces
        // words where a plane would do: 1 and 2, and none raw
        {8,
         "0f000102"
         "00000000000000000000000000000000000000000000000000000000000000",
         {1, 2}},
    };
    for (unsigned kernel = 0; gn_kernel_name(kernel); kernel++) {
        gn_codec codec;
        ck_assert_int_eq(gn_codec_init_kernel(&codec, GN_DENSE, 1, gn_kernel_name(kernel)), GN_OK);
        for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
            uint8_t stream[64];
            float back[64];
            size_t length = from_hex(examples[i].stream, stream);
            ck_assert_int_eq(gn_stream_decode(&codec, stream, length, back, examples[i].count, NULL), GN_OK);
            for (size_t at = 0; at < examples[i].count; at++)
                ck_assert_msg(back[at] == (at < 4 ? examples[i].values[at] : 0), "%s: example %zu, value %zu is %g",
                              gn_kernel_name(kernel), i, at, (double)back[at]);
        }
    }
}
END_TEST

// ---- words beyond the 24 bits of a binary32

START_TEST(large_integers_round_to_nearest_even)
{
    static const struct {
        int32_t q;
        float value;  // at step 1
    } examples[] = {
        {16777216, 16777216},    {16777217, 16777216},   {16777218, 16777218},     {16777219, 16777220},
        {-16777217, -16777216},  {-16777219, -16777220}, {33554429, 33554428},     {33554430, 33554430},
        {33554431, 33554432},    {33554433, 33554432},   {33554434, 33554432},     {33554435, 33554436},
        {33554438, 33554440},    {0x7fffffff, 0x1p31f},  {0x7fffffbf, 0x7fffff80}, {0x7fffffc0, 0x1p31f},
        {-0x7fffffff, -0x1p31f}, {INT32_MIN, -0x1p31f},  {32767, 32767},           {-32768, -32768},
    };
    for (unsigned kernel = 0; gn_kernel_name(kernel); kernel++) {
        for (int k = -31; k <= 31; k++) {
            gn_codec codec;
            ck_assert_int_eq(gn_codec_init_kernel(&codec, GN_DENSE, k, gn_kernel_name(kernel)), GN_OK);
            for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
                dense_lane lanes[8] = {[5] = {.word = (uint32_t)examples[i].q}};
                uint8_t stream[35] = {15, 0};
                float back[8], want = examples[i].value;
                for (int step = k; step < 1; step++) want *= 2;
                for (int step = k; step > 1; step--) want /= 2;
                dense_write_group(lanes, 15, stream + 2);
                ck_assert_int_eq(gn_stream_decode(&codec, stream, sizeof stream, back, 8, NULL), GN_OK);
                ck_assert_msg(back[5] == want && back[4] == 0, "%s: k %d, q %d: %a, not %a", gn_kernel_name(kernel), k,
                              examples[i].q, (double)back[5], (double)want);
            }
        }
    }
}
END_TEST

// ---- runs

// A run of `quads` of zeros. Before it stands a record, or nothing. `behind` values follow it, the
// last of which is 1 (0: none follow).
static void check_run(const gn_codec *codec, size_t quads, bool record, size_t behind)
{
    uint8_t want[32];
    size_t before = record ? DENSE_QUAD : 0, count = before + DENSE_QUAD * quads + behind, length = 0, bytes, taken;
    memset(all.values, 0, 4 * count);
    if (record) {
        all.values[31] = 1.0f / 512;
        memcpy(want, (const uint8_t[]){0, 0x90, 0x80}, length = 3);
    }
    for (size_t left = quads; left > 0; left -= left < 256 ? left : 256, length += 3)
        memcpy(want + length, (const uint8_t[]){0, 0, left < 256 ? (uint8_t)(left - 1) : 255}, 3);
    if (behind) {
        all.values[count - 1] = 1.0f / 512;
        unsigned group = (unsigned)(behind - 1) / 8, header = 9u << 4 * group;
        want[length++] = (uint8_t)header, want[length++] = (uint8_t)(header >> 8);
        want[length++] = (uint8_t)(1u << (behind - 1) % 8);
    }

    cage cages[2] = {cage_new(4096), cage_new(4 * count)};
    size_t ends[3 * 513 * 4], groups = (count + 7) / 8;
    stream_lanes(codec, all.values, count, all.lanes);
    ck_assert_uint_eq(dense_write(all.lanes, count, all.again, ends), length);
    for (size_t room = 0; room <= length; room++) {
        uint8_t *stream = cage_place(&cages[0], room % 2 ? CAGE_LOW : CAGE_HIGH, NULL, room);
        ck_assert_int_eq(gn_stream_encode_fit(codec, all.values, count, stream, room, &taken, &bytes), GN_OK);
        size_t fit = 0;
        while (fit < groups && ends[fit] <= room) fit++;
        ck_assert_uint_eq(taken, fit == groups ? count : 8 * fit);
        ck_assert_uint_eq(bytes, fit ? ends[fit - 1] : 0);
        ck_assert_uint_eq(dense_write(all.lanes, taken, all.again, NULL), bytes);
        ck_assert(cage_intact(&cages[0]) && !memcmp(stream, all.again, bytes));
        if (room < length) continue;
        void *back = cage_place(&cages[1], CAGE_HIGH, NULL, 4 * count);
        ck_assert(!memcmp(stream, want, length));
        ck_assert_int_eq(gn_stream_decode(codec, stream, length, back, count, NULL), GN_OK);
        ck_assert(cage_intact(&cages[1]) && !memcmp(back, all.values, 4 * count));
    }
    for (int i = 0; i < 2; i++) cage_free(&cages[i]);
}

static void check_runs(const gn_codec *codec)
{
    static const size_t quads[] = {1, 2, 255, 256, 257, 512, 513}, behind[] = {0, 1, 8, 9, 31, 32};
    for (size_t i = 0; i < sizeof quads / sizeof *quads; i++)
        for (size_t b = 0; b < sizeof behind / sizeof *behind; b++)
            check_run(codec, quads[i], false, behind[b]), check_run(codec, quads[i], true, behind[b]);
}

START_TEST(runs_of_zeros)
{
    stream_each_kernel_of(GN_DENSE, 10, check_runs);
}
END_TEST

// ---- the bound

static void check_bound(const gn_codec *codec)
{
    for (size_t i = 0; i < 8193; i++) all.values[i] = 1e30f;  // raw
    for (size_t count = 1; count <= 8193; count += count < 100 ? 1 : 101) {
        size_t groups = (count + 7) / 8, quads = (count + 31) / 32, bytes;
        ck_assert_uint_eq(gn_stream_bound(GN_DENSE, count), 33 * groups + 2 * quads);
        ck_assert_int_eq(gn_stream_encode(codec, all.values, count, all.stream, sizeof all.stream, &bytes), GN_OK);
        ck_assert_uint_eq(bytes, 33 * groups + 2 * quads);
    }
    ck_assert_uint_eq(gn_stream_bound(GN_DENSE, 0), 0);
    ck_assert_uint_eq(gn_stream_bound(GN_DENSE, SIZE_MAX), SIZE_MAX);
    size_t most = SIZE_MAX / DENSE_RECORD_MAX * DENSE_QUAD;
    ck_assert_uint_eq(gn_stream_bound(GN_DENSE, most), SIZE_MAX / DENSE_RECORD_MAX * DENSE_RECORD_MAX);
    ck_assert_uint_eq(gn_stream_bound(GN_DENSE, most + DENSE_QUAD), SIZE_MAX);
}

START_TEST(raw_values_fill_the_bound)
{
    stream_each_kernel_of(GN_DENSE, 10, check_bound);
}
END_TEST

int main(void)
{
    return RUN_SUITE("dense", NULL, NULL, vectors_of_the_specification, every_header, streams_that_no_encoder_makes,
                     examples_that_no_encoder_makes, large_integers_round_to_nearest_even, runs_of_zeros,
                     raw_values_fill_the_bound);
}
