// SPDX-License-Identifier: Apache-2.0
// Switches above and below others, with shared slots, packet by packet: where a sum has which bits,
// what goes up, and what comes down.
#include <math.h>
#include <string.h>

#include "one_switch.h"
#include "suite.h"

/// Job 0 at a leaf with slots of its own, which is bit 1 of two at its parent.
static void open_partitioned_leaf(void)
{
    begin(GN_PARTITIONED, SLOTS, 0);
    gn_switch_job j = job_of(0);
    j.has_parent = true;
    j.parent_port = 50;
    j.parent_bit = 1;
    j.parent_fanin = 2;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
}

START_TEST(a_partitioned_leaf_answers_its_root_s_parameter_server)
{
    open_partitioned_leaf();
    gn_agg_packet remind = header(GN_AGG_REMIND_WORKER, 0, 0, 2);
    remind.level = 1;
    remind.fanin = 2;
    remind.values = 0;
    give(0, 0, 0, 3, 0);
    give_at(50, &remind);  // it is not whole: its workers see to that
    expect_drop(GN_DROP_UNEXPECTED);
    give(0, 0, 1, 9, 0);
    give(0, 0, 2, 5, 0);
    ck_assert_int_eq(actions[0].kind, GN_TO_PARENT);
    ck_assert_int_eq(sent.type, GN_AGG_GRADIENT);
    ck_assert_uint_eq(sent.priority, 9);
    give_at(0, &remind);
    expect_drop(GN_DROP_PORT);
    give_at(50, &remind);
    ck_assert_int_eq(actions[0].kind, GN_TO_PARENT);
    ck_assert_int_eq(sent.type, GN_AGG_EVICTED);
    const int32_t words[VALUES] = {ALL, 0, -ALL};
    ck_assert(sent.bitmap == 2 && sent.level == 1 && sent.fanin == 2 && !memcmp(sent.payload, words, sizeof words));
}
END_TEST

/// The same, with the sum of all its workers in slot 0.
static void fill_partitioned_leaf(void)
{
    open_partitioned_leaf();
    for (unsigned child = 0; child < CHILDREN; child++) give(0, 0, child, 3, 0);
    ck_assert_int_eq(actions[0].kind, GN_TO_PARENT);
}

static void give_from_parent(uint8_t flags)
{
    gn_agg_packet p = header(GN_AGG_RESULT, 0, 0, 2);
    p.level = 1;
    p.fanin = 2;
    p.flags = flags;
    give_at(50, &p);
    ck_assert_int_eq(actions[0].kind, GN_TO_GROUP);
}

// Otherwise workers take the wait for a lost result for a round trip, and their timeouts grow.
START_TEST(workers_learn_that_the_parent_was_asked_again)
{
    fill_partitioned_leaf();
    give_from_parent(0);
    ck_assert_uint_eq(sent.flags, 0);
    fill_partitioned_leaf();
    give(0, 0, 1, 3, GN_AGG_RESENT | GN_AGG_LATE);
    ck_assert_int_eq(actions[0].kind, GN_TO_PARENT);
    ck_assert_uint_eq(sent.flags, GN_AGG_RESENT | GN_AGG_LATE);
    give_from_parent(GN_AGG_RESENT);
    ck_assert_uint_eq(sent.flags, GN_AGG_RESENT);
}
END_TEST

/// Gives the leaf a result of its parent, at level 1, whose values have no integers.
static void give_no_integers(gn_agg_format format, const gn_codec *codec)
{
    static const float none[VALUES] = {1, -INFINITY, NAN};
    static const uint8_t halves[2 * VALUES] = {0, 0x3c, 0, 0xfc, 0, 0x7e};
    gn_agg_packet p = header(GN_AGG_RESULT, 0, 0, 2);
    uint8_t in[256];
    size_t bytes = GN_AGG_HEADER + sizeof halves;
    p.level = 1;
    p.fanin = 2;
    if (format == GN_AGG_HALF) {
        p.flags = GN_AGG_HALVES;
        gn_agg_write_header(&p, in);
        memcpy(in + GN_AGG_HEADER, halves, sizeof halves);
    } else {
        p.next = (int8_t)codec->bound_exp;
        bytes = gn_agg_write_stream(&p, codec, NULL, none, in, sizeof in);
    }
    ck_assert_uint_eq(gn_switch_rx(&sw, 1, 50, in, bytes, actions), 1);
}

// The parent may yet ask for the leaf's sum again, after a result that is not one.
static void ignore_a_result_without_integers(gn_agg_format format)
{
    gn_codec codec;
    ck_assert(!gn_codec_init(&codec, GN_DENSE, 10));
    begin(GN_PARTITIONED, SLOTS, 0);
    gn_switch_job j = job_of(0);
    j.format = format;
    j.bound_exp = format == GN_AGG_HALF ? 0 : 10;
    j.has_parent = true;
    j.parent_port = 50;
    j.parent_bit = 1;
    j.parent_fanin = 2;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
    uint8_t in[256];
    for (unsigned child = 0; child < CHILDREN; child++) {
        static const int32_t words[VALUES] = {5, 0, -7};
        gn_agg_packet p = header(GN_AGG_GRADIENT, 0, 0, 1u << child);
        p.next = (int8_t)j.bound_exp;
        const size_t bytes = format == GN_AGG_HALF ? gn_agg_write_halves(&p, &codec, words, in, sizeof in)
                                                   : gn_agg_write_stream(&p, &codec, words, NULL, in, sizeof in);
        ck_assert_uint_eq(gn_switch_rx(&sw, 1, (uint16_t)child, in, bytes, actions), 1);
    }
    ck_assert_int_eq(actions[0].kind, GN_TO_PARENT);
    uint8_t before[256];
    const size_t length = gn_action_write(&sw, &actions[0], before, sizeof before);
    const uint64_t hash = gn_switch_hash(&sw);
    if (format == GN_AGG_HALF) {
        // In 32 bits on its way up, and marked.
        static const int32_t sums[VALUES] = {15, 0, -21};
        ck_assert(!gn_agg_parse(before, length, &sent) && sent.flags == GN_AGG_HALVES && !sent.halves);
        ck_assert_mem_eq(sent.payload, sums, sizeof sums);
    }
    give_no_integers(format, &codec);
    expect_drop(GN_DROP_STREAM);
    ck_assert_uint_eq(gn_switch_hash(&sw), hash);
}

