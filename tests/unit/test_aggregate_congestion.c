// SPDX-License-Identifier: Apache-2.0
// A worker's window under marks, what it asks a parameter server, and what a priority is.
#include <math.h>
#include <string.h>

#include <gradnic/worker.h>

#include "suite.h"

enum { SLOTS = 8, VALUES = 2, CHUNKS = 200 };

static gn_worker *worker;
static float values[CHUNKS * VALUES];
static int64_t now;
static gn_agg_packet sent;
static unsigned flying;
static uint32_t way[64];

static void open_worker(gn_memory_mode mode)
{
    const gn_worker_config config = {.job = 1,
                                     .gen = 1,
                                     .ranks = 2,
                                     .children = 2,
                                     .format = GN_AGG_DENSE,
                                     .bound_exp = 10,
                                     .slots = SLOTS,
                                     .packet_values = VALUES,
                                     .mode = mode,
                                     .priority = 77};
    gn_worker_free(worker);
    ck_assert_int_eq(gn_worker_new(&worker, &config), GN_OK);
    ck_assert_int_eq(gn_worker_post(worker, values, values, CHUNKS * VALUES), GN_OK);
    flying = 0;
    now = 0;
}

static void setup(void)
{
    open_worker(GN_PREEMPTIVE);
}

static void teardown(void)
{
    gn_worker_free(worker);
    worker = NULL;
}

static bool next(void)
{
    static uint8_t out[256];
    const size_t bytes = gn_worker_send(worker, now, out, sizeof out);
    if (!bytes) return false;
    ck_assert_int_eq(gn_agg_parse(out, bytes, &sent), GN_AGG_FINE);
    return true;
}

/// Everything that is due is sent. @return what is under way
static unsigned send_all(void)
{
    while (next()) way[flying++] = sent.psn;
    return flying;
}

static bool answer(uint32_t psn, gn_agg_type type, uint8_t flags)
{
    static uint8_t in[256];
    const float sums[VALUES] = {1, 2};
    gn_codec codec;
    gn_codec_init(&codec, GN_DENSE, 10);
    const gn_agg_packet p = {.type = (uint8_t)type,
                             .flags = flags,
                             .job = 1,
                             .gen = 1,
                             .slot = (uint16_t)(psn % SLOTS),
                             .version = psn / SLOTS & 1,
                             .psn = psn,
                             .bitmap = 3,
                             .fanin = 2,
                             .next = 10,
                             .values = type == GN_AGG_RESULT ? VALUES : 0};
    const size_t bytes = type == GN_AGG_RESULT ? gn_agg_write_stream(&p, &codec, NULL, sums, in, sizeof in)
                                               : gn_agg_write_words(&p, NULL, in, sizeof in);
    return gn_worker_rx(worker, now, in, bytes);
}

/// The result of the `at`-th of the chunks under way.
static void land(unsigned at, uint8_t flags)
{
    ck_assert(answer(way[at], GN_AGG_RESULT, flags));
    memmove(way + at, way + at + 1, sizeof *way * (--flying - at));
}

START_TEST(without_marks_all_slots_are_used)
{
    ck_assert_uint_eq(send_all(), SLOTS);
    for (unsigned i = 0; i < CHUNKS; i++) {
        ck_assert_uint_eq(send_all(), CHUNKS - i < SLOTS ? CHUNKS - i : SLOTS);
        land(0, 0);
    }
    ck_assert(gn_worker_done(worker));
    ck_assert_uint_eq(gn_worker_get_stats(worker).cuts, 0);
}
END_TEST

START_TEST(a_mark_halves_the_window_once)
{
    send_all();
    for (unsigned i = 0; i < SLOTS; i++) {
        land(0, GN_AGG_ECN);  // all of them met the same queue
        send_all();
    }
    const gn_worker_stats stats = gn_worker_get_stats(worker);
    ck_assert_uint_eq(stats.marked, SLOTS);
    ck_assert_uint_eq(stats.cuts, 1);
    ck_assert_double_eq_tol(stats.window, SLOTS / 2, 1e-9);
    ck_assert_uint_eq(flying, SLOTS / 2);
    land(0, GN_AGG_ECN);  // of a chunk that was sent after the cut
    ck_assert_uint_eq(gn_worker_get_stats(worker).cuts, 2);
    ck_assert_double_eq_tol(gn_worker_get_stats(worker).window, SLOTS / 4, 1e-9);
}
END_TEST

START_TEST(the_window_widens_by_one_a_round_trip)
{
    send_all();
    land(0, GN_AGG_ECN);
    while (flying) land(0, 0);
    const double before = gn_worker_get_stats(worker).window;
    const unsigned round = send_all();
    for (unsigned i = 0; i < round; i++) land(0, 0);
    ck_assert_double_gt(gn_worker_get_stats(worker).window, before + 0.7);
    ck_assert_double_lt(gn_worker_get_stats(worker).window, before + 1.01);
    for (unsigned i = 0; i < 100; i++) send_all(), land(0, 0);
    ck_assert_double_eq_tol(gn_worker_get_stats(worker).window, SLOTS, 1e-9);
    ck_assert_uint_eq(send_all(), SLOTS);
}
END_TEST

