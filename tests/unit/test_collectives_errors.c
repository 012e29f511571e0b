// SPDX-License-Identifier: Apache-2.0
// Collectives that go wrong: wrong arguments, ranks that call different things, and a rank that
// dies or falls silent in each of them.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "suite.h"

enum { SIZE = 4, VICTIM = 2, LARGE = 300000 };

typedef struct plan {
    gn_call call, other;  ///< of the others, of the victim
    int timeout_ms, signal;
    bool quantise;
    gn_algorithm algorithm;
} plan;

static gn_comm *plan_init(int rank, const ranks *group, const plan *p)
{
    gn_comm_config config = rank_config(rank, group);
    config.timeout_ms = p->timeout_ms;
    config.quantise = p->quantise;
    config.algorithm = p->algorithm;
    gn_comm *comm = rank_meet(rank, group, &config);
    RANK_CHECK(comm);
    return comm;
}

static void *signal_soon(void *argument)
{
    usleep(3000);
    kill(getpid(), *(int *)argument);
    return NULL;
}

static void keep(report *r, gn_status status, const gn_comm *comm, double start)
{
    r->status = status;
    r->seconds = seconds_now() - start;
    snprintf(r->text, sizeof r->text, "%s", gn_comm_last_error(comm));
}

static void run_until_failure(int rank, const ranks *group, void *argument)
{
    plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    gn_call call = p->call;
    pthread_t thread;
    gn_status status = GN_OK;
    double start = seconds_now();
    call.send = calloc(SIZE * LARGE, 4);
    call.recv = calloc(SIZE * LARGE, 4);
    for (int i = 0; !status; i++) {
        if (i == 3) start = seconds_now();
        if (i == 3 && rank == VICTIM) RANK_CHECK(!pthread_create(&thread, NULL, signal_soon, &p->signal));
        status = gn_comm_run(comm, &call);
    }
    keep(&group->reports[rank], status, comm, start);
    if (rank == VICTIM) pthread_join(thread, NULL);
    RANK_CHECK(gn_comm_run(comm, &call) == GN_DEAD);
    gn_comm_free(comm);
}

static void check_survivors(const ranks *group, const char *name, const char *phrase)
{
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group->reports[rank];
        if (rank == VICTIM) continue;
        ck_assert_int_eq(group->exits[rank], 0);
        ck_assert_msg(r->status == GN_PEER_LOST && strstr(r->text, phrase), "%s: rank %d: %s: %s", name, rank,
                      gn_status_string(r->status), r->text);
        ck_assert_msg(r->seconds < 5, "%s: rank %d took %.1f s", name, rank, r->seconds);
    }
}

// Over a ring, between all, and as messages.
static const gn_algorithm carriers[] = {GN_RING, GN_DIRECT, GN_WORKER_AGGREGATOR};

// Each survivor names the rank that died, at once.
START_TEST(test_killed)
{
    plan p = {.call = {.collective = (gn_collective)(_i % GN_COLLECTIVES), .count = LARGE, .root = 1, .to = 0},
              .algorithm = carriers[_i / GN_COLLECTIVES],
              .timeout_ms = 20000,
              .signal = SIGKILL};
    ranks group;
    ranks_start(&group, SIZE, run_until_failure, &p);
    ranks_wait(&group, 60);
    check_survivors(&group, gn_collective_name(p.call.collective), "rank 2 (127.0.0.1) lost");
    ranks_free(&group);
}
END_TEST

// The same for one that stands still, after the deadline. It wakes up, and learns that it is out.
START_TEST(test_silent)
{
    plan p = {.call = {.collective = (gn_collective)_i, .count = LARGE, .root = 1, .to = 0},
              .timeout_ms = 1000,
              .signal = SIGSTOP};
    ranks group;
    ranks_start(&group, SIZE, run_until_failure, &p);
    for (int i = 0; i < 100 && !(group.reports[0].text[0] && group.reports[1].text[0] && group.reports[3].text[0]); i++)
        usleep(100000);
    kill(group.pids[VICTIM], SIGCONT);
    ranks_wait(&group, 60);
    check_survivors(&group, gn_collective_name(p.call.collective),
                    "rank 2 (127.0.0.1) lost: no sign of life for 1000 ms");
    ck_assert_int_eq(group.reports[VICTIM].status, GN_PEER_LOST);
    ranks_free(&group);
}
END_TEST

static const size_t uneven[SIZE] = {1, 2, 3, 4}, turned[SIZE] = {4, 3, 2, 1};

