// SPDX-License-Identifier: Apache-2.0
// The algorithm switch when something goes wrong, and leaving in good order. Nothing hangs, and the
// message says whether a rank or the switch failed.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gradnic/admission.h>

#include "comm_ranks.h"
#include "net/clock.h"
#include "ring/pace.h"
#include "suite.h"
#include "switch_host.h"

enum { SIZE = 3, VICTIM = 1, LARGE = 1 << 16 };

typedef struct plan {
    switch_host *host;
    int timeout_ms;
    int *progress;  // shared: collectives that rank 0 has finished
    int die;        // a signal that the victim sends itself; 0: none
    gn_profile profile;
    bool leaves;         // the victim, in good order
    size_t other_count;  // of the victim's call
    gn_algorithm algorithm;
    bool queue;  // a request was started before
} plan;

static gn_comm_config plan_config(int rank, const ranks *group, const plan *p)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = GN_SWITCH;
    config.switch_address = p->host->address;
    config.switch_streams = 2;
    config.switch_values = 256;
    config.timeout_ms = p->timeout_ms;
    return config;
}

static void keep(report *r, gn_status status, const gn_comm *comm, double start)
{
    r->status = status;
    r->seconds = seconds_now() - start;
    snprintf(r->text, sizeof r->text, "%s", gn_comm_last_error(comm));
}

static void run_until_failure(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    const gn_comm_config config = plan_config(rank, group, p);
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) return;
    float *values = calloc(LARGE, sizeof *values);
    gn_status status = GN_OK;
    double start = 0;
    for (int i = 0; !status; i++) {
        if (i == 5 && rank == VICTIM && p->die) kill(getpid(), p->die);
        if (i == 5 && rank == VICTIM && p->leaves) {
            gn_comm_free(comm);
            return;
        }
        start = seconds_now();
        const size_t count = rank == VICTIM && i == 2 && p->other_count ? p->other_count : LARGE;
        status = gn_allreduce(comm, values, values, count, GN_SUM);
        if (!rank) *p->progress = i;
    }
    keep(&group->reports[rank], status, comm, start);
    RANK_CHECK(gn_allreduce(comm, values, values, 1, GN_SUM) == GN_DEAD);
    gn_comm_free(comm);
}

static void expect(const ranks *group, gn_status status, const char *phrase, double seconds, bool victim)
{
    for (int rank = 0; rank < group->size; rank++) {
        const report *r = &group->reports[rank];
        if (rank == VICTIM && !victim) continue;
        ck_assert_int_eq(group->exits[rank], 0);
        ck_assert_msg(r->status == status, "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
        ck_assert_msg(strstr(r->text, phrase) != NULL, "rank %d says: %s", rank, r->text);
        ck_assert_msg(r->seconds < seconds, "rank %d took %.1f s", rank, r->seconds);
    }
}

static switch_host host;
static int *progress;

static void setup(void)
{
    progress = ranks_share(sizeof *progress);
}

/// Waits until the exchange is under way.
static void await_progress(void)
{
    for (int i = 0; i < 2000 && *progress < 3; i++) usleep(10000);
    ck_assert_int_ge(*progress, 3);
}

/// Ranks below a switch until they fail: as expect() says.
static void fails(const switch_faults *faults, plan p, gn_status status, const char *phrase, double seconds,
                  bool victim)
{
    ranks group;
    switch_start(&host, faults);
    ranks_start(&group, SIZE, run_until_failure, &p);
    ranks_wait(&group, 30);
    expect(&group, status, phrase, seconds, victim);
    ranks_free(&group);
    switch_stop(&host, SIGKILL);
}

START_TEST(test_killed_rank_is_named)
{
    fails(NULL, (plan){.host = &host, .timeout_ms = 20000, .progress = progress, .die = SIGKILL}, GN_PEER_LOST,
          "rank 1 (127.0.0.1) lost", 5, false);
}
END_TEST

// The switch ends the job then. It is not to blame.
START_TEST(test_leaver_is_named)
{
    fails(NULL, (plan){.host = &host, .timeout_ms = 5000, .progress = progress, .leaves = true}, GN_PEER_LOST,
          "rank 1 (127.0.0.1) has left", 8, false);
}
END_TEST

// Also to the switch: the stopped one keeps its connection there.
START_TEST(test_silent_rank_is_named)
{
    char *told = ranks_share(GN_ADMISSION_TEXT);
    switch_start(&host, &(switch_faults){.told = told});
    plan p = {.host = &host, .timeout_ms = 2000, .progress = progress, .die = SIGSTOP};
    ranks group;
    ranks_start(&group, SIZE, run_until_failure, &p);
    for (int i = 0; i < 100 && !(group.reports[0].text[0] && group.reports[2].text[0]); i++) usleep(100000);
    for (int i = 0; i < 50; i++, usleep(20000))
        kill(group.pids[VICTIM], SIGCONT);  // on a busy machine it may yet be to stop
    ranks_wait(&group, 30);
    expect(&group, GN_PEER_LOST, "rank 1 (127.0.0.1) lost: no sign of life for 2000 ms", 8, false);
    ck_assert_msg(strstr(told, "rank 1 (127.0.0.1) lost: no sign of life for 2000 ms") != NULL, "told '%s'", told);
    const report *r = &group.reports[VICTIM];
    ck_assert_msg(strstr(r->text, "this rank was given up by the others: rank 1 (127.0.0.1) lost") != NULL, "%s",
                  r->text);
    ranks_free(&group);
    switch_stop(&host, SIGKILL);
}
END_TEST

/// Rank 0 waits for a word of the parent before its last collective.
static void run_through_a_pause(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm_config config = plan_config(rank, group, p);
    config.algorithm = p->algorithm;
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) return;
    float *values = calloc(LARGE, sizeof *values);
    gn_status status = GN_OK;
    for (int i = 0; !status && i <= 5; i++) {
        if (!rank) *p->progress = i;
        while (!rank && i == 5 && *p->progress < 6) usleep(1000);
        status = gn_allreduce(comm, values, values, LARGE, GN_SUM);
    }
    keep(&group->reports[rank], status, comm, 0);
    gn_comm_free(comm);
}

