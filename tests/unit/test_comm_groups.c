// SPDX-License-Identifier: Apache-2.0
// Groups of ranks and a level above. The bits are those of a flat ring, whoever is a group, and
// whoever compresses where. A rank that dies on any level is named by all others.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm_plan.h"
#include "ring/groups/grouping.h"
#include "suite.h"

static const gn_algorithm grouped[] = {GN_GROUP_RING, GN_GROUP_AGGREGATOR, GN_AGGREGATORS};
enum { GROUPED = sizeof grouped / sizeof *grouped };

static plan flat(plan p)
{
    p.algorithm = GN_RING;
    p.groups = p.numbers = NULL;
    p.group_offload = GN_OFFLOAD_AUTO;
    return p;
}

static void same_as_flat(int size, plan p)
{
    const outcome ours = run(size, p), ring = run(size, flat(p));
    ck_assert_msg(ours.hash == ring.hash,
                  "%s, %s, groups %s, %d ranks, %s 2^-%d, %zu values%s%s%s%s: other bits than the ring",
                  gn_algorithm_name(p.algorithm), gn_offload_name(p.offload), p.numbers ? p.numbers : p.groups, size,
                  gn_profile_name(p.profile), p.bound_exp, p.count, p.feedback ? ", feedback" : "",
                  p.scale ? ", scale" : "", p.in_place ? ", in place" : "", p.strange ? ", strange" : "");
    ck_assert_mem_eq(ours.residuals, ring.residuals, sizeof ring.residuals);
    ck_assert_uint_eq(ours.group_sent, ours.group_received);
    ck_assert_uint_le(ours.group_sent, ours.sent);
}

/// Who is a group. `numbers` has room for the ranks of a size.
static const struct {
    int size;
    const char *groups, *numbers;
} divisions[] = {{2, "1", NULL}, {2, "host", NULL}, {3, "2", NULL},       {4, "2", NULL},      {4, "host", NULL},
                 {4, "4", NULL}, {4, NULL, "0110"}, {5, "2", NULL},       {5, "3", NULL},      {5, NULL, "70777"},
                 {6, "2", NULL}, {6, "3", NULL},    {6, NULL, "010201"},  {6, NULL, "543210"}, {7, NULL, "0001122"},
                 {8, "4", NULL}, {8, "256", NULL},  {8, NULL, "01230123"}};
enum { DIVISIONS = sizeof divisions / sizeof *divisions };

START_TEST(test_divisions)
{
    static const size_t counts[] = {1, 3, 7, 31, 1025, 4000, 33333, 150001};
    for (size_t d = 0; d < DIVISIONS; d++)
        for (unsigned i = 0; i < 3; i++) {
            const plan p = {.algorithm = grouped[_i],
                            .groups = divisions[d].groups,
                            .numbers = divisions[d].numbers,
                            .profile = i & 1 ? GN_LATTICE : GN_DENSE,
                            .bound_exp = i == 2 ? 4 : 10,
                            .segment = i == 1 ? 0 : 4096,
                            .count = counts[(3 * d + i) % 8],
                            .in_place = d & 1,
                            .strange = d & 2,
                            .op = i ? GN_AVERAGE : GN_SUM,
                            .group_offload = (d + i) % 3 == 1 ? GN_OFFLOAD_NONE : GN_OFFLOAD_AUTO};
            same_as_flat(divisions[d].size, p);
        }
}
END_TEST

// A ring with groups is one of groups.
START_TEST(test_ring_with_groups)
{
    const plan p = {.algorithm = GN_RING, .groups = "2", .profile = GN_DENSE, .bound_exp = 10, .count = 4000};
    ck_assert_uint_gt(run(4, p).group_sent, 0);
    ck_assert_uint_eq(run(4, flat(p)).group_sent, 0);
}
END_TEST