static const struct {
    gn_call call, other;
    const char *ours, *theirs;
} differences[] = {
    {{.collective = GN_ALLREDUCE, .count = 9},
     {.collective = GN_ALLREDUCE, .count = 9, .type = GN_BF16},
     "called sum of 9 values, bucket 0, ring",
     "called sum of 9 bf16 values, bucket 0, ring"},
    {{.collective = GN_ALLREDUCE, .count = 9, .op = GN_MIN},
     {.collective = GN_ALLREDUCE, .count = 9, .op = GN_MAX},
     "called minimum of 9 values",
     "called maximum of 9 values"},
    {{.collective = GN_REDUCE_SCATTER, .count = 5},
     {.collective = GN_ALL_GATHER, .count = 5},
     "called reduce_scatter: sum of 5 values, bucket 0",
     "called all_gather of 5 values"},
    {{.collective = GN_REDUCE_SCATTER, .counts = uneven},
     {.collective = GN_REDUCE_SCATTER, .counts = turned},
     "called counts of ranks with CRC ",
     "called counts of ranks with CRC "},
    {{.collective = GN_ALL_GATHER, .count = 5},
     {.collective = GN_ALL_GATHER, .count = 5, .lossy = true},
     "called all_gather of 5 values",
     "called all_gather of 5 values, compressed"},
    {{.collective = GN_BROADCAST, .count = 5, .root = 1},
     {.collective = GN_BROADCAST, .count = 5, .root = 3},
     "called broadcast of 5 values, root 1",
     "called broadcast of 5 values, root 3"},
    {{.collective = GN_REDUCE, .count = 5, .root = 1},
     {.collective = GN_GATHER, .count = 5, .root = 1},
     "called reduce: sum of 5 values to rank 1",
     "called gather of 5 values, root 1"},
    {{.collective = GN_SCATTER, .count = 5},
     {.collective = GN_ALL_TO_ALL, .count = 5},
     "called scatter of 5 values, root 0",
     "called all_to_all of 5 values"},
    {{.collective = GN_TRANSFER, .count = 5, .root = 1},
     {.collective = GN_TRANSFER, .count = 5, .root = 1, .to = 3},
     "called transfer of 5 values from rank 1 to rank 0",
     "called transfer of 5 values from rank 1 to rank 3"},
    {{.collective = GN_GATHER, .count = 5},
     {.collective = GN_BARRIER},
     "called gather of 5 values, root 0",
     "called barrier"},
};

static void run_mismatch(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    static double values[100], results[100];
    gn_call call = rank == VICTIM ? p->other : p->call;
    call.send = values;
    call.recv = results;
    const double start = seconds_now();
    keep(&group->reports[rank], gn_comm_run(comm, &call), comm, start);
    gn_comm_free(comm);
}

START_TEST(test_mismatch)
{
    plan p = {.call = differences[_i].call, .other = differences[_i].other, .timeout_ms = 20000, .quantise = true};
    ranks group;
    ranks_start(&group, SIZE, run_mismatch, &p);
    ranks_wait(&group, 60);
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_msg(r->status == GN_MISMATCH && strstr(r->text, "rank 2 (127.0.0.1) called"), "rank %d: %s: %s", rank,
                      gn_status_string(r->status), r->text);
        ck_assert_msg(strstr(r->text, differences[_i].theirs) && strstr(r->text, differences[_i].ours),
                      "rank %d says: %s", rank, r->text);
    }
    ranks_free(&group);
}
END_TEST

