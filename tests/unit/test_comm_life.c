// SPDX-License-Identifier: Apache-2.0
// Which ranks are given up. A process with several communicators is alive in all of them while it
// waits in one.
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "net/clock.h"
#include "ring/evidence.h"
#include "ring/message.h"
#include "suite.h"

enum { SIZE = 4, VICTIM = 2, COUNT = 1000 };

START_TEST(test_evidence)
{
    static const struct {
        gn_watch watch;
        gn_evidence evidence;
    } cases[] = {
        {{.silent = 900 * GN_MILLISECOND, .still = 900 * GN_MILLISECOND}, GN_EVIDENCE_NONE},
        {{.silent = 1100 * GN_MILLISECOND, .still = 0}, GN_EVIDENCE_SILENT},
        {{.silent = 100 * GN_MILLISECOND, .still = 1900 * GN_MILLISECOND},
         GN_EVIDENCE_NONE},  // it waits for a third, and says so
        {{.silent = 100 * GN_MILLISECOND, .still = 2100 * GN_MILLISECOND}, GN_EVIDENCE_STILL},
        {{.silent = 100 * GN_MILLISECOND, .still = 1100 * GN_MILLISECOND, .stuck = true}, GN_EVIDENCE_STUCK},
        {{.silent = 100 * GN_MILLISECOND, .still = 900 * GN_MILLISECOND, .stuck = true}, GN_EVIDENCE_NONE},
        {{.silent = 100 * GN_MILLISECOND, .left = true}, GN_EVIDENCE_LEFT},
        {{.silent = 9000 * GN_MILLISECOND, .still = 9000 * GN_MILLISECOND, .left = true, .stuck = true},
         GN_EVIDENCE_LEFT},
        {{.silent = 9000 * GN_MILLISECOND, .still = 9000 * GN_MILLISECOND, .stuck = true}, GN_EVIDENCE_SILENT},
    };
    ck_assert_int_eq(gn_suspect(&cases[_i].watch, GN_SECOND).evidence, cases[_i].evidence);
}
END_TEST

START_TEST(test_stronger_suspicion)
{
    gn_suspicion left = {GN_EVIDENCE_LEFT, 0}, silent = {GN_EVIDENCE_SILENT, 1200}, longer = {GN_EVIDENCE_SILENT, 1300},
                 still = {GN_EVIDENCE_STILL, 1900};
    ck_assert(gn_suspicion_stronger(left, longer) && !gn_suspicion_stronger(longer, left));
    ck_assert(gn_suspicion_stronger(longer, silent) && !gn_suspicion_stronger(silent, longer));
    ck_assert(gn_suspicion_stronger(silent, still) && !gn_suspicion_stronger(still, silent));
    ck_assert(!gn_suspicion_stronger(silent, silent));
}
END_TEST

START_TEST(test_bye_tells_why)
{
    uint8_t bytes[GN_FRAME_MAX];
    gn_failure why = {.status = GN_OK}, read;
    gn_frame frame;
    ck_assert_int_eq(gn_frame_parse(bytes, gn_bye_write(bytes, &why), &frame), GN_FRAME_HEADER);
    ck_assert(frame.type == GN_MSG_BYE && gn_bye_read(&frame, &read) && read.status == GN_OK);
    why = (gn_failure){.status = GN_PEER_LOST, .culprit = GN_NO_RANK, .reporter = 3, .text = "it is gone"};
    ck_assert_int_gt(gn_frame_parse(bytes, gn_bye_write(bytes, &why), &frame), GN_FRAME_HEADER);
    ck_assert(frame.type == GN_MSG_BYE && gn_bye_read(&frame, &read) && read.status == GN_PEER_LOST);
    ck_assert(read.reporter == 3 && read.culprit == GN_NO_RANK);
    ck_assert_str_eq(read.text, "it is gone");
    frame.length = 3;
    ck_assert(!gn_bye_read(&frame, &read));
}
END_TEST

static const gn_algorithm algorithms[] = {GN_RING, GN_WORKER_AGGREGATOR, GN_DIRECT};

