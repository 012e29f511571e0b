// SPDX-License-Identifier: Apache-2.0
// Messages that go wrong: a rank that dies, falls silent, leaves or never answers; wrong arguments;
// a rank that sends bytes of its own making.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "net/tcp.h"
#include "ring/group.h"
#include "ring/peers/parcel.h"
#include "suite.h"

enum { SIZE = 4, VICTIM = 2, LARGE = 3 << 20 };

static const gn_algorithm algorithms[] = {GN_RING, GN_DIRECT, GN_WORKER_AGGREGATOR};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

typedef struct plan {
    gn_algorithm algorithm;
    int timeout_ms, kind;
    bool async;
} plan;

static gn_comm *plan_init(int rank, const ranks *group, const plan *p)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    if (p->timeout_ms) config.timeout_ms = p->timeout_ms;
    gn_comm *comm = rank_meet(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    return comm;
}

static void keep(const ranks *group, gn_status status, const gn_comm *comm, double start)
{
    report *r = &group->reports[gn_comm_rank(comm)];
    r->status = status;
    r->seconds = seconds_now() - start;
    snprintf(r->text, sizeof r->text, "%s", gn_comm_last_error(comm));
}

static gn_status receive(gn_comm *comm, void *bytes, size_t count, int from, bool async)
{
    gn_request *request;
    if (!async) return gn_recv(comm, bytes, count, from, 1, NULL);
    const gn_status status = gn_irecv(comm, bytes, count, from, 1, NULL, &request);
    return status ? status : gn_wait(request);
}

static gn_status transmit(gn_comm *comm, const void *bytes, size_t count, int to, bool async)
{
    gn_request *request;
    if (!async) return gn_send(comm, bytes, count, to, 1);
    const gn_status status = gn_isend(comm, bytes, count, to, 1, &request);
    return status ? status : gn_wait(request);
}

// How a rank goes: what the others see ------------------------------------------------------------

enum { DIES_IDLE, DIES_BUSY, STOPS, LEAVES, NEVER_ANSWERS, ABORTS, GOES };

static void *go_soon(void *argument)
{
    usleep(20000);
    kill(getpid(), *(int *)argument == STOPS ? SIGSTOP : SIGKILL);
    return NULL;
}

static void be_victim(gn_comm *comm, plan *p, uint8_t *bytes)
{
    pthread_t thread;
    gn_status status = GN_OK;
    switch (p->kind) {
    case DIES_IDLE:
        usleep(300000);
        raise(SIGKILL);
        break;
    case LEAVES:
        usleep(300000);
        break;
    case NEVER_ANSWERS:
        while (!status) status = gn_recv(comm, bytes, 1, 0, 99, NULL);  // alive, and waits for something else
        break;
    case ABORTS:
        usleep(300000);
        RANK_CHECK(!gn_comm_abort(comm, "because"));
        break;
    default:
        RANK_CHECK(!pthread_create(&thread, NULL, go_soon, &p->kind));
        while (!status) status = transmit(comm, bytes, LARGE, 0, p->async);
        pthread_join(thread, NULL);
    }
}

/// Ranks 0 and 1 need something of the victim. Rank 3 needs rank 1.
static void run_until_failure(int rank, const ranks *group, void *argument)
{
    plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    uint8_t *bytes = calloc(1, LARGE);
    const double start = seconds_now();
    gn_status status = GN_OK;
    if (rank == VICTIM) be_victim(comm, p, bytes);
    while (rank == 0 && !status) status = receive(comm, bytes, LARGE, VICTIM, p->async);
    while (rank == 1 && !status) status = transmit(comm, bytes, LARGE, VICTIM, p->async);
    while (rank == 3 && !status) status = receive(comm, bytes, LARGE, 1, p->async);
    if (rank != VICTIM) keep(group, status, comm, start);
    if (rank != VICTIM) RANK_CHECK(gn_send(comm, bytes, 1, 1, 1) == GN_DEAD);
    gn_comm_free(comm);
}