// Everything that a rank does to its values, with each codec of the level within.
START_TEST(test_passes)
{
    static const gn_offload within[] = {GN_OFFLOAD_AUTO, GN_OFFLOAD_LIBRARY, GN_OFFLOAD_NONE};
    for (unsigned bits = 0; bits < 32; bits += SANITIZED ? 5 : 1) {  // five: each bit, and each codec
        const plan p = {.algorithm = grouped[_i],
                        .groups = bits & 16 ? "host" : "2",
                        .profile = bits & 4 ? GN_LATTICE : GN_DENSE,
                        .bound_exp = bits & 16 ? 6 : 10,
                        .feedback = bits & 1,
                        .scale = bits & 2,
                        .in_place = bits & 4,
                        .strange = (bits & 8) && !(bits & 2),
                        .op = bits & 1 ? GN_AVERAGE : GN_SUM,
                        .count = SANITIZED ? 6007 : 20011,
                        .segment = bits & 1 ? 4096 : 0,
                        .group_offload = within[bits % 3]};
        same_as_flat(bits & 8 ? 5 : 4, p);
    }
}
END_TEST

// With NICs, and without any codec on the way.
START_TEST(test_other_offloads)
{
    for (unsigned i = 0; i < 4; i++) {
        plan p = {.algorithm = grouped[_i],
                  .groups = i & 1 ? "2" : "host",
                  .profile = GN_DENSE,
                  .bound_exp = 9,
                  .feedback = true,
                  .strange = true,
                  .count = 70001,
                  .segment = 4096,
                  .offload = i & 2 ? GN_OFFLOAD_NIC : GN_OFFLOAD_NONE,
                  .tcp = i & 2};
        same_as_flat(4, p);
        // paper: its bits depend on the way, but all ranks have them.
        p.profile = GN_PAPER;
        (void)run(5, p);
        p.offload = GN_OFFLOAD_LIBRARY;
        (void)run(5, p);
        p.group_offload = i & 2 ? GN_OFFLOAD_NONE : GN_OFFLOAD_LIBRARY;
        (void)run(4, p);
    }
}
END_TEST

// More than buffers and sockets hold.
START_TEST(test_large)
{
    plan p = {.algorithm = grouped[_i], .groups = "2", .profile = GN_DENSE, .bound_exp = 10, .count = 1000003};
    same_as_flat(4, p);
    p.groups = "host", p.group_offload = GN_OFFLOAD_LIBRARY, p.profile = GN_LATTICE, p.bound_exp = 20;
    same_as_flat(3, p);
}
END_TEST

// What stays within a group is counted by itself, and in all.
START_TEST(test_traffic)
{
    enum { COUNT = 40000, STEPS = 3, BYTES = 4 * COUNT * STEPS };
    plan p = {.algorithm = GN_GROUP_RING, .groups = "2", .profile = GN_DENSE, .bound_exp = 10, .count = COUNT};
    p.group_offload = GN_OFFLOAD_NONE;
    outcome o = run(4, p);
    ck_assert_uint_eq(o.group_sent, 4 * BYTES);  // each sends half of the vector, twice
    ck_assert_uint_eq(o.group_wire, o.group_sent);
    ck_assert_uint_eq(o.sent, 4 * BYTES + 2 * BYTES);  // across: half of a half, twice
    ck_assert_uint_lt(o.wire - o.group_wire, BYTES);
    p.group_offload = GN_OFFLOAD_LIBRARY;
    o = run(4, p);
    ck_assert_uint_eq(o.group_sent, 4 * BYTES);
    ck_assert_uint_lt(2 * o.group_wire, o.group_sent);
    ck_assert_uint_lt(2 * o.wire, o.sent);
    p.algorithm = GN_AGGREGATORS, p.group_offload = GN_OFFLOAD_NONE;
    o = run(4, p);
    ck_assert_uint_eq(o.group_sent, 4 * BYTES);  // two workers send all of it, and get all back
    ck_assert_uint_eq(o.sent, 4 * BYTES + 2 * BYTES);
    p.algorithm = GN_RING, p.groups = NULL, p.group_offload = GN_OFFLOAD_AUTO;
    o = run(4, p);
    ck_assert(!o.group_sent && !o.group_wire && !o.group_received);
}
END_TEST

