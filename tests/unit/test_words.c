// SPDX-License-Identifier: Apache-2.0
// Words: sums of them, and their way from and to binary32. The tests go through every kernel, in
// buffers of exactly their size. The right answers come from integers of 64 bits and from double
// precision.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <gradnic/words.h>

#include "cage.h"
#include "streams.h"
#include "suite.h"

enum { MOST = 300, LOWEST = -104, HIGHEST = 126 };  // exponents of gn_words_from_values()

static cage from_cage, to_cage;

static void setup(void)
{
    from_cage = cage_new(4 * MOST), to_cage = cage_new(4 * MOST);
}

static void teardown(void)
{
    cage_free(&from_cage), cage_free(&to_cage);
}

static cage_side side_of(unsigned round)
{
    return round & 1 ? CAGE_HIGH : CAGE_LOW;
}

// ---- sums

static void fill_sums(int32_t *sums, int32_t *words, size_t count, unsigned round, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned shift = round % 2 ? 2 : (unsigned)(stream_random(state) % 32);
        sums[i] = (int32_t)stream_random(state) >> shift;
        words[i] = (int32_t)stream_random(state) >> shift;
    }
    if (round % 4 != 1 || !count) return;
    const size_t i = stream_random(state) % count;  // one lane alone, just at an end of int32, or past it
    sums[i] = round % 8 == 1 ? INT32_MAX - 5 : INT32_MIN + 5;
    words[i] = (round % 8 == 1 ? 5 : -5) + (int32_t)(round % 3) - 1;
}

static void check_sums(const gn_codec *codec)
{
    uint64_t state = 1;
    for (size_t count = 0; count <= MOST; count += count < 80 ? 1 : 19) {
        for (unsigned round = 0; round < 48; round++) {
            int32_t sums[MOST], words[MOST];
            bool left = false;
            fill_sums(sums, words, count, round, &state);
            int32_t *to = cage_place(&to_cage, side_of(round), sums, 4 * count);
            const void *from = cage_place(&from_cage, side_of(round / 2), words, 4 * count);
            for (size_t i = 0; i < count; i++) {
                const int64_t sum = (int64_t)sums[i] + words[i];
                left |= sum < INT32_MIN || sum > INT32_MAX;
                sums[i] = (int32_t)(uint32_t)(sum & 0xffffffff);
            }
            const bool good = gn_words_add(codec, from, to, count) == left && !memcmp(to, sums, 4 * count);
            if (!good || !cage_intact(&to_cage))
                ck_abort_msg("%s: %zu words, round %u", gn_codec_kernel_name(codec), count, round);
        }
    }
}

START_TEST(sums_wrap_and_say_so)
{
    stream_each_kernel_of(GN_DENSE, 10, check_sums);
}
END_TEST

// ---- from values

static void fill_values(float *values, size_t count, unsigned round, uint64_t *state)
{
    static const uint32_t special[] = {0,          0x80000000, 1,          0x807fffff, 0x7f7fffff, 0xff7fffff,
                                       0x7f800000, 0xff800000, 0x7fc00001, 0xff800001, 0x3f000000, 0x3fc00000};
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)stream_random(state);
        if (round % 3 && (bits & 0x7f800000) == 0x7f800000) bits ^= 0x40000000;
        if (round % 3 == 0 && stream_random(state) % 16 == 0)
            bits = special[stream_random(state) % (sizeof special / sizeof *special)];
        if (round % 5 == 1) bits = (bits & 0x83ffffff) | 0x3c000000;  // of the size of gradients
        memcpy(&values[i], &bits, sizeof bits);
    }
}

static void check_largest(const gn_codec *codec, const float *values, size_t count)
{
    double most = 0;
    bool all = true, finite = !count;
    for (size_t i = 0; i < count; i++) {
        all &= isfinite(values[i]) != 0;
        if (isfinite(values[i])) most = fmax(most, fabs((double)values[i]));
    }
    const float got = gn_words_largest(codec, values, count, &finite);
    if ((double)got != most || finite != all)
        ck_abort_msg("%s: the largest of %zu is %g, not %g", gn_codec_kernel_name(codec), count, (double)got, most);
}

