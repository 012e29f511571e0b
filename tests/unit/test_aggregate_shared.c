// SPDX-License-Identifier: Apache-2.0
// A switch whose slots belong to nobody, packet by packet: who gets the slot, who loses it, what goes to the parameter server.
#include <stdlib.h>
#include <string.h>

#include <gradnic/switch.h>

#include "suite.h"

enum { SLOTS = 4, VALUES = 3, CHILDREN = 3, ALL = 7, PS_PORT = 100 };

static gn_switch sw;
static void *memory;
static gn_action actions[GN_SWITCH_ACTIONS_MAX];
static uint8_t out[256];
static gn_agg_packet sent;

/// Two jobs, whose ports are 0.. and 10.., before one slot.
static gn_switch_job job_of(uint16_t job)
{
    gn_switch_job j = {.job = job,
                       .gen = 1,
                       .format = GN_AGG_INT32,
                       .slots = SLOTS,
                       .children = CHILDREN,
                       .ps_port = (uint16_t)(PS_PORT + job)};
    for (unsigned i = 0; i < CHILDREN; i++) j.port[i] = (uint16_t)(10 * job + i);
    return j;
}

static void begin(gn_memory_mode mode, uint32_t slots, uint32_t windows)
{
    const gn_switch_config config = {
        .slots = slots, .slot_values = VALUES, .jobs = 2, .mode = mode, .windows = windows};
    const size_t bytes = gn_switch_bytes(&config);
    free(memory);
    memory = malloc(bytes);
    ck_assert_int_eq(gn_switch_init(&sw, &config, memory, bytes), GN_OK);
}

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

static void teardown(void)
{
    free(memory);
    memory = NULL;
}

static gn_agg_packet header(gn_agg_type type, uint16_t job, uint32_t psn, uint64_t bitmap)
{
    return (gn_agg_packet){.type = (uint8_t)type,
                           .job = job,
                           .gen = 1,
                           .slot = (uint16_t)(psn % SLOTS),
                           .version = psn / SLOTS & 1,
                           .psn = psn,
                           .bitmap = bitmap,
                           .fanin = CHILDREN,
                           .values = type == GN_AGG_REMIND_SWITCH || type == GN_AGG_QUERY ? 0 : VALUES};
}

static void give_at(uint16_t port, const gn_agg_packet *p)
{
    uint8_t in[256];
    const int32_t words[VALUES] = {(int32_t)p->bitmap, 0, -(int32_t)p->bitmap};
    const size_t bytes = gn_agg_write_words(p, words, in, sizeof in);
    const unsigned count = gn_switch_rx(&sw, 1, port, in, bytes, actions);
    ck_assert_uint_eq(count, 1);
    const size_t written = gn_action_write(&sw, &actions[0], out, sizeof out);
    if (written) ck_assert_int_eq(gn_agg_parse(out, written, &sent), GN_AGG_FINE);
    ck_assert((written == 0) == (actions[0].kind == GN_TO_NOBODY));
}

static void give(uint16_t job, uint32_t psn, unsigned child, uint16_t priority, uint8_t flags)
{
    gn_agg_packet p = header(GN_AGG_GRADIENT, job, psn, 1u << child);
    p.priority = priority;
    p.flags = flags;
    give_at((uint16_t)(10 * job + child), &p);
}

static void give_from_ps(gn_agg_type type, uint16_t job, uint32_t psn, uint64_t bitmap)
{
    const gn_agg_packet p = header(type, job, psn, bitmap);
    give_at((uint16_t)(PS_PORT + job), &p);
}

static void expect_drop(gn_drop reason)
{
    ck_assert_int_eq(actions[0].kind, GN_TO_NOBODY);
    ck_assert_int_eq(actions[0].reason, reason);
}

