// SPDX-License-Identifier: Apache-2.0
// A rank is stopped while a group is set up. The errors name that rank, not those that wait for it.
// A stopped process keeps its connections, and its host accepts new ones for it.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "suite.h"
#include "switch_host.h"

enum { SIZE = 4, LATE = 3, TIMEOUT_MS = 2400 };  // rank LATE comes when the other one has stopped

static const gn_algorithm algorithms[] = {GN_RING, GN_WORKER_AGGREGATOR, GN_SWITCH, GN_DIRECT};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

typedef struct plan {
    gn_algorithm algorithm;
    const char *at_switch;
    int stopped;       ///< rank; -1: none
    bool all_late;     ///< all but that one
    unsigned late_ms;  ///< 0: 800
    int hasty;         ///< rank that has half the timeout; 0: none
} plan;

static volatile uint64_t *stopped;  ///< not 0: this rank stops now; shared by all

static void stop_here(int signal_number)
{
    (void)signal_number;
    *stopped = 1;
    (void)raise(SIGSTOP);
}

static void stop_soon(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 400000}};
    (void)signal(SIGALRM, stop_here);
    (void)setitimer(ITIMER_REAL, &soon, NULL);
}

static void run(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.switch_address = p->at_switch;
    config.timeout_ms = rank && rank == p->hasty ? TIMEOUT_MS / 2 : TIMEOUT_MS;
    if (p->stopped >= 0) stopped = &group->reports[p->stopped].values[0];
    if (rank == p->stopped) stop_soon();
    if (rank != p->stopped && (rank == LATE || p->all_late)) {
        usleep(1000 * (p->late_ms ? p->late_ms : 800));
        for (int ms = 0; stopped && !*stopped && ms < 10000; ms++) usleep(1000);
    }
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(!comm);
}

static void finish(ranks *group, const plan *p)
{
    for (int rank = 0; rank < SIZE; rank++)
        for (int i = 0; rank != p->stopped && i < 600 && !group->reports[rank].text[0]; i++) usleep(10000);
    for (int i = 0; p->stopped >= 0 && i < 50; i++, usleep(10000)) kill(group->pids[p->stopped], SIGCONT);
    ranks_wait(group, 20);
}

static void go(ranks *group, plan *p)
{
    ranks_start(group, SIZE, run, p);
    finish(group, p);
}

static void says(const ranks *group, int rank, gn_status status, const char *phrase)
{
    const report *r = &group->reports[rank];
    ck_assert_int_eq(group->exits[rank], 0);
    ck_assert_msg(r->status == status && strstr(r->text, phrase), "rank %d: %s: %s", rank, gn_status_string(r->status),
                  r->text);
}

static switch_host host;

START_TEST(test_rank_0_before_the_others_come)
{
    ranks group;
    plan p = {.algorithm = GN_RING, .all_late = true};
    go(&group, &p);
    for (int rank = 1; rank < SIZE; rank++)
        says(&group, rank, GN_TIMEOUT, "takes the connection, but has said nothing");
    ranks_free(&group);
}
END_TEST

START_TEST(test_rank_0_when_others_have_come)
{
    ranks group;
    plan p = {.algorithm = GN_RING};
    go(&group, &p);
    for (int rank = 1; rank < LATE; rank++) says(&group, rank, GN_PEER_LOST, "no sign of life from rank 0 (127.0.0.1");
    says(&group, LATE, GN_TIMEOUT, "takes the connection, but has said nothing");
    ranks_free(&group);
}
END_TEST

// A group of each algorithm. They wait at the same time.
START_TEST(test_rank_that_had_come)
{
    ranks groups[ALGORITHMS];
    plan plans[ALGORITHMS];
    for (int a = 0; a < ALGORITHMS; a++) {
        plans[a] = (plan){.algorithm = algorithms[a], .at_switch = host.address, .stopped = 2};
        ranks_start(&groups[a], SIZE, run, &plans[a]);
    }
    for (int a = 0; a < ALGORITHMS; a++) {
        finish(&groups[a], &plans[a]);
        for (int rank = 0; rank < SIZE; rank++)
            if (rank != 2) says(&groups[a], rank, GN_PEER_LOST, "no sign of life from rank 2 (127.0.0.1");
        ranks_free(&groups[a]);
    }
}
END_TEST

// When the last one comes late, there is time all the same to find out who is silent.
START_TEST(test_rank_that_had_come_long_ago)
{
    ranks group;
    plan p = {.algorithm = algorithms[0], .at_switch = host.address, .stopped = 2, .late_ms = 2200};
    go(&group, &p);
    for (int rank = 0; rank < SIZE; rank++)
        if (rank != p.stopped) says(&group, rank, GN_PEER_LOST, "no sign of life from rank 2 (127.0.0.1");
    ranks_free(&group);
}
END_TEST

