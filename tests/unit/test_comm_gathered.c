// SPDX-License-Identifier: Apache-2.0
// Ranks that meet by an all_gather of their caller: here, memory that they share.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "suite.h"

enum { ROOM = 8 << 10 };

typedef struct board {
    pthread_barrier_t all_here;
    char notes[RANKS_MAX][ROOM];
    int calls[RANKS_MAX];
    int fail_at;                  ///< the call that fails, from 1; 0: none
    int wrong_rank;               ///< a rank with a wrong configuration; -1: none
    int no_interface, no_secret;  ///< ranks that lack something; -1: none
    int no_switch, no_files;      ///< the same
    int other_job, own_secret;    ///< ranks that have something alone; -1: none
    int other_algorithm;          ///< a rank; -1: none
    int late;                     ///< a rank that is slow between the all_gather and the meeting
    char secret[64];              ///< a file that is fit
    bool turned;                  ///< ranks have other numbers than in the all_gather
} board;

typedef struct view {
    board *on;
    int rank, size;
} view;

static int gather(void *context, const void *own, void *all, size_t bytes)
{
    const view *v = context;
    board *b = v->on;
    if (bytes > ROOM) return ENOSPC;
    memcpy(b->notes[v->rank], own, bytes);
    pthread_barrier_wait(&b->all_here);
    for (int i = 0; i < v->size; i++) memcpy((char *)all + (size_t)i * bytes, b->notes[i], bytes);
    pthread_barrier_wait(&b->all_here);
    if (v->rank == b->late && b->calls[v->rank] == 1) usleep(1500000);
    return ++b->calls[v->rank] == b->fail_at ? 42 : 0;
}

enum { FILES_LEFT = 4 };

/// From now on this process can open only so many files more.
static void leave_few_files(void)
{
    int files[FILES_LEFT];
    for (int i = 0; i < FILES_LEFT; i++) files[i] = dup(0);
    const struct rlimit limit = {(rlim_t)files[FILES_LEFT - 1] + 1, (rlim_t)files[FILES_LEFT - 1] + 1};
    RANK_CHECK(files[0] > 0 && !setrlimit(RLIMIT_NOFILE, &limit));
    for (int i = 0; i < FILES_LEFT; i++) close(files[i]);
}

static gn_comm *meet(int rank, const ranks *group, board *b, const char *interface)
{
    view v = {.on = b, .rank = rank, .size = group->size};
    gn_comm_config config = rank_config(rank, group);
    gn_comm *comm = NULL;
    config.rendezvous = "file:///nowhere/at/all";  // is not looked at
    config.interface = interface;
    if (rank == b->wrong_rank) config.data_tos = 999;
    if (rank == b->no_interface) config.interface = "gn-not-there0";
    if (b->no_switch >= 0) {
        config.algorithm = GN_SWITCH;
        config.switch_address = rank == b->no_switch ? "127.0.0.1" : "127.0.0.1:9";  // without a port
    }
    if (rank == b->no_files) leave_few_files();
    if (rank == b->no_secret) config.secret_file = "/no/such/secret";
    if (rank == b->other_job) setenv("GRADNIC_JOB", "another", 1);
    if (rank == b->own_secret) config.secret_file = b->secret;
    if (rank == b->other_algorithm) config.algorithm = GN_DIRECT;
    if (b->turned) config.rank = (rank + 1) % group->size;
    report *r = &group->reports[rank];
    r->status = gn_comm_init_gathered(&comm, &config, gather, &v);
    RANK_CHECK(!comm == (r->status != GN_OK));
    if (r->status) snprintf(r->text, sizeof r->text, "%s", gn_comm_last_error(NULL));
    return comm;
}

static void run_sums(int rank, const ranks *group, void *argument)
{
    for (int i = 0; i < 2; i++) {
        gn_comm *comm = meet(rank, group, argument, i ? "127.0.0.0/8" : NULL);
        if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
        float values[2] = {(float)rank, 1};
        RANK_CHECK(comm && !gn_allreduce(comm, values, values, 2, GN_SUM));
        RANK_CHECK(values[0] == (float)(group->size * (group->size - 1) / 2) && values[1] == (float)group->size);
        RANK_CHECK(gn_comm_rank(comm) == rank && gn_comm_size(comm) == group->size);
        gn_comm_free(comm);
    }
}

static board *new_board(int size)
{
    board *b = ranks_share(sizeof *b);
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&b->all_here, &shared, (unsigned)size);
    b->wrong_rank = b->no_interface = b->no_secret = b->no_switch = b->no_files = b->other_job = b->own_secret =
        b->other_algorithm = b->late = -1;
    return b;
}

static const int sizes[] = {1, 2, 3, 5};

START_TEST(test_sums)
{
    board *b = new_board(sizes[_i]);
    ranks_run(sizes[_i], run_sums, b, 60);
    for (int rank = 0; rank < sizes[_i]; rank++) ck_assert_int_eq(b->calls[rank], 4);
    munmap(b, sizeof *b);
}
END_TEST

static void run_failing(int rank, const ranks *group, void *argument)
{
    RANK_CHECK(!meet(rank, group, argument, NULL));
}

static void all_fail(board *b, gn_status status, const char *text)
{
    ranks group;
    ranks_start(&group, 3, run_failing, b);
    ranks_wait(&group, 60);
    for (int rank = 0; rank < 3; rank++) {
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_int_eq(group.reports[rank].status, status);
        ck_assert_msg(strstr(group.reports[rank].text, text), "rank %d: %s", rank, group.reports[rank].text);
    }
    ranks_free(&group);
    munmap(b, sizeof *b);
}