static const struct {
    const char *phrase;
    gn_status status;
    int timeout_ms;
} outcomes[GOES] = {
    [DIES_IDLE] = {"rank 2 (127.0.0.1) lost", GN_PEER_LOST, 20000},
    [DIES_BUSY] = {"rank 2 (127.0.0.1) lost", GN_PEER_LOST, 20000},
    [STOPS] = {"rank 2 (127.0.0.1) lost: no sign of life for 2000 ms", GN_PEER_LOST, 2000},
    [LEAVES] = {"rank 2 (127.0.0.1) has left the group", GN_PEER_LOST, 20000},
    [NEVER_ANSWERS] = {"which is alive", GN_TIMEOUT, 2000},
    [ABORTS] = {"rank 2 (127.0.0.1) aborted: because", GN_ABORTED, 20000},
};

static void check_survivors(const ranks *group, const plan *p)
{
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group->reports[rank];
        if (rank == VICTIM) continue;
        ck_assert_msg(group->exits[rank] == 0, "%s, %d: rank %d: exit %#x", gn_algorithm_name(p->algorithm), p->kind,
                      rank, (unsigned)group->exits[rank]);
        // Who connects while the victim leaves finds a closed door.
        const bool closed = p->kind == LEAVES && strstr(r->text, "rank 2 (127.0.0.1) lost: connection for messages");
        ck_assert_msg(r->status == outcomes[p->kind].status && (closed || strstr(r->text, outcomes[p->kind].phrase)),
                      "%s, %d: rank %d: %s: %s", gn_algorithm_name(p->algorithm), p->kind, rank,
                      gn_status_string(r->status), r->text);
        ck_assert_msg(r->seconds < 6, "%d: rank %d took %.1f s", p->kind, rank, r->seconds);
    }
}

// Blocking calls and requests: two groups at a time, since both wait for most of theirs.
START_TEST(test_goes)
{
    plan plans[2];
    ranks groups[2];
    for (int async = 0; async < 2; async++) {
        plan *p = &plans[async];
        *p = (plan){.algorithm = algorithms[_i % ALGORITHMS], .kind = _i / ALGORITHMS, .async = async};
        p->timeout_ms = outcomes[p->kind].timeout_ms;
        ranks_start(&groups[async], SIZE, run_until_failure, p);
    }
    for (int async = 0; async < 2; async++) {
        const bool stops = plans[async].kind == STOPS;
        ranks *group = &groups[async];
        for (int i = 0; stops && i < 80 && !(group->reports[0].text[0] && group->reports[1].text[0]); i++)
            usleep(100000);
        if (stops) kill(group->pids[VICTIM], SIGCONT);
    }
    for (int async = 0; async < 2; async++) {
        ranks_wait(&groups[async], 60);
        check_survivors(&groups[async], &plans[async]);
        ranks_free(&groups[async]);
    }
}
END_TEST

// What this rank itself lacks: nobody else is blamed ----------------------------------------------

static void use_up_files(void)
{
    struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};
    RANK_CHECK(!setrlimit(RLIMIT_NOFILE, &few));
    while (dup(STDERR_FILENO) >= 0) continue;
}

/// The victim has no descriptor for a connection to rank 0 (kind 0), or from it (kind 1).
static void run_without_files(int rank, const ranks *group, void *argument)
{
    plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    int number = 1;
    if (rank == VICTIM) use_up_files();
    gn_status status = gn_barrier(comm);
    const double start = seconds_now();
    const int from = p->kind ? 0 : VICTIM, to = VICTIM - from;
    if (!status && rank == from) status = gn_send(comm, &number, sizeof number, to, 1);
    if (!status && rank == to) status = gn_recv(comm, &number, sizeof number, from, 1, NULL);
    if (!status) status = gn_barrier(comm);
    keep(group, status, comm, start);
    gn_comm_free(comm);
}

