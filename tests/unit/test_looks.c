// SPDX-License-Identifier: Apache-2.0
// Does the guard tell gradients from other bytes? The table of docs/guard.md has more kinds.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "driver/looks.h"
#include "packets.h"
#include "ring/message.h"
#include "streams.h"
#include "suite.h"

enum { WORDS = 4096 };

static gn_looks judge(const void *bytes, size_t count)
{
    gn_evidence evidence = {0};
    const char *why = NULL;
    gn_evidence_add(&evidence, bytes, count);
    const gn_looks looks = gn_evidence_judge(&evidence, &why);
    if (looks == GN_LOOKS_OTHER) ck_assert_ptr_nonnull(why);
    return looks;
}

// Judges packets of some sizes from any value on.
static void expect_all(const void *bytes, size_t count, gn_looks wanted, const char *what)
{
    static const size_t sizes[] = {GN_EVIDENCE_ENOUGH, 32, GN_EVIDENCE_MAX, 350};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t at = 0; at + sizes[s] <= count; at += 7) {
            const gn_looks looks = judge((const uint8_t *)bytes + 4 * at, sizes[s]);
            SUITE_CHECK(looks == wanted, "%s: %zu values from value %zu look like %d", what, sizes[s], at, looks);
        }
    }
}

static float gauss(uint64_t *state)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += (double)(stream_random(state) >> 11) / 9007199254740992.0;
    return (float)(sum - 6);
}

// No packet of any real gradient looks like something else. Where nearly all values are zeros it
// has too few to tell.
START_TEST(real_gradients)
{
    static const char *const names[] = {"cnn-it30", "cnn-it100", "mlp-it1000"};
    unsigned gradients = 0, undecided = 0;
    for (int i = 0; i < 12; i++) {
        char path[512];
        size_t count;
        snprintf(path, sizeof path, "%s/gradients/%s-w%d.npy.gz", GN_TEST_DATA, names[i / 4], i % 4);
        float *values = stream_load_npy(path, &count);
        for (size_t at = 0; at + 360 <= count; at += 11) {
            const gn_looks looks = judge(values + at, 360);
            SUITE_CHECK(looks != GN_LOOKS_OTHER, "%s: value %zu", path, at);
            gradients += looks == GN_LOOKS_GRADIENT;
            undecided += looks == GN_LOOKS_UNDECIDED;
        }
        free(values);
    }
    ck_assert_uint_gt(gradients, 2 * undecided);
}
END_TEST

START_TEST(made_gradients)
{
    static float values[WORDS];
    uint64_t state = 1;
    for (int e = -80; e <= 20; e += 5) {
        for (int i = 0; i < WORDS; i++) values[i] = ldexpf(gauss(&state), e);
        expect_all(values, WORDS, GN_LOOKS_GRADIENT, "normal values");
    }
    for (int bits = 3; bits <= 31; bits += 4) {
        for (int i = 0; i < WORDS; i++) values[i] = (float)(1 + (int64_t)(stream_random(&state) >> (64 - bits)));
        expect_all(values, WORDS, GN_LOOKS_GRADIENT, "integers");
    }
    for (int i = 0; i < WORDS; i++) values[i] = (float)(stream_random(&state) >> 11) * 0x1p-53F;
    expect_all(values, WORDS, GN_LOOKS_GRADIENT, "uniform values");
    for (int i = 0; i < WORDS; i++) values[i] = 0.1F;
    expect_all(values, WORDS, GN_LOOKS_GRADIENT, "one value");
    for (int i = 0; i < WORDS; i++) values[i] = 1 + (float)i / 1e6F;
    expect_all(values, WORDS, GN_LOOKS_GRADIENT, "small steps");
}
END_TEST

// Zeros, NaN and few values prove nothing. What every profile carries exactly is told apart.
START_TEST(no_evidence)
{
    uint32_t words[WORDS] = {0};
    uint8_t greeting[GN_DATA_HELLO_BYTES];
    gn_join join = {.rank = 3};
    memset(join.token, 0xa5, sizeof join.token);
    gn_data_hello_write(greeting, &join);
    ck_assert_int_eq(judge(greeting, 8), GN_LOOKS_UNDECIDED);
    ck_assert(gn_words_travel_exactly(greeting, 8));
    ck_assert_int_eq(judge(words, WORDS), GN_LOOKS_UNDECIDED);
    ck_assert(gn_words_travel_exactly((const uint8_t *)words, WORDS));
    for (uint32_t i = 0; i < GN_EVIDENCE_ENOUGH; i++) {
        ck_assert_int_eq(judge(words, WORDS), GN_LOOKS_UNDECIDED);
        words[100 * i] = 0x3c123457 + i * 12345;
        ck_assert(!gn_words_travel_exactly((const uint8_t *)words, WORDS));
    }
    ck_assert_int_eq(judge(words, WORDS), GN_LOOKS_GRADIENT);
    words[0] = 0x80000000;  // -0 arrives as +0
    ck_assert(!gn_words_travel_exactly((const uint8_t *)words, 1));
}
END_TEST