START_TEST(a_stream_without_integers_changes_nothing)
{
    ignore_a_result_without_integers(GN_AGG_DENSE);
}
END_TEST

START_TEST(halves_without_integers_change_nothing)
{
    ignore_a_result_without_integers(GN_AGG_HALF);
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
    give(0, 0, 1, 9, 0);  // repeated by the network
    expect_drop(GN_DROP_DUPLICATE);
    give(0, 0, 1, 9, GN_AGG_RESENT);  // the sum may have been lost
    expect_to_root(GN_AGG_GRADIENT, 0, 2, 9);
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
    ck_assert(status.seen == 2 && status.missing == 1 && status.absent == 3);
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

// All have come, but in sums that share something. Nobody is to come who would send the slot on. A
// parameter server asks for it, but a parent does not.
START_TEST(the_rest_follows_what_makes_it_whole)
{
    for (int parent = 0; parent < 2; parent++) {
        open_root();
        if (parent) {
            begin(GN_SHARED, 1, SLOTS);
            gn_switch_job j = job_of(0);
            j.children = 2;
            j.bits = 3;
            j.first_bit[1] = 2;
            j.has_parent = true;
            j.parent_port = 50;
            j.parent_bit = 4;
            j.parent_fanin = 8;
            ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
        }
        give_sum(1, 4, 0);
        give_sum(0, 1, 0);
        const gn_agg_packet p = header(GN_AGG_GRADIENT, 0, 0, 3);
        ck_assert_uint_eq(give_for_actions(0, &p), parent ? 2 : 1);
        const gn_action rest = actions[1];
        expect_action(0);
        gn_slot_status status;
        if (!parent) {
            expect_to_ps(GN_AGG_EVICTED, 0, 0, 3);
            ck_assert_int_eq(gn_switch_waiting(&sw, 0, 0, &status), 0);
            continue;
        }
        ck_assert(actions[0].kind == GN_TO_PARENT && sent.type == GN_AGG_GRADIENT && sent.bitmap == 3 << 4);
        actions[0] = rest;
        expect_action(0);
        ck_assert(actions[0].kind == GN_TO_PARENT && sent.type == GN_AGG_GRADIENT && sent.bitmap == 5 << 4);
        ck_assert_int_eq(gn_switch_waiting(&sw, 0, 0, &status), -1);  // the slot is free
        give_sum(0, 2, GN_AGG_RESENT);                                // each may be lost further up, and asked for
        ck_assert_int_eq(actions[0].kind, GN_TO_PARENT);
        give_sum(1, 4, GN_AGG_RESENT);
        ck_assert_int_eq(actions[0].kind, GN_TO_PARENT);
    }
}
END_TEST

START_TEST(sixty_four_contribute_at_most)
{
    begin(GN_SHARED, 1, 2 * SLOTS);
    gn_switch_job j = job_of(0);
    j.children = 2;
    j.bits = 64;
    j.first_bit[1] = 61;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
    const uint64_t last = 7ull << 61;
    gn_agg_packet p = header(GN_AGG_GRADIENT, 0, 0, last);
    p.fanin = 64;
    give_at(1, &p);
    expect_drop(GN_DROP_NONE);
    p.bitmap = ~last;
    give_at(0, &p);
    ck_assert(actions[0].kind == GN_TO_PS && sent.bitmap == UINT64_MAX && sent.fanin == 64);
    p = header(GN_AGG_RESULT, 0, 0, 1ull << 63);
    p.fanin = 64;
    give_at(PS_PORT, &p);
    ck_assert(actions[0].kind == GN_TO_PORT && actions[0].port == 1 && sent.bitmap == 1ull << 63);

    j = job_of(1);  // the leaf there
    j.has_parent = true;
    j.parent_port = 50;
    j.parent_bit = 61;
    j.parent_fanin = 64;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_OK);
    give(1, 0, 0, 5, 0);
    give(1, 0, 1, 5, 0);
    give(1, 0, 2, 5, 0);
    ck_assert(actions[0].kind == GN_TO_PARENT && sent.bitmap == last);
    p = header(GN_AGG_RESULT, 1, 0, UINT64_MAX);
    p.fanin = 64;
    give_at(50, &p);
    ck_assert(actions[0].kind == GN_TO_GROUP && sent.bitmap == ALL && sent.fanin == CHILDREN);
    j.gen = 2;
    j.parent_bit = 62;
    ck_assert_int_eq(gn_switch_add_job(&sw, &j), GN_INVALID);
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

int main(void)
{
    return RUN_SUITE("aggregate_tree", NULL, end, a_partitioned_leaf_answers_its_root_s_parameter_server,
                     workers_learn_that_the_parent_was_asked_again, a_stream_without_integers_changes_nothing,
                     halves_without_integers_change_nothing, a_leaf_sends_sums_of_any_workers_to_its_root,
                     results_pass_a_leaf_and_free_its_slot, a_root_adds_sums_that_share_nothing,
                     the_rest_follows_what_makes_it_whole, sixty_four_contribute_at_most,
                     a_root_passes_questions_and_answers_to_those_they_are_for);
}
