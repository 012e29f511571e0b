// SPDX-License-Identifier: Apache-2.0
// gn_stream_sum() gives the bits of the separate calls, through every kernel, and refuses what they
// refuse.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <gradnic/sum.h>

#include "cage.h"
#include "dense_made.h"
#include "streams.h"
#include "suite.h"

enum { MOST = 1400, ROOM = MOST / 8 * GN_RECORD_MAX + 300, STREAMS = 5, ROUNDS = 400 };

// What a call is made with, and what it must give.
typedef struct task {
    size_t count;
    float own[MOST], want_sums[MOST], want_residual[MOST];
    uint8_t streams[STREAMS][ROOM];
    gn_stream_view views[STREAMS];
    unsigned stream_count;
    bool has_own;
    uint8_t want[ROOM];
    size_t want_bytes;
} task;

static bool is_nan(float value)
{
    return value != value;
}

// Values of every kind. Most are gradients; `wild` has infinities, NaNs and what only fits raw.
static void fill(const gn_codec *codec, float *values, size_t count, bool wild, uint64_t *state)
{
    stream_mixed(codec, wild ? 15 : 7, values, count, state);
    for (size_t i = 0; wild && i < count; i += 1 + stream_random(state) % 400) {
        static const float special[] = {-0.0f, 1e30f, -1e30f, 3e38f, 1e-40f, 40.25f};
        values[i] = special[stream_random(state) % 6];
    }
    // whole quads of zeros, in runs
    for (size_t i = 0; i + 64 < count; i += 32 * (1 + stream_random(state) % 9))
        if (stream_random(state) & 1) memset(values + i / 32 * 32, 0, 32 * sizeof *values);
}

static void make(const gn_codec *codec, task *t, uint64_t *state)
{
    static float values[MOST];
    static const size_t small[] = {0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 96};
    t->count = stream_random(state) & 1 ? small[stream_random(state) % 12] : stream_random(state) % MOST;
    t->has_own = stream_random(state) % 4 != 0;
    t->stream_count = (unsigned)(stream_random(state) % (STREAMS + 1));
    if (!t->has_own && !t->stream_count) t->stream_count = 1;
    const bool wild = stream_random(state) % 3 == 0;
    fill(codec, t->own, t->count, wild, state);
    for (unsigned s = 0; s < t->stream_count; s++) {
        size_t bytes = 0, starts[MOST / 32 + 2];
        if (wild && stream_random(state) & 1) {
            size_t items = dense_make_stream(t->count, t->streams[s], starts, state);
            bytes = t->count ? starts[items] : 0;
        } else {
            fill(codec, values, t->count, wild, state);
            ck_assert_int_eq(gn_stream_encode(codec, values, t->count, t->streams[s], ROOM, &bytes), GN_OK);
        }
        t->views[s] = (gn_stream_view){t->streams[s], bytes};
    }
}

// The same by the separate calls, with the scalar kernel.
static void expect(task *t)
{
    gn_codec scalar;
    ck_assert_int_eq(gn_codec_init_kernel(&scalar, GN_DENSE, 10, "scalar"), GN_OK);
    if (t->has_own) gn_quantise(&scalar, t->own, t->want_sums, t->want_residual, t->count);
    for (unsigned s = 0; s < t->stream_count; s++) {
        gn_status status;
        if (s || t->has_own)
            status = gn_stream_add(&scalar, t->views[s].bytes, t->views[s].length, t->want_sums, t->count, NULL);
        else
            status = gn_stream_decode(&scalar, t->views[s].bytes, t->views[s].length, t->want_sums, t->count, NULL);
        ck_assert_int_eq(status, GN_OK);
    }
    ck_assert_int_eq(gn_stream_encode(&scalar, t->want_sums, t->count, t->want, ROOM, &t->want_bytes), GN_OK);
    ck_assert_int_eq(gn_stream_decode(&scalar, t->want, t->want_bytes, t->want_sums, t->count, NULL), GN_OK);
}

