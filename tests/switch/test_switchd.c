// SPDX-License-Identifier: Apache-2.0
// The switch with real sockets on loopback. Sums are right over bad links, in every format and
// memory mode, with shards and channels, under leaves and a root.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/udp.h"
#include "switches.h"
#include "unit/suite.h"

/// Two leaves with two workers each under a root, in 16 and in 32 bits.
START_TEST(a_tree_in_halves)
{
    const running root = start(&plain_switch);
    gn_switchd_config config = plain_switch;
    config.parent = root.address;
    config.in = config.out = (gn_fault_config){.seed = 5, .loss = 0.01};
    const running leaf[2] = {start(&config), start(&config)};
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = leaf_client(leaf[i / 2].port, "halves", i);
        c.join.format = GN_AGG_HALF;
        launch(i, &c);
    }
    all_good(0, 4);
    stop(&leaf[0]);
    stop(&leaf[1]);
    stop(&root);
}
END_TEST

static void sum_over(const gn_switchd_config *config, gn_agg_format format, unsigned channels)
{
    const running r = start(config);
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = client_of(r.port, "sum", i, 4);
        c.join.format = (uint8_t)format;
        c.join.bound_exp = gn_agg_in_blocks(format) ? 0 : 10;
        c.join.channels = (uint8_t)channels;
        launch(i, &c);
    }
    all_good(0, 4);
    stop(&r);
}

START_TEST(sums_are_right)
{
    for (gn_agg_format format = 0; format < GN_AGG_FORMATS; format++) sum_over(&plain_switch, format, 1);
}
END_TEST

START_TEST(channels_go_to_all_shards)
{
    gn_switchd_config config = plain_switch;
    config.shards = 3;
    sum_over(&config, GN_AGG_INT32, 7);
}
END_TEST

START_TEST(bad_links_both_ways)
{
    gn_switchd_config config = plain_switch;
    config.in = (gn_fault_config){.seed = 3, .loss = 0.02, .duplicate = 0.02, .reorder = 0.05, .reorder_ns = 2000000};
    config.out = (gn_fault_config){.seed = 4, .loss = 0.02, .duplicate = 0.02, .reorder = 0.05, .delay_ns = 200000};
    sum_over(&config, GN_AGG_DENSE, 2);
    uint64_t resent = 0;
    for (unsigned i = 0; i < 4; i++) resent += ones[i].result.stats.resent;
    ck_assert_uint_gt(resent, 0);
}
END_TEST

START_TEST(one_worker_alone)
{
    const running r = start(&plain_switch);
    const sw_client c = client_of(r.port, "alone", 0, 1);
    launch(0, &c);
    all_good(0, 1);
    stop(&r);
}
END_TEST

/// Two leaves with two workers each under a root.
START_TEST(leaves_and_a_root)
{
    const running root = start(&plain_switch);
    gn_switchd_config config = plain_switch;
    config.parent = root.address;
    config.in = (gn_fault_config){.seed = 5, .loss = 0.01};
    config.out = (gn_fault_config){.seed = 6, .loss = 0.01};
    const running leaf[2] = {start(&config), start(&config)};
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = leaf_client(leaf[i / 2].port, "tree", i);
        c.join.channels = 2;
        launch(i, &c);
    }
    all_good(0, 4);
    stop(&leaf[0]);
    stop(&leaf[1]);
    stop(&root);
}
END_TEST

/// Two jobs share few slots; what finds none, and every result, goes by the parameter server.
static void share(gn_memory_mode mode, gn_agg_format format)
{
    const running ps = start_ps((gn_fault_config){.seed = 7, .loss = 0.01});
    gn_switchd_config config = sharing(&ps, mode, 16, 1024);
    config.in = (gn_fault_config){.seed = 8, .loss = 0.01};
    config.out = (gn_fault_config){.seed = 9, .loss = 0.01, .duplicate = 0.01};
    const running r = start(&config);
    for (unsigned i = 0; i < 6; i++) {
        sw_client c = client_of(r.port, i < 3 ? "one" : "two", i % 3, 3);
        c.join.format = (uint8_t)format;
        c.join.bound_exp = gn_agg_in_blocks(format) ? 0 : 10;
        c.join.priority = i < 3 ? 100 : 200;
        c.join.channels = 2;
        launch(i, &c);
    }
    all_good(0, 3);
    all_good(3, 3);
    stop(&r);
    stop(&ps);
}

