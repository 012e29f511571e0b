// SPDX-License-Identifier: Apache-2.0
// How ranks become a group: the ways to meet, strangers at the ports, and messages that say what is
// wrong.
#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "free_port.h"
#include "ring/message.h"
#include "suite.h"

enum { SIZE = 4, VICTIM = 2 };

static const gn_algorithm algorithms[] = {GN_RING, GN_WORKER_AGGREGATOR};

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
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        if (rank == VICTIM && what == MISSING) continue;
        if (rank == VICTIM && told[what]) {  // sent away at once; the others wait for the right one
            ck_assert_msg(r->status == GN_MISMATCH && strstr(r->text, told[what]), "%s: %s",
                          gn_status_string(r->status), r->text);
            continue;
        }
        if (what == NO_INTERFACE && rank) {  // rank 0 never opened the rendezvous
            ck_assert(r->status == GN_TIMEOUT || r->status == GN_INVALID);
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
    ranks_start(&group, 4, run_with_stranger, NULL);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 4; rank++)
        ck_assert_msg(group.exits[rank] == 0, "rank %d: %s", rank, group.reports[rank].text);
    ck_assert_int_eq(group.reports[3].status, GN_MISMATCH);
    ck_assert_msg(strstr(group.reports[3].text, "rank 1 (127.0.0.1") && strstr(group.reports[3].text, "has size 5"),
                  "%s", group.reports[3].text);
    ranks_free(&group);
}
END_TEST

typedef struct meeting_point {
    char where[128];
    uint16_t port;
    bool environment;
    const char *interface;  ///< NULL: by the route
    gn_algorithm algorithm;
} meeting_point;

static void run_meet(int rank, const ranks *group, void *argument)
{
    const meeting_point *m = argument;
    gn_comm_config config = rank_config(rank, group);
    config.rendezvous = m->environment ? "env" : m->where;
    config.interface = m->interface;
    config.algorithm = m->algorithm;
    if (m->environment) {
        char text[16];
        config.rank = config.size = -1;
        snprintf(text, sizeof text, "%d", rank);
        setenv("RANK", text, 1);
        snprintf(text, sizeof text, "%d", group->size);
        setenv("WORLD_SIZE", text, 1);
        snprintf(text, sizeof text, "%u", m->port);
        setenv("MASTER_PORT", text, 1);
        setenv("MASTER_ADDR", "localhost", 1);
    }
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    float values[3] = {(float)rank, 1, 2};
    RANK_CHECK(!gn_allreduce(comm, values, values, 3, GN_SUM));
    RANK_CHECK(values[0] == (float)(group->size * (group->size - 1) / 2) && values[1] == (float)group->size);
    gn_comm_free(comm);
}

START_TEST(test_ways_to_meet)
{
    static const char *const formats[] = {"tcp://127.0.0.1:%u", "tcp://localhost:%u", "tcp://[::1]:%u", "env"};
    meeting_point m = {.port = free_port(), .environment = _i == 3};
    snprintf(m.where, sizeof m.where, formats[_i], m.port);
    ranks group;
    ranks_start(&group, 3, run_meet, &m);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 3; rank++) ck_assert_int_eq(group.exits[rank], 0);
    ranks_free(&group);
}
END_TEST

/// A port scanner: garbage, silence and half a message.
static void bother(uint16_t port)
{
    static const char *const words[] = {"GET / HTTP/1.0\r\n\r\n", "", "GNC1\x01", "GNC1\x01\x00\xff\xff",
                                        "GNC1\x07\x00\x12\0zzzzzzzzzzzzzzzzzz"};
    for (int i = 0; i < 5; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in a = {
            .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
        if (!connect(fd, (struct sockaddr *)&a, sizeof a))
            (void)!send(fd, words[i], i == 3 ? 8 : i == 4 ? 26 : strlen(words[i]), MSG_NOSIGNAL);
        if (i & 1) close(fd);  // the others stay open and silent
    }
}

/// So many who say nothing, and stay.
static void crowd(uint16_t port, int strangers)
{
    for (int i = 0; i < strangers; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in a = {
            .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
        RANK_CHECK(fd >= 0);
        (void)!connect(fd, (struct sockaddr *)&a, sizeof a);
    }
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
    meeting_point m;
    snprintf(m.where, sizeof m.where, "%s", group->rendezvous);
    m.environment = false;
    m.interface = "lo";
    m.algorithm = p->algorithm;
    run_meet(rank, group, &m);
}

START_TEST(test_strangers_do_not_matter)
{
    static const int silent[] = {0, 100, 100};
    bother_plan p = {.silent = silent[_i], .algorithm = _i == 2 ? GN_WORKER_AGGREGATOR : GN_RING};
    listening = ranks_share(sizeof *listening);
    ranks group;
    ranks_start(&group, SIZE, run_bothered, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++)
        ck_assert_msg(group.exits[rank] == 0, "rank %d: %s", rank, group.reports[rank].text);
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
            const struct sockaddr_in a = {
                .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
            uint8_t words[GN_FRAME_MAX];
            const int fd = socket(AF_INET, SOCK_STREAM, 0);  // stays open
            size_t length = GN_DATA_HELLO_BYTES;
            if (data)
                gn_data_hello_write(words, &join);
            else
                length = gn_join_write(words, &join);
            if (!connect(fd, (const struct sockaddr *)&a, sizeof a)) (void)!send(fd, words, length, MSG_NOSIGNAL);
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
    ranks_start(&group, SIZE, run_impersonated, &algorithm);
    ranks_wait(&group, 50);
    for (int rank = 0; rank < SIZE; rank++) {
        ck_assert_msg(group.exits[rank] == 0, "rank %d: %s", rank, group.reports[rank].text);
        strangers += group.reports[rank].values[0];
    }
    ck_assert_uint_gt(strangers, 0);
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
    meeting_point m = {.interface = "lo", .algorithm = *(gn_algorithm *)argument};
    snprintf(m.where, sizeof m.where, "%s", group->rendezvous);
    accepts_to_spoil = rank ? 3 : 7;  // of rank 0's, some are at the rendezvous
    run_meet(rank, group, &m);
    group->reports[rank].values[0] = (uint64_t)accepts_to_spoil;
}

START_TEST(test_closed_connections_are_made_again)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks group;
    ranks_start(&group, SIZE, run_spoiled, &algorithm);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        ck_assert_msg(group.exits[rank] == 0, "rank %d: %s", rank, group.reports[rank].text);
        if (!rank || algorithm == GN_RING) ck_assert(group.reports[rank].values[0] == 0);  // whoever accepts has spoilt
    }
    ranks_free(&group);
}
END_TEST

static void run_reset(int rank, const ranks *group, void *argument)
{
    meeting_point m = {.interface = "lo", .algorithm = *(gn_algorithm *)argument};
    snprintf(m.where, sizeof m.where, "%s", group->rendezvous);
    far_ends_to_lose = rank ? 3 : 0;
    run_meet(rank, group, &m);
    group->reports[rank].values[0] = (uint64_t)far_ends_to_lose;
}

// A crowd at the rendezvous may push out a rank in the very moment in which it has connected.
START_TEST(test_reset_connections_are_made_again)
{
    gn_algorithm algorithm = algorithms[_i];
    ranks group;
    ranks_start(&group, SIZE, run_reset, &algorithm);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        ck_assert_msg(group.exits[rank] == 0, "rank %d: %s", rank, group.reports[rank].text);
        ck_assert(group.reports[rank].values[0] == 0);
    }
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
    ranks_start(&group, 2, run_without_room, NULL);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 2; rank++) ck_assert_int_eq(group.exits[rank], 0);
    ck_assert_str_eq(group.reports[0].text,
                     "rank 1 did not come within 1000 ms; rank 0 had no room for connections: Too many open files "
                     "(raise ulimit -n)");
    ranks_free(&group);
}
END_TEST

