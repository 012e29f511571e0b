// SPDX-License-Identifier: Apache-2.0
// The parameter server, packet by packet: what it adds, keeps, asks for, remembers and ignores.
#include <string.h>

#include <gradnic/ps.h>

#include "suite.h"

enum { JOB = 5, GEN = 2, SLOTS = 2, VALUES = 3, CHILDREN = 4, ALL = 15 };

static gn_ps *ps;
static int64_t now;
static uint8_t out[256];
static gn_agg_packet said;

static void setup(void)
{
    const gn_ps_config config = {
        .job = JOB, .gen = GEN, .format = GN_AGG_INT32, .slots = SLOTS, .packet_values = VALUES, .children = CHILDREN};
    ck_assert_int_eq(gn_ps_new(&ps, &config), GN_OK);
    now = 1000;
}

static void teardown(void)
{
    gn_ps_free(ps);
}

static gn_agg_packet header(gn_agg_type type, uint32_t psn, uint64_t bitmap)
{
    return (gn_agg_packet){.type = (uint8_t)type,
                           .job = JOB,
                           .gen = GEN,
                           .slot = (uint16_t)(psn % SLOTS),
                           .version = psn / SLOTS & 1,
                           .psn = psn,
                           .bitmap = bitmap,
                           .fanin = CHILDREN,
                           .exponent = -3,
                           .next = (int8_t)(bitmap & 8 ? 7 : -7),
                           .values = type == GN_AGG_EVICTED ? VALUES : 0};
}

static bool give_packet(const gn_agg_packet *p, int32_t first)
{
    uint8_t in[256];
    const int32_t words[VALUES] = {first, 2 * first, -first};
    return gn_ps_rx(ps, now, in, gn_agg_write_words(p, words, in, sizeof in));
}

/// A partial sum of the children in `bitmap`, whose contributions are 1, 10, 100 and 1000.
static bool give(uint32_t psn, uint64_t bitmap)
{
    static const int32_t worth[CHILDREN] = {1, 10, 100, 1000};
    int32_t sum = 0;
    for (unsigned i = 0; i < CHILDREN; i++) sum += bitmap >> i & 1 ? worth[i] : 0;
    const gn_agg_packet p = header(GN_AGG_EVICTED, psn, bitmap);
    return give_packet(&p, sum);
}

/// The next packet that it sends. False when there is none.
static bool says(void)
{
    const size_t bytes = gn_ps_send(ps, now, out, sizeof out);
    if (!bytes) return false;
    ck_assert_int_eq(gn_agg_parse(out, bytes, &said), GN_AGG_FINE);
    ck_assert(said.job == JOB && said.gen == GEN && said.fanin == CHILDREN);
    return true;
}

static void expect(gn_agg_type type, uint32_t psn, uint64_t bitmap)
{
    ck_assert(says());
    ck_assert_int_eq(said.type, type);
    ck_assert_uint_eq(said.psn, psn);
    ck_assert_uint_eq(said.bitmap, bitmap);
}

static void expect_sum(int32_t first)
{
    const int32_t words[VALUES] = {first, 2 * first, -first};
    ck_assert_uint_eq(said.values, VALUES);
    ck_assert_mem_eq(said.payload, words, sizeof words);
}

START_TEST(disjoint_parts_are_added)
{
    ck_assert(give(0, 1) && give(0, 6));
    ck_assert(!says());
    ck_assert(give(0, 8));
    expect(GN_AGG_RESULT, 0, ALL);
    expect_sum(1111);
    ck_assert_int_eq(said.exponent, -3);
    ck_assert_int_eq(said.next, 7);  // the largest that anyone wanted
    ck_assert(!says());
    ck_assert_uint_eq(gn_ps_get_stats(ps).merged, 1);
}
END_TEST

START_TEST(whole_sums_are_told_and_remembered)
{
    ck_assert(give(0, ALL));
    expect(GN_AGG_RESULT, 0, ALL);
    ck_assert_uint_eq(gn_ps_get_stats(ps).whole, 1);
    ck_assert(give(0, 4));  // late: its sender has not got the result
    expect(GN_AGG_RESULT, 0, 4);
    expect_sum(1111);
    const gn_agg_packet question = header(GN_AGG_QUERY, 0, 2);
    ck_assert(give_packet(&question, 0));
    expect(GN_AGG_RESULT, 0, 2);
    ck_assert(!says());
    ck_assert_int_eq(gn_ps_deadline(ps), -1);
    ck_assert_uint_eq(gn_ps_get_stats(ps).answers, 2);
}
END_TEST