static void reads_as(const char *text, int by, int number)
{
    gn_comm_config c = gn_comm_config_default();
    uint16_t found;
    c.groups = text;
    ck_assert_int_eq(gn_comm_config_groups(&c, &found), by);
    ck_assert_int_eq(found, number);
}

// Texts, and who is a group by them.
START_TEST(test_grouping)
{
    static const struct {
        const char *text;
        int by, number;
    } fine[] = {{NULL, GN_GROUPS_BY_HOST, 0},
                {"", GN_GROUPS_BY_HOST, 0},
                {"host", GN_GROUPS_BY_HOST, 0},
                {"1", 1, 0},
                {"256", 256, 0},
                {"number:0", GN_GROUPS_BY_NUMBER, 0},
                {"number:65535", GN_GROUPS_BY_NUMBER, 65535}};
    static const char *const wrong[] = {"0",           "257",      "hosts",     "-1",   "4 ",           "4x",
                                        "number:",     "number",   "number:-1", "0x10", "number:65536", " 4",
                                        "99999999999", "number:4x"};
    gn_grouping g;
    gn_error error;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        ck_assert_int_eq(gn_grouping_read(fine[i].text, &g, &error), GN_OK);
        ck_assert(g.by == fine[i].by && g.number == fine[i].number);
        reads_as(fine[i].text, fine[i].by, fine[i].number);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(gn_grouping_read(wrong[i], &g, &error), GN_INVALID);
        ck_assert_ptr_nonnull(strstr(error.text, wrong[i]));
        ck_assert_ptr_nonnull(strstr(error.text, "': want host, ranks of a group (1 to 256), or number:G"));
        reads_as(wrong[i], GN_GROUPS_BY_HOST, 0);
    }
    gn_rank_table t = {.size = 6};
    for (int r = 0; r < 6; r++) t.address[r] = (gn_address){4, (uint16_t)(1000 + r), 7, {10, 0, 0, (uint8_t)(r / 4)}};
    t.address[2].family = 6;
    static const uint16_t numbers[GN_RANKS_MAX] = {9, 65535, 9, 0, 65535, 9};
    gn_grouping_divide(GN_GROUPS_BY_HOST, numbers, &t);
    ck_assert_mem_eq(t.group, ((const uint8_t[]){0, 0, 1, 0, 2, 2}), 6);
    gn_grouping_divide(4, numbers, &t);
    ck_assert_mem_eq(t.group, ((const uint8_t[]){0, 0, 0, 0, 1, 1}), 6);
    gn_grouping_divide(GN_GROUPS_BY_NUMBER, numbers, &t);
    ck_assert_mem_eq(t.group, ((const uint8_t[]){0, 1, 0, 2, 1, 0}), 6);
}
END_TEST

static void refuses(const gn_comm_config *c, const char *text)
{
    ck_assert_int_eq(gn_comm_config_check(c), GN_INVALID);
    ck_assert_msg(strstr(gn_comm_last_error(NULL), text) != NULL, "%s", gn_comm_last_error(NULL));
}

START_TEST(test_configurations)
{
    gn_comm_config c = gn_comm_config_default();
    c.rendezvous = "tcp://127.0.0.1:5000";
    c.groups = "4";  // a ring of groups
    ck_assert_int_eq(gn_comm_config_check(&c), GN_OK);
    c.algorithm = GN_DIRECT;
    refuses(&c, "groups with algorithm direct: take group-ring, group-aggregator or aggregators");
    c.groups = NULL, c.group_offload = GN_OFFLOAD_NONE;
    refuses(&c, "group_offload with algorithm direct: take group-ring");
    c.algorithm = GN_AGGREGATORS;
    ck_assert_int_eq(gn_comm_config_check(&c), GN_OK);
    c.group_offload = GN_OFFLOAD_LIBRARY;
    refuses(&c, "group_offload library with offload none");
    c.quantise = true;
    ck_assert_int_eq(gn_comm_config_check(&c), GN_OK);
    c.offload = GN_OFFLOAD_NIC;
    refuses(&c, "group_offload library with offload nic: only library and none can differ, in a group");
    c.group_offload = GN_OFFLOAD_NONE;
    refuses(&c, "group_offload none with offload nic");
    c.group_offload = GN_OFFLOADS;
    refuses(&c, "group_offload 4 is not known");
    c.group_offload = GN_OFFLOAD_NIC;
    ck_assert_int_eq(gn_comm_config_check(&c), GN_OK);
    c.groups = "four";
    refuses(&c, "groups is 'four': want host");
}
END_TEST