START_TEST(one_chunk_may_always_be_under_way)
{
    for (unsigned i = 0; i < CHUNKS; i++) {
        ck_assert_uint_ge(send_all(), 1);
        land(0, GN_AGG_ECN);
    }
    ck_assert(gn_worker_done(worker));
}
END_TEST

START_TEST(a_timeout_grows_with_what_is_measured_meanwhile)
{
    const int64_t ms = 1000000;
    send_all();
    while (flying) now += ms / 10, land(0, 0);  // of those who open a vector nothing is measured
    send_all();
    now += 2 * ms;
    land(0, 0);  // the first measured: 2 ms and no deviation known make a timeout of 6 ms
    send_all();
    const uint32_t psn = way[flying - 1];
    for (unsigned i = 0; i < 3; i++) now += 4 * ms, land(0, 0);  // round trips of 6, 10 and 14 ms
    while (next()) ck_assert_uint_ne(sent.psn, psn);             // 12 ms under way
    ck_assert_uint_eq(gn_worker_get_stats(worker).resent, 0);
    now += 1000 * ms;
    while (next()) continue;
    ck_assert_uint_gt(gn_worker_get_stats(worker).resent, 0);
}
END_TEST

START_TEST(the_oldest_chunk_may_always_be_sent)
{
    send_all();
    while (flying > 1) land(1, GN_AGG_ECN);  // results of all but the first
    ck_assert_uint_eq(send_all(), 1);        // the window counts from the first on
    land(0, GN_AGG_ECN);
    ck_assert_uint_ge(send_all(), 1);
    ck_assert_uint_eq(way[0], SLOTS);
}
END_TEST

START_TEST(after_three_timeouts_the_parameter_server_is_asked)
{
    ck_assert(next());
    ck_assert_int_eq(sent.type, GN_AGG_GRADIENT);
    ck_assert_uint_eq(sent.priority, 77);
    send_all();
    gn_worker_set_priority(worker, 5);
    for (unsigned attempt = 1; attempt < 6; attempt++) {
        now = gn_worker_deadline(worker);
        ck_assert(next());
        ck_assert_int_eq(sent.type, attempt < 3 ? GN_AGG_GRADIENT : GN_AGG_QUERY);
        ck_assert_uint_eq(sent.values, attempt < 3 ? VALUES : 0);
        ck_assert_uint_eq(sent.priority, 5);
        ck_assert(sent.flags & GN_AGG_RESENT);
        while (next()) continue;
    }
    open_worker(GN_PARTITIONED);
    send_all();
    for (unsigned attempt = 1; attempt < 6; attempt++) {
        now = gn_worker_deadline(worker);
        while (next()) ck_assert_int_eq(sent.type, GN_AGG_GRADIENT);
    }
}
END_TEST

START_TEST(reminders_are_answered)
{
    send_all();
    ck_assert(answer(3, GN_AGG_REMIND_WORKER, 0));
    ck_assert(next());
    ck_assert_int_eq(sent.type, GN_AGG_EVICTED);
    ck_assert(sent.psn == 3 && sent.values == VALUES && sent.bitmap == 1);
    ck_assert(!next());
    land(0, 0);
    ck_assert(!answer(0, GN_AGG_REMIND_WORKER, 0));  // it has the result, so the parameter server has it
    ck_assert_uint_eq(gn_worker_get_stats(worker).reminded, 1);
}
END_TEST

START_TEST(priorities)
{
    // P = (1/T) * (L/l) * (Comm/Comp), times 256
    ck_assert_uint_eq(gn_priority(1, 1, 1, 1, 1), 256);
    ck_assert_uint_eq(gn_priority(2, 1, 1, 1, 1), 128);
    ck_assert_uint_eq(gn_priority(1, 8, 2, 1, 1), 1024);
    ck_assert_uint_eq(gn_priority(1, 8, 8, 3, 2), 384);
    ck_assert_uint_eq(gn_priority(1000, 1, 1, 1, 1), 1);
    ck_assert_uint_eq(gn_priority(1e-6, 100, 1, 1, 1), 65535);
    ck_assert_uint_eq(gn_priority(0, 2, 1, 1, 1), 65535);
    ck_assert_uint_eq(gn_priority(1, 2, 0, 1, 1), 65535);
    ck_assert_uint_eq(gn_priority(1, 2, 1, 1, 0), 65535);
    ck_assert_uint_eq(gn_priority(1, 2, 1, 0, 0), 1);
    ck_assert_uint_eq(gn_priority(NAN, 2, 1, 1, 1), 1);
    ck_assert_uint_eq(gn_priority(-1, 2, 1, 1, 1), 1);
    ck_assert_uint_eq(gn_priority(INFINITY, 2, 1, 1, 1), 1);
}
END_TEST

int main(void)
{
    return RUN_SUITE("aggregate_congestion", setup, teardown, without_marks_all_slots_are_used,
                     a_mark_halves_the_window_once, the_window_widens_by_one_a_round_trip,
                     one_chunk_may_always_be_under_way, the_oldest_chunk_may_always_be_sent,
                     a_timeout_grows_with_what_is_measured_meanwhile,
                     after_three_timeouts_the_parameter_server_is_asked, reminders_are_answered, priorities);
}
