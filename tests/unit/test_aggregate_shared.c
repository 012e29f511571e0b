// SPDX-License-Identifier: Apache-2.0
// A switch whose slots belong to nobody, packet by packet: who gets the slot, who loses it, and
// what goes to the parameter server.
#include "one_switch.h"
#include "suite.h"

static void open_jobs(gn_memory_mode mode)
{
    begin(mode, 1, 2 * SLOTS);
    for (uint16_t job = 0; job < 2; job++) {
        const gn_switch_job j = job_of(job);
        ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
    }
}

static void setup(void)
{
    open_jobs(GN_PREEMPTIVE);
}

START_TEST(a_whole_sum_goes_to_the_parameter_server_and_frees_the_slot)
{
    give(0, 0, 0, 5, 0);
    expect_drop(GN_DROP_NONE);
    give(0, 0, 0, 5, GN_AGG_RESENT);
    expect_drop(GN_DROP_DUPLICATE);
    give(0, 0, 1, 5, 0);
    give(0, 0, 2, 5, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, ALL);
    give(1, 0, 0, 1, 0);  // another job's: the slot is free
    expect_drop(GN_DROP_NONE);
}
END_TEST

START_TEST(shared_first_come_first_served)
{
    open_jobs(GN_SHARED);
    give(0, 0, 0, 1, 0);
    give(1, 0, 0, 65535, 0);
    expect_to_ps(GN_AGG_EVICTED, 1, 0, 1);
    for (unsigned i = 0; i < 20; i++) give(1, 0, 0, 65535, GN_AGG_RESENT);
    expect_to_ps(GN_AGG_EVICTED, 1, 0, 1);
    ck_assert_uint_eq(gn_switch_job_counters(&sw, 1)->collisions, 1);
    give(0, 0, 1, 1, 0);
    expect_drop(GN_DROP_NONE);
}
END_TEST

START_TEST(the_higher_priority_takes_the_slot)
{
    give(0, 0, 0, 5, 0);
    give(0, 0, 1, 9, 0);  // of no effect: the slot's is 5
    give(1, 2, 0, 6, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 3);
    ck_assert_uint_eq(gn_switch_job_counters(&sw, 0)->evictions, 1);
    give(0, 0, 2, 9, 0);  // nobody else is to come: no need for a slot
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 4);
    give(1, 2, 1, 6, 0);
    expect_drop(GN_DROP_NONE);
}
END_TEST

START_TEST(attempts_that_fail_halve_the_priority)
{
    give(0, 0, 0, 100, 0);
    give(1, 0, 0, 50, 0);
    expect_to_ps(GN_AGG_EVICTED, 1, 0, 1);  // 100 is now 50
    give(1, 1, 0, 50, 0);
    expect_to_ps(GN_AGG_EVICTED, 1, 1, 1);  // not higher: 25
    give(1, 2, 0, 26, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 1);
}
END_TEST

START_TEST(the_rest_of_a_chunk_follows_when_it_is_complete)
{
    give(0, 0, 0, 5, 0);
    give(1, 0, 0, 6, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 1);
    give_from_ps(GN_AGG_RESULT, 1, 0, ALL);  // frees the slot
    ck_assert_int_eq(actions[0].kind, GN_TO_GROUP);
    give(0, 0, 1, 5, 0);
    expect_drop(GN_DROP_NONE);
    give(0, 0, 0, 5, 0);  // repeated by the network
    expect_drop(GN_DROP_DUPLICATE);
    give(0, 0, 0, 5, GN_AGG_RESENT);  // by its worker: it may have been lost on its way to the parameter server
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 1);
    give(0, 0, 2, 5, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 6);  // evicted part + remainder = whole
}
END_TEST

START_TEST(results_pass_and_nothing_late_takes_a_slot)
{
    give(0, 0, 0, 5, 0);
    give_from_ps(GN_AGG_RESULT, 0, 0, ALL);
    ck_assert_int_eq(actions[0].kind, GN_TO_GROUP);
    ck_assert_int_eq(sent.type, GN_AGG_RESULT);
    give(0, 0, 1, 5, 0);
    expect_drop(GN_DROP_STALE);
    give(0, 0, 1, 5, GN_AGG_RESENT);  // it has lost the result
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 2);
    give_from_ps(GN_AGG_RESULT, 0, 0, 2);
    ck_assert_int_eq(actions[0].kind, GN_TO_PORT);
    ck_assert_uint_eq(actions[0].port, 1);
    give(0, 8, 1, 5, 0);
    expect_drop(GN_DROP_EARLY);
    give(0, 4, 1, 5, 0);
    expect_drop(GN_DROP_NONE);
    give_from_ps(GN_AGG_RESULT, 0, 4, ALL);
    give(0, 0, 1, 5, GN_AGG_RESENT);
    expect_drop(GN_DROP_STALE);
    gn_slot_status status;
    ck_assert_int_eq(gn_switch_waiting(&sw, 0, 0, &status), -1);
}
END_TEST