START_TEST(what_the_switch_has_told_is_remembered)
{
    gn_agg_packet told = header(GN_AGG_RESULT, 0, ALL);
    told.values = VALUES;
    ck_assert(give_packet(&told, 1111));
    ck_assert(!says());
    ck_assert(!give_packet(&told, 1111));
    ck_assert(give(0, 2));  // its sender has not got the result
    expect(GN_AGG_RESULT, 0, 2);
    expect_sum(1111);
    told = header(GN_AGG_RESULT, 1, 3);
    ck_assert(!give_packet(&told, 11));  // no result of all
}
END_TEST

START_TEST(a_result_lasts_until_all_have_contributed_to_the_next_use)
{
    ck_assert(give(0, ALL) && give(2, 3));
    ck_assert(give(0, 8));
    ck_assert(!give(4, 1));  // the use after the next cannot be: nobody has the result of psn 2
    ck_assert(give(2, 12) && give(4, 1));
    ck_assert(!give(0, 8));  // everyone has it
    expect(GN_AGG_RESULT, 2, ALL);
}
END_TEST

/// One worker asks before others have been answered.
START_TEST(everyone_who_asks_is_answered)
{
    const gn_agg_packet question = header(GN_AGG_QUERY, 0, 8);
    ck_assert(give(0, ALL));
    expect(GN_AGG_RESULT, 0, ALL);
    ck_assert(give(0, 4) && give_packet(&question, 0) && give(0, 1));
    expect(GN_AGG_RESULT, 0, 1);
    expect(GN_AGG_RESULT, 0, 4);
    expect(GN_AGG_RESULT, 0, 8);
    ck_assert(!says());
}
END_TEST

/// A result can be lost for all children. When it is told again, it says so, whether one child asks
/// for it or all do: it does not measure how long an answer takes.
START_TEST(a_result_that_is_told_again_says_so)
{
    ck_assert(give(0, ALL));
    expect(GN_AGG_RESULT, 0, ALL);
    ck_assert(!(said.flags & GN_AGG_RESENT));
    ck_assert(give(0, 1) && give(0, 2) && give(0, 12));
    expect(GN_AGG_RESULT, 0, ALL);
    ck_assert(said.flags & GN_AGG_RESENT);
    ck_assert(give(0, 4));
    expect(GN_AGG_RESULT, 0, 4);
    ck_assert(said.flags & GN_AGG_RESENT);
    for (uint32_t psn = 2; psn <= 4; psn += 2) {
        ck_assert(give(psn, ALL));
        expect(GN_AGG_RESULT, psn, ALL);
        ck_assert(!(said.flags & GN_AGG_RESENT));
    }
}
END_TEST

/// Before that is answered, the use after the next begins. All have both results by then.
START_TEST(an_answer_that_comes_too_late_is_not_given)
{
    ck_assert(give(0, ALL));
    expect(GN_AGG_RESULT, 0, ALL);
    ck_assert(give(2, ALL));
    expect(GN_AGG_RESULT, 2, ALL);
    ck_assert(give(0, 8) && give(4, 1));
    ck_assert(!says());
    ck_assert(give(4, 14));
    expect(GN_AGG_RESULT, 4, ALL);
    expect_sum(1111);
}
END_TEST

START_TEST(parts_that_overlap_are_not_added)
{
    ck_assert(give(0, 3) && give(0, 6));
    expect(GN_AGG_REMIND_WORKER, 0, 4);  // who was only in what was given up
    ck_assert_uint_eq(gn_ps_get_stats(ps).overlaps, 1);
    ck_assert(give(0, 4) && give(0, 8));
    expect(GN_AGG_RESULT, 0, ALL);
    expect_sum(1111);
}
END_TEST

START_TEST(the_larger_of_two_that_overlap_stays)
{
    ck_assert(give(0, 3) && give(0, 14));
    expect(GN_AGG_REMIND_WORKER, 0, 1);
    ck_assert(give(0, 1));
    expect(GN_AGG_RESULT, 0, ALL);
    expect_sum(1111);
}
END_TEST

START_TEST(what_is_contained_is_ignored_and_what_contains_replaces)
{
    ck_assert(give(0, 3) && !give(0, 1) && !give(0, 3));
    ck_assert_uint_eq(gn_ps_get_stats(ps).duplicates, 2);
    ck_assert(give(0, 7));
    ck_assert(!says());  // nobody has got lost
    ck_assert(give(0, 8));
    expect(GN_AGG_RESULT, 0, ALL);
    expect_sum(1111);
}
END_TEST