static gn_comm *join(const ranks *group, int rank, int size, const char *name, gn_algorithm algorithm, int timeout_ms)
{
    char rendezvous[160];
    snprintf(rendezvous, sizeof rendezvous, "%s-%s", group->rendezvous, name);
    gn_comm_config config = rank_config(rank, group);
    config.size = size;
    config.rendezvous = rendezvous;
    config.algorithm = algorithm;
    config.timeout_ms = timeout_ms;
    gn_comm *comm = rank_meet(rank, group, &config);
    if (!comm) fprintf(stderr, "%s\n", group->reports[rank].text);
    RANK_CHECK(comm);
    return comm;
}

static void keep(report *r, gn_status status, const gn_comm *comm, double start)
{
    r->status = status;
    r->seconds = seconds_now() - start;
    snprintf(r->text, sizeof r->text, "%s", gn_comm_last_error(comm));
}

/// Rank 2 stops. By then rank 1 has all that it needs of rank 2, and has gone on to another
/// communicator. The others have not.
static void run_divided(int rank, const ranks *group, void *argument)
{
    const gn_algorithm *algorithm = argument;
    gn_comm *first = join(group, rank, SIZE, "first", *algorithm, 1000);
    gn_comm *second = join(group, rank, SIZE, "second", GN_RING, 1000);
    RANK_CHECK(!gn_barrier(second));
    double start = seconds_now();
    if (rank == VICTIM) kill(getpid(), SIGSTOP);
    if (rank != 1) usleep(500000);  // rank 1's deadline is the first to end
    gn_comm *waits_in = rank == 1 ? second : first;
    keep(&group->reports[rank], gn_barrier(waits_in), waits_in, start);
    gn_comm_free(first);
    gn_comm_free(second);
}

START_TEST(test_waiting_elsewhere_is_being_alive)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks group;
    ranks_start(&group, SIZE, run_divided, &algorithm);
    for (int i = 0; i < 100 && !(group.reports[0].text[0] && group.reports[1].text[0] && group.reports[3].text[0]); i++)
        usleep(100000);
    kill(group.pids[VICTIM], SIGKILL);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        if (rank == VICTIM) continue;
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(r->status == GN_PEER_LOST && strstr(r->text, "rank 2 (127.0.0.1) lost: no sign of life"),
                      "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
        ck_assert_msg(r->seconds < 4, "rank %d took %.1f s", rank, r->seconds);
    }
    const char *told = group.reports[1].text;
    ck_assert_msg(strstr(told, "has left the group because of a failure in another one: rank 2") != NULL, "%s", told);
    ranks_free(&group);
}
END_TEST

/// Rank 1 waits for rank 0 in the group of all, for longer than the deadline. Rank 0 waits in a
/// smaller group. With direct rank 1 would wait for rank 2 itself, which computes for too long.
static void run_smaller_group(int rank, const ranks *group, void *argument)
{
    const gn_algorithm *algorithm = argument;
    gn_comm *all = join(group, rank, 3, "all", *algorithm, 2000), *some = NULL;
    if (rank != 1) some = join(group, rank / 2, 2, "some", *algorithm, 2000);
    float values[COUNT] = {0};
    RANK_CHECK(!gn_allreduce(all, values, values, COUNT, GN_SUM));
    double start = seconds_now();
    if (rank == 0) usleep(1000000);
    if (rank == 2) usleep(2500000);
    if (some) RANK_CHECK(!gn_barrier(some));
    keep(&group->reports[rank], gn_allreduce(all, values, values, COUNT, GN_SUM), all, start);
    gn_comm_free(some);
    gn_comm_free(all);
}

START_TEST(test_long_wait_elsewhere_is_no_failure)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks group;
    ranks_start(&group, 3, run_smaller_group, &algorithm);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 3; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(r->status == GN_OK && r->seconds > 2.4, "rank %d after %.1f s: %s: %s", rank, r->seconds,
                      gn_status_string(r->status), r->text);
    }
    ranks_free(&group);
}
END_TEST

