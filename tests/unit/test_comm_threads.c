// SPDX-License-Identifier: Apache-2.0
// A second thread in a communicator is refused. Their sums would be mixed up otherwise.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "suite.h"

enum { SIZE = 2, LAST = 1 };

/// The last rank comes when the first one has tried everything.
typedef struct plan {
    atomic_bool tried;  ///< shared
    bool queued;        ///< collectives run in the progress thread
} plan;

typedef struct intruder {
    gn_comm *comm;
    plan *plan;
    bool begun;
} intruder;

static void *intrude(void *argument)
{
    gn_comm *comm = ((intruder *)argument)->comm;
    const bool queued = ((intruder *)argument)->plan->queued;
    float value = 100;
    bool there;
    gn_request *request = NULL;
    RANK_CHECK(gn_allreduce(comm, &value, &value, 1, GN_SUM) == GN_INVALID);
    RANK_CHECK(strstr(gn_comm_last_error(comm), "called allreduce wrongly: another thread"));
    RANK_CHECK(gn_barrier(comm) == GN_INVALID);
    if (queued) return NULL;  // what follows goes through the queue, which takes any thread
    RANK_CHECK(gn_send(comm, &value, sizeof value, LAST, 0) == GN_INVALID);
    RANK_CHECK(gn_recv(comm, &value, sizeof value, LAST, 0, NULL) == GN_INVALID);
    RANK_CHECK(gn_probe(comm, LAST, 0, &there, NULL) == GN_INVALID);
    RANK_CHECK(gn_isend(comm, &value, sizeof value, LAST, 0, &request) == GN_INVALID && !request);
    RANK_CHECK(gn_iallreduce(comm, &(gn_bucket){.send = &value, .recv = &value, .count = 1}, &request) == GN_INVALID);
    RANK_CHECK(!request && value == 100);
    return NULL;
}

/// Asked within the call of the main thread, which waits for the last rank. It says no.
static bool try_to_enter(void *context)
{
    intruder *in = context;
    pthread_t thread;
    if (!in->comm || in->begun) return false;
    in->begun = true;
    RANK_CHECK(!pthread_create(&thread, NULL, intrude, in) && !pthread_join(thread, NULL));
    intrude(in);  // a handler may not either
    atomic_store(&in->plan->tried, true);
    return false;
}

static void run_two_threads(int rank, const ranks *group, void *argument)
{
    plan *p = argument;
    intruder in = {.plan = p};
    gn_comm_config config = rank_config(rank, group);
    config.interrupted = rank ? NULL : try_to_enter;
    config.interrupted_context = &in;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    float value = 1;
    gn_request *request;
    if (p->queued) {
        RANK_CHECK(!gn_iallreduce(comm, &(gn_bucket){.send = &value, .recv = &value, .count = 1}, &request));
        RANK_CHECK(!gn_wait(request) && value == 2);
        value = 1;
    }
    in.comm = comm;
    while (rank == LAST && !atomic_load(&p->tried)) sched_yield();
    RANK_CHECK(!gn_allreduce(comm, &value, &value, 1, GN_SUM));
    RANK_CHECK(value == 2);
    RANK_CHECK(!gn_allreduce(comm, &value, &value, 1, GN_SUM));  // the refusals have ended nothing
    RANK_CHECK(value == 4);
    gn_comm_free(comm);
}

START_TEST(test_a_second_thread_is_refused)
{
    plan *p = ranks_share(sizeof *p);
    p->queued = _i;
    ranks_run(SIZE, run_two_threads, p, 60);
    munmap(p, sizeof *p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm_threads");
    TCase *threads = tcase_create("threads");
    tcase_set_timeout(threads, 120);
    tcase_add_loop_test(threads, test_a_second_thread_is_refused, 0, 2);
    suite_add_tcase(suite, threads);
    return suite_run(suite);
}
