// SPDX-License-Identifier: Apache-2.0
// Nothing hangs, and the message names who is at fault, at every rank.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "ring/data.h"
#include "ring/group.h"
#include "suite.h"

enum { SIZE = 4, VICTIM = 2, LARGE = 1 << 20 };

/// What a test asks its ranks to do.
typedef struct plan {
    gn_algorithm algorithm;
    int timeout_ms;
    int what;
    bool coded;  ///< the ranks compress
} plan;

static const gn_algorithm algorithms[] = {GN_RING,       GN_WORKER_AGGREGATOR, GN_DIRECT,     GN_AUTO,
                                          GN_GROUP_RING, GN_GROUP_AGGREGATOR,  GN_AGGREGATORS};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

/// Two groups of two ranks, where the algorithm has groups: the victim is first in the second.
static const char *groups_of(gn_algorithm algorithm)
{
    return algorithm >= GN_GROUP_RING ? "2" : NULL;
}

static gn_comm *plan_init(int rank, const ranks *group, const plan *p)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.groups = groups_of(p->algorithm);
    config.timeout_ms = p->timeout_ms;
    config.quantise = p->coded;
    return rank_meet(rank, group, &config);
}

static void keep(report *r, gn_status status, const gn_comm *comm, double start)
{
    r->status = status;
    r->seconds = seconds_now() - start;
    snprintf(r->text, sizeof r->text, "%s", gn_comm_last_error(comm));
}

/// Allreduces until one fails; the victim goes away in the middle of the fifth.
static void *die_soon(void *argument)
{
    usleep(3000);
    kill(getpid(), *(int *)argument);
    return NULL;
}

static void run_until_failure(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    RANK_CHECK(comm);
    float *values = calloc(LARGE, sizeof *values);
    for (size_t i = 0; i < LARGE && p->coded; i++) values[i] = sample((uint64_t)rank, i) * 0x1p-20f;
    pthread_t thread;
    int number = p->what;
    gn_status status = GN_OK;
    double start = seconds_now();
    for (int i = 0; !status; i++) {
        if (i == 5) start = seconds_now();
        if (i == 5 && rank == VICTIM) RANK_CHECK(!pthread_create(&thread, NULL, die_soon, &number));
        status = gn_allreduce(comm, values, values, LARGE, GN_SUM);
    }
    keep(&group->reports[rank], status, comm, start);
    if (rank == VICTIM) pthread_join(thread, NULL);
    RANK_CHECK(gn_allreduce(comm, values, values, 1, GN_SUM) == GN_DEAD);
    RANK_CHECK(gn_barrier(comm) == GN_DEAD);
    gn_comm_free(comm);
}

static void check_survivors(const ranks *group, const char *phrase, double seconds)
{
    for (int rank = 0; rank < group->size; rank++) {
        if (rank == VICTIM) continue;
        const report *r = &group->reports[rank];
        ck_assert_int_eq(group->exits[rank], 0);
        ck_assert_msg(r->status == GN_PEER_LOST, "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
        ck_assert_msg(strstr(r->text, phrase) != NULL, "rank %d says: %s", rank, r->text);
        ck_assert_msg(r->seconds < seconds, "rank %d took %.1f s", rank, r->seconds);
    }
}

START_TEST(test_killed_worker_is_named)
{
    plan p = {.algorithm = algorithms[_i / 2], .timeout_ms = 20000, .what = SIGKILL, .coded = _i % 2};
    ranks group;
    ranks_start(&group, SIZE, run_until_failure, &p);
    ranks_wait(&group, 30);
    check_survivors(&group, "rank 2 (127.0.0.1) lost", 5);  // at once, not after the deadline
    ck_assert(WIFSIGNALED(group.exits[VICTIM]));
    ranks_free(&group);
}
END_TEST

/// It learns that it is out.
static void wake_the_victim(ranks *group)
{
    const report *r = group->reports;
    for (int i = 0; i < 250 && !(r[0].text[0] && r[1].text[0] && r[3].text[0]); i++) usleep(100000);
    kill(group->pids[VICTIM], SIGCONT);
}

START_TEST(test_silent_worker_is_named)
{
    plan p = {.algorithm = algorithms[_i / 2], .timeout_ms = 1000, .what = SIGSTOP, .coded = _i % 2};
    ranks group;
    ranks_start(&group, SIZE, run_until_failure, &p);
    wake_the_victim(&group);
    ranks_wait(&group, 30);
    check_survivors(&group, "rank 2 (127.0.0.1) lost: no sign of life for 1000 ms", 4);
    ck_assert(group.reports[VICTIM].status == GN_PEER_LOST);
    ranks_free(&group);
}
END_TEST

/// Rank 1's data goes nowhere, as behind a firewall that forgot the connection: sending works, and
/// the connection stays open. The out-of-band connections live.
static void run_stuck(int rank, const ranks *group, void *argument)
{
    setenv("GRADNIC_SHARED_MEMORY", "no", 1);  // only a connection can be stuck
    gn_comm *comm = plan_init(rank, group, argument);
    RANK_CHECK(comm);
    const plan *p = argument;
    static float values[100000];
    const size_t count = p->coded ? 100000 : 1000;
    gn_status status = gn_allreduce(comm, values, values, count, GN_SUM);
    RANK_CHECK(!status);
    if (rank == 1) {
        int nowhere[2];
        const int data = comm->neighbours[comm->neighbour_count - 1].data_out;
        RANK_CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, nowhere));
        RANK_CHECK(dup(data) >= 0 && dup2(nowhere[0], data) == data);
    }
    double start = seconds_now();
    while (!status) status = gn_allreduce(comm, values, values, count, GN_SUM);
    keep(&group->reports[rank], status, comm, start);
    gn_comm_free(comm);
}

