// SPDX-License-Identifier: Apache-2.0
// Strangers at the ports of a group that is set up, and connections that are lost right away. They
// cost nobody its place.
#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comm_meet.h"
#include "ring/message.h"
#include "suite.h"

enum { SIZE = 4, VICTIM = 2 };

static const gn_algorithm algorithms[] = {GN_RING, GN_WORKER_AGGREGATOR, GN_DIRECT};

/// A connection to a port; -1: there is none any more.
static int knock(uint16_t port)
{
    const struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    RANK_CHECK(fd >= 0);
    if (!connect(fd, (const struct sockaddr *)&a, sizeof a)) return fd;
    close(fd);
    return -1;
}

/// A port scanner: garbage, silence and half a message.
static void bother(uint16_t port)
{
    static const char *const words[] = {"GET / HTTP/1.0\r\n\r\n", "", "GNC1\x01", "GNC1\x01\x00\xff\xff",
                                        "GNC1\x07\x00\x12\0zzzzzzzzzzzzzzzzzz"};
    for (int i = 0; i < 5; i++) {
        const int fd = knock(port);
        if (fd >= 0) (void)!send(fd, words[i], i == 3 ? 8 : i == 4 ? 26 : strlen(words[i]), MSG_NOSIGNAL);
        if (fd >= 0 && i & 1) close(fd);  // the others stay open and silent
    }
}

/// So many who say nothing, and stay.
static void crowd(uint16_t port, int strangers)
{
    for (int i = 0; i < strangers; i++) (void)!knock(port);
}

/// Where the ranks listen. Strangers knock at these ports only. At other ports they would disturb
/// other tests that run on the machine.
typedef struct listeners {
    atomic_uint count;
    _Atomic uint16_t port[64];
} listeners;

static listeners *listening;  ///< shared with the ranks

/// In place of libc's, which tells nobody the port.
int listen(int fd, int backlog)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    if (syscall(SYS_listen, fd, backlog)) return -1;
    if (!listening || getsockname(fd, (struct sockaddr *)&address, &length) || address.sin_family != AF_INET) return 0;
    const unsigned at = atomic_fetch_add(&listening->count, 1);
    RANK_CHECK(at < 64);
    listening->port[at] = ntohs(address.sin_port);
    return 0;
}

typedef struct bother_plan {
    int silent;  ///< strangers per port; 0: one of each noisy kind
    gn_algorithm algorithm;
} bother_plan;

static void run_bothered(int rank, const ranks *group, void *argument)
{
    const bother_plan *p = argument;
    if (rank == VICTIM) {  // the others wait for it, so all their listeners are open
        struct rlimit files;
        RANK_CHECK(!getrlimit(RLIMIT_NOFILE, &files));
        files.rlim_cur = files.rlim_max;
        RANK_CHECK(!setrlimit(RLIMIT_NOFILE, &files));
        usleep(300000);
        const unsigned n = listening->count;
        for (unsigned i = 0; i < n; i++) {
            if (p->silent)
                crowd(listening->port[i], p->silent);
            else
                bother(listening->port[i]);
        }
        group->reports[rank].values[0] = n;
    }
    meet_on_loopback(rank, group, p->algorithm);
}

START_TEST(test_strangers_do_not_matter)
{
    static const int silent[] = {0, 100, 100, 100};
    bother_plan p = {.silent = silent[_i], .algorithm = _i ? algorithms[_i - 1] : GN_RING};
    listening = ranks_share(sizeof *listening);
    ranks group;
    all_end_well(&group, SIZE, run_bothered, &p, 30);
    ck_assert(group.reports[VICTIM].values[0] > 0);  // there was somebody to bother
    // Sooner than strangers are sent away for their silence: they cost nobody its place.
    ck_assert_msg(group.reports[VICTIM].seconds < 4.5, "%.1f s", group.reports[VICTIM].seconds);
    ranks_free(&group);
    munmap(listening, sizeof *listening);
    listening = NULL;
}
END_TEST

/// Says to a port that it is some rank of the group: well-formed, but the token is not the group's.
static void impersonate(uint16_t port)
{
    for (uint16_t rank = 0; rank < SIZE; rank++)
        for (int data = 0; data < 2; data++) {
            const gn_join join = {.token = "a guessed token", .rank = rank};
            uint8_t words[GN_FRAME_MAX];
            const int fd = knock(port);  // stays open
            size_t length = GN_DATA_HELLO_BYTES;
            if (data)
                gn_data_hello_write(words, &join);
            else
                length = gn_join_write(words, &join);
            if (fd >= 0) (void)!send(fd, words, length, MSG_NOSIGNAL);
        }
}

