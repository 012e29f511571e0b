// SPDX-License-Identifier: Apache-2.0
// Whoever compresses, the library, a NIC or nobody, all ranks end with the same bits, and with the
// same ones in all three.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm_plan.h"
#include "ring/choice.h"
#include "suite.h"
#include "switch_host.h"

static switch_host switch_of_test;

/// The library, and one of the others, give the same.
static void same(int size, plan p, gn_offload other)
{
    p.switch_address = switch_of_test.address;
    p.offload = GN_OFFLOAD_LIBRARY;
    const outcome library = run(size, p);
    p.offload = other;
    p.tcp = true;
    const outcome rest = run(size, p);
    ck_assert_msg(library.hash == rest.hash, "%s %s 2^-%d, %d ranks, %zu values%s%s%s%s%s: library and %s differ",
                  gn_algorithm_name(p.algorithm), gn_profile_name(p.profile), p.bound_exp, size, p.count,
                  p.feedback ? ", feedback" : "", p.scale ? ", scale" : "", p.in_place ? ", in place" : "",
                  p.strange ? ", strange" : "", p.weights ? ", weights" : "", gn_offload_name(other));
    ck_assert_mem_eq(library.residuals, rest.residuals, sizeof rest.residuals);
    if (p.algorithm == GN_SWITCH) return;
    ck_assert_uint_eq(library.sent, rest.sent);
    ck_assert_uint_eq(rest.wire, rest.sent);
    if (p.count > 10000 && !p.weights && !p.strange && !p.scale && !p.raw)
        ck_assert_uint_lt(library.wire * 2, library.sent);
}

static const struct {
    gn_profile profile;
    int bound_exp;
} codecs[] = {{GN_DENSE, 10}, {GN_DENSE, 4}, {GN_LATTICE, 10}, {GN_PAPER, 10}};

// Under a sanitizer every third case: the release build has looked at the values of all.
enum { EACH = SANITIZED ? 3 : 1 };

static const gn_algorithm tcp[] = {GN_RING,       GN_WORKER_AGGREGATOR, GN_DIRECT,     GN_AUTO,
                                   GN_GROUP_RING, GN_GROUP_AGGREGATOR,  GN_AGGREGATORS};
enum { TCP = sizeof tcp / sizeof *tcp, FIRST_GROUPED = 4 };

/// What NICs compress, within groups and across them, the library must compress, too.
static const char *groups_of(gn_algorithm algorithm)
{
    return algorithm >= GN_GROUP_RING ? "2" : NULL;
}

// Sizes around segments and blocks, empty blocks, one rank's values alone.
START_TEST(test_sizes)
{
    static const size_t counts[] = {1, 2, 31, 1024, 1025, 4000, 33333};
    plan p = {.algorithm = tcp[_i], .segment = 4096, .groups = groups_of(tcp[_i])};
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++) {
        p.profile = codecs[c].profile, p.bound_exp = codecs[c].bound_exp;
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i += EACH) {
            p.count = counts[i];
            p.in_place = i & 1;
            p.op = i & 2 ? GN_AVERAGE : GN_SUM;
            same(2 + (int)(i + c) % 4, p, GN_OFFLOAD_NIC);
        }
    }
}
END_TEST

// Everything that a rank does to its values.
START_TEST(test_passes)
{
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++)
        for (unsigned bits = 0; bits < 16; bits += EACH) {
            const plan p = {.algorithm = tcp[_i],
                            .groups = groups_of(tcp[_i]),
                            .profile = codecs[c].profile,
                            .bound_exp = codecs[c].bound_exp,
                            .feedback = bits & 1,
                            .scale = bits & 2,
                            .in_place = bits & 4,
                            .strange = (bits & 8) && !(bits & 2),
                            .weights = tcp[_i] == GN_WORKER_AGGREGATOR && (bits & 12) == 8,
                            .op = bits & 1 ? GN_AVERAGE : GN_SUM,
                            .count = EACH > 1 ? 6007 : 20011,
                            .segment = bits & 1 ? 4096 : 0};
            same(3, p, GN_OFFLOAD_NIC);
        }
}
END_TEST

// What does not compress travels as values, header aside.
START_TEST(test_raw)
{
    for (size_t c = 0; c < 3; c++) {
        const plan p = {.algorithm = tcp[_i],
                        .groups = groups_of(tcp[_i]),
                        .profile = codecs[c].profile,
                        .bound_exp = codecs[c].bound_exp,
                        .raw = true,
                        .offload = GN_OFFLOAD_LIBRARY,
                        .in_place = c & 1,
                        .count = 20011};
        same(3, p, GN_OFFLOAD_NIC);
        const outcome library = run(3, p);
        ck_assert_uint_ge(library.wire, library.sent);
        ck_assert_uint_le(library.wire, library.sent + library.sent / 100);
    }
}
END_TEST