enum { PAUSED = 4 };  // groups that stand still at the same time, of an algorithm each
_Static_assert(GN_ALGORITHMS % PAUSED == 0, "every algorithm has its turn");

// As a batch system suspends a job. A rank that stood still itself blames nobody, neither rank nor
// switch.
START_TEST(test_ranks_that_stood_still_blame_nobody)
{
    int *at = ranks_share(PAUSED * sizeof *at);
    plan plans[PAUSED];
    ranks groups[PAUSED];
    switch_start(&host, NULL);
    for (int g = 0; g < PAUSED; g++) {
        plans[g] = (plan){.host = &host, .timeout_ms = 2000, .progress = &at[g]};
        plans[g].algorithm = (gn_algorithm)(_i * PAUSED + g);
        ranks_start(&groups[g], SIZE, run_through_a_pause, &plans[g]);
    }
    for (int g = 0; g < PAUSED; g++)
        for (int i = 0; i < 2000 && *(volatile int *)&at[g] < 5; i++) usleep(10000);
    usleep(100000);  // the others wait for rank 0, and for the switch
    for (int g = 0; g < PAUSED; g++)
        for (int rank = SIZE; rank--;) kill(groups[g].pids[rank], SIGSTOP);
    usleep(4500000);  // more than twice the deadline
    for (int g = 0; g < PAUSED; g++) {
        at[g] = 6;
        for (int rank = SIZE; rank--;) kill(groups[g].pids[rank], SIGCONT);
    }
    for (int g = 0; g < PAUSED; g++) {
        ranks_wait(&groups[g], 30);
        for (int rank = 0; rank < SIZE; rank++) {
            ck_assert_int_eq(groups[g].exits[rank], 0);
            ck_assert_msg(!groups[g].reports[rank].status, "%s: rank %d: %s", gn_algorithm_name(plans[g].algorithm),
                          rank, groups[g].reports[rank].text);
        }
        ranks_free(&groups[g]);
    }
    switch_stop(&host, SIGKILL);
}
END_TEST

// As when a host with all of them is suspended. Ranks stop in the middle of a collective. When they
// go on, the switch is not quite there yet. Rank 0 knows that all are in the collective, and has
// had no result for longer than the deadline. But it stood still itself.
START_TEST(test_ranks_that_stood_still_do_not_blame_the_switch)
{
    switch_start(&host, NULL);
    plan p = {.host = &host, .timeout_ms = 4000, .progress = progress};
    ranks group;
    ranks_start(&group, SIZE, run_until_failure, &p);
    await_progress();
    kill(host.pid, SIGSTOP);
    usleep(300000);  // all wait for the switch
    for (int rank = SIZE; rank--;) kill(group.pids[rank], SIGSTOP);
    const int before = *progress;
    usleep(4500000);
    for (int rank = SIZE; rank--;) kill(group.pids[rank], SIGCONT);
    usleep(500000);
    kill(host.pid, SIGCONT);
    for (int i = 0; i < 3000 && *progress < before + 3 && !group.reports[0].text[0]; i++) usleep(10000);
    for (int rank = 0; rank < SIZE; rank++)
        ck_assert_msg(!group.reports[rank].text[0], "rank %d: %s", rank, group.reports[rank].text);
    ck_assert_int_ge(*progress, before + 3);
    kill(host.pid, SIGKILL);
    ranks_wait(&group, 30);
    ranks_free(&group);
    switch_stop(&host, SIGKILL);
}
END_TEST

