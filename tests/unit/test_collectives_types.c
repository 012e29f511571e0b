// SPDX-License-Identifier: Apache-2.0
// 16-bit floats are what binary32 gives, rounded once: over every algorithm, whoever compresses,
// with error feedback and a scale. What an algorithm does not have is refused.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm_ranks.h"
#include "ring/collectives/types.h"
#include "suite.h"
#include "switch_host.h"

typedef struct plan {
    gn_algorithm algorithm;
    gn_profile profile;
    gn_offload offload;
    gn_type type;
    gn_op op;
    bool plain;  ///< no quantising
    bool feedback, scale, in_place, scattered;
    size_t count;
} plan;

enum { STEPS = 3 };
static switch_host switch_of_test;

static void as_nics_do(void *context, float *values, size_t count)
{
    gn_quantise(context, values, values, NULL, count);
}

static gn_comm *plan_init(int rank, const ranks *group, const plan *p, gn_codec *codec)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.switch_address = switch_of_test.address;
    config.quantise = !p->plain;
    config.scale = p->scale ? GN_SCALE_AUTO : GN_SCALE_NONE;
    config.segment_bytes = 16384;
    config.offload = p->offload;
    RANK_CHECK(!gn_codec_init(&config.codec, p->profile, 10));
    *codec = config.codec;
    if (p->offload == GN_OFFLOAD_NIC) config.wire = as_nics_do, config.wire_context = codec;
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    return comm;
}

/// The same call in two types, each with its own residual.
typedef struct twin {
    gn_call call;
    uint8_t *send, *recv;
    float *residual;
} twin;

static twin twin_of(const plan *p, gn_type type, uint32_t id, size_t count, size_t blocks)
{
    const size_t all = count * blocks;
    twin t = {.send = malloc(all * 4 + 4), .recv = malloc(all * 4 + 4), .residual = calloc(all + 1, 4)};
    RANK_CHECK(t.send && t.recv && t.residual);
    t.call = (gn_call){.collective = p->scattered ? GN_REDUCE_SCATTER : GN_ALLREDUCE,
                       .type = type,
                       .op = p->op,
                       .send = t.send,
                       .recv = p->in_place ? t.send : t.recv,
                       .count = count,
                       .residual = p->feedback ? t.residual : NULL,
                       .id = id};
    return t;
}

static void run_twin(gn_comm *comm, const twin *t)
{
    const gn_status status = gn_comm_run(comm, &t->call);
    if (status) fprintf(stderr, "%s: %s\n", gn_status_string(status), gn_comm_last_error(comm));
    RANK_CHECK(!status);
}

static void run_plan(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_codec codec;
    gn_comm *comm = plan_init(rank, group, p, &codec);
    const size_t blocks = p->scattered ? (size_t)group->size : 1, all = p->count * blocks;
    twin half = twin_of(p, p->type, 1, p->count, blocks), single = twin_of(p, GN_F32, 2, p->count, blocks);
    uint16_t *wanted = malloc(p->count * 2 + 2);
    for (int step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < all; i++) {
            const float value = i % 997 == 5 ? 3000 : 0.1f * sample((uint64_t)(100 * step + rank), i);
            gn_type_store(p->type, &value, half.send + 2 * i, 1);
        }
        gn_type_load(p->type, half.send, single.send, all);
        run_twin(comm, &half);
        run_twin(comm, &single);
        gn_type_store(p->type, single.call.recv, wanted, p->count);
        RANK_CHECK(!memcmp(half.call.recv, wanted, p->count * 2));
        RANK_CHECK(!memcmp(half.residual, single.residual, all * 4));
        for (size_t i = 0; i < p->count; i++) group->reports[rank].hash = group->reports[rank].hash * 31 + wanted[i];
    }
    gn_comm_free(comm);
}

static uint64_t outcome_of(int size, plan p)
{
    ranks group;
    ranks_start(&group, size, run_plan, &p);
    ranks_wait(&group, 100);
    for (int rank = 0; rank < size; rank++) {
        ck_assert_msg(group.exits[rank] == 0, "%s %s %s %s: rank %d of %d: exit %#x", gn_algorithm_name(p.algorithm),
                      gn_profile_name(p.profile), gn_offload_name(p.offload), gn_type_name(p.type), rank, size,
                      (unsigned)group.exits[rank]);
        if (!p.scattered) ck_assert_uint_eq(group.reports[rank].hash, group.reports[0].hash);
    }
    const uint64_t hash = group.reports[0].hash;
    ranks_free(&group);
    return hash;
}