// Nobody compresses: with lattice and dense the bits are the same.
START_TEST(test_nobody)
{
    for (unsigned i = 0; i < 8; i++) {
        const plan p = {.algorithm = (gn_algorithm)(_i),
                        .groups = groups_of((gn_algorithm)_i),
                        .profile = i & 1 ? GN_DENSE : GN_LATTICE,
                        .bound_exp = 9,
                        .feedback = i & 2,
                        .in_place = i & 4,
                        .op = GN_AVERAGE,
                        .count = 30000};
        same(3, p, GN_OFFLOAD_NONE);
    }
}
END_TEST

enum { TURNS = GN_LOOK_AGAIN + 2 * 2 * GN_CHOICES + 5, COUNT = 9011 };  // it looks twice

/// Keeps what algorithm auto says.
static void keep_choice(void *context, gn_log_level level, const char *text)
{
    report *mine = context;
    if (strncmp(text, "auto: ", 6) != 0) return;
    mine->values[0] += level == GN_LOG_INFO;
    mine->values[1] += level == GN_LOG_DEBUG;
    RANK_CHECK((strstr(text, "still") != NULL) == (level == GN_LOG_DEBUG));
    RANK_CHECK((strstr(text, " of 16 bits (") != NULL) == (mine->values[2] != 0));
    // A word for the choice alone: times are those of each look.
    const size_t used = strlen(mine->text);
    snprintf(mine->text + used, sizeof mine->text - used, "%.*s;", (int)strcspn(text, "("), text);
}

typedef struct auto_plan {
    gn_algorithm algorithm;
    bool half;
} auto_plan;

static void run_auto(int rank, const ranks *group, void *argument)
{
    report *mine = &group->reports[rank];
    static float values[COUNT];
    static uint16_t halves[COUNT];
    const auto_plan *p = argument;
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.quantise = true;
    config.segment_bytes = 4096;
    config.log = keep_choice;
    config.log_context = mine;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    mine->values[2] = p->half;
    const gn_type type = p->half ? GN_BF16 : GN_F32;
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < COUNT; i++) values[i] = sample((uint64_t)(turn % 16 * 10 + rank), i);
        void *vector = p->half ? (void *)halves : (void *)values;
        const gn_call call = {
            .collective = GN_ALLREDUCE, .type = type, .op = GN_AVERAGE, .send = vector, .recv = vector, .count = COUNT};
        for (size_t i = 0; i < COUNT && p->half; i++) {
            uint32_t bits;
            memcpy(&bits, &values[i], sizeof bits);
            halves[i] = (uint16_t)(bits >> 16);
        }
        RANK_CHECK(!gn_comm_run(comm, &call));
        for (size_t i = 0; i < COUNT && p->half; i++) values[i] = halves[i];
        mine->hash = mine->hash * 31 + hash_values(values, COUNT);
    }
    gn_comm_free(comm);
}

// Whatever auto tries and takes, the bits are the ring's. All ranks take the same, and say so at
// each look.
START_TEST(test_auto)
{
    uint64_t hash[2];
    for (int i = 0; i < 2; i++) {
        auto_plan p = {i ? GN_AUTO : GN_RING, _i};
        ranks group;
        ranks_start(&group, 3, run_auto, &p);
        ranks_wait(&group, 60);
        for (int rank = 0; rank < 3; rank++) {
            const report *r = &group.reports[rank];
            ck_assert_int_eq(group.exits[rank], 0);
            ck_assert(r->hash == group.reports[0].hash);
            ck_assert_uint_eq(r->values[0] + r->values[1], 2 * (uint64_t)i);
            ck_assert_uint_ge(r->values[0], (uint64_t)i);
            ck_assert_str_eq(r->text, group.reports[0].text);
        }
        hash[i] = group.reports[0].hash;
        ranks_free(&group);
    }
    ck_assert(hash[0] == hash[1]);
}
END_TEST

// A large vector, where the ring's buffers fill up because one rank is slow.
START_TEST(test_large)
{
    if (SANITIZED && _i % FIRST_GROUPED) return;  // one within a group, one across
    plan p = {
        .algorithm = tcp[_i], .groups = groups_of(tcp[_i]), .profile = GN_DENSE, .bound_exp = 10, .count = 3000001};
    same(4, p, GN_OFFLOAD_NONE);
    p.profile = GN_LATTICE, p.bound_exp = 20;  // hardly compresses: buffers of a socket do not hold a step
    same(3, p, GN_OFFLOAD_NONE);
}
END_TEST