START_TEST(test_own_files_are_used_up)
{
    plan p = {.algorithm = algorithms[_i % ALGORITHMS], .kind = _i / ALGORITHMS, .timeout_ms = 2000};
    ranks group;
    ranks_start(&group, SIZE, run_without_files, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(r->status == GN_IO, "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
        ck_assert_msg(strstr(r->text, "rank 2 has no room for a connection for messages with rank 0 (127.0.0.1): Too "
                                      "many open files (raise ulimit -n)"),
                      "rank %d: %s", rank, r->text);
    }
    ranks_free(&group);
}
END_TEST

// Sanitizers end a process that wants more than they have, unless they are asked not to.
#define LESS_STRICT __attribute__((visibility("default")))
LESS_STRICT const char *__asan_default_options(void);
LESS_STRICT const char *__tsan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/// A message to oneself that is larger than memory.
static void run_without_memory(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    const size_t count = (size_t)1 << 40;  // its bytes are never read
    const double start = seconds_now();
    keep(group, gn_send(comm, &count, count, rank, 1), comm, start);
    RANK_CHECK(gn_send(comm, &count, 1, rank, 1) == GN_DEAD);
    gn_comm_free(comm);
}

START_TEST(test_out_of_memory_is_named)
{
    plan p = {.algorithm = GN_RING};
    ranks group;
    ranks_start(&group, 1, run_without_memory, &p);
    ranks_wait(&group, 30);
    ck_assert_int_eq(group.exits[0], 0);
    ck_assert_int_eq(group.reports[0].status, GN_NO_MEMORY);
    ck_assert_str_eq(group.reports[0].text, "rank 0 is out of memory");
    ranks_free(&group);
}
END_TEST

/// Messages of which the last one is wanted first: no more than 1 MiB of them come.
static void run_unread(int rank, const ranks *group, void *argument)
{
    enum { MESSAGES = 40 };
    gn_comm *comm = plan_init(rank, group, argument);
    uint8_t *bytes = calloc(MESSAGES, GN_PARCEL_WHOLE_MAX);
    gn_request *sent[MESSAGES];
    gn_status status = GN_OK;
    const double start = seconds_now();
    for (int i = 0; i < MESSAGES && rank; i++) RANK_CHECK(!gn_isend(comm, bytes, GN_PARCEL_WHOLE_MAX, 0, i, &sent[i]));
    for (int i = 0; i < MESSAGES && rank; i++) status = gn_wait(sent[i]);
    if (!rank) status = gn_recv(comm, bytes, GN_PARCEL_WHOLE_MAX, 1, MESSAGES - 1, NULL);
    keep(group, status, comm, start);
    gn_comm_free(comm);
}

START_TEST(test_unread_messages_are_named)
{
    plan p = {.algorithm = GN_RING, .timeout_ms = 1000};
    ranks group;
    ranks_start(&group, 2, run_unread, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 2; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(
            r->status == GN_TIMEOUT &&
                strstr(r->text, "of 1048576 bytes are taken by earlier messages, which have not been received"),
            "rank %d: %s: %s", rank, gn_status_string(r->status), r->text);
    }
    ranks_free(&group);
}
END_TEST

// What is wrong by itself ends nothing ------------------------------------------------------------

static void run_wrong(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    char byte = 1;
    bool there;
    gn_request *request = (gn_request *)(void *)&byte;
#define WRONG(call, why) RANK_CHECK((call) == GN_INVALID && strstr(gn_comm_last_error(comm), why))
    WRONG(gn_send(comm, &byte, 1, 2, 0), "called send wrongly: to is not a rank");
    WRONG(gn_send(comm, &byte, 1, GN_ANY_RANK, 0), "to is not a rank");
    WRONG(gn_send(comm, &byte, 1, 0, -1), "the tag is below 0");
    WRONG(gn_send(comm, NULL, 1, 0, 0), "bytes is NULL");
    WRONG(gn_recv(comm, &byte, 1, -2, 0, NULL), "called receive wrongly: from is neither a rank nor GN_ANY_RANK");
    WRONG(gn_recv(comm, &byte, 1, 0, -2, NULL), "the tag is below 0, and not GN_ANY_TAG");
    WRONG(gn_recv(comm, &byte, SIZE_MAX, 0, 0, NULL), "count is larger than memory");
    WRONG(gn_isend(comm, NULL, 1, 0, 0, &request), "bytes is NULL");
    RANK_CHECK(!request && gn_isend(comm, &byte, 1, 0, 0, NULL) == GN_INVALID);
    RANK_CHECK(gn_probe(comm, 0, 0, NULL, NULL) == GN_INVALID && gn_probe(comm, 9, 0, &there, NULL) == GN_INVALID);
    RANK_CHECK(gn_send(NULL, &byte, 1, 0, 0) == GN_INVALID);
    RANK_CHECK(!gn_send(comm, &byte, 1, !rank, 0) && !gn_recv(comm, &byte, 1, !rank, 0, NULL));
    gn_comm_free(comm);
}

START_TEST(test_wrong)
{
    plan p = {.algorithm = algorithms[_i]};
    ranks_run(2, run_wrong, &p, 30);
}
END_TEST

static void run_too_large(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    const plan *p = argument;
    const size_t count = p->kind ? LARGE : 100;
    uint8_t *bytes = calloc(1, LARGE);
    gn_received got;
    const double start = seconds_now();
    gn_status status = rank ? gn_send(comm, bytes, count, 0, 7) : gn_recv(comm, bytes, count - 1, 1, 7, &got);
    if (!status) status = gn_barrier(comm);
    keep(group, status, comm, start);
    gn_comm_free(comm);
}

START_TEST(test_too_large)
{
    plan p = {.kind = _i};
    ranks group;
    ranks_start(&group, 2, run_too_large, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 2; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(r->status == GN_MISMATCH && strstr(r->text, "bytes with tag 7; rank 0 wants at most"), "%s",
                      r->text);
    }
    ranks_free(&group);
}
END_TEST

// Only the two ranks take part --------------------------------------------------------------------

static void run_beside(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    char bytes[1000] = {0};
    const double start = seconds_now();
    if (rank >= 2) sleep(3);  // longer than the timeout: it computes
    for (int i = 0; rank < 2 && i < 100; i++) {
        if (rank == i % 2) RANK_CHECK(!gn_send(comm, bytes, sizeof bytes, !rank, i));
        if (rank != i % 2) RANK_CHECK(!gn_recv(comm, bytes, sizeof bytes, !rank, i, NULL));
    }
    if (rank < 2) RANK_CHECK(seconds_now() - start < 1);
    if (rank < 2) sleep(3);
    RANK_CHECK(!gn_barrier(comm));
    gn_comm_free(comm);
}

START_TEST(test_beside)
{
    plan p = {.algorithm = algorithms[_i], .timeout_ms = 2000};
    ranks_run(SIZE, run_beside, &p, 30);
}
END_TEST

// Bytes that no rank sends ------------------------------------------------------------------------

enum { HOSTILE = 14 };

/// Connects to rank 0 as rank 1 does, and says something.
static int connect_as_rank(const gn_comm *comm)
{
    const gn_address *address = &comm->table.address[0];
    const gn_endpoint to = gn_address_endpoint(address, address->oob_port, 0);
    const int fd = gn_tcp_connect(&to, NULL, 0);
    gn_join join = {.rank = 1};
    uint8_t frame[GN_FRAME_MAX];
    memcpy(join.token, comm->table.token, sizeof join.token);
    RANK_CHECK(fd >= 0);
    usleep(50000);
    const size_t length = gn_join_write(frame, &join);
    RANK_CHECK(send(fd, frame, length, MSG_NOSIGNAL) == (ssize_t)length);
    return fd;
}

static void say(int fd, gn_parcel parcel)
{
    uint8_t head[GN_PARCEL_HEAD];
    static const uint8_t bytes[GN_PARCEL_PART_MAX];
    gn_parcel_write(head, &parcel);
    (void)!send(fd, head, sizeof head, MSG_NOSIGNAL);
    const size_t follows = gn_parcel_follows(&parcel);
    if (follows <= sizeof bytes) (void)!send(fd, bytes, follows, MSG_NOSIGNAL);
}

/// `told`: rank 0 has said what it makes of that.
static void be_hostile(const gn_comm *comm, int kind, const volatile char *told)
{
    const int fd = connect_as_rank(comm);
    const gn_parcel first = {.type = GN_PARCEL_WHOLE, .tag = 3, .bytes = 10};
    const gn_parcel offer = {.type = GN_PARCEL_OFFER, .tag = 1, .bytes = 100000};
    const gn_parcel wrong[HOSTILE] = {
        {.type = GN_PARCEL_PART, .bytes = 1},
        {.type = GN_PARCEL_ACCEPT},
        {.type = GN_PARCEL_CREDIT, .bytes = 1},
        {.type = GN_PARCEL_WHOLE, .number = 2},
        {.type = GN_PARCEL_WHOLE, .number = 1, .bytes = GN_PARCEL_WHOLE_MAX + 1},
        {.type = GN_PARCEL_OFFER, .number = 1, .bytes = 1},
        {.type = GN_PARCEL_OFFER, .number = 1, .bytes = UINT64_MAX},
        {.type = GN_PARCEL_TYPES},
        {.type = GN_PARCEL_ALIVE, .bytes = 1},
        {.type = GN_PARCEL_END, .number = 1},
    };
    say(fd, first);
    switch (kind) {
    case 10:  // more than the window has
        for (unsigned i = 1; i < 40; i++)
            say(fd, (gn_parcel){.type = GN_PARCEL_WHOLE, .tag = 3, .number = i, .bytes = GN_PARCEL_WHOLE_MAX});
        break;
    case 11:
        for (unsigned i = 1; i < 20000; i++) say(fd, (gn_parcel){.type = GN_PARCEL_WHOLE, .tag = 3, .number = i});
        break;
    case 12:  // more bytes than were offered, which rank 0 wants
        say(fd, (gn_parcel){offer.type, offer.tag, 1, offer.bytes});
        usleep(50000);
        say(fd, (gn_parcel){.type = GN_PARCEL_PART, .number = 1, .bytes = 100001});
        break;
    case 13:
        (void)!send(fd, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 36, MSG_NOSIGNAL);
        break;
    default:
        say(fd, wrong[kind]);
    }
    // To leave would be an error of another kind.
    for (int i = 0; i < 300 && !*told; i++) usleep(10000);
}

static void run_hostile(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    if (rank) {
        be_hostile(comm, p->kind, group->reports[0].text);
        _exit(0);
    }
    static uint8_t bytes[100000];
    const double start = seconds_now();
    keep(group, gn_recv(comm, bytes, sizeof bytes, 1, 1, NULL), comm, start);
    gn_comm_free(comm);
}

START_TEST(test_hostile)
{
    plan p = {.algorithm = GN_DIRECT, .timeout_ms = 20000, .kind = _i};
    if (getenv("GRADNIC_SECRET_FILE")) return;  // it does not get so far
    ranks group;
    ranks_start(&group, 2, run_hostile, &p);
    ranks_wait(&group, 30);
    const report *r = &group.reports[0];
    ck_assert_int_eq(group.exits[0], 0);
    ck_assert_msg(r->status == GN_CORRUPT && strstr(r->text, "rank 1 (127.0.0.1) sent "), "%d: %s: %s", _i,
                  gn_status_string(r->status), r->text);
    ck_assert(r->seconds < 3);
    ranks_free(&group);
}
END_TEST

// Strangers at the port, which stays open, keep nobody from anything.
static void run_strangers(int rank, const ranks *group, void *argument)
{
    gn_comm *comm = plan_init(rank, group, argument);
    const gn_address *address = &comm->table.address[0];
    const gn_endpoint to = gn_address_endpoint(address, address->oob_port, 0);
    char bytes[100] = {0};
    for (int i = 0; i < 60 && rank == 1; i++) {
        const int fd = gn_tcp_connect(&to, NULL, 0);
        if (i % 2) (void)!send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
    }
    for (int i = 0; i < 20; i++) {
        if (rank == 1) RANK_CHECK(!gn_send(comm, bytes, sizeof bytes, 0, i));
        if (rank == 0) RANK_CHECK(!gn_recv(comm, bytes, sizeof bytes, 1, i, NULL));
        if (rank == 0) RANK_CHECK(!gn_send(comm, bytes, sizeof bytes, 1, i));
        if (rank == 1) RANK_CHECK(!gn_recv(comm, bytes, sizeof bytes, 0, i, NULL));
    }
    gn_comm_free(comm);
}

START_TEST(test_strangers)
{
    plan p = {.algorithm = GN_RING, .timeout_ms = 20000};
    ranks_run(2, run_strangers, &p, 30);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("messages errors");
    TCase *tcase = tcase_create("messages errors");
    tcase_set_timeout(tcase, 150);
    tcase_add_loop_test(tcase, test_goes, 0, GOES * ALGORITHMS);
    tcase_add_loop_test(tcase, test_wrong, 0, ALGORITHMS);
    tcase_add_loop_test(tcase, test_too_large, 0, 2);
    tcase_add_loop_test(tcase, test_beside, 0, ALGORITHMS);
    tcase_add_loop_test(tcase, test_hostile, 0, HOSTILE);
    tcase_add_test(tcase, test_strangers);
    tcase_add_loop_test(tcase, test_own_files_are_used_up, 0, 2 * ALGORITHMS);
    tcase_add_test(tcase, test_out_of_memory_is_named);
    tcase_add_test(tcase, test_unread_messages_are_named);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
