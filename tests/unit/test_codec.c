// SPDX-License-Identifier: Apache-2.0
// The codec through its public interface: names and ranges, the vectors of docs/codec.md, special
// values. Streams and kernels: test_streams.c. All inputs: tests/exhaustive.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/codec.h>

#include "streams.h"
#include "suite.h"

typedef struct vector {
    uint32_t bits;
    gn_code paper10, lattice10, lattice6;
} vector;

static const vector vectors[] = {
    {0x3f800000, {3, 0x3f800000}, {2, 0x0200}, {1, 0x20}},  // 1.0
    {0xbf7fffff, {2, 0xffff}, {2, 0xfe00}, {1, 0xe0}},      // just above -1
    {0x3e800000, {2, 0x2000}, {2, 0x0080}, {1, 0x08}},      // 0.25
    {0x3e7f0000, {2, 0x1fe0}, {2, 0x0080}, {1, 0x08}},      // 0.24902344
    {0x3d000000, {2, 0x0400}, {1, 0x10}, {1, 0x01}},        // 2^-5
    {0x3cffffff, {1, 0x03}, {1, 0x10}, {1, 0x01}},
    {0x3b000000, {1, 0x00}, {1, 0x01}, {0, 0}},  // 2^-9
    {0x3a800000, {1, 0x00}, {0, 0}, {0, 0}},     // 2^-10: a tie
    {0x3b400000, {1, 0x00}, {1, 0x02}, {0, 0}},  // 1.5 * 2^-9: a tie
    {0xbb000000, {1, 0x80}, {1, 0xff}, {0, 0}},  // -2^-9
    {0x3a7fffff, {0, 0}, {0, 0}, {0, 0}},
    {0x00000001, {0, 0}, {0, 0}, {0, 0}},
    {0x80000000, {0, 0}, {0, 0}, {0, 0}},
    {0x7f800000, {3, 0x7f800000}, {3, 0x7f800000}, {3, 0x7f800000}},
    {0x7fc00001, {3, 0x7fc00001}, {3, 0x7fc00001}, {3, 0x7fc00001}},
    {0x42800000, {3, 0x42800000}, {3, 0x42800000}, {2, 0x0800}},  // 64.0
    // the largest q, and what is just too large: 32767 and 32767.5 steps (a tie that goes to 32768)
    {0x427fff00, {3, 0x427fff00}, {3, 0x427fff00}, {2, 0x0800}},
    {0x427ffe00, {3, 0x427ffe00}, {2, 0x7fff}, {2, 0x0800}},
    {0xc27ffeff, {3, 0xc27ffeff}, {2, 0x8001}, {2, 0xf800}},
};

static void check_code(gn_profile profile, int bound_exp, uint32_t bits, gn_code want)
{
    gn_codec codec;
    ck_assert_int_eq(gn_codec_init(&codec, profile, bound_exp), GN_OK);
    gn_code got = gn_lane_encode(&codec, bits);
    ck_assert_msg(got.tag == want.tag && got.payload == want.payload, "%s k=%d %08x: tag %u payload %x, not %u %x",
                  gn_profile_name(profile), bound_exp, bits, got.tag, got.payload, want.tag, want.payload);
}

START_TEST(vectors_of_the_format)
{
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        check_code(GN_PAPER, 10, vectors[i].bits, vectors[i].paper10);
        check_code(GN_LATTICE, 10, vectors[i].bits, vectors[i].lattice10);
        check_code(GN_LATTICE, 6, vectors[i].bits, vectors[i].lattice6);
    }
}
END_TEST