/// Rank 2 dies while the others are in a group of their own. That group goes on. The next call in
/// the group of all tells of the death.
static void run_death_elsewhere(int rank, const ranks *group, void *argument)
{
    const gn_algorithm *algorithm = argument;
    gn_comm *all = join(group, rank, 3, "all", *algorithm, 2000), *some = NULL;
    if (rank != VICTIM) some = join(group, rank, 2, "some", *algorithm, 2000);
    RANK_CHECK(!gn_barrier(all));
    if (rank == VICTIM) usleep(200000), kill(getpid(), SIGKILL);
    if (rank == 1) usleep(1200000);
    RANK_CHECK(!gn_barrier(some));
    double start = seconds_now();
    gn_status status = gn_barrier(all);
    RANK_CHECK(gn_barrier(all) == GN_DEAD);
    RANK_CHECK(!gn_barrier(some));
    keep(&group->reports[rank], status, all, start);
    gn_comm_free(some);
    gn_comm_free(all);
}

START_TEST(test_next_call_tells_of_a_failure_meanwhile)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks group;
    ranks_start(&group, 3, run_death_elsewhere, &algorithm);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 2; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(r->status == GN_PEER_LOST && strstr(r->text, "rank 2 (127.0.0.1) lost"), "rank %d: %s: %s", rank,
                      gn_status_string(r->status), r->text);
        ck_assert_msg(r->seconds < 1, "rank %d took %.1f s", rank, r->seconds);
    }
    ranks_free(&group);
}
END_TEST

/// A progress thread waits in one communicator and looks after the other. The caller uses the other
/// at the same time.
static void run_two_threads(int rank, const ranks *group, void *argument)
{
    const gn_algorithm *algorithm = argument;
    gn_comm *first = join(group, rank, 2, "first", *algorithm, 2000),
            *second = join(group, rank, 2, "second", GN_RING, 2000);
    float values[COUNT] = {0};
    for (int i = 0; i < 12; i++) {
        gn_request *request;
        gn_bucket bucket = {.send = values, .recv = values, .count = COUNT, .op = GN_SUM};
        if (rank == 1) usleep(150000);  // rank 0's thread waits, and has time to look
        RANK_CHECK(!gn_iallreduce(first, &bucket, &request));
        for (int k = 0; k < 20; k++) RANK_CHECK(!gn_barrier(second));
        RANK_CHECK(!gn_wait(request));
    }
    gn_comm_free(second);
    gn_comm_free(first);
}

START_TEST(test_two_threads)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks_run(2, run_two_threads, &algorithm, 50);
}
END_TEST

/// After the first group has failed, all are in a new one. Rank 0 leaves it in good order.
static void run_after_failure(int rank, const ranks *group, void *argument)
{
    const gn_algorithm *algorithm = argument;
    gn_comm *failed = join(group, rank, 2, "failed", *algorithm, 20000);
    if (!rank) RANK_CHECK(!gn_comm_abort(failed, "on purpose"));
    RANK_CHECK(gn_barrier(failed));
    gn_comm *later = join(group, rank, 2, "later", *algorithm, 20000);
    RANK_CHECK(!gn_barrier(later));
    double start = seconds_now();
    if (rank) keep(&group->reports[rank], gn_barrier(later), later, start);
    gn_comm_free(later);
    gn_comm_free(failed);
}

// What failed before a communicator was made is no reason for anything in it.
START_TEST(test_an_earlier_failure_is_no_reason)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks group;
    ranks_start(&group, 2, run_after_failure, &algorithm);
    ranks_wait(&group, 50);
    const report *r = &group.reports[1];
    for (int rank = 0; rank < 2; rank++) ck_assert_int_eq(group.exits[rank], 0);
    ck_assert_int_eq(r->status, GN_PEER_LOST);
    ck_assert_msg(strstr(r->text, "rank 0 (127.0.0.1) has left the group (gn_comm_free)") != NULL, "%s", r->text);
    ranks_free(&group);
}
END_TEST