// The same bits, whoever compresses, and over every algorithm.
START_TEST(test_same_everywhere)
{
    for (unsigned i = 0; i < 8; i++) {
        plan p = {.profile = i & 1 ? GN_DENSE : GN_LATTICE,
                  .type = _i ? GN_F16 : GN_BF16,
                  .feedback = i & 1,
                  .scale = i & 2,
                  .in_place = i & 4,
                  .op = i & 2 ? GN_AVERAGE : GN_SUM,
                  .count = 30011};
        uint64_t first = 0;
        for (p.algorithm = GN_RING; p.algorithm <= GN_SWITCH; p.algorithm++)
            for (p.offload = GN_OFFLOAD_LIBRARY; p.offload < GN_OFFLOADS; p.offload++) {
                if (p.algorithm == GN_SWITCH && p.offload == GN_OFFLOAD_NIC) continue;  // it needs a real NIC
                const uint64_t hash = outcome_of(3, p);
                if (!first) first = hash;
                ck_assert_msg(hash == first, "%s %s: other bits", gn_algorithm_name(p.algorithm),
                              gn_offload_name(p.offload));
            }
    }
}
END_TEST

START_TEST(test_scattered)
{
    for (unsigned i = 0; i < 8; i++) {
        plan p = {.profile = i & 1 ? GN_DENSE : GN_LATTICE,
                  .type = i & 4 ? GN_F16 : GN_BF16,
                  .feedback = i & 1,
                  .scale = i & 2,
                  .op = GN_AVERAGE,
                  .scattered = true,
                  .count = 10011};
        uint64_t first = 0;
        for (p.offload = GN_OFFLOAD_LIBRARY; p.offload < GN_OFFLOADS; p.offload++) {
            const uint64_t hash = outcome_of(3, p);
            if (!first) first = hash;
            ck_assert_uint_eq(hash, first);
        }
    }
}
END_TEST

// Not quantised, and cut by paper: what the algorithm gives for binary32.
START_TEST(test_other)
{
    for (gn_algorithm a = GN_RING; a <= GN_WORKER_AGGREGATOR; a++) {
        outcome_of(2, (plan){.algorithm = a, .plain = true, .type = GN_BF16, .count = 5000});
        outcome_of(4, (plan){.algorithm = a, .profile = GN_PAPER, .type = GN_F16, .count = 5000});
    }
    outcome_of(2, (plan){.algorithm = GN_SWITCH, .plain = true, .type = GN_F16, .count = 5000});
    // Longer than a stage of 4 MiB.
    outcome_of(2, (plan){.profile = GN_DENSE, .type = GN_BF16, .feedback = true, .scale = true, .count = 2500001});
    outcome_of(2, (plan){.algorithm = GN_WORKER_AGGREGATOR, .profile = GN_DENSE, .type = GN_F16, .count = 2500001});
}
END_TEST

/// Each rank's values as the codec makes them, at all ranks.
static void run_lossy(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_codec codec;
    gn_comm *comm = plan_init(rank, group, p, &codec);
    const size_t width = gn_type_bytes(p->type), all = p->count * (size_t)group->size;
    uint8_t *send = malloc(p->count * width), *recv = malloc(all * width), *wanted = malloc(all * width);
    RANK_CHECK(send && recv && wanted);
    for (size_t i = 0; i < all; i++) {
        const int r = (int)(i / p->count);
        float value = i % 997 == 5 ? 3000 : 0.1f * sample((uint64_t)r, i);
        gn_type_store(p->type, &value, wanted + i * width, 1);
        if (r == rank) memcpy(send + i % p->count * width, wanted + i * width, width);
        gn_type_load(p->type, wanted + i * width, &value, 1);
        gn_quantise(&codec, &value, &value, NULL, 1);
        gn_type_store(p->type, &value, wanted + i * width, 1);
    }
    // It computes nothing, so the op does not matter.
    const gn_call call = {.collective = GN_ALL_GATHER,
                          .type = p->type,
                          .op = p->op,
                          .send = send,
                          .recv = recv,
                          .count = p->count,
                          .lossy = true};
    RANK_CHECK(!gn_comm_run(comm, &call));
    RANK_CHECK(!memcmp(recv, wanted, all * width));
    const gn_comm_stats stats = gn_comm_get_stats(comm);
    group->reports[rank].values[0] = stats.sent_bytes;
    group->reports[rank].values[1] = stats.sent_wire_bytes;
    gn_comm_free(comm);
}

START_TEST(test_lossy)
{
    for (gn_type type = GN_F32; type <= GN_F16; type++)
        for (gn_offload offload = GN_OFFLOAD_LIBRARY; offload < GN_OFFLOADS; offload++) {
            plan p = {.profile = (gn_profile)_i, .offload = offload, .type = type, .count = 20011};
            p.op = (gn_op)((unsigned)type + offload) % GN_OPS;
            ranks group;
            ranks_start(&group, 3, run_lossy, &p);
            ranks_wait(&group, 60);
            for (int rank = 0; rank < 3; rank++) {
                const uint64_t *sent = group.reports[rank].values;
                ck_assert_msg(group.exits[rank] == 0, "%s %s %s: rank %d", gn_profile_name(p.profile),
                              gn_offload_name(offload), gn_type_name(type), rank);
                if (offload == GN_OFFLOAD_LIBRARY) ck_assert_uint_lt(sent[1] * 2, sent[0]);
            }
            ranks_free(&group);
        }
}
END_TEST