static void check_from(const gn_codec *codec)
{
    uint64_t state = 2;
    for (unsigned round = 0; round < 20000; round++) {
        float made[MOST];
        const size_t count = round % 100 ? stream_random(&state) % 40 : stream_random(&state) % MOST;
        const int exponent =
            round % 5 == 1 ? 30 : LOWEST + (int)(stream_random(&state) % (unsigned)(HIGHEST - LOWEST + 1));
        const int32_t limit = 1 << (22 + stream_random(&state) % 9);
        fill_values(made, count, round, &state);
        const float *values = cage_place(&from_cage, side_of(round), made, 4 * count);
        int32_t *words = cage_place(&to_cage, side_of(round / 2), NULL, 4 * count);
        bool fits = true, good = true;
        const bool said = gn_words_from_values(codec, values, count, exponent, limit, words);
        for (size_t i = 0; i < count; i++) {
            const double want = rint((double)values[i] * ldexp(1, exponent));
            const bool ok = fabs(want) <= limit;
            fits &= ok;
            good &= words[i] == (ok ? (int32_t)want : 0);
        }
        if (!good || said != fits || !cage_intact(&to_cage))
            ck_abort_msg("%s: %zu values times 2^%d, round %u", gn_codec_kernel_name(codec), count, exponent, round);
        check_largest(codec, values, count);
    }
}

START_TEST(values_round_once)
{
    stream_each_kernel_of(GN_DENSE, 10, check_from);
}
END_TEST

// ---- to values

static void check_to(const gn_codec *codec)
{
    static const int32_t ends[] = {0, 1, -1, 1 << 24, (1 << 24) + 1, (1 << 24) + 3, INT32_MAX, INT32_MIN, 0x7fffff80};
    uint64_t state = 3;
    for (unsigned round = 0; round < 20000; round++) {
        int32_t made[MOST];
        const size_t count = round % 100 ? stream_random(&state) % 40 : stream_random(&state) % MOST;
        const int exponent = -HIGHEST + (int)(stream_random(&state) % (unsigned)(HIGHEST - LOWEST + 1));
        for (size_t i = 0; i < count; i++) made[i] = (int32_t)stream_random(&state) >> stream_random(&state) % 32;
        if (count) made[stream_random(&state) % count] = ends[round % (sizeof ends / sizeof *ends)];
        const void *words = cage_place(&from_cage, side_of(round), made, 4 * count);
        float *values = cage_place(&to_cage, side_of(round / 2), NULL, 4 * count);
        bool good = true;
        gn_words_to_values(codec, words, count, exponent, values);
        for (size_t i = 0; i < count; i++) {
            const float want = (float)(made[i] * ldexp(1, exponent));
            good &= !memcmp(&values[i], &want, sizeof want);
        }
        if (!good || !cage_intact(&to_cage))
            ck_abort_msg("%s: %zu words times 2^%d, round %u", gn_codec_kernel_name(codec), count, exponent, round);
    }
}

START_TEST(words_round_once)
{
    stream_each_kernel_of(GN_DENSE, 10, check_to);
}
END_TEST

// ---- halves

/// A half's value times 2^24, an integer. INT64_MAX: it is infinite or not a number.
static int64_t scaled(uint16_t half)
{
    const int64_t exponent = half >> 10 & 31, fraction = half & 1023;
    const int64_t size = exponent ? (1024 + fraction) << (exponent - 1) : fraction;
    return exponent == 31 ? INT64_MAX : half >> 15 ? -size : size;
}

/// Its word: value * 2^15, rounded to nearest, ties to even.
static bool word_of(uint16_t half, int32_t *word)
{
    const int64_t value = scaled(half);
    *word = value == INT64_MAX ? 0 : (int32_t)rint(ldexp((double)value, 15 - 24));
    return value != INT64_MAX;
}

/// The half of a word. Halves are ordered as their magnitudes, so the nearest is found by halving.
static uint16_t half_of(int32_t word)
{
    const double value = ldexp(fabs((double)(float)word), 24 - 15);
    uint16_t low = 0, high = 0x7BFF;
    if (value >= (double)scaled(high)) return (uint16_t)(word < 0 ? high | 0x8000 : high);
    while (high - low > 1) {
        const uint16_t middle = (uint16_t)((low + high) / 2);
        if ((double)scaled(middle) <= value)
            low = middle;
        else
            high = middle;
    }
    const double below = value - (double)scaled(low), above = (double)scaled(high) - value;
    const uint16_t nearest = below < above || (below == above && !(low & 1)) ? low : high;
    return (uint16_t)(word < 0 ? nearest | 0x8000 : nearest);
}