// Ranks that do not agree on who is a group -------------------------------------------------------

enum { OTHER_GROUPS, OTHER_KIND, OTHER_CODEC, OTHERS };

static void run_disagreeing(int rank, const ranks *group, void *argument)
{
    const int what = *(const int *)argument;
    const bool odd = rank == 1;
    gn_comm_config config = rank_config(rank, group);
    config.groups = odd && what == OTHER_GROUPS ? "3" : odd && what == OTHER_KIND ? "number:1" : "2";
    config.quantise = true;
    if (odd && what == OTHER_CODEC) config.group_offload = GN_OFFLOAD_NONE;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(!comm);
}

START_TEST(test_disagreements_are_told)
{
    static const char *const said[OTHERS] = {"groups 3 ranks in a row", "groups by number",
                                             "offload within a group none"};
    int what = _i;
    ranks group;
    ranks_start(&group, 2, run_disagreeing, &what);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 2; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(r->status == GN_MISMATCH && strstr(r->text, said[_i]), "rank %d: %s", rank, r->text);
    }
    ranks_free(&group);
}
END_TEST

// What the log says -------------------------------------------------------------------------------

typedef struct saying {
    gn_algorithm algorithm;
    int size;
    const char *groups, *text;
    bool compress;
} saying;

static void keep_log(void *context, gn_log_level level, const char *text)
{
    report *mine = context;
    if (level != GN_LOG_INFO || !strstr(text, " group")) return;
    mine->values[0]++;
    snprintf(mine->text, sizeof mine->text, "%s", text);
}

static void run_saying(int rank, const ranks *group, void *argument)
{
    const saying *s = argument;
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = s->algorithm;
    config.groups = s->groups;
    config.quantise = s->compress;
    config.log = keep_log;
    config.log_context = &group->reports[rank];
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    gn_comm_free(comm);
}

START_TEST(test_log_says_what_was_found)
{
    const saying all[] = {
        {GN_RING, 4, "2", "group-ring: 2 groups of 2, 2 ranks in a row", true},
        {GN_AGGREGATORS, 5, "2", "aggregators: 3 groups of 1 to 2, 2 ranks in a row", false},
        {GN_GROUP_AGGREGATOR, 3, NULL, "group-aggregator: 1 group of 3, by host: 127.0.0.1", false},
        {GN_GROUP_RING, 2, "host", "group-ring: 1 group of 2, by host: 127.0.0.1; not compressed within a group", true},
        {GN_GROUP_RING, 2, "number:8", "group-ring: 1 group of 2, by number", true}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        saying s = all[i];
        ranks group;
        ranks_start(&group, s.size, run_saying, &s);
        ranks_wait(&group, 30);
        for (int rank = 0; rank < s.size; rank++) {
            ck_assert_int_eq(group.exits[rank], 0);
            ck_assert_uint_eq(group.reports[rank].values[0], !rank);
        }
        ck_assert_str_eq(group.reports[0].text, s.text);
        ranks_free(&group);
    }
}
END_TEST

// What has no levels ------------------------------------------------------------------------------