// Rank 2 finds each of them wrong by itself. Nothing is sent, and the group goes on.
static void run_wrong(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    double a[100], b[100];
    float *f = (float *)(void *)a;
    const size_t huge[SIZE] = {SIZE_MAX / 16, SIZE_MAX / 16, SIZE_MAX / 16, 1};
    const struct {
        gn_call call;
        const char *why;
    } wrong[] = {
        {{.collective = GN_COLLECTIVES}, "a collective wrongly: the collective is not known"},
        {{.type = GN_TYPES, .send = a, .recv = b, .count = 1}, "the type is not known"},
        {{.op = GN_OPS, .send = a, .recv = b, .count = 1}, "op is none of"},
        {{.op = GN_AVERAGE, .type = GN_I32, .send = a, .recv = b, .count = 1}, "integers have no average"},
        {{.send = a, .recv = b, .count = SIZE_MAX / 8}, "count is larger than memory"},
        {{.collective = GN_ALL_GATHER, .send = a, .recv = b, .counts = huge}, "count is larger than memory"},
        {{.collective = GN_GATHER, .send = a, .recv = b, .count = 1, .counts = uneven}, "counts are for"},
        {{.collective = GN_BROADCAST, .recv = b, .count = 1, .root = SIZE}, "broadcast wrongly: root is not a rank"},
        {{.collective = GN_BROADCAST, .count = 1}, "send or recv is NULL"},
        {{.collective = GN_TRANSFER, .send = a, .recv = b, .count = 1, .to = -1}, "to is not a rank"},
        {{.collective = GN_REDUCE_SCATTER, .send = a, .recv = a, .count = 1}, "send and recv overlap"},
        {{.collective = GN_REDUCE_SCATTER, .send = NULL, .recv = a, .count = 1}, "send or recv is NULL"},
        {{.collective = GN_ALL_GATHER, .send = f, .recv = f, .count = 3}, "send and recv overlap"},
        {{.collective = GN_ALL_TO_ALL, .send = a, .recv = a, .count = 3}, "send and recv overlap"},
        {{.collective = GN_REDUCE, .send = a, .recv = f + 1, .count = 3, .root = VICTIM}, "send and recv overlap"},
        {{.collective = GN_ALL_GATHER, .type = GN_I32, .send = a, .recv = b, .count = 1, .lossy = true},
         "lossy is for all_gather of f32, bf16 and f16"},
        {{.collective = GN_REDUCE, .send = a, .recv = f, .count = 1, .residual = (float *)(void *)b},
         "a residual needs `quantise`"},
        {{.collective = GN_ALL_GATHER, .send = a, .recv = b, .count = 1, .lossy = true}, "lossy needs `quantise`"},
        {{.send = a, .recv = a, .count = 1, .residual = (float *)(void *)b}, "a residual needs `quantise`"},
        {{.send = a, .recv = a, .count = 1, .id = 65536}, "bucket id is not below 65536"},
    };
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong && rank == VICTIM; i++) {
            gn_request *request = (gn_request *)(void *)a;
            const gn_status status = gn_comm_run(comm, &wrong[i].call);
            if (status != GN_INVALID || !strstr(gn_comm_last_error(comm), wrong[i].why))
                fprintf(stderr, "%zu: %d %s\n", i, status, gn_comm_last_error(comm));
            RANK_CHECK(status == GN_INVALID && strstr(gn_comm_last_error(comm), wrong[i].why));
            RANK_CHECK(gn_comm_start(comm, &wrong[i].call, &request) == GN_INVALID && !request);
        }
        RANK_CHECK(gn_comm_run(NULL, &wrong[0].call) == GN_INVALID);
        RANK_CHECK(gn_comm_set_remaining(comm, -1) == GN_INVALID);
        RANK_CHECK(strstr(gn_comm_last_error(comm), "called set_remaining wrongly: the seconds are below 0"));
        RANK_CHECK(gn_comm_set_scale(comm, 0, 0) == GN_INVALID);
        RANK_CHECK(strstr(gn_comm_last_error(comm), "called set_scale wrongly: it needs GN_SCALE_AUTO"));
        RANK_CHECK(gn_comm_split(comm, 0, 0, NULL) == GN_INVALID);
        RANK_CHECK(strstr(gn_comm_last_error(comm), "called split wrongly: sub is NULL"));
        int64_t one = 1, all = 0;
        RANK_CHECK(!gn_allreduce_typed(comm, &one, &all, 1, GN_I64, GN_SUM) && all == SIZE);
    }
    gn_comm_free(comm);
}

START_TEST(test_wrong)
{
    plan p = {.timeout_ms = 20000};
    ranks_run(SIZE, run_wrong, &p, 60);
}
END_TEST

// Many small calls whose root is not waited for by anybody: no rank runs two calls ahead.
static void run_ahead(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    for (int i = 0; i < 300; i++) {
        int value = rank == i % 3 ? i : -1;
        if (rank == i % SIZE && i % 50 == 0) usleep(20000);
        RANK_CHECK(!gn_broadcast(comm, &value, sizeof value, i % 3) && value == i);
        RANK_CHECK(!gn_transfer(comm, &value, sizeof value, i % SIZE, (i + 1) % SIZE));
        RANK_CHECK(!gn_reduce(comm, &value, &value, 1, GN_I32, GN_MAX, 1) && (rank != 1 || value == i));
    }
    gn_comm_free(comm);
}

START_TEST(test_ahead)
{
    plan p = {.timeout_ms = 20000};
    ranks_run(SIZE, run_ahead, &p, 60);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("collectives errors");
    TCase *tcase = tcase_create("collectives errors");
    tcase_set_timeout(tcase, 150);
    tcase_add_loop_test(tcase, test_killed, GN_REDUCE_SCATTER, GN_COLLECTIVES);
    tcase_add_loop_test(tcase, test_killed, GN_COLLECTIVES + GN_REDUCE_SCATTER, 2 * GN_COLLECTIVES);
    tcase_add_loop_test(tcase, test_killed, 2 * GN_COLLECTIVES + GN_REDUCE_SCATTER, 3 * GN_COLLECTIVES);
    tcase_add_loop_test(tcase, test_silent, GN_REDUCE_SCATTER, GN_COLLECTIVES);
    tcase_add_loop_test(tcase, test_mismatch, 0, sizeof differences / sizeof *differences);
    tcase_add_test(tcase, test_wrong);
    tcase_add_test(tcase, test_ahead);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