/// Both ranks fork. Their children are a group of their own, and wait in it while the parents use
/// theirs. The children have copies of the parents' sockets.
static void run_forked(int rank, const ranks *group, void *argument)
{
    const gn_algorithm *algorithm = argument;
    gn_comm *first = join(group, rank, 2, "first", *algorithm, 4000);
    float values[COUNT] = {0};
    RANK_CHECK(!gn_barrier(first));
    const pid_t child = fork();
    RANK_CHECK(child >= 0);
    if (!child) {
        gn_comm *second = join(group, rank, 2, "second", *algorithm, 4000);
        if (rank) usleep(2500000);  // rank 0's child waits, and looks after all that is its own
        RANK_CHECK(!gn_barrier(second));
        gn_comm_free(second);
        _exit(0);
    }
    // What rank 1 says lies there for a second before rank 0 reads it.
    for (int i = 0; i < 2; i++) {
        if (!rank) usleep(1000000);
        RANK_CHECK(!gn_allreduce(first, values, values, COUNT, GN_SUM));
    }
    int status;
    RANK_CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    RANK_CHECK(!gn_barrier(first));
    gn_comm_free(first);
}

START_TEST(test_a_forked_process_leaves_its_parent_alone)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks_run(2, run_forked, &algorithm, 50);
}
END_TEST