START_TEST(reminders_go_to_the_switch_then_to_workers_too)
{
    ck_assert(give(0, 5));
    const int64_t first = gn_ps_deadline(ps) - now;
    ck_assert_int_eq(first, 50000000);
    now += first - 1;
    ck_assert(!says());
    now++;
    expect(GN_AGG_REMIND_SWITCH, 0, 5);
    ck_assert(!says());
    ck_assert_int_eq(gn_ps_deadline(ps) - now, 2 * first);  // doubled
    now = gn_ps_deadline(ps);
    expect(GN_AGG_REMIND_SWITCH, 0, 5);
    expect(GN_AGG_REMIND_WORKER, 0, 10);
    uint32_t psn;
    uint64_t missing;
    int64_t since;
    ck_assert(gn_ps_waits_for(ps, &psn, &missing, &since));
    ck_assert(psn == 0 && missing == 10 && since == 1000);
    ck_assert(give(0, 10));
    expect(GN_AGG_RESULT, 0, ALL);
    ck_assert(said.flags & GN_AGG_LATE);
    ck_assert(!gn_ps_waits_for(ps, &psn, &missing, &since));
    now += 10000000;
    ck_assert(!says());
    // The next chunk of the entry begins anew.
    ck_assert(give(SLOTS, ALL));
    expect(GN_AGG_RESULT, SLOTS, ALL);
    ck_assert(give(2 * SLOTS, 5));
    ck_assert_int_eq(gn_ps_deadline(ps) - now, first);
    ck_assert(give(2 * SLOTS, 10));
    expect(GN_AGG_RESULT, 2 * SLOTS, ALL);
    ck_assert(!(said.flags & GN_AGG_LATE));
}
END_TEST

// A worker that asks has waited for long: the first reminder does not wait for its time.
START_TEST(a_question_brings_the_first_reminder)
{
    const gn_agg_packet question = header(GN_AGG_QUERY, 0, 2);
    ck_assert(give(0, 1));
    ck_assert(!says());
    ck_assert(give_packet(&question, 0));
    expect(GN_AGG_REMIND_SWITCH, 0, 1);
    ck_assert(!says());
}
END_TEST

START_TEST(the_oldest_is_waited_for)
{
    uint32_t psn;
    uint64_t missing;
    int64_t since;
    for (uint32_t first = 0; first < 2; first++) {  // whichever slot it has
        teardown();
        setup();
        ck_assert(give(first, 1));
        now += 5;
        ck_assert(give(1 - first, 2));
        ck_assert(gn_ps_waits_for(ps, &psn, &missing, &since));
        ck_assert(psn == first && missing == (ALL & ~1) && since == 1000);
    }
}
END_TEST

START_TEST(timeouts_follow_the_spread)
{
    for (uint32_t psn = 0; psn < 60; psn++) {
        ck_assert(give(psn, 7));
        now += psn ? 2000000 : 900000;  // beyond the first timeout, which follows
        ck_assert(give(psn, 8));
        expect(GN_AGG_RESULT, psn, ALL);
    }
    ck_assert_double_eq_tol(gn_ps_get_stats(ps).smoothed_spread_ns, 2000000, 2000);
    ck_assert(give(60, 7));
    const int64_t since = now;
    while (!says()) now = gn_ps_deadline(ps);
    ck_assert_int_eq(said.type, GN_AGG_REMIND_SWITCH);
    ck_assert_int_ge(now - since, 2000000);
    ck_assert_int_le(now - since, 2100000);
}
END_TEST

/// Otherwise each loss makes the next one take longer to be noticed.
START_TEST(what_was_sent_again_is_no_spread)
{
    for (uint32_t psn = 0; psn < 60; psn++) {
        gn_agg_packet late = header(GN_AGG_EVICTED, psn, 8);
        late.flags = psn % 2 ? GN_AGG_RESENT | GN_AGG_LATE : 0;
        ck_assert(give(psn, 7));
        now += psn % 2 ? 900000 : 1000;
        ck_assert(give_packet(&late, 1000));
        expect(GN_AGG_RESULT, psn, ALL);
    }
    ck_assert_double_eq_tol(gn_ps_get_stats(ps).smoothed_spread_ns, 1000, 1);
}
END_TEST

START_TEST(a_question_about_an_unknown_chunk_is_followed_up)
{
    const gn_agg_packet question = header(GN_AGG_QUERY, 1, 2);
    ck_assert(give_packet(&question, 0));
    expect(GN_AGG_REMIND_SWITCH, 1, 0);
    ck_assert(!give_packet(&question, 0));  // the timer runs
    now = gn_ps_deadline(ps);
    expect(GN_AGG_REMIND_SWITCH, 1, 0);
    expect(GN_AGG_REMIND_WORKER, 1, ALL);
    ck_assert(give(1, ALL));
    expect(GN_AGG_RESULT, 1, ALL);
    expect_sum(1111);
}
END_TEST