// The same, of one rank: all are told which.
static void all_hear(board *b, int rank, gn_status status, const char *what)
{
    char text[96];
    snprintf(text, sizeof text, "rank %d: %s", rank, what);
    all_fail(b, status, text);
}

// One rank is wrong, and every rank is told. None waits for it.
START_TEST(test_wrong_rank)
{
    board *b = new_board(3);
    b->wrong_rank = _i;
    all_hear(b, _i, GN_INVALID, "data_tos is 999");
}
END_TEST

START_TEST(test_another_order)
{
    board *b = new_board(3);
    b->turned = true;
    all_fail(b, GN_MISMATCH, "the all_gather has rank 1 of 3 in place 0 of 3");
}
END_TEST

START_TEST(test_gather_fails)
{
    board *b = new_board(3);
    b->fail_at = _i;
    all_fail(b, GN_IO, "all_gather that ranks were to meet by failed with 42");
}
END_TEST

// What each rank finds out alone is told before any waits for another: by the board's rank.
START_TEST(test_no_interface)
{
    board *b = new_board(3);
    b->no_interface = _i;
    all_hear(b, _i, GN_INVALID, "interface 'gn-not-there0'");
}
END_TEST

START_TEST(test_no_secret)
{
    board *b = new_board(3);
    b->no_secret = _i;
    all_hear(b, _i, GN_IO, "secret file /no/such/secret");
}
END_TEST

START_TEST(test_no_switch)
{
    board *b = new_board(3);
    b->no_switch = _i;
    all_hear(b, _i, GN_INVALID, "switch_address '127.0.0.1': want host:port");
}
END_TEST

START_TEST(test_no_files)
{
    board *b = new_board(3);
    b->no_files = _i;
    all_hear(b, _i, GN_IO, _i ? "no room for the 8 open files" : "no room for the 11 open files");
}
END_TEST

/// Rank 0 would wait for such a rank until the deadline.
START_TEST(test_another_job)
{
    board *b = new_board(3);
    b->other_job = _i;
    char text[64];
    snprintf(text, sizeof text, "rank %d belongs to another job than rank 0", _i ? _i : 1);
    all_fail(b, GN_MISMATCH, text);
}
END_TEST

START_TEST(test_a_secret_of_one_rank)
{
    board *b = new_board(3);
    b->own_secret = _i;
    char path[] = "/tmp/gradnic-test-XXXXXX";
    const int fd = mkstemp(path);
    strcpy(b->secret, path);
    ck_assert(fd >= 0 && write(fd, "a secret of many bytes", 22) == 22 && !close(fd));
    all_fail(b, GN_MISMATCH,
             _i ? "shared secret, and rank 0 has none" : "rank 1 has no shared secret, and rank 0 has one");
    ck_assert(!unlink(path));
}
END_TEST

/// A rank that comes late to the meeting would find nobody there, and wait until its deadline.
START_TEST(test_another_algorithm)
{
    board *b = new_board(3);
    b->other_algorithm = _i;
    b->late = 2 - _i;
    char text[64];
    snprintf(text, sizeof text, "rank %d has algorithm %s, rank 0 has algorithm %s", _i ? _i : 1,
             _i ? "direct" : "ring", _i ? "ring" : "direct");
    all_fail(b, GN_MISMATCH, text);
}
END_TEST

static void refused(int rank, int size, const char *text)
{
    gn_comm_config config = gn_comm_config_default();
    gn_comm *comm = (gn_comm *)(uintptr_t)1;
    config.rank = rank;
    config.size = size;
    ck_assert_int_eq(gn_comm_init_gathered(&comm, &config, gather, NULL), GN_INVALID);  // it is not called
    ck_assert(!comm && strstr(gn_comm_last_error(NULL), text));
}

START_TEST(test_refused)
{
    gn_comm_config config = gn_comm_config_default();
    gn_comm *comm;
    refused(-1, 2, "rank -1 of 2");
    refused(2, 2, "rank 2 of 2");
    refused(0, -1, "size -1");
    refused(0, 257, "size 257");
    ck_assert_int_eq(gn_comm_init_gathered(NULL, &config, gather, NULL), GN_INVALID);
    ck_assert(strstr(gn_comm_last_error(NULL), "comm is NULL"));
    ck_assert_int_eq(gn_comm_init_gathered(&comm, NULL, gather, NULL), GN_INVALID);
    ck_assert(strstr(gn_comm_last_error(NULL), "config is NULL"));
    ck_assert_int_eq(gn_comm_init_gathered(&comm, &config, NULL, NULL), GN_INVALID);
    ck_assert(strstr(gn_comm_last_error(NULL), "all_gather is NULL"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm gathered");
    TCase *tcase = tcase_create("comm gathered");
    tcase_set_timeout(tcase, 100);
    tcase_add_loop_test(tcase, test_sums, 0, sizeof sizes / sizeof *sizes);
    tcase_add_loop_test(tcase, test_wrong_rank, 0, 3);
    tcase_add_loop_test(tcase, test_gather_fails, 1, 3);
    tcase_add_loop_test(tcase, test_no_interface, 0, 3);
    tcase_add_loop_test(tcase, test_no_secret, 0, 3);
    tcase_add_loop_test(tcase, test_no_switch, 0, 3);
    tcase_add_loop_test(tcase, test_no_files, 0, 3);
    tcase_add_loop_test(tcase, test_another_job, 0, 3);
    tcase_add_loop_test(tcase, test_a_secret_of_one_rank, 0, 3);
    tcase_add_loop_test(tcase, test_another_algorithm, 0, 3);
    tcase_add_test(tcase, test_another_order);
    tcase_add_test(tcase, test_refused);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