static void same_values(const task *t, const gn_codec *codec, const char *what, const float *got, const float *want)
{
    for (size_t i = 0; i < t->count; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0 && !(is_nan(got[i]) && is_nan(want[i])))
            ck_abort_msg("%s: %s: %a, not %a, at %zu of %zu, %u streams", gn_codec_kernel_name(codec), what,
                         (double)got[i], (double)want[i], i, t->count, t->stream_count);
}

static bool has_nan(const task *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (is_nan(t->want_sums[i])) return true;
    return false;
}

// All results at once, then each alone, in buffers of exactly their size.
static void check_task(const gn_codec *codec, const task *t, uint64_t *state)
{
    static cage cages[4], stream_cages[STREAMS];
    static uint8_t nothing[ROOM];
    for (int i = 0; i < 4 && !cages[i].room; i++) cages[i] = cage_new(ROOM);
    for (int i = 0; i < STREAMS && !stream_cages[i].room; i++) stream_cages[i] = cage_new(ROOM);
    for (unsigned parts = 1; parts < 16; parts++) {
        const cage_side side = stream_random(state) & 1 ? CAGE_HIGH : CAGE_LOW;
        gn_stream_view views[STREAMS];
        for (unsigned s = 0; s < t->stream_count; s++)
            views[s] = (gn_stream_view){cage_place(&stream_cages[s], side, t->streams[s], t->views[s].length),
                                        t->views[s].length};
        // Only bytes where both are NaNs may differ: which one a sum becomes is left open.
        size_t room = has_nan(t) ? ROOM : t->want_bytes, bytes = 77;
        gn_sum sum = {.count = t->count, .streams = views, .stream_count = t->stream_count, .far = parts & 8};
        float *own = cage_place(&cages[0], side, t->own, 4 * t->count);
        if (t->has_own) sum.own = own;
        if (parts & 1) sum.sums = cage_place(&cages[1], side, nothing, 4 * t->count);
        if (parts & 2 && t->has_own) sum.residual = cage_place(&cages[2], side, nothing, 4 * t->count);
        if (parts & 4) sum.stream = cage_place(&cages[3], side, nothing, room), sum.capacity = room;
        if ((parts & 3) == 3 && stream_random(state) & 1 && t->has_own) sum.sums = own;  // in place
        gn_status status = gn_stream_sum(codec, &sum, &bytes, NULL);
        ck_assert_msg(status == GN_OK, "%s: %s", gn_codec_kernel_name(codec), gn_status_string(status));
        for (int i = 0; i < 4; i++) ck_assert_msg(!cages[i].at || cage_intact(&cages[i]), "a write outside of %d", i);
        if (sum.sums) same_values(t, codec, "sums", sum.sums, t->want_sums);
        if (sum.residual) same_values(t, codec, "residual", sum.residual, t->want_residual);
        if (sum.stream && !has_nan(t)) {
            ck_assert_uint_eq(bytes, t->want_bytes);
            ck_assert_msg(!memcmp(sum.stream, t->want, bytes), "%s: stream", gn_codec_kernel_name(codec));
        }
    }
}

// Bytes are changed, streams cut: the call and walk agree on which stream is wrong, and where.
static void check_damage(const gn_codec *codec, task *t, uint64_t *state)
{
    static float sums[MOST];
    if (!t->stream_count) return;
    const unsigned hit = (unsigned)(stream_random(state) % t->stream_count);
    gn_stream_view *view = &t->views[hit];
    if (!view->length) return;
    uint8_t *bytes = t->streams[hit];
    const size_t at = stream_random(state) % view->length;
    const uint8_t before = bytes[at];
    const size_t length = view->length;
    if (stream_random(state) & 1)
        bytes[at] = (uint8_t)stream_random(state);
    else
        view->length = at;
    gn_tally tally = {0};
    const gn_status want = gn_stream_tally(codec, bytes, view->length, t->count, &tally);
    gn_sum sum = {.own = t->has_own ? t->own : NULL,
                  .count = t->count,
                  .streams = t->views,
                  .stream_count = t->stream_count,
                  .sums = sums};
    gn_sum_fault fault = {99, 99};
    ck_assert_int_eq(gn_stream_sum(codec, &sum, NULL, &fault), want);
    if (want != GN_OK) {
        size_t offset;
        ck_assert_uint_eq(fault.stream, hit);
        gn_stream_decode(codec, bytes, view->length, sums, t->count, &offset);
        ck_assert_uint_eq(fault.offset, offset);
    }
    bytes[at] = before;
    view->length = length;
}

