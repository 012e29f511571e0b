// SPDX-License-Identifier: Apache-2.0
// Profile dense on real gradients, with the sizes that it is known for, and on data made to be
// awkward. Every kernel is compared with the second writer.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <gradnic/codec.h>

#include "dense_reference.h"
#include "streams.h"
#include "suite.h"

enum { DUMP = 262144 };

static uint8_t want[DUMP / 8 * GN_RECORD_MAX], stream[DUMP / 8 * GN_RECORD_MAX];
static uint32_t seen[DUMP], back[DUMP];

// Every kernel writes the bytes of the second writer, and decodes them. It encodes what it decoded
// to the same bytes.
static size_t check_values(int k, const float *values, size_t count)
{
    gn_codec codec;
    size_t length = 0, bytes;
    for (unsigned n = 0; gn_kernel_name(n); n++) {
        if (gn_codec_init_kernel(&codec, GN_DENSE, k, gn_kernel_name(n))) ck_abort_msg("no codec");
        if (n == 0) {
            length = stream_reference(&codec, values, count, want, NULL);
            stream_seen(&codec, values, count, seen);
        }
        bool good = gn_stream_encode(&codec, values, count, stream, sizeof stream, &bytes) == GN_OK;
        good = good && bytes == length && !memcmp(stream, want, length);
        good = good && gn_stream_decode(&codec, stream, bytes, back, count, NULL) == GN_OK;
        good = good && !memcmp(back, seen, 4 * count);
        good = good && gn_stream_encode(&codec, back, count, stream, sizeof stream, &bytes) == GN_OK;
        good = good && bytes == length && !memcmp(stream, want, length);
        if (!good) ck_abort_msg("%s, k %d, %zu values", gn_kernel_name(n), k, count);
    }
    return length;
}

static size_t lattice_bytes(int k, const float *values)
{
    gn_codec codec;
    size_t bytes;
    ck_assert_int_eq(gn_codec_init(&codec, GN_LATTICE, k), GN_OK);
    ck_assert_int_eq(gn_stream_encode(&codec, values, DUMP, stream, sizeof stream, &bytes), GN_OK);
    return bytes;
}

// ---- real gradients

START_TEST(dumps_at_every_useful_bound)
{
    static const char *const names[] = {"cnn-it30", "cnn-it100", "mlp-it1000"};
    for (int dump = 0; dump < 12; dump++) {
        char path[512];
        size_t count;
        snprintf(path, sizeof path, "%s/gradients/%s-w%d.npy.gz", GN_TEST_DATA, names[dump / 4], dump % 4);
        float *values = stream_load_npy(path, &count);
        ck_assert_uint_eq(count, DUMP);
        for (int k = 6; k <= 15; k++) {
            size_t bytes = check_values(k, values, DUMP), other = lattice_bytes(k, values);
            ck_assert_msg(bytes < other, "%s-w%d, k %d: %zu bytes, lattice %zu", names[dump / 4], dump % 4, k, bytes,
                          other);
        }
        free(values);
    }
}
END_TEST

START_TEST(sizes_of_dumps)
{
    static const struct {
        const char *name;
        int k;
        size_t dense, lattice;
    } sizes[] = {
        {"cnn-it100-w0", 10, 74419, 192346},
        {"cnn-it100-w0", 15, 214779, 280949},
        {"mlp-it1000-w0", 10, 17129, 88321},
        {"mlp-it1000-w0", 15, 54972, 116361},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char path[512];
        size_t count;
        snprintf(path, sizeof path, "%s/gradients/%s.npy.gz", GN_TEST_DATA, sizes[i].name);
        float *values = stream_load_npy(path, &count);
        size_t dense = check_values(sizes[i].k, values, DUMP), lattice = lattice_bytes(sizes[i].k, values);
        ck_assert_msg(dense == sizes[i].dense && lattice == sizes[i].lattice, "%s, k %d: dense %zu, lattice %zu",
                      sizes[i].name, sizes[i].k, dense, lattice);
        free(values);
    }
}
END_TEST

// ---- made data

typedef uint32_t maker(uint64_t *state, int k, size_t i);

static uint32_t any_bits(uint64_t *state, int k, size_t i)
{
    (void)k, (void)i;
    return (uint32_t)stream_random(state);
}

// Exponents from half a step to beyond 16 bits, many equal in a row, now and then all of one sign.
static uint32_t neighbours(uint64_t *state, int k, size_t i)
{
    uint64_t groups = i / 8 * 0x9e3779b97f4a7c15u, quads = i / 32 * 0xbf58476d1ce4e5b9u;
    uint32_t exponent = (uint32_t)(127 - k - 2) + (uint32_t)(quads >> 60) + (uint32_t)(groups >> 62);
    uint32_t bits = (uint32_t)stream_random(state) & (groups >> 40 & 1 ? 0x807fffff : 0x007fffff);
    return bits | exponent << 23;
}

