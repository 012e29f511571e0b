// SPDX-License-Identifier: Apache-2.0
// How ranks become a group: the ways to meet, and messages that say what is wrong.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm_meet.h"
#include "free_port.h"
#include "own_interface.h"
#include "ring/message.h"
#include "suite.h"

enum { SIZE = 4, VICTIM = 2 };

enum { MISSING, TWICE, OTHER_ALGORITHM, OTHER_BOUND, OTHER_SIZE, OTHER_JOB, NO_INTERFACE, SETUPS };

static void run_setup(int rank, const ranks *group, void *argument)
{
    int what = *(int *)argument;
    gn_comm_config config = rank_config(rank, group);
    bool odd = rank == VICTIM;
    config.timeout_ms = what == OTHER_ALGORITHM || what == OTHER_BOUND ? 20000 : 1000;
    config.quantise = true;
    gn_codec_init(&config.codec, GN_LATTICE, odd && what == OTHER_BOUND ? 8 : 10);
    if (odd && what == MISSING) return;
    if (odd && what == TWICE) config.rank = 1;
    if (odd && what == OTHER_ALGORITHM) config.algorithm = GN_WORKER_AGGREGATOR;
    if (odd && what == OTHER_SIZE) config.size = 5;
    if (odd && what == OTHER_JOB) setenv("GRADNIC_JOB", "another", 1);
    if (what == NO_INTERFACE) config.interface = "nosuch0", config.timeout_ms = 1000;
    if (odd) usleep(100000);
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(!comm);
}

START_TEST(test_setup_says_what_is_wrong)
{
    static const struct {
        gn_status status;
        const char *phrase;
    } wanted[SETUPS] = {
        {GN_TIMEOUT, "rank 2 did not come within 1000 ms"},
        {GN_TIMEOUT, "rank 2 did not come within 1000 ms"},
        {GN_MISMATCH, "has algorithm worker-aggregator, rank 0 (127.0.0.1) has algorithm ring"},
        {GN_MISMATCH, "has bound 2^-8, rank 0 (127.0.0.1) has bound 2^-10"},
        {GN_TIMEOUT, "rank 2 did not come within 1000 ms"},
        {GN_TIMEOUT, "rank 2 did not come within 1000 ms"},
        {GN_INVALID, "interface 'nosuch0': no interface that is up has it; there is: lo 127.0.0.1"},
    };
    static const char *const told[SETUPS] = {[TWICE] = "rank 1 came twice: from 127.0.0.1",
                                             [OTHER_SIZE] = "has size 5, rank 0 (127.0.0.1) has size 4",
                                             [OTHER_JOB] = "another job"};
    int what = _i;
    ranks group;
    ranks_start(&group, SIZE, run_setup, &what);
    ranks_wait(&group, 30);
    // Of two that are rank 1 the later one is sent away. On a busy machine it may be the right one.
    const int odd = what == TWICE && group.reports[1].status == GN_MISMATCH ? 1 : VICTIM;
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        if (rank == VICTIM && what == MISSING) continue;
        if (rank == odd && told[what]) {  // sent away at once; the others wait for the right one
            ck_assert_msg(r->status == GN_MISMATCH && strstr(r->text, told[what]), "%s: %s",
                          gn_status_string(r->status), r->text);
            continue;
        }
        ck_assert_msg(r->status == wanted[what].status && strstr(r->text, wanted[what].phrase), "rank %d: %s: %s", rank,
                      gn_status_string(r->status), r->text);
        // The others may give up by themselves at the same moment. Rank 0 knows more.
        if (!rank && told[what]) ck_assert_msg(strstr(r->text, "; sent away was 127.0.0.1"), "%s", r->text);
        ck_assert_msg(r->seconds < 5, "rank %d took %.1f s", rank, r->seconds);
    }
    ranks_free(&group);
}
END_TEST

/// Rank 3 is none of the group: it says that it is rank 1 of five, while rank 2 is still to come.
static void run_with_stranger(int rank, const ranks *group, void *argument)
{
    (void)argument;
    gn_comm_config config = rank_config(rank, group);
    const bool stranger = rank == 3;
    config.rank = stranger ? 1 : rank;
    config.size = stranger ? 5 : 3;
    if (rank == 2) usleep(500000);
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(stranger == !comm);
    if (stranger) return;
    float values[2] = {(float)rank, 1};
    RANK_CHECK(!gn_allreduce(comm, values, values, 2, GN_SUM));
    RANK_CHECK(values[0] == 3 && values[1] == 3);
    gn_comm_free(comm);
}