static bool stops_at_go;

/// In place of libc's: a rank may stop as soon as it has heard GO.
ssize_t recv(int fd, void *buffer, size_t room, int flags)
{
    const ssize_t got = recvfrom(fd, buffer, room, flags, NULL, NULL);
    if (stops_at_go && got > 0 && memmem(buffer, (size_t)got, "GNC1\5", 5)) {
        stops_at_go = false;
        stop_here(0);
    }
    return got;
}

static void run_twice(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm_config config = rank_config(rank, group);
    config.timeout_ms = 4000;
    stopped = &group->reports[p->stopped].values[0];
    stops_at_go = rank == p->stopped;
    gn_comm *first = rank_init(rank, group, &config);
    if (rank == p->stopped) return;
    RANK_CHECK(first);
    RANK_CHECK(!rank_init(rank, group, &config));
    gn_comm_free(first);
}

/// It stops as the group is complete. Rank 0 waits until all have heard so, but not for so long
/// that the others, who go on, miss rank 0.
START_TEST(test_rank_that_has_heard_the_last_message)
{
    ranks group;
    plan p = {.stopped = 2};
    ranks_start(&group, 3, run_twice, &p);
    for (int rank = 0; rank < p.stopped; rank++)
        for (int i = 0; i < 1500 && !group.reports[rank].text[0]; i++) usleep(10000);
    for (int i = 0; i < 50; i++, usleep(10000)) kill(group.pids[p.stopped], SIGCONT);
    ranks_wait(&group, 20);
    for (int rank = 0; rank < p.stopped; rank++) says(&group, rank, GN_TIMEOUT, "rank 2 did not come within 4000 ms");
    ranks_free(&group);
}
END_TEST

/// A rank with a short deadline accuses nobody. Others say only as much as their deadlines ask for.
START_TEST(test_different_timeouts)
{
    ranks group;
    plan p = {.algorithm = GN_RING, .stopped = -1, .late_ms = 2000, .hasty = 1};
    go(&group, &p);
    for (int rank = 0; rank < LATE; rank++) says(&group, rank, GN_TIMEOUT, "rank 3 did not come within 1200 ms");
    ranks_free(&group);
}
END_TEST

/// The least is everyone's from the moment on when all have come.
static void run_healthy(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.switch_address = p->at_switch;
    config.timeout_ms = rank == p->hasty ? 1000 : 30000;
    if (rank == 1) usleep(750000);
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    if (rank == 2) usleep(400000);
    RANK_CHECK(!gn_barrier(comm));
    gn_comm_free(comm);
}

START_TEST(test_different_timeouts_that_suffice)
{
    ranks groups[ALGORITHMS];
    plan plans[ALGORITHMS];
    for (int a = 0; a < ALGORITHMS; a++) {
        plans[a] = (plan){.algorithm = algorithms[a], .at_switch = host.address, .hasty = _i};
        ranks_start(&groups[a], SIZE, run_healthy, &plans[a]);
    }
    for (int a = 0; a < ALGORITHMS; a++) {
        ranks_wait(&groups[a], 20);
        for (int rank = 0; rank < SIZE; rank++) ck_assert_int_eq(groups[a].exits[rank], 0);
        ranks_free(&groups[a]);
    }
}
END_TEST

START_TEST(test_switch)
{
    ranks group;
    char phrase[100];
    plan p = {.algorithm = GN_SWITCH, .at_switch = host.address, .stopped = -1, .late_ms = _i ? 2200 : 800};
    snprintf(phrase, sizeof phrase, "no sign of life from the switch %s for ", host.address);
    kill(host.pid, SIGSTOP);
    go(&group, &p);
    for (int rank = 0; rank < SIZE; rank++) says(&group, rank, GN_PEER_LOST, phrase);
    ranks_free(&group);
}
END_TEST

static void begin(void)
{
    switch_start(&host, NULL);
}

static void end(void)
{
    switch_stop(&host, SIGKILL);
}

int main(void)
{
    Suite *suite = suite_create("comm silent");
    TCase *silent = tcase_create("silent");
    tcase_set_timeout(silent, 60);
    tcase_add_checked_fixture(silent, begin, end);
    tcase_add_test(silent, test_rank_0_before_the_others_come);
    tcase_add_test(silent, test_rank_0_when_others_have_come);
    tcase_add_test(silent, test_rank_that_had_come);
    tcase_add_test(silent, test_rank_that_had_come_long_ago);
    tcase_add_test(silent, test_rank_that_has_heard_the_last_message);
    tcase_add_loop_test(silent, test_switch, 0, 2);
    tcase_add_test(silent, test_different_timeouts);
    tcase_add_loop_test(silent, test_different_timeouts_that_suffice, 0, 2);
    suite_add_tcase(suite, silent);
    return suite_run(suite);
}