static uint32_t outlier(uint64_t *state, int k, size_t i)
{
    (void)i;
    uint64_t r = stream_random(state);
    return r % 41 ? 0 : neighbours(state, k, (size_t)(r >> 8));
}

static uint32_t special(uint64_t *state, int k, size_t i)
{
    static const uint32_t some[16] = {0x80000000, 0x00000001, 0x807fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                                      0xffffffff, 0x7f800001, 0x00800000, 0x7f7fffff, 0,          0x3f800000};
    uint64_t r = stream_random(state);
    if (r % 3) return (uint32_t)(r >> 2 & 15) < 12 ? some[r >> 2 & 15] : (uint32_t)(r >> 32) | 0x7f800000;
    return neighbours(state, k, i);
}

// At and beside the borders of all classes, and ties.
static uint32_t border(uint64_t *state, int k, size_t i)
{
    (void)i;
    uint64_t r = stream_random(state);
    uint32_t exponent = (uint32_t)(127 - k - 1) + (uint32_t)(r >> 8) % 19;
    static const uint32_t mantissas[4] = {0, 0x7fffff, 0x400000, 0x7ffe00};
    return (((uint32_t)r << 31) | exponent << 23 | mantissas[r >> 1 & 3]) + (uint32_t)(r >> 3 & 1);
}

static void check_maker(maker *make, int k, uint64_t seed)
{
    uint64_t state = seed;
    static uint32_t bits[4096];
    for (int round = 0; round < 100; round++) {
        size_t count = 1 + stream_random(&state) % (round % 8 ? 200 : 4096);
        for (size_t i = 0; i < count; i++) bits[i] = make(&state, k, i + (size_t)round * 4096);
        check_values(k, (const float *)(const void *)bits, count);
    }
}

START_TEST(made_data)
{
    maker *const makers[] = {any_bits, neighbours, outlier, special, border};
    static const int bounds[] = {-31, -4, 1, 6, 10, 15, 24, 31};
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
        for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) check_maker(makers[m], bounds[b], 8 * m + b);
}
END_TEST

// ---- results larger than the cache, which may be stored past it

START_TEST(results_beyond_the_cache)
{
    enum { COUNT = (8 << 20) + 45, MARK = 0x5a };
    gn_codec codec;
    uint64_t state = 9;
    float *values = malloc(sizeof *values * COUNT), *expected = malloc(sizeof *values * COUNT);
    uint8_t *room = malloc(sizeof *values * COUNT + 64), *packed = malloc(gn_stream_bound(GN_DENSE, COUNT));
    size_t bytes, at;
    ck_assert(values && expected && room && packed);
    ck_assert_int_eq(gn_codec_init_kernel(&codec, GN_DENSE, 10, "scalar"), GN_OK);
    stream_mixed(&codec, 15, values, DUMP, &state);
    stream_mixed(&codec, 3, values + DUMP, DUMP, &state);
    for (size_t i = 0; i < DUMP; i += 64 * (1 + stream_random(&state) % 20)) memset(values + DUMP + i, 0, 128);
    for (size_t i = 2 * DUMP; i < COUNT; i++) values[i] = values[i % (2 * DUMP - 7)];
    ck_assert_int_eq(gn_stream_encode(&codec, values, COUNT, packed, gn_stream_bound(GN_DENSE, COUNT), &bytes), GN_OK);
    ck_assert_int_eq(gn_stream_decode(&codec, packed, bytes, expected, COUNT, NULL), GN_OK);
    for (unsigned n = 1; gn_kernel_name(n); n++) {
        ck_assert_int_eq(gn_codec_init_kernel(&codec, GN_DENSE, 10, gn_kernel_name(n)), GN_OK);
        for (size_t shift = 0; shift < 64; shift += shift < 16 ? 4 : 16) {
            memset(room, MARK, sizeof *values * COUNT + 64);
            ck_assert_int_eq(gn_stream_decode(&codec, packed, bytes, room + shift, COUNT, NULL), GN_OK);
            ck_assert_msg(!memcmp(room + shift, expected, sizeof *values * COUNT), "%s, shift %zu", gn_kernel_name(n),
                          shift);
            for (size_t i = 0; i < 64; i++) ck_assert_uint_eq(room[i < shift ? i : sizeof *values * COUNT + i], MARK);
        }
        ck_assert_int_eq(gn_stream_decode(&codec, packed, bytes - 1, room, COUNT, &at), GN_TRUNCATED);
    }
    free(values), free(expected), free(room), free(packed);
}
END_TEST

int main(void)
{
    return RUN_SUITE("dense_data", NULL, NULL, dumps_at_every_useful_bound, sizes_of_dumps, made_data,
                     results_beyond_the_cache);
}
