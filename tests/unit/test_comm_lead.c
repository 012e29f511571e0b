// SPDX-License-Identifier: Apache-2.0
// Calls that go ahead of the values, on data connections: small vectors and barriers of direct and
// auto over TCP. The news of them comes on two connections, in any order.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "ring/group.h"
#include "suite.h"

enum { SIZE = 3, VICTIM = 2, SMALL = 100, LARGE = 1 << 18 };

// What this rank reads ------------------------------------------------------------------------

static int slow_fd = -1;       ///< nothing is read here before `slow_until`
static double slow_until;      ///< seconds_now()
static size_t bite_at_a_time;  ///< bytes; 0: as many as there are

/// In place of libc's.
ssize_t recv(int fd, void *buffer, size_t room, int flags)
{
    if (fd == slow_fd && seconds_now() < slow_until) {
        errno = EAGAIN;
        return -1;
    }
    if (bite_at_a_time && room > bite_at_a_time) room = bite_at_a_time;
    return recvfrom(fd, buffer, room, flags, NULL, NULL);
}

static gn_comm *init(int rank, const ranks *group, gn_algorithm algorithm)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = algorithm;
    config.no_shared_memory = true;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    return comm;
}

static void keep(report *r, gn_status status, const gn_comm *comm)
{
    r->status = status;
    snprintf(r->text, sizeof r->text, "%s", gn_comm_last_error(comm));
}

static gn_status sum(gn_comm *comm, size_t count)
{
    static float values[LARGE];
    return gn_allreduce(comm, values, values, count, GN_SUM);
}

static gn_status ones(gn_comm *comm)
{
    float value = 1;
    const gn_status status = gn_allreduce(comm, &value, &value, 1, GN_SUM);
    RANK_CHECK(status || value == SIZE);
    return status;
}

// In pieces -----------------------------------------------------------------------------------

/// Each rank reads as many bytes at a time as `*argument` says.
static void run_pieces(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(rank, group);
    const int what = *(int *)argument;
    config.algorithm = GN_DIRECT;
    config.no_shared_memory = true;
    config.quantise = what % 2;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    float values[SMALL];
    bite_at_a_time = 1 + (size_t)(what / 2);
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < SMALL; i++) values[i] = (float)(i % 7 + rank);
        RANK_CHECK(!gn_allreduce(comm, values, values, SMALL, GN_SUM));
        for (int i = 0; i < SMALL; i++) RANK_CHECK(values[i] == (float)(3 * (i % 7) + 3));
        RANK_CHECK(!gn_barrier(comm));
    }
    gn_comm_free(comm);
}

START_TEST(a_call_may_come_in_pieces)
{
    static const int bites[] = {1, 41, 42, 43, 57, 58};
    for (int coded = 0; coded < 2; coded++) {
        int what = 2 * (bites[_i] - 1) + coded;
        ranks_run(SIZE, run_pieces, &what, 30);
    }
}
END_TEST

// One that has called something else ----------------------------------------------------------

static const struct {
    gn_algorithm algorithm;
    size_t count[2];  ///< 0: a barrier; the second is the victim's
} calls[] = {{GN_DIRECT, {SMALL, SMALL - 1}}, {GN_DIRECT, {SMALL, 0}},     {GN_DIRECT, {0, SMALL}},
             {GN_DIRECT, {SMALL, LARGE}},     {GN_DIRECT, {LARGE, SMALL}}, {GN_DIRECT, {LARGE, 0}},
             {GN_AUTO, {SMALL, LARGE}},       {GN_AUTO, {LARGE, SMALL}},   {GN_AUTO, {0, LARGE}}};

static void run_others(int rank, const ranks *group, void *argument)
{
    const int which = *(int *)argument;
    gn_comm *comm = init(rank, group, calls[which].algorithm);
    const size_t count = calls[which].count[rank == VICTIM];
    gn_status status = GN_OK;
    // A rank that is ahead may find out, and tell, while others are still in the call before.
    for (int i = 0; i < 3 && !status; i++) status = ones(comm);
    if (!status) status = count ? sum(comm, count) : gn_barrier(comm);
    keep(&group->reports[rank], status, comm);
    gn_comm_free(comm);
}

static void say_call(size_t count, char text[64])
{
    snprintf(text, 64, count ? "called sum of %zu values" : "called barrier", count);
}