START_TEST(jobs_share_slots)
{
    share(GN_SHARED, GN_AGG_INT32);
    share(GN_PREEMPTIVE, GN_AGG_DENSE);
    share(GN_PREEMPTIVE, GN_AGG_HALF);
}
END_TEST

/// A server's answers wait on its link, and nothing comes in that would wake it.
START_TEST(answers_leave_a_slow_link_in_time)
{
    enum { CHUNKS = 40, VALUES = 64 };
    gn_switchd_config server = plain_switch;
    server.role = GN_SWITCHD_PS;
    server.out = (gn_fault_config){.seed = 7, .delay_ns = 2000000};
    const running ps = start(&server);
    const gn_switchd_config config = sharing(&ps, GN_SHARED, 16, 1024);
    const running r = start(&config);
    sw_client c = client_of(r.port, "slow", 0, 1);
    c.count = CHUNKS * VALUES;
    c.rounds = 1;
    c.join.packet_values = VALUES;
    c.join.slots = 1;
    launch(0, &c);
    all_good(0, 1);
    // Otherwise only a worker that asks again would wake it. A busy machine may be late a few
    // times.
    ck_assert_uint_lt(ones[0].result.stats.resent, CHUNKS / 4);
    stop(&r);
    stop(&ps);
}
END_TEST

START_TEST(marks_of_queues_come_down)
{
    const running r = start(&plain_switch);
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "marks", i, 2);
        c.join.format = GN_AGG_DENSE;
        c.join.bound_exp = 10;
        c.tos = i == 1 ? GN_ECN_MARKED : GN_ECN_CAPABLE;
        launch(i, &c);
    }
    all_good(0, 2);
    for (unsigned i = 0; i < 2; i++) ck_assert_uint_gt(ones[i].result.stats.marked, 0);
    stop(&r);
}
END_TEST

// Packets that queues may mark are none that a queue has marked. Otherwise sums would be right, and
// windows a single chunk.
START_TEST(quiet_links_mark_nothing)
{
    static const uint8_t tos[] = {GN_ECN_CAPABLE, 1, 0x28 | GN_ECN_CAPABLE, 0xfc};
    for (unsigned ecn = 0; ecn < 4; ecn++) {
        const running r = start(&plain_switch);
        for (unsigned i = 0; i < 2; i++) {
            sw_client c = client_of(r.port, "quiet", i, 2);
            c.tos = tos[ecn];
            launch(i, &c);
        }
        all_good(0, 2);
        for (unsigned i = 0; i < 2; i++) {
            ck_assert_uint_eq(ones[i].result.stats.marked, 0);
            ck_assert_uint_eq(ones[i].result.stats.cuts, 0);
        }
        stop(&r);
    }
}
END_TEST

/// A flood from members of other jobs, tens of thousands of datagrams a second: for this job's
/// slots, of old generations, for their own.
static void flood_in(gn_memory_mode mode)
{
    enum { FLOODS = SW_FLOODS - 1, FLOOD_S = 2 };
    running ps = {0};
    gn_switchd_config config = plain_switch;
    if (mode != GN_PARTITIONED) ps = start_ps(plain_switch.in), config = sharing(&ps, mode, 64, 1024);
    const running r = start(&config);
    for (unsigned i = 0; i < FLOODS; i++) {
        char name[8];
        snprintf(name, sizeof name, "fl%u", i);
        sw_client c = client_of(r.port, name, 0, 1);
        c.flood = SW_FLOOD_OTHER + i;
        c.flood_s = FLOOD_S;
        launch(i, &c);
    }
    usleep(200000);
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "sums", i, 2);
        c.timeout_ms = 30000;
        c.rounds = 10;
        launch(FLOODS + i, &c);
    }
    all_good(FLOODS, 2);
    await(0, FLOODS);
    for (unsigned i = 0; i < FLOODS; i++) {
        ck_assert_msg(ones[i].result.good, "%s", ones[i].result.error);
        ck_assert_uint_gt(ones[i].result.flooded, 1000);
    }
    stop(&r);
    if (ps.pid) stop(&ps);
}

