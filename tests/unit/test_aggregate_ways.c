// SPDX-License-Identifier: Apache-2.0
// The variants of shared memory that papers compare: what becomes of a whole sum, and who takes a
// slot that is held.
#include "one_switch.h"
#include "suite.h"

/// One slot for two jobs.
static void open_jobs(gn_memory_mode mode, gn_results results, gn_preempting preempting)
{
    begin_with(&(gn_switch_config){.slots = 1,
                                   .slot_values = VALUES,
                                   .jobs = 2,
                                   .mode = mode,
                                   .windows = 2 * SLOTS,
                                   .results = results,
                                   .preempting = preempting});
    for (uint16_t job = 0; job < 2; job++) {
        const gn_switch_job j = job_of(job);
        ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
    }
}

START_TEST(held_until_the_result_passes)
{
    open_jobs(GN_SHARED, GN_RESULTS_HELD, GN_PREEMPT_BY_PRIORITY);
    for (unsigned child = 0; child < CHILDREN; child++) give(0, 0, child, 0, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, ALL);
    gn_slot_status status;
    ck_assert_int_eq(gn_switch_waiting(&sw, 0, 0, &status), 0);
    ck_assert(status.waits_for_parent && !status.absent);
    give(1, 0, 0, 0, 0);  // the slot is still taken
    expect_to_ps(GN_AGG_EVICTED, 1, 0, 1);
    give(0, 0, 1, 0, GN_AGG_RESENT);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 2);
    give_from_ps(GN_AGG_REMIND_SWITCH, 0, 0, ALL);
    expect_drop(GN_DROP_UNEXPECTED);  // it has gone up
    give_from_ps(GN_AGG_RESULT, 0, 0, ALL);
    ck_assert_int_eq(actions[0].kind, GN_TO_GROUP);
    ck_assert_int_eq(gn_switch_waiting(&sw, 0, 0, &status), -1);
    give(1, 0, 1, 0, 0);
    expect_drop(GN_DROP_NONE);  // now it has the slot
}
END_TEST

START_TEST(parts_that_the_server_fetches_are_not_held)
{
    open_jobs(GN_SHARED, GN_RESULTS_HELD, GN_PREEMPT_BY_PRIORITY);
    give(0, 0, 0, 0, 0);
    give_from_ps(GN_AGG_REMIND_SWITCH, 0, 0, ALL);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 1);
    give(1, 0, 0, 0, 0);
    expect_drop(GN_DROP_NONE);
}
END_TEST

/// The last contribution to a chunk of job 0, which leads to two actions.
static void give_last(uint32_t psn)
{
    uint8_t in[256];
    const gn_agg_packet p = header(GN_AGG_GRADIENT, 0, psn, 4);
    const int32_t words[VALUES] = {4, 0, -4};
    const size_t bytes = gn_agg_write_words(&p, words, in, sizeof in);
    ck_assert_uint_eq(gn_switch_rx(&sw, 1, 2, in, bytes, actions), 2);
}

static void expect_whole(unsigned action, gn_action_kind kind)
{
    ck_assert_int_eq(actions[action].kind, kind);
    ck_assert_int_eq(gn_agg_parse(out, gn_action_write(&sw, &actions[action], out, sizeof out), &sent), GN_AGG_FINE);
    ck_assert(sent.type == GN_AGG_RESULT && sent.bitmap == ALL && sent.values == VALUES && sent.payload[0] == ALL);
}

START_TEST(direct_to_workers_and_server)
{
    open_jobs(GN_PREEMPTIVE, GN_RESULTS_DIRECT, GN_PREEMPT_BY_PRIORITY);
    give(0, 0, 0, 5, 0);
    give(0, 0, 1, 5, 0);
    give_last(0);
    expect_whole(0, GN_TO_GROUP);
    expect_whole(1, GN_TO_PS);
    ck_assert_uint_eq(gn_switch_job_counters(&sw, 0)->results, 1);
    give(1, 0, 0, 1, 0);
    expect_drop(GN_DROP_NONE);  // the slot is free
    give(0, 0, 1, 5, GN_AGG_RESENT);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 2);  // the parameter server knows the result
    give(0, SLOTS, 1, 0, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, SLOTS, 2);  // the next chunk is under way
}
END_TEST

START_TEST(a_sum_in_parts_goes_to_the_server)
{
    open_jobs(GN_PREEMPTIVE, GN_RESULTS_DIRECT, GN_PREEMPT_BY_PRIORITY);
    give(0, 0, 0, 5, 0);
    give(1, 0, 0, 6, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 1);
    give_from_ps(GN_AGG_RESULT, 1, 0, ALL);
    give(0, 0, 1, 5, 0);
    give(0, 0, 2, 5, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 6);
}
END_TEST

START_TEST(whoever_comes_takes_the_slot)
{
    open_jobs(GN_PREEMPTIVE, GN_RESULTS_DIRECT, GN_PREEMPT_ALWAYS);
    give(0, 0, 0, 65535, 0);
    give(1, 0, 0, 1, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 1);
    give(0, 1, 0, 1, 0);
    expect_to_ps(GN_AGG_EVICTED, 1, 0, 1);
}
END_TEST

START_TEST(every_other_one_takes_the_slot)
{
    open_jobs(GN_PREEMPTIVE, GN_RESULTS_DIRECT, GN_PREEMPT_ALTERNATELY);
    give(0, 0, 0, 1, 0);
    give(1, 0, 0, 65535, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 1);  // the holder
    give(0, 1, 0, 65535, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 1, 1);  // the one who comes
    give(0, 2, 0, 1, 0);
    expect_to_ps(GN_AGG_EVICTED, 1, 0, 1);
}
END_TEST

START_TEST(ways_that_are_none)
{
    gn_switch_config config = {
        .slots = 1, .slot_values = VALUES, .jobs = 2, .mode = GN_SHARED, .results = GN_RESULTS_WAYS};
    ck_assert_uint_eq(gn_switch_bytes(&config), 0);
    config.results = GN_RESULTS_HELD;
    config.preempting = GN_PREEMPTINGS;
    ck_assert_uint_eq(gn_switch_bytes(&config), 0);
    config.preempting = GN_PREEMPT_ALWAYS;
    ck_assert_uint_gt(gn_switch_bytes(&config), 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("aggregate_ways", NULL, end, held_until_the_result_passes,
                     parts_that_the_server_fetches_are_not_held, direct_to_workers_and_server,
                     a_sum_in_parts_goes_to_the_server, whoever_comes_takes_the_slot, every_other_one_takes_the_slot,
                     ways_that_are_none);
}