// What the configuration and the environment choose, and what they refuse.
START_TEST(test_choice)
{
    gn_comm_config c = gn_comm_config_default();
    c.rendezvous = "tcp://127.0.0.1:5000";
    ck_assert_int_eq(gn_comm_config_offload(NULL), GN_OFFLOAD_NONE);
    ck_assert_int_eq(gn_comm_config_offload(&c), GN_OFFLOAD_NONE);
    c.quantise = true;
    ck_assert_int_eq(gn_comm_config_offload(&c), GN_OFFLOAD_LIBRARY);
    setenv("GRADNIC_OFFLOAD", "nic", 1);
    ck_assert_int_eq(gn_comm_config_offload(&c), GN_OFFLOAD_NIC);
    c.offload = GN_OFFLOAD_NONE;
    ck_assert_int_eq(gn_comm_config_offload(&c), GN_OFFLOAD_NONE);
    c.offload = GN_OFFLOAD_AUTO;
    setenv("GRADNIC_OFFLOAD", "hardware", 1);
    ck_assert_int_eq(gn_comm_config_check(&c), GN_INVALID);
    ck_assert_str_eq(gn_comm_last_error(NULL), "GRADNIC_OFFLOAD is 'hardware': want library, nic, none or auto");
    setenv("GRADNIC_OFFLOAD", "", 1);
    ck_assert_int_eq(gn_comm_config_check(&c), GN_OK);
    static const char *const words[] = {"yes", "no", "", "off"};
    for (int i = 0; i < 4; i++) {
        setenv("GRADNIC_SHARED_MEMORY", words[i], 1);
        ck_assert_int_eq(gn_comm_config_check(&c), i < 3 ? GN_OK : GN_INVALID);
    }
    ck_assert_str_eq(gn_comm_last_error(NULL), "GRADNIC_SHARED_MEMORY is 'off': want yes or no");
    unsetenv("GRADNIC_SHARED_MEMORY");
    c.data_tos = 0x28;
    ck_assert_int_eq(gn_comm_config_offload(&c), GN_OFFLOAD_NIC);
    c.offload = GN_OFFLOAD_LIBRARY;
    ck_assert_int_eq(gn_comm_config_check(&c), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(gn_comm_last_error(NULL), "data_tos 0x28 with offload library"));
    c.data_tos = 0x48;
    ck_assert_int_eq(gn_comm_config_check(&c), GN_OK);
    c.switch_nic = true;
    ck_assert_int_eq(gn_comm_config_check(&c), GN_INVALID);
    c.switch_nic = false;
    c.wire = as_nics_do;
    ck_assert_int_eq(gn_comm_config_check(&c), GN_INVALID);
    c.offload = GN_OFFLOAD_AUTO;
    setenv("GRADNIC_OFFLOAD", "library", 1);
    ck_assert_int_eq(gn_comm_config_offload(&c), GN_OFFLOAD_NIC);
    ck_assert_int_eq(gn_comm_config_check(&c), GN_OK);
    // What the environment says contradicts the ToS as well as what the program says.
    c.wire = NULL;
    c.data_tos = 0x28;
    ck_assert_int_eq(gn_comm_config_check(&c), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(gn_comm_last_error(NULL), "data_tos 0x28 with offload library (GRADNIC_OFFLOAD)"));
    c.quantise = false;
    ck_assert_int_eq(gn_comm_config_check(&c), GN_OK);
    c.offload = GN_OFFLOADS;
    ck_assert_int_eq(gn_comm_config_check(&c), GN_INVALID);
    ck_assert_ptr_null(gn_offload_name(GN_OFFLOADS));
    unsetenv("GRADNIC_OFFLOAD");
}
END_TEST

static void start_switch(void)
{
    switch_start(&switch_of_test, &(switch_faults){0});
}

static void stop_switch(void)
{
    switch_stop(&switch_of_test, SIGKILL);
}

int main(void)
{
    Suite *suite = suite_create("comm offload");
    TCase *tcase = tcase_create("comm offload");
    tcase_set_timeout(tcase, 200);
    tcase_add_unchecked_fixture(tcase, start_switch, stop_switch);
    tcase_add_loop_test(tcase, test_sizes, 0, TCP);
    tcase_add_loop_test(tcase, test_raw, 0, TCP);
    tcase_add_loop_test(tcase, test_passes, 0, 3);
    tcase_add_loop_test(tcase, test_passes, FIRST_GROUPED, TCP);
    tcase_add_loop_test(tcase, test_nobody, 0, GN_ALGORITHMS);
    tcase_add_loop_test(tcase, test_large, 0, TCP);
    tcase_add_test(tcase, test_choice);
    tcase_add_loop_test(tcase, test_auto, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