// Codes that no encoder makes have a value all the same.
START_TEST(vectors_of_other_codes)
{
    static const struct {
        gn_profile profile;
        gn_code code;
        uint32_t bits;
    } other[] = {
        {GN_LATTICE, {1, 0x00}, 0x00000000},   {GN_LATTICE, {1, 0x80}, 0xbe800000},    // -128 steps
        {GN_LATTICE, {2, 0x0001}, 0x3b000000}, {GN_LATTICE, {2, 0x8000}, 0xc2800000},  // 1, -32768 steps
        {GN_LATTICE, {2, 0x0000}, 0x00000000}, {GN_PAPER, {1, 0x80}, 0x00000000},      // a negative zero is +0.0
        {GN_PAPER, {2, 0x8000}, 0x00000000},   {GN_PAPER, {1, 0x01}, 0x3c000000},
        {GN_PAPER, {2, 0x8001}, 0xb8000000},   {GN_PAPER, {3, 0x00000001}, 0x00000001},
    };
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        gn_codec codec;
        ck_assert_int_eq(gn_codec_init(&codec, other[i].profile, 10), GN_OK);
        ck_assert_uint_eq(gn_lane_decode(&codec, other[i].code), other[i].bits);
    }
}
END_TEST

// The bytes of a record, and of the last, padded one.
static void check_record(const gn_codec *codec)
{
    const float values[9] = {1.0f, 0.03125f, 0, 64.0f, 0, 0, 0, 0, -0.001953125f};  // 2^-5, -2^-9
    const uint8_t lattice[] = {0xc6, 0x00, 0x00, 0x02, 0x10, 0x00, 0x00, 0x80, 0x42, 0x01, 0x00, 0xff};
    const uint8_t paper[] = {0xcb, 0x00, 0x00, 0x00, 0x80, 0x3f, 0x00, 0x04, 0x00, 0x00, 0x80, 0x42, 0x01, 0x00, 0x80};
    // group 0: words, planes 0 to 31 and what is raw; group 1: one plane
    const uint8_t dense[] = {0x1f, 0x00, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
                             0,    0,    0, 0, 0, 0, 0, 8, 0, 8, 0, 0, 0, 0, 8, 0, 8, 1};
    const uint8_t *const streams[] = {paper, lattice, dense}, *want = streams[codec->profile];
    const size_t lengths[] = {sizeof paper, sizeof lattice, sizeof dense}, length = lengths[codec->profile];
    uint8_t stream[2 * GN_RECORD_MAX];
    size_t bytes;
    ck_assert_int_eq(gn_stream_encode(codec, values, 9, stream, sizeof stream, &bytes), GN_OK);
    ck_assert_uint_eq(bytes, length);
    ck_assert_mem_eq(stream, want, length);
}

START_TEST(vectors_of_streams)
{
    stream_each_kernel(10, check_record);
}
END_TEST

START_TEST(profiles_have_names_and_ranges)
{
    gn_profile profile = (gn_profile)17;
    int low = 0, high = 0;
    ck_assert_int_eq(gn_profile_parse("paper", &profile), GN_OK);
    ck_assert_int_eq(profile, GN_PAPER);
    ck_assert_int_eq(gn_profile_parse("lattice", &profile), GN_OK);
    ck_assert_int_eq(profile, GN_LATTICE);
    ck_assert_int_eq(gn_profile_parse("dense", &profile), GN_OK);
    ck_assert_int_eq(profile, GN_DENSE);
    ck_assert_int_eq(gn_profile_parse("Lattice", &profile), GN_INVALID);
    ck_assert_str_eq(gn_profile_name(GN_DENSE), "dense");
    ck_assert_ptr_null(gn_profile_name((gn_profile)17));
    ck_assert_int_eq(gn_profile_range(GN_PAPER, &low, &high), GN_OK);
    ck_assert(low == 1 && high == 126);
    ck_assert_int_eq(gn_profile_range(GN_LATTICE, &low, &high), GN_OK);
    ck_assert(low == -31 && high == 31);
    ck_assert_int_eq(gn_profile_range(GN_DENSE, &low, &high), GN_OK);
    ck_assert(low == -31 && high == 31);
    ck_assert_int_eq(gn_profile_range((gn_profile)-1, &low, &high), GN_UNSUPPORTED);
}
END_TEST