static void check_all(const gn_codec *codec)
{
    uint64_t state = 5;
    task *t = calloc(1, sizeof *t);
    ck_assert_ptr_nonnull(t);
    for (int round = 0; round < ROUNDS; round++) {
        make(codec, t, &state);
        expect(t);
        check_task(codec, t, &state);
        for (int i = 0; i < 10; i++) check_damage(codec, t, &state);
    }
    free(t);
}

START_TEST(as_separate_calls)
{
    stream_each_kernel_of(GN_DENSE, 10, check_all);
}
END_TEST

// Sums that leave 15 bits become raw, and those that cancel come back to the lattice.
static void check_large(const gn_codec *codec)
{
    enum { COUNT = 32, PEERS = 64 };
    static uint8_t stream[ROOM], made[ROOM];
    float values[COUNT], sums[COUNT];
    for (int i = 0; i < COUNT; i++) values[i] = (float)(32767 - i) * 0x1p-9f * (i % 2 ? -1.0f : 1.0f);
    gn_stream_view views[PEERS];
    size_t bytes, length;
    ck_assert_int_eq(gn_stream_encode(codec, values, COUNT, stream, ROOM, &bytes), GN_OK);
    for (int i = 0; i < PEERS; i++) views[i] = (gn_stream_view){stream, bytes};
    gn_sum sum = {.own = values,
                  .count = COUNT,
                  .streams = views,
                  .stream_count = PEERS,
                  .sums = sums,
                  .stream = made,
                  .capacity = ROOM};
    ck_assert_int_eq(gn_stream_sum(codec, &sum, &length, NULL), GN_OK);
    for (int i = 0; i < COUNT; i++) ck_assert_double_eq((double)sums[i], (PEERS + 1) * (double)values[i]);
    ck_assert_int_eq(gn_stream_decode(codec, made, length, values, COUNT, NULL), GN_OK);
    ck_assert_mem_eq(values, sums, sizeof sums);
}

START_TEST(large_sums)
{
    stream_each_kernel_of(GN_DENSE, 10, check_large);
}
END_TEST

START_TEST(arguments)
{
    gn_codec codec;
    float value = 1, sums;
    uint8_t stream[64];
    size_t bytes;
    ck_assert_int_eq(gn_codec_init(&codec, GN_DENSE, 10), GN_OK);
    ck_assert_int_eq(gn_stream_sum(&codec, &(gn_sum){.count = 1, .sums = &sums}, NULL, NULL), GN_INVALID);
    gn_stream_view views[GN_SUM_STREAMS + 1] = {{0}};
    gn_sum many = {.count = 1, .own = &value, .streams = views, .stream_count = GN_SUM_STREAMS + 1, .sums = &sums};
    ck_assert_int_eq(gn_stream_sum(&codec, &many, NULL, NULL), GN_INVALID);
    gn_sum full = {.count = 1, .own = &value, .stream = stream, .capacity = 4};
    ck_assert_int_eq(gn_stream_sum(&codec, &full, &bytes, NULL), GN_NO_SPACE);
    ck_assert_uint_eq(bytes, 0);
    ck_assert_int_eq(gn_codec_init(&codec, GN_LATTICE, 10), GN_OK);
    ck_assert_int_eq(gn_stream_sum(&codec, &(gn_sum){.count = 1, .own = &value, .sums = &sums}, NULL, NULL),
                     GN_UNSUPPORTED);
}
END_TEST

int main(void)
{
    return RUN_SUITE("stream_sum", NULL, NULL, as_separate_calls, large_sums, arguments);
}