/// Files of this process that are open.
static int files(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/// A child's copy of its parent's group: no call goes through, and freeing it closes its files.
static void use_copy(gn_comm *copy, const float *values, int before)
{
    float sums[COUNT];
    gn_request *request;
    const gn_bucket bucket = {.send = values, .recv = sums, .count = COUNT, .op = GN_SUM};
    RANK_CHECK(gn_allreduce(copy, values, sums, COUNT, GN_SUM) == GN_DEAD);
    RANK_CHECK(gn_iallreduce(copy, &bucket, &request) == GN_DEAD && !request);
    RANK_CHECK(gn_send(copy, values, 1, 1 - gn_comm_rank(copy), 0) == GN_DEAD);
    RANK_CHECK(gn_comm_abort(copy, "not mine") == GN_DEAD);
    RANK_CHECK(strstr(gn_comm_last_error(copy), "from which this one was forked"));
    RANK_CHECK(gn_comm_get_stats(copy).sent_bytes);
    gn_comm_free(copy);
    RANK_CHECK(files() == before);
}

typedef struct fork_case {
    gn_algorithm algorithm;
    bool queue;  // a request was started before
} fork_case;

/// A child frees its copy of the group, or ends without it. The parent's group goes on.
static void run_freed_copy(int rank, const ranks *group, void *argument)
{
    const fork_case *c = argument;
    const int before = files();
    gn_comm *comm = join(group, rank, 2, "freed", c->algorithm, 4000);
    float values[COUNT] = {0};
    const gn_bucket bucket = {.send = values, .recv = values, .count = COUNT, .op = GN_SUM};
    gn_request *request;
    if (c->queue) RANK_CHECK(!gn_iallreduce(comm, &bucket, &request) && !gn_wait(request));
    RANK_CHECK(!gn_allreduce(comm, values, values, COUNT, GN_SUM));
    if (rank) RANK_CHECK(!gn_send(comm, values, 4, 0, 7));
    if (!rank) RANK_CHECK(!gn_recv(comm, values, 4, 1, 7, NULL));
    for (int i = 0; i < 3; i++) {
        const pid_t child = fork();
        RANK_CHECK(child >= 0);
        if (!child) {
            signal(SIGALRM, SIG_DFL);
            alarm(20);
            use_copy(comm, values, before);
            _exit(0);
        }
        int status;
        RANK_CHECK(waitpid(child, &status, 0) == child && !status);
        RANK_CHECK(!gn_allreduce(comm, values, values, COUNT, GN_SUM));
        if (rank) RANK_CHECK(!gn_send(comm, values, 4, 0, 7));
        if (!rank) RANK_CHECK(!gn_recv(comm, values, 4, 1, 7, NULL));
    }
    RANK_CHECK(!gn_barrier(comm));
    gn_comm_free(comm);
    RANK_CHECK(files() == before);
}

START_TEST(test_a_forked_process_frees_its_copy)
{
    fork_case c = {.algorithm = algorithms[_i / 2], .queue = _i % 2};
    ranks_run(2, run_freed_copy, &c, 50);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void come_and_go(void)
{
    gn_comm_config config = gn_comm_config_default();
    gn_comm *comm;
    config.rank = 0;
    config.size = 1;
    RANK_CHECK(!gn_comm_init(&comm, &config));
    gn_comm_free(comm);
}

static void *come_and_go_on(void *argument)
{
    const volatile atomic_bool *over = argument;
    while (!atomic_load(over)) come_and_go();
    return NULL;
}

/// Whatever the threads of the parent are doing, its children can make groups. The sanitizers' own
/// allocator does not survive such a fork (their locks have no pthread_atfork()).
START_TEST(test_a_fork_at_any_moment)
{
    atomic_bool over = false;
    pthread_t thread;
    ck_assert(!pthread_create(&thread, NULL, come_and_go_on, &over));
    for (int i = 0; i < 400; i++) {
        const pid_t child = fork();
        ck_assert(child >= 0);
        if (!child) {
            signal(SIGALRM, SIG_DFL);  // Check's own would end the whole test without a word
            alarm(20);
            come_and_go();
            _exit(0);
        }
        int status;
        ck_assert(waitpid(child, &status, 0) == child);
        ck_assert_msg(!status, "child %d ended with %d", i, status);
    }
    atomic_store(&over, true);
    ck_assert(!pthread_join(thread, NULL));
}
END_TEST
#endif

/// Whether a process sleeps now.
static bool is_asleep(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    RANK_CHECK(file && fgets(text, sizeof text, file));
    fclose(file);
    const char *name_end = strrchr(text, ')');
    RANK_CHECK(name_end);
    return name_end[2] == 'S';
}

/// The last rank comes when it has seen each of the others asleep for a while.
static void run_sleep(int rank, const ranks *group, void *argument)
{
    const gn_algorithm *algorithm = argument;
    gn_comm *comm = join(group, rank, 3, "sleep", *algorithm, 20000);
    float values[COUNT] = {0};
    volatile uint64_t *begun = &group->reports[rank].values[0];
    RANK_CHECK(!gn_barrier(comm));
    *begun = 1;
    for (int other = 0; rank == 2 && other < 2; other++) {
        int in_a_row = 0;
        for (int tries = 0; in_a_row < 20 && tries < 5000; tries++, usleep(1000)) {
            const volatile uint64_t *there = &group->reports[other].values[0];
            in_a_row = *there && is_asleep(group->pids[other]) ? in_a_row + 1 : 0;
        }
        RANK_CHECK(in_a_row == 20);
    }
    RANK_CHECK(!gn_allreduce(comm, values, values, COUNT, GN_SUM));
    gn_comm_free(comm);
}

START_TEST(test_who_waits_sleeps)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks_run(3, run_sleep, &algorithm, 50);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm life");
    TCase *rule = tcase_create("rule");
    tcase_add_loop_test(rule, test_evidence, 0, 9);
    tcase_add_test(rule, test_stronger_suspicion);
    tcase_add_test(rule, test_bye_tells_why);
    suite_add_tcase(suite, rule);
    TCase *running = tcase_create("running");
    tcase_set_timeout(running, 60);
    tcase_add_loop_test(running, test_waiting_elsewhere_is_being_alive, 0, 3);
    tcase_add_loop_test(running, test_long_wait_elsewhere_is_no_failure, 0, 2);
    tcase_add_loop_test(running, test_next_call_tells_of_a_failure_meanwhile, 0, 3);
    tcase_add_loop_test(running, test_two_threads, 0, 3);
    tcase_add_loop_test(running, test_an_earlier_failure_is_no_reason, 0, 3);
    tcase_add_loop_test(running, test_a_forked_process_leaves_its_parent_alone, 0, 3);
    tcase_add_loop_test(running, test_a_forked_process_frees_its_copy, 0, 6);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(running, test_a_fork_at_any_moment);
#endif
    tcase_add_loop_test(running, test_who_waits_sleeps, 0, 3);
    suite_add_tcase(suite, running);
    return suite_run(suite);
}