static size_t read_file(const char *path, uint8_t *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    const size_t got = fread(bytes, 1, room, file);
    ck_assert_int_eq(fclose(file), 0);
    return got;
}

// Text begins anywhere, compressed bytes too.
START_TEST(other_files)
{
    static const char *const names[] = {"README.md", "gradients/cnn-it30-w0.npy.gz", "../unit/test_looks.c",
                                        "../CMakeLists.txt", "digits-test-images-idx3-ubyte.gz"};
    static uint8_t bytes[1 << 16];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", GN_TEST_DATA, names[i]);
        const size_t length = read_file(path, bytes, sizeof bytes);
        for (size_t shift = 0; shift < 4; shift++)
            expect_all(bytes + shift, (length - shift) / 4, GN_LOOKS_OTHER, names[i]);
    }
}
END_TEST

// binary16, cut off; what is too small for its normal numbers becomes 0.
static uint16_t to_half(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    const uint32_t exponent = word >> 23 & 0xff, sign = word >> 16 & 0x8000;
    return (uint16_t)(exponent < 113 ? sign : sign | (exponent - 112) << 10 | (word >> 13 & 0x3ff));
}

START_TEST(other_arrays)
{
    static float values[2 * WORDS];
    static uint16_t halves[2 * WORDS], brains[2 * WORDS];
    static int32_t integers[WORDS];
    static int8_t bytes[4 * WORDS];
    uint64_t state = 2;
    for (int i = 0; i < 2 * WORDS; i++) {
        uint32_t word;
        values[i] = gauss(&state) / 64;
        memcpy(&word, &values[i], sizeof word);
        halves[i] = to_half(values[i]);
        brains[i] = (uint16_t)(word >> 16);
    }
    for (int i = 0; i < WORDS; i++) integers[i] = (int32_t)(gauss(&state) * 1000) | 1;
    for (int i = 0; i < 4 * WORDS; i++) bytes[i] = (int8_t)(gauss(&state) * 20);
    ck_assert_int_eq(judge(halves, 350), GN_LOOKS_OTHER);
    ck_assert_int_eq(judge(brains, 350), GN_LOOKS_OTHER);
    // only positive ones, from 0.5 to 2: of two exponents
    for (int i = 0; i < 2 * WORDS; i++) halves[i] = (uint16_t)(14 << 10 | (stream_random(&state) >> 40 & 0x7ff));
    ck_assert_int_eq(judge(halves, 350), GN_LOOKS_OTHER);
    ck_assert_int_eq(judge(integers, 350), GN_LOOKS_OTHER);
    ck_assert_int_eq(judge(bytes, 350), GN_LOOKS_OTHER);
    ck_assert_int_eq(judge((const uint8_t *)values + 1, 350), GN_LOOKS_OTHER);
    ck_assert_int_eq(judge((const uint8_t *)values + 2, 350), GN_LOOKS_OTHER);
    ck_assert_int_eq(judge((const uint8_t *)values + 3, 350), GN_LOOKS_OTHER);
}
END_TEST

// A length ahead of the values is other bytes: it must not be rounded.
START_TEST(length_ahead)
{
    float values[100];
    uint64_t state = 3;
    for (int i = 0; i < 100; i++) values[i] = gauss(&state);
    ck_assert_int_eq(judge(values, 100), GN_LOOKS_GRADIENT);
    const uint32_t length = 400;
    memcpy(values, &length, sizeof length);
    ck_assert_int_eq(judge(values, 100), GN_LOOKS_OTHER);
}
END_TEST

/// One word that a profile rounds is enough, wherever it is.
START_TEST(words_that_travel_exactly)
{
    float words[] = {0, INFINITY, -INFINITY, NAN, 0, 0};
    ck_assert(gn_words_travel_exactly((const uint8_t *)words, 6));
    ck_assert(gn_words_travel_exactly((const uint8_t *)words, 0));
    for (int i = 0; i < 6; i++) {
        float other[6];
        memcpy(other, words, sizeof other);
        other[i] = i % 2 ? 1e-30F : -0.0F;
        ck_assert(!gn_words_travel_exactly((const uint8_t *)other, 6));
        ck_assert(gn_words_travel_exactly((const uint8_t *)other, (size_t)i));
    }
}
END_TEST

int main(void)
{
    return RUN_TESTS("looks", real_gradients, made_gradients, no_evidence, other_files, other_arrays, length_ahead,
                     words_that_travel_exactly);
}