START_TEST(init_refuses_what_is_outside)
{
    gn_codec codec;
    ck_assert_int_eq(gn_codec_init(&codec, GN_PAPER, 0), GN_INVALID);
    ck_assert_int_eq(gn_codec_init(&codec, GN_PAPER, 1), GN_OK);
    ck_assert_int_eq(gn_codec_init(&codec, GN_PAPER, 126), GN_OK);
    ck_assert_int_eq(gn_codec_init(&codec, GN_PAPER, 127), GN_INVALID);
    ck_assert_int_eq(gn_codec_init(&codec, GN_LATTICE, -32), GN_INVALID);
    ck_assert_int_eq(gn_codec_init(&codec, GN_LATTICE, -31), GN_OK);
    ck_assert_int_eq(gn_codec_init(&codec, GN_LATTICE, 31), GN_OK);
    ck_assert_int_eq(gn_codec_init(&codec, GN_LATTICE, 32), GN_INVALID);
    ck_assert_int_eq(gn_codec_init(&codec, GN_DENSE, -32), GN_INVALID);
    ck_assert_int_eq(gn_codec_init(&codec, GN_DENSE, 31), GN_OK);
    ck_assert_int_eq(gn_codec_init(&codec, (gn_profile)3, 10), GN_UNSUPPORTED);
}
END_TEST

START_TEST(kernels_are_chosen_by_name)
{
    gn_codec codec;
    unsigned count = 0;
    while (gn_kernel_name(count)) count++;
    ck_assert_uint_ge(count, 1);
    ck_assert_str_eq(gn_kernel_name(0), "scalar");
    ck_assert_int_eq(gn_codec_init_kernel(&codec, GN_LATTICE, 10, "vax"), GN_UNSUPPORTED);
    ck_assert_int_eq(gn_codec_init_kernel(&codec, GN_LATTICE, 10, "scalar"), GN_OK);
    ck_assert_str_eq(gn_codec_kernel_name(&codec), "scalar");
    ck_assert_int_eq(gn_codec_init_kernel(&codec, GN_LATTICE, 10, "auto"), GN_OK);
    ck_assert_str_eq(gn_codec_kernel_name(&codec), gn_kernel_name(count - 1));
    ck_assert_int_eq(gn_codec_init(&codec, GN_LATTICE, 10), GN_OK);
    ck_assert_str_eq(gn_codec_kernel_name(&codec), gn_kernel_name(count - 1));
}
END_TEST

START_TEST(bound_is_a_record_per_group)
{
    ck_assert_uint_eq(gn_stream_bound(GN_LATTICE, 0), 0);
    ck_assert_uint_eq(gn_stream_bound(GN_LATTICE, 1), 34);
    ck_assert_uint_eq(gn_stream_bound(GN_PAPER, 8), 34);
    ck_assert_uint_eq(gn_stream_bound(GN_PAPER, 9), 68);
    ck_assert_uint_eq(gn_stream_bound(GN_LATTICE, SIZE_MAX / 34 * 8), SIZE_MAX / 34 * 34);
    ck_assert_uint_eq(gn_stream_bound(GN_LATTICE, SIZE_MAX / 34 * 8 + 1), SIZE_MAX);
    ck_assert_uint_eq(gn_stream_bound(GN_LATTICE, SIZE_MAX), SIZE_MAX);
}
END_TEST