static void count_strangers(void *context, gn_log_level level, const char *text)
{
    (void)level;
    *(uint64_t *)context += strstr(text, "a stranger, ") != NULL;
}

/// Strangers come to all ports before the last rank does, and so before any neighbour.
static void run_impersonated(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = *(const gn_algorithm *)argument;
    config.log = count_strangers;
    config.log_context = &group->reports[rank].values[0];
    if (rank == VICTIM) {
        const unsigned expected = 1 + 2 * (SIZE - 1);  // the rendezvous, and two of each that has come
        for (int i = 0; i < 1000 && listening->count < expected; i++) usleep(10000);
        for (unsigned i = 0; i < listening->count; i++) impersonate(listening->port[i]);
    }
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    float values[2] = {(float)rank, 1};
    RANK_CHECK(!gn_allreduce(comm, values, values, 2, GN_SUM));
    RANK_CHECK(values[0] == SIZE * (SIZE - 1) / 2 && values[1] == SIZE);
    gn_comm_free(comm);
}

START_TEST(test_a_wrong_token_takes_no_place)
{
    gn_algorithm algorithm = algorithms[_i];
    uint64_t strangers = 0;
    ranks group;
    listening = ranks_share(sizeof *listening);
    all_end_well(&group, SIZE, run_impersonated, &algorithm, 50);
    for (int rank = 0; rank < SIZE; rank++) strangers += group.reports[rank].values[0];
    ck_assert_uint_gt(strangers, 0);
    ranks_free(&group);
    munmap(listening, sizeof *listening);
    listening = NULL;
}
END_TEST

/// Messages have a port that stays open. The victim brings a crowd there, and then a message.
static void run_crowded(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = *(const gn_algorithm *)argument;
    config.log = count_strangers;
    config.log_context = &group->reports[rank].values[0];
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm && !gn_barrier(comm));
    const double start = seconds_now();
    int number = rank;
    for (unsigned i = 0; rank == VICTIM && i < listening->count; i++) {
        for (int noisy = 0; noisy < 10; noisy++) bother(listening->port[i]);
        crowd(listening->port[i], 60);
    }
    if (rank == VICTIM) {
        usleep(300000);  // rank 0 has let in as many as it has room for
        RANK_CHECK(!gn_send(comm, &number, sizeof number, 0, 1));
    } else if (!rank) {
        RANK_CHECK(!gn_recv(comm, &number, sizeof number, VICTIM, 1, NULL) && number == VICTIM);
        group->reports[rank].values[1] = (uint64_t)((double)clock() / CLOCKS_PER_SEC * 1000);
    }
    group->reports[rank].seconds = seconds_now() - start;
    gn_comm_free(comm);
}

START_TEST(test_a_crowd_keeps_out_no_message)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks group;
    listening = ranks_share(sizeof *listening);
    all_end_well(&group, VICTIM + 1, run_crowded, &algorithm, 50);
    const report *r = &group.reports[0];
    ck_assert_msg(r->seconds < 4.5, "%.1f s", r->seconds);  // nobody waits until strangers have had their time
    ck_assert_msg(r->values[1] < 1000, "%d ms of processor time", (int)r->values[1]);
    ck_assert_uint_gt(r->values[0], 0);
    ck_assert_uint_le(r->values[0], 20);  // lines of the log are limited
    ranks_free(&group);
    munmap(listening, sizeof *listening);
    listening = NULL;
}
END_TEST

/// Connections that this process still closes as soon as it has accepted them.
static int accepts_to_spoil;
/// Whether this process has no socket left for accept().
static bool accepts_without_room;
/// Connections that are still reset before this process asks for their far end.
static int far_ends_to_lose;

/// In place of libc's: as if strangers had taken the room.
int accept4(int fd, __SOCKADDR_ARG address, socklen_t *restrict length, int flags)
{
    if (accepts_without_room) {
        errno = EMFILE;
        return -1;
    }
    int accepted = (int)syscall(SYS_accept4, fd, address.__sockaddr__, length, flags);
    if (accepted < 0 || accepts_to_spoil <= 0) return accepted;
    accepts_to_spoil--;
    close(accepted);
    errno = ECONNABORTED;
    return -1;
}