START_TEST(poison_is_an_overflow)
{
    gn_agg_packet p = header(GN_AGG_EVICTED, 0, 2);
    p.flags = GN_AGG_POISON;
    p.values = 0;
    ck_assert(give_packet(&p, 0) && give(0, 13));
    expect(GN_AGG_OVERFLOW, 0, ALL);
    ck_assert_uint_eq(said.values, 0);
    ck_assert(give(0, 1));
    expect(GN_AGG_OVERFLOW, 0, 1);
}
END_TEST

START_TEST(sums_beyond_int32_are_an_overflow)
{
    gn_agg_packet p = header(GN_AGG_EVICTED, 0, 3);
    ck_assert(give_packet(&p, (1 << 30) - 1));
    p = header(GN_AGG_EVICTED, 0, 12);
    ck_assert(give_packet(&p, (1 << 30) - 1));
    expect(GN_AGG_OVERFLOW, 0, ALL);
}
END_TEST

START_TEST(marks_come_back)
{
    gn_agg_packet p = header(GN_AGG_EVICTED, 0, 3);
    p.flags = GN_AGG_ECN;
    ck_assert(give_packet(&p, 1) && give(0, 12));
    expect(GN_AGG_RESULT, 0, ALL);
    ck_assert_uint_eq(said.flags, GN_AGG_ECN);
    ck_assert(give(1, ALL));
    expect(GN_AGG_RESULT, 1, ALL);
    ck_assert_uint_eq(said.flags, 0);
}
END_TEST

START_TEST(what_does_not_fit_changes_nothing)
{
    ck_assert(give(0, 1));
    gn_agg_packet wrong[9];
    for (unsigned i = 0; i < 9; i++) wrong[i] = header(GN_AGG_EVICTED, 0, 2);
    wrong[0].job++;
    wrong[1].gen--;
    wrong[2].level = 1;
    wrong[3].fanin = 3;
    wrong[4].slot = 1;
    wrong[5].version = true;
    wrong[6].exponent++;
    wrong[7].values--;
    wrong[8].type = GN_AGG_GRADIENT;
    for (unsigned i = 0; i < 9; i++) ck_assert_msg(!give_packet(&wrong[i], 5), "packet %u", i);
    ck_assert(!give(2, 1));
    ck_assert_uint_eq(gn_ps_get_stats(ps).ignored, 10);
    ck_assert(give(0, 14));
    expect(GN_AGG_RESULT, 0, ALL);
    expect_sum(1111);
}
END_TEST

START_TEST(configurations_that_are_none)
{
    const gn_ps_config good = {
        .job = JOB, .gen = GEN, .format = GN_AGG_DENSE, .bound_exp = 10, .slots = 4, .packet_values = 8, .children = 2};
    gn_ps_config bad[7] = {good, good, good, good, good, good, good};
    bad[0].slots = 3;
    bad[1].children = 0;
    bad[2].children = 65;
    bad[3].packet_values = GN_AGG_VALUES_MAX + 1;
    bad[4].format = GN_AGG_FORMATS;
    bad[5].bound_exp = 1000;
    bad[6].level = 15;
    gn_ps *none;
    for (unsigned i = 0; i < 7; i++) ck_assert_int_eq(gn_ps_new(&none, &bad[i]), GN_INVALID);
    ck_assert_int_eq(gn_ps_new(&none, &good), GN_OK);
    gn_ps_free(none);
    gn_ps_free(NULL);
}
END_TEST

int main(void)
{
    return RUN_SUITE("aggregate_ps", setup, teardown, disjoint_parts_are_added, whole_sums_are_told_and_remembered,
                     what_the_switch_has_told_is_remembered, a_result_lasts_until_all_have_contributed_to_the_next_use,
                     everyone_who_asks_is_answered, a_result_that_is_told_again_says_so,
                     an_answer_that_comes_too_late_is_not_given, parts_that_overlap_are_not_added,
                     the_larger_of_two_that_overlap_stays, what_is_contained_is_ignored_and_what_contains_replaces,
                     reminders_go_to_the_switch_then_to_workers_too, a_question_brings_the_first_reminder,
                     the_oldest_is_waited_for, timeouts_follow_the_spread, what_was_sent_again_is_no_spread,
                     a_question_about_an_unknown_chunk_is_followed_up, poison_is_an_overflow,
                     sums_beyond_int32_are_an_overflow, marks_come_back, what_does_not_fit_changes_nothing,
                     configurations_that_are_none);
}