static void expect_to_ps(gn_agg_type type, uint16_t job, uint32_t psn, uint64_t bitmap)
{
    ck_assert_int_eq(actions[0].kind, GN_TO_PS);
    ck_assert_uint_eq(actions[0].port, PS_PORT + job);
    ck_assert_int_eq(sent.type, type);
    ck_assert(sent.job == job && sent.psn == psn && sent.bitmap == bitmap);
    if (!sent.values) return;
    const int32_t words[VALUES] = {(int32_t)bitmap, 0, -(int32_t)bitmap};
    ck_assert_mem_eq(sent.payload, words, sizeof words);
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

START_TEST(a_partitioned_leaf_answers_its_root_s_parameter_server)
{
    begin(GN_PARTITIONED, SLOTS, 0);
    gn_switch_job j = job_of(0);
    j.has_parent = true;
    j.parent_port = 50;
    j.parent_bit = 1;
    j.parent_fanin = 2;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
    gn_agg_packet remind = header(GN_AGG_REMIND_WORKER, 0, 0, 2);
    remind.level = 1;
    remind.fanin = 2;
    remind.values = 0;
    give(0, 0, 0, 0, 0);
    give_at(50, &remind);  // it is not whole: its workers see to that
    expect_drop(GN_DROP_UNEXPECTED);
    give(0, 0, 1, 0, 0);
    give(0, 0, 2, 0, 0);
    ck_assert_int_eq(actions[0].kind, GN_TO_PARENT);
    ck_assert_int_eq(sent.type, GN_AGG_GRADIENT);
    give_at(0, &remind);
    expect_drop(GN_DROP_PORT);
    give_at(50, &remind);
    ck_assert_int_eq(actions[0].kind, GN_TO_PARENT);
    ck_assert_int_eq(sent.type, GN_AGG_EVICTED);
    const int32_t words[VALUES] = {ALL, 0, -ALL};
    ck_assert(sent.bitmap == 2 && sent.level == 1 && sent.fanin == 2 && !memcmp(sent.payload, words, sizeof words));
}
END_TEST

/// Job 0 at a leaf, whose three workers have bits 2 to 4 of the root's six.
static void open_leaf(void)
{
    begin(GN_PREEMPTIVE, 1, 2 * SLOTS);
    gn_switch_job j = job_of(0);
    j.has_parent = true;
    j.parent_port = 50;
    j.parent_bit = 2;
    j.parent_fanin = 6;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
    j = job_of(1);
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
}

/// Of job 0, as the root sends it.
static void give_from_root(gn_agg_type type, uint32_t psn, uint64_t bitmap)
{
    gn_agg_packet p = header(type, 0, psn, bitmap);
    p.fanin = 6;
    give_at(50, &p);
}

/// The leaf's sum of the workers `seen`, or (the same) a packet of theirs.
static void expect_to_root(gn_agg_type type, uint32_t psn, uint64_t seen, uint16_t priority)
{
    ck_assert_int_eq(actions[0].kind, GN_TO_PARENT);
    ck_assert_uint_eq(actions[0].port, 50);
    ck_assert_int_eq(sent.type, type);
    ck_assert(sent.job == 0 && sent.psn == psn && sent.bitmap == seen << 2 && sent.fanin == 6 && sent.level == 0);
    ck_assert_uint_eq(sent.priority, priority);
    if (!sent.values) return;
    const int32_t words[VALUES] = {(int32_t)seen, 0, -(int32_t)seen};
    ck_assert_mem_eq(sent.payload, words, sizeof words);
}

START_TEST(a_leaf_sends_sums_of_any_workers_to_its_root)
{
    open_leaf();
    give(0, 0, 0, 9, 0);
    expect_drop(GN_DROP_NONE);
    give(0, 0, 1, 9, 0);
    give(0, 0, 2, 9, 0);
    expect_to_root(GN_AGG_GRADIENT, 0, ALL, 9);
    give(0, 1, 0, 9, 0);
    give(1, 0, 0, 9, 0);  // of no higher priority: it halves the holder's
    expect_to_ps(GN_AGG_EVICTED, 1, 0, 1);
    give(0, 2, 1, 1, 0);  // and so does one that goes to the root, which may have a slot for it
    expect_to_root(GN_AGG_GRADIENT, 2, 2, 1);
    give(1, 1, 0, 3, 0);
    expect_to_root(GN_AGG_GRADIENT, 1, 1, 2);
    give(0, 1, 0, 9, 0);
    expect_drop(GN_DROP_DUPLICATE);
    give(0, 1, 0, 9, GN_AGG_RESENT);  // it may have been lost on its way to the root
    expect_to_root(GN_AGG_GRADIENT, 1, 1, 9);
}
END_TEST

START_TEST(results_pass_a_leaf_and_free_its_slot)
{
    open_leaf();
    give(0, 0, 0, 9, 0);
    give_from_root(GN_AGG_REMIND_WORKER, 0, 13);
    ck_assert_int_eq(actions[0].kind, GN_TO_GROUP);
    ck_assert(sent.bitmap == 3 && sent.fanin == CHILDREN);
    give_from_root(GN_AGG_REMIND_WORKER, 0, 16 + 32);
    ck_assert(actions[0].kind == GN_TO_PORT && actions[0].port == 2 && sent.bitmap == 4);
    give_from_root(GN_AGG_REMIND_WORKER, 0, 3);  // others'
    expect_drop(GN_DROP_UNEXPECTED);
    give_from_root(GN_AGG_REMIND_SWITCH, 0, 0);
    expect_to_root(GN_AGG_EVICTED, 0, 1, 9);  // past the root's slots
    give(0, 0, 1, 9, 0);
    give_from_root(GN_AGG_RESULT, 0, 63);
    ck_assert_int_eq(actions[0].kind, GN_TO_GROUP);
    ck_assert(sent.bitmap == ALL && sent.fanin == CHILDREN);
    gn_slot_status status;
    ck_assert_int_eq(gn_switch_waiting(&sw, 0, 0, &status), -1);
    give(0, 0, 2, 9, GN_AGG_RESENT);
    expect_to_root(GN_AGG_GRADIENT, 0, 4, 9);  // it asks for the result
    gn_agg_packet p = header(GN_AGG_RESULT, 0, 0, ALL);
    give_at(50, &p);  // with a fan-in that is not the root's
    expect_drop(GN_DROP_LEVEL);
    p.fanin = 6;
    give_at(PS_PORT, &p);
    expect_drop(GN_DROP_PORT);
}
END_TEST

/// A switch above two that share their slots, with two workers and one: bits 0 and 1, and bit 2.
static void open_root(void)
{
    begin(GN_SHARED, 1, SLOTS);
    gn_switch_job j = job_of(0);
    j.children = 2;
    j.bits = 3;
    j.first_bit[1] = 2;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
}

static void give_sum(unsigned child, uint64_t bitmap, uint8_t flags)
{
    gn_agg_packet p = header(GN_AGG_GRADIENT, 0, 0, bitmap);
    p.flags = flags;
    give_at((uint16_t)child, &p);
}

START_TEST(a_root_adds_sums_that_share_nothing)
{
    open_root();
    give_sum(1, 4, 0);
    expect_drop(GN_DROP_NONE);
    gn_slot_status status;
    ck_assert_int_eq(gn_switch_waiting(&sw, 0, 0, &status), 0);
    ck_assert(status.seen == 2 && status.missing == 1);
    give_sum(1, 6, 0);  // not below that child
    expect_drop(GN_DROP_LEVEL);
    give_sum(1, 2, 0);
    expect_drop(GN_DROP_PORT);
    give_sum(0, 3, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, ALL);

    open_root();
    give_sum(0, 1, 0);
    give_sum(0, 3, 0);  // a part of it has overtaken it
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 3);
    give_sum(0, 1, GN_AGG_RESENT);
    expect_drop(GN_DROP_DUPLICATE);
    give_sum(0, 2, 0);  // has gone, with the sum
    expect_drop(GN_DROP_DUPLICATE);
    give_sum(0, 2, GN_AGG_RESENT);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 2);
    give_sum(1, 4, 0);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 5);
}
END_TEST