START_TEST(test_stale_file_is_not_followed)
{
    ranks group;
    meeting_point m = {.interface = "lo"};
    snprintf(m.where, sizeof m.where, "file:///tmp/gradnic-test-stale-%d", (int)getpid());
    FILE *file = fopen(m.where + 7, "w");
    ck_assert(file);
    fprintf(file, "gradnic-rendezvous 1 127.0.0.1 %u\n", free_port());
    fclose(file);
    ranks_start(&group, 3, run_meet, &m);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 3; rank++) ck_assert_int_eq(group.exits[rank], 0);
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

// Another program has the port of a rank 0 that is dead. Nobody comes to it.
START_TEST(test_stale_file_whose_port_is_open_again)
{
    ranks group;
    meeting_point m = {.interface = "lo"};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof a;
    const int other = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ck_assert(!bind(other, (struct sockaddr *)&a, sizeof a) && !listen(other, 16));
    ck_assert(!getsockname(other, (struct sockaddr *)&a, &length));
    snprintf(m.where, sizeof m.where, "file:///tmp/gradnic-test-reopened-%d", (int)getpid());
    FILE *file = fopen(m.where + 7, "w");
    ck_assert(file);
    fprintf(file, "gradnic-rendezvous 1 127.0.0.1 %u\n", ntohs(a.sin_port));
    fclose(file);
    ranks_start(&group, 3, run_meet_late, &m);
    ranks_wait(&group, 50);
    for (int rank = 0; rank < 3; rank++) ck_assert_int_eq(group.exits[rank], 0);
    ck_assert_int_lt(accept4(other, (struct sockaddr *)&a, &length, 0), 0);
    ck_assert_int_eq(errno, EAGAIN);
    close(other);
    ranks_free(&group);
}
END_TEST

/// What the kernel marks the data connections of this process with.
static void run_tos(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(rank, group);
    config.quantise = *(bool *)argument;
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

START_TEST(test_default_tos_follows_quantise)
{
    bool quantise = _i;
    ranks group;
    ranks_start(&group, 2, run_tos, &quantise);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 2; rank++) {
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_int_eq((int)group.reports[rank].values[0], 0);
        ck_assert_int_eq((int)group.reports[rank].values[1], quantise ? 2 : 0);  // to the right, from the left
    }
    ranks_free(&group);
    gn_comm_config config = gn_comm_config_default();
    gn_comm *comm;
    config.data_tos = 256;
    ck_assert_int_eq(gn_comm_init(&comm, &config), GN_INVALID);
    ck_assert(strstr(gn_comm_last_error(NULL), "data_tos is 256") != NULL);
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
    tcase_add_loop_test(setup, test_strangers_do_not_matter, 0, 3);
    tcase_add_loop_test(setup, test_a_wrong_token_takes_no_place, 0, 2);
    tcase_add_loop_test(setup, test_closed_connections_are_made_again, 0, 2);
    tcase_add_loop_test(setup, test_reset_connections_are_made_again, 0, 2);
    tcase_add_test(setup, test_no_room_is_named);
    tcase_add_test(setup, test_stale_file_is_not_followed);
    tcase_add_test(setup, test_stale_file_whose_port_is_open_again);
    tcase_add_test(setup, test_wrong_configurations);
    tcase_add_loop_test(setup, test_default_tos_follows_quantise, 0, 2);
    suite_add_tcase(suite, setup);
    return suite_run(suite);
}