/// In place of libc's: as if the connection had been reset meanwhile.
int getpeername(int fd, __SOCKADDR_ARG address, socklen_t *restrict length)
{
    if (far_ends_to_lose <= 0) return (int)syscall(SYS_getpeername, fd, address.__sockaddr__, length);
    far_ends_to_lose--;
    errno = ENOTCONN;
    return -1;
}

static void run_spoiled(int rank, const ranks *group, void *argument)
{
    accepts_to_spoil = rank ? 3 : 7;  // of rank 0's, some are at the rendezvous
    meet_on_loopback(rank, group, *(gn_algorithm *)argument);
    group->reports[rank].values[0] = (uint64_t)accepts_to_spoil;
}

START_TEST(test_closed_connections_are_made_again)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks group;
    all_end_well(&group, SIZE, run_spoiled, &algorithm, 30);
    for (int rank = 0; rank < SIZE; rank++)
        if (!rank || algorithm == GN_RING) ck_assert(group.reports[rank].values[0] == 0);  // whoever accepts has spoilt
    ranks_free(&group);
}
END_TEST

static void run_reset(int rank, const ranks *group, void *argument)
{
    far_ends_to_lose = rank ? 3 : 0;
    meet_on_loopback(rank, group, *(gn_algorithm *)argument);
    group->reports[rank].values[0] = (uint64_t)far_ends_to_lose;
}

// A crowd at the rendezvous may push out a rank in the very moment in which it has connected.
START_TEST(test_reset_connections_are_made_again)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks group;
    all_end_well(&group, SIZE, run_reset, &algorithm, 30);
    for (int rank = 0; rank < SIZE; rank++) ck_assert(group.reports[rank].values[0] == 0);
    ranks_free(&group);
}
END_TEST

/// Rank 0 has no socket left for those who come.
static void run_without_room(int rank, const ranks *group, void *argument)
{
    (void)argument;
    gn_comm_config config = rank_config(rank, group);
    config.timeout_ms = 1000;
    accepts_without_room = !rank;
    RANK_CHECK(!rank_init(rank, group, &config));
}

START_TEST(test_no_room_is_named)
{
    ranks group;
    all_end_well(&group, 2, run_without_room, NULL, 30);
    ck_assert_str_eq(group.reports[0].text,
                     "rank 1 did not come within 1000 ms; rank 0 had no room for connections: Too many open files "
                     "(raise ulimit -n)");
    ranks_free(&group);
}
END_TEST

/// Ranks that may have so many files open, and have some of their own.
static void run_with_few_files(int rank, const ranks *group, void *argument)
{
    const struct rlimit few = {.rlim_cur = *(unsigned *)argument, .rlim_max = *(unsigned *)argument};
    gn_comm_config config = rank_config(rank, group);
    config.timeout_ms = 3000;
    for (int own = 0; own < 8; own++) RANK_CHECK(dup(STDERR_FILENO) >= 0);
    RANK_CHECK(!setrlimit(RLIMIT_NOFILE, &few));
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) return;
    float value = 1;
    RANK_CHECK(!gn_allreduce(comm, &value, &value, 1, GN_SUM) && value == 2);
    gn_comm_free(comm);
}

// Either all goes well, or the limit is named: never anything that fails later for another reason.
START_TEST(test_few_files)
{
    unsigned few = 20, went_well = 0;
    for (; few < 64 && went_well < 3; few++) {
        ranks group;
        all_end_well(&group, 2, run_with_few_files, &few, 30);
        const report *r = group.reports;
        went_well += !r[0].status && !r[1].status;
        for (int rank = 0; rank < 2; rank++)
            ck_assert_msg(!r[rank].status || strstr(r[0].text, "raise ulimit -n") ||
                              strstr(r[1].text, "raise ulimit -n"),
                          "%u files: rank %d: %s", few, rank, r[rank].text);
        ranks_free(&group);
    }
    ck_assert_uint_eq(went_well, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm strangers");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, test_strangers_do_not_matter, 0, 4);
    tcase_add_loop_test(all, test_a_wrong_token_takes_no_place, 0, 3);
    tcase_add_loop_test(all, test_a_crowd_keeps_out_no_message, 0, 3);
    tcase_add_loop_test(all, test_closed_connections_are_made_again, 0, 3);
    tcase_add_loop_test(all, test_reset_connections_are_made_again, 0, 3);
    tcase_add_test(all, test_no_room_is_named);
    tcase_add_test(all, test_few_files);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