START_TEST(a_root_passes_questions_and_answers_to_those_they_are_for)
{
    open_root();
    give_sum(0, 1, 0);
    gn_agg_packet p = header(GN_AGG_REMIND_SWITCH, 0, 0, 4);
    uint8_t in[64];
    const size_t bytes = gn_agg_write_words(&p, NULL, in, sizeof in);
    ck_assert_uint_eq(gn_switch_rx(&sw, 1, PS_PORT, in, bytes, actions), 2);  // here and below
    ck_assert(actions[0].kind == GN_TO_PS && actions[0].header.type == GN_AGG_EVICTED && actions[0].header.bitmap == 1);
    ck_assert(actions[1].kind == GN_TO_GROUP && actions[1].header.type == GN_AGG_REMIND_SWITCH);
    ck_assert_uint_gt(gn_action_write(&sw, &actions[1], out, sizeof out), 0);
    give_from_ps(GN_AGG_REMIND_SWITCH, 0, 0, 4);
    ck_assert_int_eq(actions[0].kind, GN_TO_GROUP);
    p = header(GN_AGG_EVICTED, 0, 0, 3);  // what a leaf has had in its slot
    give_at(0, &p);
    expect_to_ps(GN_AGG_EVICTED, 0, 0, 3);
    give_from_ps(GN_AGG_REMIND_WORKER, 0, 0, 3);
    ck_assert(actions[0].kind == GN_TO_PORT && actions[0].port == 0 && sent.bitmap == 3);
    give_from_ps(GN_AGG_REMIND_WORKER, 0, 0, 5);
    ck_assert_int_eq(actions[0].kind, GN_TO_GROUP);
    give_from_ps(GN_AGG_RESULT, 0, 0, 4);
    ck_assert(actions[0].kind == GN_TO_PORT && actions[0].port == 1);
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
    return RUN_SUITE(
        "aggregate_shared", setup, teardown, a_whole_sum_goes_to_the_parameter_server_and_frees_the_slot,
        shared_first_come_first_served, the_higher_priority_takes_the_slot, attempts_that_fail_halve_the_priority,
        the_rest_of_a_chunk_follows_when_it_is_complete, results_pass_and_nothing_late_takes_a_slot,
        reminders_fetch_what_there_is, strangers_change_nothing, a_job_that_begins_anew_or_ends_leaves_its_slots,
        a_partitioned_leaf_answers_its_root_s_parameter_server, a_leaf_sends_sums_of_any_workers_to_its_root,
        results_pass_a_leaf_and_free_its_slot, a_root_adds_sums_that_share_nothing,
        a_root_passes_questions_and_answers_to_those_they_are_for, what_is_refused);
}