/// What a carrier of sums cannot have: served by messages, on connections that no NIC compresses.
static void run_served(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    const int size = group->size;
    gn_codec codec;
    gn_comm *comm = plan_init(rank, group, p, &codec);
    enum { COUNT = 3 };
    int64_t send[COUNT * RANKS_MAX], recv[COUNT * RANKS_MAX];
    for (int i = 0; i < COUNT * size; i++) send[i] = (int64_t)1 << 40 | rank << 8 | i;
    for (int root = 0; root < size; root++) {
        const int64_t base = (int64_t)1 << 40;
        RANK_CHECK(!gn_allreduce_typed(comm, send, recv, COUNT, GN_I64, GN_MAX) &&
                   recv[1] == (base | (size - 1) << 8 | 1));
        RANK_CHECK(!gn_reduce_scatter(comm, send, recv, COUNT, GN_I64, GN_MIN) &&
                   recv[2] == (base | (rank * COUNT + 2)));
        RANK_CHECK(!gn_all_gather(comm, send, recv, COUNT, GN_I64));
        for (int r = 0; r < size; r++) RANK_CHECK(recv[r * COUNT + 2] == (base | r << 8 | 2));
        RANK_CHECK(!gn_reduce(comm, send, recv, COUNT, GN_I64, GN_MAX, root));
        RANK_CHECK(rank != root || recv[0] == (base | (size - 1) << 8));
        recv[0] = rank;
        RANK_CHECK(!gn_broadcast(comm, recv, sizeof *recv, root) && recv[0] == root);
        RANK_CHECK(!gn_gather(comm, send, recv, sizeof *recv, root));
        RANK_CHECK(rank != root || recv[size - 1] == (base | (size - 1) << 8));
        RANK_CHECK(!gn_scatter(comm, send, recv, sizeof *recv, root) && recv[0] == (base | root << 8 | rank));
        RANK_CHECK(!gn_all_to_all(comm, send, recv, sizeof *recv) && recv[size - 1] == (base | (size - 1) << 8 | rank));
        recv[0] = rank;
        RANK_CHECK(!gn_transfer(comm, recv, sizeof *recv, root, size - 1) && (rank < size - 1 || recv[0] == root));
        float block[4] = {1, 2, 3, 4}, sum[4] = {0};
        RANK_CHECK(!gn_reduce_scatter(comm, block, sum, 4 / (size_t)size, GN_F32, GN_SUM));
        RANK_CHECK(sum[0] == block[4 / size * rank] * (float)size);
        // The way of sums is as it was.
        float one = 1;
        RANK_CHECK(!gn_allreduce(comm, &one, &one, 1, GN_SUM) && one == (float)size);
    }
    gn_comm *sub = NULL;
    float one = 1;
    const bool splits = size == 4 && p->algorithm != GN_SWITCH;  // the switch of this test has room for one job
    if (splits) RANK_CHECK(!gn_comm_split(comm, rank % 2, 0, &sub) && gn_comm_size(sub) == 2);
    if (splits) RANK_CHECK(!gn_allreduce(sub, &one, &one, 1, GN_SUM) && one == 2);
    gn_comm_free(sub);
    gn_comm_free(comm);
}

START_TEST(test_served)
{
    const plan plans[] = {{.algorithm = GN_WORKER_AGGREGATOR},
                          {.algorithm = GN_SWITCH, .profile = GN_DENSE},
                          {.profile = GN_DENSE, .offload = GN_OFFLOAD_NIC},
                          {.profile = GN_DENSE, .offload = GN_OFFLOAD_NIC, .algorithm = GN_DIRECT}};
    // A switch is asked even by one rank.
    for (int size = plans[_i].algorithm == GN_SWITCH ? 1 : 2; size <= 4; size *= 2) {
        ranks_run(size, run_served, (void *)(uintptr_t)&plans[_i], 60);
    }
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
    Suite *suite = suite_create("collectives types");
    TCase *tcase = tcase_create("collectives types");
    tcase_set_timeout(tcase, 200);
    tcase_add_unchecked_fixture(tcase, start_switch, stop_switch);
    tcase_add_loop_test(tcase, test_same_everywhere, 0, 2);
    tcase_add_test(tcase, test_scattered);
    tcase_add_test(tcase, test_other);
    tcase_add_loop_test(tcase, test_lossy, GN_PAPER, GN_DENSE + 1);
    tcase_add_loop_test(tcase, test_served, 0, 4);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