static void run_others(int rank, const ranks *group, void *argument)
{
    enum { SIZE = 5, COUNT = 3000 };
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = *(const gn_algorithm *)argument;
    config.groups = "2";
    config.quantise = true;
    gn_comm *comm = rank_init(rank, group, &config), *sub;
    RANK_CHECK(comm);
    double *wide = calloc(COUNT, sizeof *wide), most = rank;
    float *all = calloc(SIZE * COUNT, sizeof *all), *own = calloc(COUNT, sizeof *own);
    RANK_CHECK(wide && all && own);
    for (int i = 0; i < COUNT; i++) wide[i] = rank + i;
    RANK_CHECK(!gn_allreduce_typed(comm, wide, wide, COUNT, GN_F64, GN_SUM));
    for (int i = 0; i < COUNT; i++) RANK_CHECK(wide[i] == 10 + 5 * i);
    RANK_CHECK(!gn_allreduce_typed(comm, &most, &most, 1, GN_F64, GN_MAX) && most == SIZE - 1);
    for (int i = 0; i < COUNT; i++) own[i] = (float)rank;
    RANK_CHECK(!gn_all_gather(comm, own, all, COUNT, GN_F32));
    for (int i = 0; i < SIZE * COUNT; i++) RANK_CHECK(all[i] == (float)(i / COUNT));
    RANK_CHECK(!gn_reduce_scatter(comm, all, own, COUNT, GN_F32, GN_SUM));
    for (int i = 0; i < COUNT; i++) RANK_CHECK(own[i] == (float)(SIZE * rank));
    RANK_CHECK(!gn_transfer(comm, own, COUNT * sizeof *own, 4, 1));
    RANK_CHECK(own[COUNT - 1] == (float)(SIZE * (rank == 1 ? 4 : rank)));
    RANK_CHECK(!gn_barrier(comm));
    // Ranks 0, 2, 4 are two groups of their own; so are 1 and 3, in one.
    RANK_CHECK(!gn_comm_split(comm, rank % 2, 0, &sub));
    for (int i = 0; i < COUNT; i++) own[i] = (float)rank;
    RANK_CHECK(!gn_allreduce(sub, own, own, COUNT, GN_SUM) && own[COUNT - 1] == (rank % 2 ? 4 : 6));
    gn_comm_free(sub);
    RANK_CHECK(!gn_allreduce(comm, own, own, COUNT, GN_AVERAGE) && own[0] == 5.2f);
    gn_comm_free(comm);
    free(wide);
    free(all);
    free(own);
}

START_TEST(test_other_collectives_go_round)
{
    gn_algorithm algorithm = grouped[_i];
    ranks_run(5, run_others, &algorithm, 30);
}
END_TEST

// Deaths and slowness -----------------------------------------------------------------------------

enum { SIZE = 5, SEGMENT = 4096 };

typedef struct end {
    gn_algorithm algorithm;
    int victim;
    uint64_t at;  // piece that it sends as its last one; 0: it counts
    size_t count;
    int timeout_ms, pause_us;
} end;

static struct {
    uint64_t calls, at;
    unsigned pause_us;
} wire;

/// Stands for a NIC that changes nothing.
static void count_wire(void *context, float *values, size_t count)
{
    (void)context, (void)values, (void)count;
    if (wire.pause_us) usleep(wire.pause_us);
    if (++wire.calls == wire.at) raise(SIGKILL);
}

static void run_end(int rank, const ranks *group, void *argument)
{
    const end *e = argument;
    report *mine = &group->reports[rank];
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = e->algorithm;
    config.groups = "2";
    config.segment_bytes = SEGMENT;
    config.wire = count_wire;
    if (e->timeout_ms) config.timeout_ms = e->timeout_ms;
    if (rank == e->victim) wire.at = e->at;
    wire.pause_us = (unsigned)e->pause_us;
    gn_comm *comm = rank_meet(rank, group, &config);
    RANK_CHECK(comm);
    float *values = calloc(e->count, sizeof *values);
    RANK_CHECK(values);
    const double start = seconds_now();
    mine->status = gn_allreduce(comm, values, values, e->count, GN_SUM);
    if (!mine->status && e->at) mine->status = gn_barrier(comm);
    mine->seconds = seconds_now() - start;
    mine->values[0] = wire.calls;
    snprintf(mine->text, sizeof mine->text, "%s", gn_comm_last_error(comm));
    free(values);
    gn_comm_free(comm);
}