START_TEST(all_are_told_both_calls)
{
    char ours[64], victims[64];
    ranks group;
    say_call(calls[_i].count[0], ours);
    say_call(calls[_i].count[1], victims);
    ranks_start(&group, SIZE, run_others, &_i);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_msg(!group.exits[rank] && r->status == GN_MISMATCH, "rank %d: %s: %s", rank,
                      gn_status_string(r->status), r->text);
        ck_assert_msg(strstr(r->text, ours) && strstr(r->text, victims), "rank %d says: %s", rank, r->text);
    }
    ranks_free(&group);
}
END_TEST

static void run_stranger(int rank, const ranks *group, void *argument)
{
    const int barrier = *(int *)argument;
    gn_comm *comm = init(rank, group, GN_DIRECT);
    static const char lies[64] = "GNC1 is how a call begins";
    gn_status status = GN_OK;
    for (int i = 0; i < comm->neighbour_count && rank == VICTIM; i++)
        RANK_CHECK(send(comm->neighbours[i].data_out, lies, sizeof lies, 0) == sizeof lies);
    // The victim itself may end the first one well, and hears of the failure in the next.
    for (int i = 0; i < 2 && !status; i++) status = barrier ? gn_barrier(comm) : ones(comm);
    keep(&group->reports[rank], status, comm);
    gn_comm_free(comm);
}

START_TEST(what_is_no_call_is_named)
{
    ranks group;
    ranks_start(&group, SIZE, run_stranger, &_i);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_msg(r->status == GN_CORRUPT &&
                          strstr(r->text, "rank 2 (127.0.0.1) sent values without a call ahead of them in "),
                      "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
    }
    ranks_free(&group);
}
END_TEST

// One connection is quicker than the other ----------------------------------------------------

/// Rank 0 reads the values of the victim late. Meanwhile it reads that the victim has left, or has
/// failed in the call after.
static void run_late(int rank, const ranks *group, void *argument)
{
    enum { LEAVES, FAILS };
    const int *what = argument;
    gn_comm *comm = init(rank, group, GN_DIRECT);
    if (rank == 0) {
        slow_fd = comm->neighbours[VICTIM - 1].data_in;
        slow_until = seconds_now() + 0.7;
    }
    gn_status status = ones(comm);
    RANK_CHECK(!status);
    if (rank == VICTIM && *what == FAILS) comm->timeout_ms = 100;  // rank 1 comes late to the next one
    // Not before the victim has given it up, however busy the machine is.
    for (int i = 0; rank == 1 && *what == FAILS && i < 1000 && !group->reports[VICTIM].text[0]; i++) usleep(10000);
    if (rank != VICTIM || *what == FAILS) status = ones(comm);
    keep(&group->reports[rank], status, comm);
    gn_comm_free(comm);
}

START_TEST(news_may_overtake_values)
{
    ranks group;
    ranks_start(&group, SIZE, run_late, &_i);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        if (!_i && rank == VICTIM) continue;
        ck_assert_msg(r->status == GN_PEER_LOST &&
                          strstr(r->text, _i ? "lost: no sign of life for 100 ms" : "rank 2 (127.0.0.1) has left"),
                      "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
    }
    ranks_free(&group);
}
END_TEST

// Death ---------------------------------------------------------------------------------------

/// Until one fails. The victim dies after so many milliseconds, wherever it is then.
static void run_until_death(int rank, const ranks *group, void *argument)
{
    const int *after_ms = argument;
    gn_comm *comm = init(rank, group, GN_DIRECT);
    gn_status status = GN_OK;
    const double start = seconds_now();
    for (int i = 0; !status; i++) {
        status = i % 2 ? ones(comm) : gn_barrier(comm);
        if (rank == VICTIM && seconds_now() - start > *after_ms * 1e-3) raise(SIGKILL);
    }
    keep(&group->reports[rank], status, comm);
    gn_comm_free(comm);
}

START_TEST(the_dead_are_named)
{
    ranks group;
    ranks_start(&group, SIZE, run_until_death, &_i);
    ranks_wait(&group, 15);  // the deadline is 20 s
    for (int rank = 0; rank < VICTIM; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(r->status == GN_PEER_LOST && strstr(r->text, "rank 2 (127.0.0.1) lost"), "rank %d: %s: %s", rank,
                      gn_status_string(r->status), r->text);
    }
    ck_assert(WIFSIGNALED(group.exits[VICTIM]));
    ranks_free(&group);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm lead");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_call_may_come_in_pieces, 0, 6);
    tcase_add_loop_test(tcase, all_are_told_both_calls, 0, sizeof calls / sizeof *calls);
    tcase_add_loop_test(tcase, what_is_no_call_is_named, 0, 2);
    tcase_add_loop_test(tcase, news_may_overtake_values, 0, 2);
    tcase_add_loop_test(tcase, the_dead_are_named, 1, 5);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