// Killed: its connections end. Stopped: it is silent. One rank alone notices too, though nobody
// else can tell it.
START_TEST(test_lost_switch_is_named)
{
    const bool stopped = _i & 1;
    const int size = _i & 2 ? 1 : SIZE;
    char phrase[128];
    switch_start(&host, NULL);
    plan p = {.host = &host, .timeout_ms = stopped ? 2000 : 20000, .progress = progress};
    ranks group;
    ranks_start(&group, size, run_until_failure, &p);
    await_progress();
    kill(host.pid, stopped ? SIGSTOP : SIGKILL);
    ranks_wait(&group, 30);
    snprintf(phrase, sizeof phrase, "switch %s lost: %s", host.address, stopped ? "no sign of life for 2000 ms" : "");
    expect(&group, GN_PEER_LOST, phrase, stopped ? 8 : 5, true);
    for (int rank = 0; rank < size; rank++) ck_assert_ptr_nonnull(strstr(group.reports[rank].text, "in aggregation"));
    ck_assert_ptr_nonnull(strstr(group.reports[0].text, "waiting for psn "));
    ranks_free(&group);
    switch_stop(&host, SIGKILL);
}
END_TEST

// TCP lives, datagrams do not pass.
START_TEST(test_deaf_switch_is_named)
{
    fails(&(switch_faults){.deaf_after = 10000}, (plan){.host = &host, .timeout_ms = 2000, .progress = progress},
          GN_PEER_LOST, "lost: it lives, but has sent no result for 2000 ms", 8, true);
}
END_TEST

START_TEST(test_different_calls)
{
    fails(NULL, (plan){.host = &host, .timeout_ms = 20000, .progress = progress, .other_count = 1000}, GN_MISMATCH,
          "sum of 1000 values, bucket 0, switch", 5, true);
}
END_TEST

START_TEST(test_refusal_is_told)
{
    fails(&(switch_faults){.refuse = "all slots are taken"},
          (plan){.host = &host, .timeout_ms = 20000, .progress = progress}, GN_INVALID,
          "refused the job: all slots are taken", 5, true);
}
END_TEST

START_TEST(test_no_switch)
{
    switch_start(&host, NULL);
    switch_stop(&host, SIGKILL);  // nobody listens at its port any more
    plan p = {.host = &host, .timeout_ms = 20000, .progress = progress};
    ranks group;
    ranks_start(&group, _i ? 1 : SIZE, run_until_failure, &p);
    ranks_wait(&group, 30);
    expect(&group, GN_IO, "switch 127.0.0.1:", 5, true);
    expect(&group, GN_IO, "Connection refused", 5, true);
    ranks_free(&group);
}
END_TEST

START_TEST(test_impossible_configurations)
{
    gn_comm *comm;
    gn_comm_config config = gn_comm_config_default();
    config.rank = 0;
    config.size = 2;
    config.algorithm = GN_SWITCH;
    ck_assert_int_eq(gn_comm_init(&comm, &config), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(gn_comm_last_error(NULL), "needs switch_address"));
    config.switch_address = "nowhere";
    config.rendezvous = "tcp://127.0.0.1:1";
    ck_assert_int_eq(gn_comm_init(&comm, &config), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(gn_comm_last_error(NULL), "want host:port"));
    config.quantise = true;
    ck_assert_int_eq(gn_codec_init(&config.codec, GN_PAPER, 10), GN_OK);
    ck_assert_int_eq(gn_comm_init(&comm, &config), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(gn_comm_last_error(NULL), "paper"));
    config.quantise = false;
    config.switch_slots = 100;
    ck_assert_int_eq(gn_comm_init(&comm, &config), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(gn_comm_last_error(NULL), "power of two"));
}
END_TEST