// A rank dies at many places of an allreduce: within its group, across, and as it hands out.
START_TEST(test_deaths_on_each_level)
{
    enum { PLACES = 7 };
    for (int victim = 0; victim < SIZE; victim++) {
        end e = {.algorithm = grouped[_i], .victim = victim, .count = 200000};
        ranks group;
        ranks_start(&group, SIZE, run_end, &e);
        ranks_wait(&group, 30);
        const uint64_t calls = group.reports[victim].values[0];
        ck_assert_uint_gt(calls, PLACES);
        ranks_free(&group);
        for (uint64_t place = 0; place < PLACES; place += SANITIZED ? 3 : 1) {
            char said[64];
            e.at = 1 + (calls - 1) * place / (PLACES - 1) * 9 / 10;  // the last tenth depends on the sockets
            snprintf(said, sizeof said, "rank %d (127.0.0.1) lost", victim);
            ranks_start(&group, SIZE, run_end, &e);
            ranks_wait(&group, 30);
            ck_assert(WIFSIGNALED(group.exits[victim]));
            for (int rank = 0; rank < SIZE; rank++) {
                const report *r = &group.reports[rank];
                if (rank == victim) continue;
                ck_assert_int_eq(group.exits[rank], 0);
                ck_assert_msg(r->status == GN_PEER_LOST && strstr(r->text, said), "rank %d of %d, place %d: %s", rank,
                              SIZE, (int)place, r->text);
                ck_assert_msg(r->seconds < 5, "rank %d took %g s", rank, r->seconds);
            }
            ranks_free(&group);
        }
    }
}
END_TEST

/// @return whether all ranks came through. The level above takes thrice the deadline and more.
static bool goes_slowly(gn_algorithm algorithm, int timeout_ms, char *why, size_t room)
{
    end e = {.algorithm = algorithm,
             .victim = -1,
             .count = 600000,
             .timeout_ms = timeout_ms,
             .pause_us = timeout_ms * 26 / 9};
    ranks group;
    ranks_start(&group, SIZE, run_end, &e);
    ranks_wait(&group, 60 + timeout_ms / 100);
    *why = 0;
    for (int rank = 0; rank < SIZE; rank++) {
        ck_assert_int_eq(group.exits[rank], 0);
        if (group.reports[rank].status) snprintf(why, room, "rank %d: %s", rank, group.reports[rank].text);
    }
    if (!*why) ck_assert_double_gt(group.reports[1].seconds, 3 * timeout_ms / 1000.0);
    ranks_free(&group);
    return !*why;
}

// Ranks that have nothing to do on the level above wait for much longer than the deadline in all.
// On a busy machine a rank itself may be silent for that long. Then a longer deadline tells.
START_TEST(test_slow_level_is_no_failure)
{
    char why[600];
    int timeout_ms = 900;
    while (!goes_slowly(grouped[_i], timeout_ms, why, sizeof why)) {
        timeout_ms *= 2;
        ck_assert_msg(timeout_ms < 10000, "%s", why);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm groups");
    TCase *tcase = tcase_create("comm groups");
    tcase_set_timeout(tcase, 200);
    tcase_add_loop_test(tcase, test_divisions, 0, GROUPED);
    tcase_add_test(tcase, test_ring_with_groups);
    tcase_add_loop_test(tcase, test_passes, 0, GROUPED);
    tcase_add_loop_test(tcase, test_other_offloads, 0, GROUPED);
    tcase_add_loop_test(tcase, test_large, 0, GROUPED);
    tcase_add_test(tcase, test_traffic);
    tcase_add_test(tcase, test_grouping);
    tcase_add_test(tcase, test_configurations);
    tcase_add_loop_test(tcase, test_disagreements_are_told, 0, OTHERS);
    tcase_add_test(tcase, test_log_says_what_was_found);
    tcase_add_loop_test(tcase, test_other_collectives_go_round, 0, GROUPED);
    tcase_add_loop_test(tcase, test_deaths_on_each_level, 0, GROUPED);
    tcase_add_loop_test(tcase, test_slow_level_is_no_failure, 0, GROUPED);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