START_TEST(test_wrong_size_disturbs_nobody)
{
    ranks group;
    all_end_well(&group, 4, run_with_stranger, NULL, 30);
    ck_assert_int_eq(group.reports[3].status, GN_MISMATCH);
    ck_assert_msg(strstr(group.reports[3].text, "rank 1 (127.0.0.1") && strstr(group.reports[3].text, "has size 5"),
                  "%s", group.reports[3].text);
    ranks_free(&group);
}
END_TEST

START_TEST(test_ways_to_meet)
{
    static const char *const formats[] = {"tcp://127.0.0.1:%u", "tcp://localhost:%u", "tcp://[::1]:%u", "env"};
    meeting_point m = {.port = free_port(), .environment = _i == 3};
    snprintf(m.where, sizeof m.where, formats[_i], m.port);
    ranks group;
    all_end_well(&group, 3, run_meet, &m, 30);
    ranks_free(&group);
}
END_TEST

/// The rendezvous file of a rank 0 that is dead.
static void leave_file(const char *where, uint16_t port)
{
    FILE *file = fopen(where + strlen("file://"), "w");
    ck_assert(file);
    fprintf(file, "gradnic-rendezvous 1 127.0.0.1 %u\n", port);
    fclose(file);
}

/// A rank that may have few files. poll() takes no more entries than that.
static void run_with_few_files(int rank, const ranks *group, void *argument)
{
    (void)argument;
    RANK_CHECK(!setrlimit(RLIMIT_NOFILE, &(struct rlimit){40, 40}));
    gn_comm_config config = rank_config(rank, group);
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    float value = 1;
    RANK_CHECK(!gn_allreduce(comm, &value, &value, 1, GN_SUM));
    RANK_CHECK(value == 3);
    gn_comm_free(comm);
}

START_TEST(test_few_files_are_enough)
{
    ranks group;
    const double begin = seconds_now();
    ranks_start(&group, 3, run_with_few_files, NULL);
    ranks_wait(&group, 60);
    for (int rank = 0; rank < 3; rank++)
        ck_assert_msg(group.exits[rank] == 0, "rank %d: %s", rank, group.reports[rank].text);
    ck_assert(seconds_now() - begin < 10);
    ranks_free(&group);
}
END_TEST

START_TEST(test_stale_file_is_not_followed)
{
    ranks group;
    meeting_point m = {.interface = "lo"};
    snprintf(m.where, sizeof m.where, "file:///tmp/gradnic-test-stale-%d", (int)getpid());
    leave_file(m.where, free_port());
    all_end_well(&group, 3, run_meet, &m, 30);
    ck_assert(access(m.where + 7, F_OK));  // rank 0 has tidied up
    ranks_free(&group);
}
END_TEST

/// Rank 0 comes when the others have long seen the file.
static void run_meet_late(int rank, const ranks *group, void *argument)
{
    if (!rank) usleep(500000);
    run_meet(rank, group, argument);
}

/// Where another program listens that says nothing, and a file that leads there.
typedef struct stranger {
    meeting_point at;
    int listener;
} stranger;

static stranger stranger_begin(void)
{
    stranger s = {.at = {.interface = "lo"}, .listener = socket(AF_INET, SOCK_STREAM, 0)};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof a;
    ck_assert(!bind(s.listener, (struct sockaddr *)&a, sizeof a) && !listen(s.listener, 16));
    ck_assert(!getsockname(s.listener, (struct sockaddr *)&a, &length));
    snprintf(s.at.where, sizeof s.at.where, "file:///tmp/gradnic-test-reopened-%d", (int)getpid());
    leave_file(s.at.where, ntohs(a.sin_port));
    return s;
}

/// Whether somebody is waiting for the stranger's answer, now or soon.
static bool has_caller(int listener, int ms)
{
    struct pollfd p = {.fd = listener, .events = POLLIN};
    return poll(&p, 1, ms) == 1;
}