/// One exchange and away, though packets are lost. A rank that has everything does not take it from
/// the others.
static void run_and_leave(int rank, const ranks *group, void *argument)
{
    const gn_comm_config config = plan_config(rank, group, argument);
    for (int turn = 0; turn < 20; turn++) {
        gn_comm *comm = rank_init(rank, group, &config);
        RANK_CHECK(comm);
        float values[3000];
        for (int i = 0; i < 3000; i++) values[i] = (float)(rank + i);
        if (rank == VICTIM && turn & 1) values[17] = 1.0f / 0.0f;  // summed by rank 0, who leaves like everyone
        const gn_status status = gn_allreduce(comm, values, values, 3000, GN_SUM);
        if (status) fprintf(stderr, "rank %d, turn %d: %s\n", rank, turn, gn_comm_last_error(comm));
        RANK_CHECK(!status);
        for (int i = 0; i < 3000; i++) RANK_CHECK((i == 17 && turn & 1) || values[i] == (float)(3 * i + 3));
        RANK_CHECK(gn_comm_get_stats(comm).fallback_chunks == (turn & 1));
        gn_comm_free(comm);
    }
}

START_TEST(test_leaving_in_good_order)
{
    switch_start(&host, &(switch_faults){.loss = 100});
    plan p = {.host = &host, .timeout_ms = 20000};
    ranks_run(SIZE, run_and_leave, &p, 60);
    switch_stop(&host, SIGKILL);
}
END_TEST

typedef struct silence {
    switch_host host;
    int victim, timeout_ms;
} silence;

/// The victim stops before it has its results of the switch. The others have theirs. They learn of
/// the stop in another group.
static void run_two_groups(int rank, const ranks *group, void *argument)
{
    silence *s = argument;
    const plan p = {.host = &s->host, .timeout_ms = s->timeout_ms};
    char rendezvous[160];
    gn_comm_config config = plan_config(rank, group, &p);
    config.quantise = true;
    gn_comm *summed = rank_init(rank, group, &config);
    RANK_CHECK(summed);
    config = rank_config(rank, group);
    snprintf(rendezvous, sizeof rendezvous, "%s-other", group->rendezvous);
    config.rendezvous = rendezvous;
    config.timeout_ms = s->timeout_ms;
    gn_comm *other = rank_init(rank, group, &config);
    RANK_CHECK(other);
    float value = 1;
    gn_request *request;
    const gn_bucket bucket = {.send = &value, .recv = &value, .count = 1, .op = GN_SUM};
    RANK_CHECK(!gn_iallreduce(summed, &bucket, &request));
    if (rank == s->victim) usleep(500000), kill(getpid(), SIGSTOP), _exit(0);
    RANK_CHECK(!gn_wait(request));
    report *r = &group->reports[rank];
    keep(r, gn_barrier(other), other, seconds_now());
    const double start = seconds_now();
    gn_comm_free(summed);
    r->seconds = seconds_now() - start;
    r->values[0] = 1;
    gn_comm_free(other);
}

// A rank has been silent for the whole deadline. Others that leave in good order do not wait for it
// to get its results.
START_TEST(test_leaving_waits_for_nobody_who_is_lost)
{
    silence s = {.victim = _i, .timeout_ms = 4000};
    char *told = ranks_share(GN_ADMISSION_TEXT);
    switch_start(&s.host, &(switch_faults){.told = told, .mute_to = (unsigned)s.victim + 1});
    ranks group;
    ranks_start(&group, SIZE, run_two_groups, &s);
    for (int i = 0; i < 200; i++, usleep(100000)) {
        bool left = true;
        for (int rank = 0; rank < SIZE; rank++) left &= rank == s.victim || group.reports[rank].values[0];
        if (left) break;
    }
    ck_assert_str_eq(told, "");  // the stopped one lacks results that the switch has
    kill(group.pids[s.victim], SIGKILL);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        if (rank == s.victim) continue;
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(r->status == GN_PEER_LOST && strstr(r->text, "lost: no sign of life for 4000 ms"),
                      "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
        ck_assert_msg(r->seconds < 2.5, "rank %d left after %.1f s", rank, r->seconds);
    }
    ranks_free(&group);
    switch_stop(&s.host, SIGKILL);
}
END_TEST

/// No chunk has integers, and packets are lost. Rank 0's sums are right everywhere, each in its
/// place.
static void run_binary32(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = plan_config(rank, group, argument);
    config.quantise = true;
    RANK_CHECK(!gn_codec_init(&config.codec, GN_DENSE, 10));
    config.switch_values = 16;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    float *values = malloc(LARGE * sizeof *values);
    RANK_CHECK(values);
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < LARGE; i++) values[i] = (float)((1000000 + i / 16 + step) * (rank + 1));
        RANK_CHECK(!gn_allreduce(comm, values, values, LARGE, GN_SUM));
        for (int i = 0; i < LARGE; i++)
            RANK_CHECK(values[i] == (float)((1000000 + i / 16 + step) * (SIZE * (SIZE + 1) / 2)));
    }
    RANK_CHECK(gn_comm_get_stats(comm).fallback_chunks == 4 * LARGE / 16);
    free(values);
    gn_comm_free(comm);
}