START_TEST(reminders_fetch_what_there_is)
{
    give_from_ps(GN_AGG_REMIND_SWITCH, 0, 0, 0);
    expect_drop(GN_DROP_UNEXPECTED);
    give(0, 0, 1, 5, 0);
    gn_slot_status status;
    ck_assert_int_eq(gn_switch_waiting(&sw, 0, 0, &status), 0);
    ck_assert(status.seen == 2 && status.missing == 5 && status.at_ps == 0);
    give_from_ps(GN_AGG_REMIND_SWITCH, 0, 0, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 2);
    give(0, 0, 0, 5, 0);
    ck_assert_int_eq(gn_switch_waiting(&sw, 0, 0, &status), 0);
    ck_assert(status.seen == 1 && status.missing == 4 && status.at_ps == 2);
    give_from_ps(GN_AGG_REMIND_WORKER, 0, 0, 4);
    ck_assert_int_eq(actions[0].kind, GN_TO_PORT);
    ck_assert_uint_eq(actions[0].port, 2);
    give_from_ps(GN_AGG_REMIND_WORKER, 0, 0, 5);
    ck_assert_int_eq(actions[0].kind, GN_TO_GROUP);
    const gn_agg_packet answer = header(GN_AGG_EVICTED, 0, 0, 4);
    give_at(2, &answer);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 4);
    const gn_agg_packet question = header(GN_AGG_QUERY, 0, 0, 4);
    give_at(2, &question);
    expect_to_ps(GN_AGG_QUERY, 0, 0, 4);
}
END_TEST

START_TEST(strangers_change_nothing)
{
    give(0, 0, 0, 5, 0);
    const uint64_t before = gn_switch_hash(&sw);
    const gn_agg_packet result = header(GN_AGG_RESULT, 0, 0, ALL);
    give_at(0, &result);  // a worker's
    expect_drop(GN_DROP_PORT);
    give_at(PS_PORT + 1, &result);  // the other job's parameter server's
    expect_drop(GN_DROP_PORT);
    const gn_agg_packet remind = header(GN_AGG_REMIND_SWITCH, 0, 0, ALL);
    give_at(1, &remind);
    expect_drop(GN_DROP_PORT);
    gn_agg_packet p = header(GN_AGG_GRADIENT, 0, 0, 2);
    give_at(0, &p);
    expect_drop(GN_DROP_PORT);
    p.type = GN_AGG_EVICTED;
    p.bitmap = 3;
    give_at(0, &p);
    expect_drop(GN_DROP_LEVEL);
    p = header(GN_AGG_GRADIENT, 0, 0, 2);
    p.exponent = 3;  // not what the holder's first contribution said
    give_at(1, &p);
    expect_drop(GN_DROP_FORMAT);
    ck_assert_uint_eq(gn_switch_hash(&sw), before);
}
END_TEST

START_TEST(a_job_that_begins_anew_or_ends_leaves_its_slots)
{
    give(0, 0, 0, 5, 0);
    gn_switch_job again = job_of(0);
    again.gen = 2;
    ck_assert_int_eq(gn_switch_add_job(&sw, &again), GN_OK);
    gn_slot_status status;
    ck_assert_int_eq(gn_switch_waiting(&sw, 0, 0, &status), -1);
    give(1, 0, 0, 1, 0);
    expect_drop(GN_DROP_NONE);
    ck_assert_int_eq(gn_switch_waiting(&sw, 1, 0, &status), 0);
    ck_assert_int_eq(gn_switch_remove_job(&sw, 1), GN_OK);
    gn_agg_packet p = header(GN_AGG_GRADIENT, 0, 0, 1);
    p.gen = 2;
    give_at(0, &p);
    expect_drop(GN_DROP_NONE);
}
END_TEST

START_TEST(what_is_refused)
{
    const gn_switch_config config = {.slots = 1, .slot_values = VALUES, .jobs = 2, .mode = GN_MEMORY_MODES};
    ck_assert_uint_eq(gn_switch_bytes(&config), 0);
    begin(GN_SHARED, 1, SLOTS);
    gn_switch_job j = job_of(0);
    j.has_parent = true;
    j.parent_port = 50;
    j.parent_fanin = CHILDREN;
    j.parent_bit = 1;  // its last worker would have no bit there
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_INVALID);
    j.parent_bit = 0;
    j.parent_port = j.port[0];
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_INVALID);
    j = job_of(0);
    j.bits = 5;
    j.first_bit[1] = j.first_bit[2] = 3;  // a child without a bit
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_INVALID);
    j.first_bit[2] = 5;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_INVALID);
    j.first_bit[2] = 4;
    begin(GN_PARTITIONED, SLOTS, 0);
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_INVALID);  // slots of its own hold whole sums alone
    begin(GN_SHARED, 1, SLOTS);
    j = job_of(0);
    j.ps_port = j.port[CHILDREN - 1];
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_INVALID);
    j = job_of(0);
    j.slots = 2 * SLOTS;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_INVALID);
    j.slots = SLOTS;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
    j = job_of(1);
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_NO_SPACE);  // no windows left
}
END_TEST

int main(void)
{
    return RUN_SUITE("aggregate_shared", setup, end, a_whole_sum_goes_to_the_parameter_server_and_frees_the_slot,
                     shared_first_come_first_served, the_higher_priority_takes_the_slot,
                     attempts_that_fail_halve_the_priority, the_rest_of_a_chunk_follows_when_it_is_complete,
                     results_pass_and_nothing_late_takes_a_slot, reminders_fetch_what_there_is,
                     strangers_change_nothing, a_job_that_begins_anew_or_ends_leaves_its_slots, what_is_refused);
}