START_TEST(right_packets_in_floods_change_no_other_sum)
{
    for (gn_memory_mode mode = GN_PARTITIONED; mode < GN_MEMORY_MODES; mode++) flood_in(mode);
}
END_TEST

START_TEST(datagrams_one_by_one)
{
    gn_switchd_config config = plain_switch;
    config.no_offload = true;
    sum_over(&config, GN_AGG_INT32, 2);
}
END_TEST

/// A leaf's or root's place in a tree, for a worker.
static sw_client in_tree(uint16_t port, const char *name, unsigned rank, unsigned bit, unsigned of, unsigned leaf,
                         unsigned leaves)
{
    sw_client c = client_of(port, name, rank, 4);
    c.join.bit = (uint8_t)bit;
    c.join.children = (uint8_t)of;
    c.join.parent_bit = (uint8_t)leaf;
    c.join.parent_children = (uint8_t)leaves;
    c.join.leader = GN_AGG_WORKERS_MAX;
    return c;
}

/// They go round the slots, to rank 0 and from there to all, also through a tree.
START_TEST(values_without_integers)
{
    const running root = start(&plain_switch);
    gn_switchd_config config = plain_switch;
    config.parent = root.address;
    const running leaf[2] = {start(&config), start(&config)};
    for (unsigned tree = 0; tree < 2; tree++) {
        for (unsigned i = 0; i < 4; i++) {
            sw_client c =
                tree ? in_tree(leaf[i / 2].port, "nan", i, i % 2, 2, i / 2, 2) : client_of(root.port, "nan", i, 4);
            c.join.format = tree ? GN_AGG_DENSE : GN_AGG_INT32;
            c.join.bound_exp = tree ? 10 : 0;
            c.nan = true;
            c.pause_s = 0.05;
            launch(i, &c);
        }
        await(0, 4);
        for (unsigned i = 0; i < 4; i++) {
            ck_assert_msg(ones[i].result.good, "%s", ones[i].result.error);
            ck_assert_uint_eq(ones[i].result.stats.fallback_chunks, 4 * 3);
        }
    }
    stop(&leaf[0]);
    stop(&leaf[1]);
    stop(&root);
}
END_TEST

/// Three levels: the switch in the middle is told its place, for its children cannot know it.
START_TEST(a_switch_in_the_middle)
{
    const running root = start(&plain_switch);
    gn_switchd_config config = plain_switch;
    config.parent = root.address;
    config.place_fanin = 1;
    const running middle = start(&config);
    config.parent = middle.address;
    config.place_fanin = 0;
    const running leaf[2] = {start(&config), start(&config)};
    for (unsigned i = 0; i < 4; i++) {
        const sw_client c = in_tree(leaf[i / 2].port, "deep", i, i % 2, 2, i / 2, 2);
        launch(i, &c);
    }
    all_good(0, 4);
    // When the root is lost, all are told.
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = in_tree(leaf[i / 2].port, "lost", i, i % 2, 2, i / 2, 2);
        c.rounds = 1000;
        c.pause_s = 0.02;
        launch(i, &c);
    }
    under_way(0, 4, 1);
    slay(&root);
    await(0, 4);
    for (unsigned i = 0; i < 4; i++) {
        says(i, "gone: parent switch 127.0.0.1:");
        says(i, "the connection to the parent switch");
    }
    stop(&leaf[0]);
    stop(&leaf[1]);
    stop(&middle);
}
END_TEST

/// Leaves with slots of their own under a root that shares its.
START_TEST(a_root_that_shares_its_slots)
{
    const running ps = start_ps(plain_switch.in);
    gn_switchd_config config = sharing(&ps, GN_SHARED, 32, 512);
    const running root = start(&config);
    config = plain_switch;
    config.parent = root.address;
    config.in = (gn_fault_config){.seed = 5, .loss = 0.01};
    const running leaf[2] = {start(&config), start(&config)};
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = in_tree(leaf[i / 2].port, "mixed", i, i % 2, 2, i / 2, 2);
        c.join.format = GN_AGG_LATTICE;
        c.join.bound_exp = 10;
        launch(i, &c);
    }
    all_good(0, 4);
    stop(&leaf[0]);
    stop(&leaf[1]);
    stop(&root);
    stop(&ps);
}
END_TEST