// Another program has the port of a rank 0 that is dead. Nobody comes to it.
START_TEST(test_stale_file_whose_port_is_open_again)
{
    ranks group;
    stranger s = stranger_begin();
    all_end_well(&group, 3, run_meet_late, &s.at, 50);
    ck_assert(!has_caller(s.listener, 0));
    close(s.listener);
    ranks_free(&group);
}
END_TEST

/// The stranger says nothing, or what is no frame, or is another group's rank 0. Rank 0 is at
/// another interface.
enum { SILENT, SPEAKS, REFUSES, ELSEWHERE, SLOW_FILES };

typedef struct slow_file {
    stranger stranger;
    int how;
    own_interface other;  ///< ELSEWHERE
} slow_file;

/// A process that refuses the callers as soon as rank 0 has written its address.
static pid_t refuse_later(const char *file, const int *callers, int count)
{
    char before[64] = "", now[64] = "";
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    (void)!pread(fd, before, sizeof before - 1, 0);
    const pid_t child = fork();
    if (child) {
        close(fd);
        return child;
    }
    uint8_t frame[GN_FRAME_MAX];
    const gn_failure failure = {.status = GN_MISMATCH, .text = "this is another group"};
    for (int i = 0; i < 1000 && (!*now || !strcmp(before, now)); i++) {
        usleep(10000);
        (void)!pread(fd, now, sizeof now - 1, 0);
    }
    const size_t length = gn_failure_write(frame, &failure);
    for (int i = 0; i < count; i++) (void)!write(callers[i], frame, length);
    _exit(0);
}

/// Rank 0 has its lock, and is slow to write its address. The others come in between.
static void run_slow_to_write(int rank, const ranks *group, void *argument)
{
    static const char answer[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
    const slow_file *slow = argument;
    meeting_point at = slow->stranger.at;
    int callers[RANKS_MAX];
    if (!rank) {
        const int fd = open(at.where + 7, O_RDWR | O_CLOEXEC);
        RANK_CHECK(fd >= 0 && !flock(fd, LOCK_EX));
        for (int guest = 1; guest < group->size; guest++) {
            RANK_CHECK(has_caller(slow->stranger.listener, 10000));
            const int caller = callers[guest - 1] = accept(slow->stranger.listener, NULL, NULL);
            RANK_CHECK(caller >= 0 && (slow->how != SPEAKS || write(caller, answer, sizeof answer - 1) > 0));
        }
        close(fd);
        if (slow->how == REFUSES) (void)refuse_later(at.where + 7, callers, group->size - 1);
    }
    if (slow->how == ELSEWHERE) at.interface = rank ? NULL : slow->other.name;
    run_meet(rank, group, &at);
}

START_TEST(test_file_that_is_locked_before_it_is_written)
{
    ranks group;
    slow_file slow = {.how = _i};
    if (_i == ELSEWHERE && !own_interface_find(&slow.other)) return;
    slow.stranger = stranger_begin();
    all_end_well(&group, 3, run_slow_to_write, &slow, 50);
    close(slow.stranger.listener);
    ranks_free(&group);
}
END_TEST

/// What the kernel marks the data connections of this process with.
static void run_tos(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(rank, group);
    config.quantise = *(int *)argument > 0;
    config.offload = *(int *)argument > 1 ? GN_OFFLOAD_NIC : GN_OFFLOAD_AUTO;
    RANK_CHECK(config.data_tos == GN_TOS_AUTO);
    RANK_CHECK(config.codec.profile == GN_DENSE &&
               config.codec.bound_exp == 10);  // the NIC's rule, unless told otherwise
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    for (int fd = 0; fd < 256; fd++) {
        int tos = 0, type = 0;
        socklen_t length = sizeof tos, type_length = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_length) || type != SOCK_STREAM) continue;
        if (!getsockopt(fd, IPPROTO_IP, IP_TOS, &tos, &length) && tos) group->reports[rank].values[tos == 0x28]++;
    }
    RANK_CHECK(!gn_barrier(comm));
    gn_comm_free(comm);
}