/// All halves there are, in every lane and beside every tail.
static void check_all_halves(const gn_codec *codec)
{
    enum { HALVES = 65536, RUN = 37 };
    for (unsigned first = 0; first < HALVES; first++) {
        uint16_t made[RUN];
        int32_t sums[RUN], want[RUN];
        const size_t count = first % RUN + 1;
        bool strange = false;
        for (size_t i = 0; i < count; i++) {
            int32_t word;
            made[i] = (uint16_t)(first + i * 4099);
            strange |= !word_of(made[i], &word);
            sums[i] = word > 0 ? -3 : 5;
            want[i] = sums[i] + word;
        }
        const void *halves = cage_place(&from_cage, side_of(first), made, 2 * count);
        int32_t *to = cage_place(&to_cage, CAGE_HIGH, sums, 4 * count);
        const bool said = gn_words_add_halves(codec, halves, to, count);
        if (said != strange || memcmp(to, want, 4 * count) != 0 || !cage_intact(&to_cage))
            ck_abort_msg("%s: %zu halves from %04x on", gn_codec_kernel_name(codec), count, first);
    }
}

START_TEST(every_half_has_its_word)
{
    stream_each_kernel_of(GN_DENSE, 10, check_all_halves);
}
END_TEST

static void check_half_sums(const gn_codec *codec)
{
    static const int32_t ends[] = {INT32_MAX, INT32_MIN, INT32_MAX - 32767, INT32_MIN + 32768, 0};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        for (unsigned half = 0; half < 65536; half += 257) {
            int32_t word, sum = ends[i];
            const uint16_t made = (uint16_t)half;
            const bool finite = word_of(made, &word);
            const int64_t want = (int64_t)sum + word;
            ck_assert_int_eq(gn_words_add_halves(codec, &made, &sum, 1),
                             !finite || want > INT32_MAX || want < INT32_MIN);
            ck_assert_uint_eq((uint32_t)sum, (uint32_t)(want & 0xffffffff));
        }
}

START_TEST(sums_of_halves_wrap_and_say_so)
{
    stream_each_kernel_of(GN_DENSE, 10, check_half_sums);
}
END_TEST

static void check_to_halves(const gn_codec *codec)
{
    uint64_t state = 4;
    for (unsigned round = 0; round < 20000; round++) {
        int32_t made[MOST];
        uint16_t want[MOST];
        const size_t count = round % 100 ? stream_random(&state) % 40 : stream_random(&state) % MOST;
        for (size_t i = 0; i < count; i++) {
            int32_t word = (int32_t)stream_random(&state) >> stream_random(&state) % 32;
            // One in two is a half's, or beside the middle between two.
            if (stream_random(&state) % 2 && word_of((uint16_t)stream_random(&state), &word) && word < INT32_MAX / 2)
                word += (int32_t)((uint32_t)word >> 12 << round % 2) + (int32_t)(round % 3) - 1;
            made[i] = word;
            want[i] = half_of(word);
        }
        const void *words = cage_place(&from_cage, side_of(round), made, 4 * count);
        uint8_t *halves = cage_place(&to_cage, side_of(round / 2), NULL, 2 * count);
        gn_words_to_halves(codec, words, count, halves);
        if (memcmp(halves, want, 2 * count) != 0 || !cage_intact(&to_cage))
            ck_abort_msg("%s: halves of %zu words, round %u", gn_codec_kernel_name(codec), count, round);
    }
}

START_TEST(words_become_halves)
{
    stream_each_kernel_of(GN_DENSE, 10, check_to_halves);
}
END_TEST

/// What has come down once comes down the same from every further switch.
static void check_again(const gn_codec *codec)
{
    for (unsigned half = 0; half < 65536; half++) {
        int32_t word;
        uint16_t again;
        const bool whole = word_of((uint16_t)half, &word) && scaled((uint16_t)half) % (1 << 9) == 0;
        if (!whole || half == 0x8000) continue;
        gn_words_to_halves(codec, &word, 1, &again);
        ck_assert_uint_eq(again, half);
    }
}

START_TEST(a_half_of_a_word_stays_as_it_is)
{
    stream_each_kernel_of(GN_DENSE, 10, check_again);
}
END_TEST

int main(void)
{
    return RUN_SUITE("words", setup, teardown, sums_wrap_and_say_so, values_round_once, words_round_once,
                     every_half_has_its_word, sums_of_halves_wrap_and_say_so, words_become_halves,
                     a_half_of_a_word_stays_as_it_is);
}