static void check_quantise(const gn_codec *codec)
{
    enum { COUNT = 263 };
    uint64_t state = 3;
    float values[COUNT], quantised[COUNT], residual[COUNT], in_place[COUNT];
    stream_mixed(codec, 0xf, values, COUNT, &state);
    const float special[] = {INFINITY, -INFINITY, NAN, -0.0f, 0x1p-140f, -0x1p-149f, 0x1.fffffep127f, 1.0f, -1.0f};
    memcpy(values, special, sizeof special);
    memcpy(values + COUNT - 5, special, 5 * sizeof *special);  // in the tail too
    uint32_t seen[COUNT];
    stream_seen(codec, values, COUNT, seen);
    for (size_t count = 0; count <= COUNT; count += count < 40 ? 1 : 31) {
        memset(quantised, 0x11, sizeof quantised);
        memset(residual, 0x11, sizeof residual);
        memcpy(in_place, values, sizeof in_place);
        ck_assert_int_eq(gn_quantise(codec, values, quantised, residual, count), GN_OK);
        ck_assert_int_eq(gn_quantise(codec, in_place, in_place, NULL, count), GN_OK);
        ck_assert_mem_eq(quantised, seen, count * sizeof *seen);
        ck_assert_mem_eq(in_place, seen, count * sizeof *seen);
        ck_assert_mem_eq(in_place + count, values + count, (COUNT - count) * sizeof *seen);
        for (size_t i = 0; i < COUNT; i++) {
            float want = i >= count ? 0 : isfinite(values[i]) ? values[i] - quantised[i] : 0.0f;
            if (i >= count) memset(&want, 0x11, sizeof want);
            ck_assert_mem_eq(&residual[i], &want, sizeof want);
            // nothing is lost: both parts together are the value
            if (i < count && isfinite(values[i])) ck_assert(quantised[i] + residual[i] == values[i]);
        }
    }
}

START_TEST(quantise_is_what_the_receiver_sees)
{
    stream_each_kernel(10, check_quantise);
    stream_each_kernel(3, check_quantise);
    stream_each_kernel(24, check_quantise);
}
END_TEST

// All kernels, every bound: values at and beside every class border.
START_TEST(every_bound)
{
    enum { COUNT = 6 * 33 * 8 };
    for (gn_profile profile = 0; profile < GN_PROFILE_COUNT; profile++) {
        int low, high;
        ck_assert_int_eq(gn_profile_range(profile, &low, &high), GN_OK);
        for (int k = low; k <= high; k++) {
            static uint32_t bits[COUNT], seen[COUNT], back[COUNT];
            static uint8_t want[COUNT / 8 * 34], got[COUNT / 8 * 34];
            uint64_t state = 5;
            for (size_t i = 0; i < COUNT; i++) {
                uint32_t exponent = (uint32_t)(127 - k + (int)(i / 6 % 33) - 8) & 0xff;
                static const uint32_t mantissa[6] = {0, 1, 0x7fffff, 0x400000, 0x3fffff, 0x400001};
                bits[i] = exponent << 23 | mantissa[i % 6] | (uint32_t)(stream_random(&state) & 1) << 31;
            }
            for (unsigned n = 0; gn_kernel_name(n); n++) {
                gn_codec codec;
                ck_assert_int_eq(gn_codec_init_kernel(&codec, profile, k, gn_kernel_name(n)), GN_OK);
                size_t length = stream_reference(&codec, (const float *)(const void *)bits, COUNT, want, NULL), bytes;
                stream_seen(&codec, (const float *)(const void *)bits, COUNT, seen);
                ck_assert_int_eq(gn_stream_encode(&codec, bits, COUNT, got, sizeof got, &bytes), GN_OK);
                ck_assert_uint_eq(bytes, length);
                ck_assert_mem_eq(got, want, length);
                ck_assert_int_eq(gn_stream_decode(&codec, got, bytes, back, COUNT, NULL), GN_OK);
                ck_assert_mem_eq(back, seen, sizeof seen);
            }
        }
    }
}
END_TEST

int main(void)
{
    return RUN_TESTS("codec", vectors_of_the_format, vectors_of_other_codes, vectors_of_streams,
                     profiles_have_names_and_ranges, init_refuses_what_is_outside, kernels_are_chosen_by_name,
                     bound_is_a_record_per_group, quantise_is_what_the_receiver_sees, every_bound);
}