START_TEST(test_default_tos_follows_offload)
{
    int how = _i;
    ranks group;
    all_end_well(&group, 2, run_tos, &how, 30);
    for (int rank = 0; rank < 2; rank++) {
        ck_assert_int_eq((int)group.reports[rank].values[0], 0);
        ck_assert_int_eq((int)group.reports[rank].values[1], how == 2 ? 2 : 0);  // to the right, from the left
    }
    ranks_free(&group);
    gn_comm_config config = gn_comm_config_default();
    gn_comm *comm;
    config.data_tos = 256;
    ck_assert_int_eq(gn_comm_init(&comm, &config), GN_INVALID);
    ck_assert(strstr(gn_comm_last_error(NULL), "data_tos is 256") != NULL);
}
END_TEST

/// What this program prints goes where it wants: here into nothing, and never to another rank.
static void run_closed_streams(int rank, const ranks *group, void *argument)
{
    enum { COUNT = 50000 };
    static float values[COUNT];
    const int how = *(int *)argument;
    for (int fd = 0; fd <= 2; fd++) close(fd);
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = how & 1 ? GN_DIRECT : GN_RING;
    config.no_shared_memory = how & 2;
    gn_comm *comm = rank_init(rank, group, &config), *all;
    if (!comm || gn_comm_split(comm, 0, 0, &all)) _exit(8);
    for (int i = 0; i < COUNT; i++) values[i] = (float)(rank + 1);
    gn_request *request;
    const gn_bucket bucket = {values, values, COUNT, GN_SUM, NULL, 0, 0, 0};
    if (gn_iallreduce(all, &bucket, &request)) _exit(8);
    for (int fd = 0; fd <= 2; fd++)
        if (write(fd, "a line\n", 7) >= 0 || errno != EBADF) _exit(7);
    if (gn_wait(request)) _exit(8);
    for (int i = 0; i < COUNT; i++)
        if (values[i] != (float)(group->size * (group->size + 1) / 2)) _exit(6);
    gn_comm_free(all);
    gn_comm_free(comm);
}

START_TEST(test_closed_streams_stay_closed)
{
    int how = _i;
    ranks_run(3, run_closed_streams, &how, 30);
}
END_TEST

START_TEST(test_wrong_configurations)
{
    static const struct {
        const char *rendezvous, *interface, *phrase;
        int rank, size;
    } wrong[] = {
        {"tcp://nowhere", NULL, "want tcp://host:port", 0, 2},
        {"udp://127.0.0.1:1", NULL, "want env, tcp://host:port or file:///path", 0, 2},
        {"tcp://127.0.0.1:1", "10.9.0.0/33", "is not a network", 0, 2},
        {"tcp://127.0.0.1:1", "^lo", NULL, 0, 0},
        {"tcp://127.0.0.1:1", NULL, "ranks count from 0", 2, 2},
        {"tcp://127.0.0.1:1", NULL, "want 1 to 256 ranks", 0, 1000},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gn_comm_config config = gn_comm_config_default();
        gn_comm *comm = (gn_comm *)&config;
        config.rank = wrong[i].rank;
        config.size = wrong[i].size;
        config.rendezvous = wrong[i].rendezvous;
        config.interface = wrong[i].interface;
        ck_assert_int_eq(gn_comm_init(&comm, &config), GN_INVALID);
        ck_assert_ptr_null(comm);
        if (wrong[i].phrase)
            ck_assert_msg(strstr(gn_comm_last_error(NULL), wrong[i].phrase) != NULL, "%s", gn_comm_last_error(NULL));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm setup");
    TCase *setup = tcase_create("setup");
    tcase_set_timeout(setup, 60);
    tcase_add_loop_test(setup, test_setup_says_what_is_wrong, 0, SETUPS);
    tcase_add_test(setup, test_wrong_size_disturbs_nobody);
    tcase_add_loop_test(setup, test_ways_to_meet, 0, 4);
    tcase_add_test(setup, test_few_files_are_enough);
    tcase_add_test(setup, test_stale_file_is_not_followed);
    tcase_add_test(setup, test_stale_file_whose_port_is_open_again);
    tcase_add_loop_test(setup, test_file_that_is_locked_before_it_is_written, 0, SLOW_FILES);
    tcase_add_loop_test(setup, test_closed_streams_stay_closed, 0, 4);
    tcase_add_test(setup, test_wrong_configurations);
    tcase_add_loop_test(setup, test_default_tos_follows_offload, 0, 3);
    suite_add_tcase(suite, setup);
    return suite_run(suite);
}