// The rank whose data was sent and did not come is named after one deadline. Without the evidence
// nobody would be, and only after two.
START_TEST(test_stuck_data_is_named)
{
    plan p = {.algorithm = algorithms[_i % 3], .timeout_ms = 1500, .coded = _i / 3};
    ranks group;
    ranks_start(&group, 2, run_stuck, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 2; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(r->status == GN_PEER_LOST, "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
        // With direct rank 1 lacks what rank 0 has sent, too, and may be the first to say so.
        const char *said = "rank 1 (127.0.0.1) lost: its data connection has been stuck for 1500 ms in ";
        if (p.algorithm == GN_DIRECT) said = strchr(said, 'l');
        ck_assert_msg(strstr(r->text, said) != NULL, "rank %d says: %s", rank, r->text);
        ck_assert_double_ge(r->seconds, 1.4);
    }
    ck_assert_ptr_nonnull(strstr(group.reports[0].text, " bytes, 0 came"));
    ranks_free(&group);
}
END_TEST

/// The victim says something else than segments.
static void run_hostile(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.groups = groups_of(p->algorithm);
    config.quantise = true;
    config.no_shared_memory = p->what;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    static const char lies[64] = "nothing that begins a segment";
    for (int i = 0; i < comm->neighbour_count && rank == VICTIM; i++)
        if (comm->neighbours[i].data_out >= 0)
            RANK_CHECK(gn_data_send(&comm->neighbours[i], lies, sizeof lies) == sizeof lies);
    float *values = calloc(LARGE, sizeof *values);
    const double start = seconds_now();
    gn_status status = GN_OK;
    // The victim itself may end the first one well, and hears of the failure in the next.
    for (int i = 0; i < 2 && !status; i++) status = gn_allreduce(comm, values, values, p->what ? LARGE : 10, GN_SUM);
    keep(&group->reports[rank], status, comm, start);
    free(values);
    gn_comm_free(comm);
}

START_TEST(test_wrong_segments_are_named)
{
    for (int large = 0; large < 2; large++) {
        plan p = {.algorithm = algorithms[_i], .what = large};
        ranks group;
        ranks_start(&group, SIZE, run_hostile, &p);
        ranks_wait(&group, 30);
        for (int rank = 0; rank < SIZE; rank++) {
            const report *r = &group.reports[rank];
            ck_assert_msg(r->status == GN_CORRUPT, "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
            ck_assert_msg(strstr(r->text, "rank 2 (127.0.0.1) sent a segment with a wrong header or check in the ") !=
                              NULL,
                          "rank %d says: %s", rank, r->text);
        }
        ranks_free(&group);
    }
}
END_TEST

static void run_late(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    RANK_CHECK(comm);
    float value = 1;
    double start = seconds_now();
    if (rank == VICTIM) usleep(700000);  // less than the deadline: computing, not dead
    gn_status status = gn_allreduce(comm, &value, &value, 1, GN_SUM);
    keep(&group->reports[rank], status, comm, start);
    RANK_CHECK(value == SIZE);
    gn_comm_free(comm);
}

START_TEST(test_late_worker_is_waited_for)
{
    plan p = {.algorithm = algorithms[_i], .timeout_ms = 1500};
    ranks group;
    ranks_start(&group, SIZE, run_late, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) ck_assert_int_eq(group.exits[rank], 0);
    ranks_free(&group);
}
END_TEST

static void run_leaver(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    RANK_CHECK(comm);
    float value = 1;
    double start = seconds_now();
    gn_status status =
        gn_allreduce(comm, &value, &value, 1, GN_SUM);  // fails too when someone ahead has noticed already
    if (!status && rank != VICTIM) status = gn_allreduce(comm, &value, &value, 1, GN_SUM);
    keep(&group->reports[rank], status, comm, start);
    gn_comm_free(comm);
}

START_TEST(test_leaver_is_named)
{
    plan p = {.algorithm = algorithms[_i], .timeout_ms = 20000};
    ranks group;
    ranks_start(&group, SIZE, run_leaver, &p);
    ranks_wait(&group, 30);
    check_survivors(&group, "rank 2 (127.0.0.1) has left the group", 5);
    ranks_free(&group);
}
END_TEST

enum { WRONG_COUNT, WRONG_OP, WRONG_KIND, WRONG_KINDS };

static void run_mismatch(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    RANK_CHECK(comm);
    float values[100] = {0};
    bool odd = rank == VICTIM;
    double start = seconds_now();
    gn_status status = GN_OK;
    // A rank that is ahead may find out, and tell, while others are still in the call before.
    for (int i = 0; i < 3 && !status; i++) status = gn_allreduce(comm, values, values, 100, GN_SUM);
    if (status) goto out;
    if (odd && p->what == WRONG_KIND)
        status = gn_barrier(comm);
    else
        status = gn_allreduce(comm, values, values, odd && p->what == WRONG_COUNT ? 99 : 100,
                              odd && p->what == WRONG_OP ? GN_AVERAGE : GN_SUM);
out:
    keep(&group->reports[rank], status, comm, start);
    gn_comm_free(comm);
}

START_TEST(test_mismatch_says_who_called_what)
{
    static const char *const phrases[] = {"sum of 99 values", "average of 100 values", "called barrier"};
    for (int a = 0; a < ALGORITHMS; a++) {
        plan p = {.algorithm = algorithms[a], .timeout_ms = 20000, .what = _i};
        ranks group;
        ranks_start(&group, SIZE, run_mismatch, &p);
        ranks_wait(&group, 30);
        for (int rank = 0; rank < SIZE; rank++) {
            const report *r = &group.reports[rank];
            ck_assert_msg(r->status == GN_MISMATCH, "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
            ck_assert_msg(strstr(r->text, phrases[_i]) && strstr(r->text, "sum of 100 values") &&
                              strstr(r->text, "rank 2 (127.0.0.1) called"),
                          "rank %d says: %s", rank, r->text);
            ck_assert(r->seconds < 10);
        }
        ranks_free(&group);
    }
}
END_TEST

// A log that asks the library for something, while it fails, has answers.
typedef struct asking {
    gn_comm *comm;
    unsigned errors;
    char text[512];
} asking;

static void ask(void *context, gn_log_level level, const char *text)
{
    asking *a = context;
    if (level != GN_LOG_ERROR || !a->comm) return;
    a->errors++;
    snprintf(a->text, sizeof a->text, "%s", gn_comm_last_error(a->comm));
    RANK_CHECK(strstr(text, a->text));
    RANK_CHECK(gn_comm_rank(a->comm) < gn_comm_size(a->comm));
    (void)gn_comm_get_stats(a->comm);
    RANK_CHECK(gn_comm_abort(a->comm, "the log says so") == GN_OK);
}

static void run_asking(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    asking a = {0};
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.groups = groups_of(p->algorithm);
    config.log = ask;
    config.log_context = &a;
    a.comm = rank_init(rank, group, &config);
    RANK_CHECK(a.comm);
    float values[100] = {0};
    gn_status status = GN_OK;
    if (!p->what) {
        status = gn_allreduce(a.comm, values, values, rank == VICTIM ? 99 : 100, GN_SUM);
        RANK_CHECK(status == GN_MISMATCH);
    } else if (rank != VICTIM) {  // messages have a lock of their own
        status = gn_recv(a.comm, values, sizeof values, VICTIM, 0, NULL);
        RANK_CHECK(status == GN_PEER_LOST);
    }
    RANK_CHECK(a.errors == (status != GN_OK));
    if (status) RANK_CHECK(!strcmp(a.text, gn_comm_last_error(a.comm)));
    gn_comm_free(a.comm);
    group->reports[rank].status = status;
}

START_TEST(test_a_log_may_ask)
{
    plan p = {.algorithm = algorithms[_i / 2], .what = _i % 2};
    ranks group;
    ranks_start(&group, SIZE, run_asking, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++)
        ck_assert_int_eq(group.reports[rank].status, !p.what ? GN_MISMATCH : rank == VICTIM ? GN_OK : GN_PEER_LOST);
    ranks_free(&group);
}
END_TEST

// A caller who is interrupted ends the group, wherever he waits on the main thread.
static bool is_interrupted(void *context)
{
    return ++*(unsigned *)context == 3;
}

static void run_interrupted(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    unsigned asked = 0;
    bool done = false;
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.groups = groups_of(p->algorithm);
    if (rank == VICTIM) config.interrupted = is_interrupted;
    config.interrupted_context = &asked;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    float value = 0;
    const double start = seconds_now();
    gn_status status = GN_OK;
    gn_request *request = NULL;
    if (rank == VICTIM + 1)                                             // it takes no part
        status = gn_recv(comm, &value, sizeof value, VICTIM, 0, NULL);  // nor does what it waits for
    else if (p->what == 0)
        status = gn_allreduce(comm, &value, &value, 1, GN_SUM);
    else if (p->what == 1)
        status = gn_recv(comm, &value, sizeof value, VICTIM + 1, 0, NULL);
    else
        RANK_CHECK(gn_irecv(comm, &value, sizeof value, VICTIM + 1, 0, NULL, &request) == GN_OK);
    if (request) status = gn_wait_done(request, &done);
    RANK_CHECK(done == (request != NULL));
    RANK_CHECK(rank != VICTIM || asked == 3);
    keep(&group->reports[rank], status, comm, start);
    gn_comm_free(comm);
}

START_TEST(test_an_interrupted_caller_ends_all)
{
    plan p = {.algorithm = algorithms[_i / 3], .timeout_ms = 20000, .what = _i % 3};
    ranks group;
    ranks_start(&group, SIZE, run_interrupted, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_msg(r->status == GN_ABORTED, "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
        ck_assert_msg(strstr(r->text, "rank 2 (127.0.0.1) aborted: interrupted"), "rank %d says: %s", rank, r->text);
        ck_assert(r->seconds < 5);
    }
    ranks_free(&group);
}
END_TEST

static void *abort_soon(void *comm)
{
    usleep(50000);
    gn_comm_abort(comm, "the user pressed stop");
    return NULL;
}

static void run_abort(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    RANK_CHECK(comm);
    float *values = calloc(LARGE, sizeof *values);
    pthread_t thread;
    double start = seconds_now();
    if (rank == VICTIM) RANK_CHECK(!pthread_create(&thread, NULL, abort_soon, comm));
    gn_status status = GN_OK;
    while (!status) status = gn_allreduce(comm, values, values, LARGE, GN_SUM);
    keep(&group->reports[rank], status, comm, start);
    if (rank == VICTIM) pthread_join(thread, NULL);
    gn_comm_free(comm);
}

START_TEST(test_abort_reaches_everyone)
{
    plan p = {.algorithm = algorithms[_i], .timeout_ms = 20000};
    ranks group;
    ranks_start(&group, SIZE, run_abort, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_msg(r->status == GN_ABORTED || (rank == VICTIM && r->status == GN_DEAD), "rank %d: %s: %s", rank,
                      gn_status_string(r->status), r->text);
        ck_assert_msg(strstr(r->text, "rank 2 (127.0.0.1) aborted: the user pressed stop") != NULL, "rank %d says: %s",
                      rank, r->text);
        ck_assert(r->seconds < 5);
    }
    ranks_free(&group);
}
END_TEST

// What is wrong by itself: GN_INVALID at that rank alone, nothing sent, the group lives.
static void run_wrong_arguments(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    RANK_CHECK(comm);
    float values[100], other[100];
    for (int i = 0; i < 100; i++) values[i] = 1;
    const gn_bucket wrong[] = {
        {.send = values, .recv = values, .count = 100, .op = (gn_op)7},
        {.send = NULL, .recv = values, .count = 100},
        {.send = values, .recv = NULL, .count = 100},
        {.send = values, .recv = values, .count = 100, .id = 65536},
        {.send = values, .recv = values + 1, .count = 99},
        {.send = values + 98, .recv = values, .count = 99},
        {.send = values, .recv = values, .count = 100, .residual = other},
        {.send = values, .recv = other, .count = SIZE_MAX / 4},
    };
    gn_request *request;
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong && rank == VICTIM; i++) {
            RANK_CHECK(gn_allreduce_bucket(comm, &wrong[i]) == GN_INVALID);
            RANK_CHECK(strstr(gn_comm_last_error(comm), "rank 2 called allreduce wrongly: "));
            request = (gn_request *)(void *)values;
            RANK_CHECK(gn_iallreduce(comm, &wrong[i], &request) == GN_INVALID && !request);
        }
        RANK_CHECK(gn_allreduce(comm, values, other, 100, GN_SUM) == GN_OK);  // the caller has mended it
        RANK_CHECK(other[0] == SIZE && other[99] == SIZE);
        if (turn < 1) continue;  // later also with a progress thread
        gn_bucket good = {.send = values, .recv = other, .count = 100};
        RANK_CHECK(gn_iallreduce(comm, &good, &request) == GN_OK && gn_wait(request) == GN_OK);
    }
    RANK_CHECK(gn_barrier(comm) == GN_OK);
    gn_comm_free(comm);
}

START_TEST(test_wrong_arguments_stay_local)
{
    plan p = {.algorithm = algorithms[_i], .timeout_ms = 20000};
    ranks_run(SIZE, run_wrong_arguments, &p, 30);
}
END_TEST

static void *stop_soon(void *unused)
{
    usleep(200000);
    kill(getpid(), SIGSTOP);
    return unused;
}

/// Rank 1 finishes a barrier that its own late call completes, and fails in the next one. Rank 2 is
/// stopped meanwhile. It still holds what rank 0 needs for the first.
static void run_ahead(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(rank, group);
    (void)argument;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    if (rank == 1) comm->timeout_ms = 1500;  // by itself the group has one for all
    pthread_t thread;
    if (rank == VICTIM) RANK_CHECK(!pthread_create(&thread, NULL, stop_soon, NULL));
    if (rank == 1) usleep(600000);
    gn_status first = gn_barrier(comm);
    if (first) fprintf(stderr, "rank %d: %s\n", rank, gn_comm_last_error(comm));
    RANK_CHECK(!first);
    keep(&group->reports[rank], gn_barrier(comm), comm, seconds_now());
    if (rank == VICTIM) pthread_join(thread, NULL);
    gn_comm_free(comm);
}

START_TEST(test_failure_ahead_waits_for_the_next_call)
{
    ranks group;
    ranks_start(&group, 3, run_ahead, NULL);
    for (int i = 0; i < 200 && !group.reports[1].text[0]; i++) usleep(50000);
    usleep(200000);  // rank 0 has read of it
    kill(group.pids[VICTIM], SIGCONT);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 3; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(r->status == GN_TIMEOUT && strstr(r->text, "no data for 3000 ms in barrier"), "rank %d: %s: %s",
                      rank, gn_status_string(r->status), r->text);
    }
    ranks_free(&group);
}
END_TEST

static gn_comm *alone(void)
{
    gn_comm_config config = gn_comm_config_default();
    gn_comm *comm;
    config.rank = 0;
    config.size = 1;
    ck_assert_int_eq(gn_comm_init(&comm, &config), GN_OK);
    return comm;
}

START_TEST(test_a_configuration_is_judged_before_it_is_used)
{
    gn_comm_config config = gn_comm_config_default();
    config.rendezvous = "file:///no/such/folder/needs/to/be/there";
    ck_assert_int_eq(gn_comm_config_check(&config), GN_OK);
    config.rendezvous = "tcp://host";
    ck_assert_int_eq(gn_comm_config_check(&config), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(gn_comm_last_error(NULL), "rendezvous 'tcp://host': want "));
    config.rendezvous = "tcp://host:1";
    ck_assert_int_eq(gn_comm_config_check(&config), GN_OK);
    config.timeout_ms = -1;
    ck_assert_int_eq(gn_comm_config_check(&config), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(gn_comm_last_error(NULL), "timeout_ms is -1"));
    ck_assert_int_eq(gn_comm_config_check(NULL), GN_INVALID);
    ck_assert_str_eq(gn_comm_last_error(NULL), "config is NULL");
}
END_TEST

START_TEST(test_null_is_refused)
{
    gn_comm_config config = gn_comm_config_default();
    gn_comm *comm = (gn_comm *)(void *)&config;
    ck_assert_int_eq(gn_comm_init(NULL, &config), GN_INVALID);
    ck_assert_int_eq(gn_comm_init(&comm, NULL), GN_INVALID);
    ck_assert_ptr_null(comm);
    ck_assert_str_eq(gn_comm_last_error(NULL), "config is NULL");

    float value = 1;
    gn_bucket bucket = {.send = &value, .recv = &value, .count = 1};
    gn_request *request = (gn_request *)(void *)&config;
    bool done = false;
    ck_assert_int_eq(gn_allreduce(NULL, &value, &value, 1, GN_SUM), GN_INVALID);
    ck_assert_int_eq(gn_allreduce_bucket(NULL, &bucket), GN_INVALID);
    ck_assert_int_eq(gn_barrier(NULL), GN_INVALID);
    ck_assert_int_eq(gn_comm_abort(NULL, "reason"), GN_INVALID);
    ck_assert_int_eq(gn_iallreduce(NULL, &bucket, &request), GN_INVALID);
    ck_assert_ptr_null(request);
    ck_assert_int_eq(gn_wait(NULL), GN_INVALID);
    ck_assert_int_eq(gn_test(NULL, &done), GN_INVALID);
    ck_assert(done);
    ck_assert_int_eq(gn_comm_rank(NULL), -1);
    ck_assert_int_eq(gn_comm_size(NULL), -1);
    ck_assert(gn_comm_get_stats(NULL).sent_bytes == 0);
    gn_comm_free(NULL);

    comm = alone();
    ck_assert_int_eq(gn_allreduce_bucket(comm, NULL), GN_INVALID);
    ck_assert_int_eq(gn_iallreduce(comm, NULL, &request), GN_INVALID);
    ck_assert_int_eq(gn_iallreduce(comm, &bucket, NULL), GN_INVALID);
    ck_assert_int_eq(gn_iallreduce(comm, &bucket, &request), GN_OK);
    ck_assert_int_eq(gn_test(request, NULL), GN_INVALID);
    ck_assert_int_eq(gn_wait(request), GN_OK);  // it is still there
    gn_comm_free(comm);
}
END_TEST

START_TEST(test_abort_alone_has_no_address)
{
    gn_comm *comm = alone();
    ck_assert_int_eq(gn_comm_abort(comm, "enough"), GN_OK);
    ck_assert_str_eq(gn_comm_last_error(comm), "rank 0 aborted: enough");
    ck_assert_int_eq(gn_barrier(comm), GN_DEAD);
    gn_comm_free(comm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm errors");
    TCase *running = tcase_create("running");
    tcase_set_timeout(running, 60);
    tcase_add_loop_test(running, test_killed_worker_is_named, 0, 2 * ALGORITHMS);
    tcase_add_loop_test(running, test_silent_worker_is_named, 0, 2 * ALGORITHMS);
    tcase_add_loop_test(running, test_stuck_data_is_named, 0, 6);
    tcase_add_loop_test(running, test_wrong_segments_are_named, 0, ALGORITHMS);
    tcase_add_loop_test(running, test_late_worker_is_waited_for, 0, ALGORITHMS);
    tcase_add_loop_test(running, test_leaver_is_named, 0, ALGORITHMS);
    tcase_add_loop_test(running, test_mismatch_says_who_called_what, 0, WRONG_KINDS);
    tcase_add_loop_test(running, test_abort_reaches_everyone, 0, ALGORITHMS);
    tcase_add_loop_test(running, test_an_interrupted_caller_ends_all, 0, 3 * ALGORITHMS);
    tcase_add_loop_test(running, test_a_log_may_ask, 0, 2 * ALGORITHMS);
    tcase_add_loop_test(running, test_wrong_arguments_stay_local, 0, ALGORITHMS);
    tcase_add_test(running, test_failure_ahead_waits_for_the_next_call);
    tcase_add_test(running, test_a_configuration_is_judged_before_it_is_used);
    tcase_add_test(running, test_null_is_refused);
    tcase_add_test(running, test_abort_alone_has_no_address);
    suite_add_tcase(suite, running);
    return suite_run(suite);
}