/// A parameter server, a root, a switch in the middle, and two leaves, all on links that lose.
/// Slots are shared from a level on. Two jobs.
static void share_a_tree(gn_memory_mode mode, unsigned from_level, gn_agg_format format)
{
    const running ps = start_ps(plain_switch.in);
    gn_switchd_config config = sharing(&ps, mode, 16, 1024);
    config.in = (gn_fault_config){.seed = 5, .loss = 0.01, .duplicate = 0.01};
    const running root = start(&config);
    config.ps = NULL;
    config.parent = root.address;
    config.place_fanin = 1;
    const running middle = start(&config);
    if (from_level) config.mode = GN_PARTITIONED, config.slots = plain_switch.slots, config.windows = 0;
    config.parent = middle.address;
    config.place_fanin = 0;
    const running leaf[2] = {start(&config), start(&config)};
    for (unsigned i = 0; i < 10; i++) {  // three workers at one leaf, two at the other
        const unsigned rank = i % 5, at = rank / 3;
        sw_client c = in_tree(leaf[at].port, i < 5 ? "one" : "two", rank, rank % 3, at ? 2 : 3, at, 2);
        c.join.ranks = 5;
        c.join.format = (uint8_t)format;
        c.join.bound_exp = gn_agg_in_blocks(format) ? 0 : 10;
        c.join.priority = i < 5 ? 100 : 200;
        launch(i, &c);
    }
    all_good(0, 5);
    all_good(5, 5);
    stop(&leaf[0]);
    stop(&leaf[1]);
    stop(&middle);
    stop(&root);
    stop(&ps);
}

START_TEST(leaves_that_share_their_slots)
{
    share_a_tree(GN_SHARED, 0, GN_AGG_INT32);
    share_a_tree(GN_PREEMPTIVE, 0, GN_AGG_LATTICE);
    share_a_tree(GN_PREEMPTIVE, 1, GN_AGG_DENSE);
    share_a_tree(GN_SHARED, 0, GN_AGG_HALF);
}
END_TEST

/// Above a switch that shares its slots all do, and all its siblings.
START_TEST(trees_that_cannot_be)
{
    gn_switchd_config config = plain_switch;
    const running plain = start(&config);
    const running ps = start_ps(plain_switch.in);
    config = sharing(&ps, GN_SHARED, plain_switch.slots, 0);
    config.join_timeout_ns = 60000000000;  // the first one waits until the switch ends
    const running root = start(&config);
    config.ps = NULL;
    config.parent = plain.address;
    const running below_plain = start(&config);
    config.parent = root.address;
    const running shares = start(&config);
    config.mode = GN_PARTITIONED;
    const running own = start(&config);

    sw_client c = in_tree(below_plain.port, "plain", 0, 0, 1, 0, 1);
    launch(0, &c);
    await(0, 1);
    says(0, "a switch below shares its slots, and this one does not");

    c = in_tree(shares.port, "mixed", 0, 0, 1, 0, 2), c.join.ranks = 2;
    launch(0, &c);
    has_asked(0);
    usleep(200000);  // the switch below has asked the root, too
    c = in_tree(own.port, "mixed", 1, 0, 1, 1, 2), c.join.ranks = 2;
    launch(1, &c);
    await(1, 1);
    says(1, "all switches below one have to share their slots, or none (--mode): switch 127.0.0.1:");
    says(1, "with rank 1 does not, switch 127.0.0.1:");
    says(1, "with rank 0 does");
    c = in_tree(shares.port, "few", 0, 0, 1, 0, 1), c.join.ranks = 2;
    launch(2, &c);
    await(2, 1);
    says(2, "the switches below have 1 of 2 ranks");
    const running all[] = {own, shares, below_plain, root, ps, plain};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) stop(&all[i]);
    await(0, 1);
    says(0, "the switch was told to end");
}
END_TEST

int main(void)
{
    return RUN_TESTS("switchd", sums_are_right, channels_go_to_all_shards, bad_links_both_ways, one_worker_alone,
                     leaves_and_a_root, a_tree_in_halves, jobs_share_slots, answers_leave_a_slow_link_in_time,
                     marks_of_queues_come_down, quiet_links_mark_nothing, right_packets_in_floods_change_no_other_sum,
                     datagrams_one_by_one, values_without_integers, a_switch_in_the_middle,
                     a_root_that_shares_its_slots, leaves_that_share_their_slots, trees_that_cannot_be);
}