START_TEST(test_binary32_sums_with_losses)
{
    switch_start(&host, &(switch_faults){.loss = 20});
    plan p = {.host = &host, .timeout_ms = 20000};
    ranks_run(SIZE, run_binary32, &p, 60);
    switch_stop(&host, SIGKILL);
}
END_TEST

// Wang et al.'s P = (1/T) * (L/l) * (Comm/Comp), of what was measured.
START_TEST(test_priority_follows_the_times)
{
    gn_pace pace = {.born = 100 * GN_SECOND};
    uint64_t now = 102 * GN_SECOND;
    ck_assert_uint_eq(gn_pace_priority(&pace, now, 0, 0, 0), 128);  // T: as long as it has run
    ck_assert_uint_eq(gn_pace_priority(&pace, now, GN_SECOND / 2, 0, 0), 512);
    ck_assert_uint_eq(gn_pace_priority(&pace, now, GN_SECOND, 4, 8), 512);
    ck_assert_uint_eq(gn_pace_priority(&pace, now, GN_SECOND, 9, 8), 256);
    for (int i = 0; i < 50; i++) {  // exchanges that take three times as long as what is between them
        gn_pace_begin(&pace, now += GN_SECOND);
        gn_pace_end(&pace, now += 3 * GN_SECOND);
    }
    gn_pace_begin(&pace, now += GN_SECOND);
    ck_assert_uint_ge(gn_pace_priority(&pace, now, GN_SECOND, 0, 0), 670);
    ck_assert_uint_le(gn_pace_priority(&pace, now, GN_SECOND, 0, 0), 780);
    ck_assert_int_eq(gn_comm_set_remaining(NULL, 1), GN_INVALID);
}
END_TEST

/// A child frees its copy of the group. Neither the switch nor the other ranks hear of it.
static void run_freed_copy(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    const gn_comm_config config = plan_config(rank, group, p);
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    float values[1000] = {0};
    const gn_bucket bucket = {.send = values, .recv = values, .count = 1000, .op = GN_SUM};
    gn_request *request;
    if (p->queue) RANK_CHECK(!gn_iallreduce(comm, &bucket, &request) && !gn_wait(request));
    for (int i = 0; i < 3; i++) {
        RANK_CHECK(!gn_allreduce(comm, values, values, 1000, GN_SUM));
        const pid_t child = fork();
        RANK_CHECK(child >= 0);
        if (!child) {
            signal(SIGALRM, SIG_DFL);
            alarm(20);
            RANK_CHECK(gn_allreduce(comm, values, values, 1000, GN_SUM) == GN_DEAD);
            gn_comm_free(comm);
            _exit(0);
        }
        int status;
        RANK_CHECK(waitpid(child, &status, 0) == child && !status);
    }
    RANK_CHECK(!gn_allreduce(comm, values, values, 1000, GN_SUM));
    gn_comm_free(comm);
}

START_TEST(test_a_forked_process_frees_its_copy)
{
    plan p = {.host = &host, .timeout_ms = 4000, .queue = _i};
    switch_start(&host, NULL);
    ranks_run(SIZE, run_freed_copy, &p, 50);
    switch_stop(&host, SIGKILL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm switch");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 100);
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, test_killed_rank_is_named);
    tcase_add_test(all, test_leaver_is_named);
    tcase_add_test(all, test_silent_rank_is_named);
    tcase_add_loop_test(all, test_ranks_that_stood_still_blame_nobody, 0, GN_ALGORITHMS / PAUSED);
    tcase_add_test(all, test_ranks_that_stood_still_do_not_blame_the_switch);
    tcase_add_loop_test(all, test_lost_switch_is_named, 0, 4);
    tcase_add_test(all, test_deaf_switch_is_named);
    tcase_add_test(all, test_different_calls);
    tcase_add_test(all, test_refusal_is_told);
    tcase_add_loop_test(all, test_no_switch, 0, 2);
    tcase_add_test(all, test_impossible_configurations);
    tcase_add_test(all, test_leaving_in_good_order);
    tcase_add_loop_test(all, test_leaving_waits_for_nobody_who_is_lost, 0, 2);
    tcase_add_test(all, test_binary32_sums_with_losses);
    tcase_add_loop_test(all, test_a_forked_process_frees_its_copy, 0, 2);
    tcase_add_test(all, test_priority_follows_the_times);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
