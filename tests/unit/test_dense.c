// SPDX-License-Identifier: Apache-2.0
// Profile dense: the specification's vectors, through every kernel.
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <gradnic/codec.h>

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

int main(void)
{
    return RUN_SUITE("dense", NULL, NULL, vectors_of_the_specification);
}
