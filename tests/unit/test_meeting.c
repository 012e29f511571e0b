// SPDX-License-Identifier: Apache-2.0
// Rank 0 while its group is set up. The others are played here, message by message: who is sent
// away, who may come again, what ends the group, and what everyone is told.
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "free_port.h"
#include "net/log_limit.h"
#include "ring/bootstrap/rendezvous.h"
#include "ring/bootstrap/roster.h"
#include "ring/bootstrap/terms.h"
#include "ring/message.h"
#include "suite.h"

enum { SIZE = 3, TIMEOUT_MS = 20000 };

static ranks group;
static uint16_t port;

/// What one of the others has of its connection.
typedef struct visitor {
    int fd;
    uint16_t port;  ///< its own
    uint8_t bytes[2 * GN_FRAME_MAX];
    size_t used, taken;
    gn_frame frame;  ///< the last one that came
} visitor;

static visitor one, two, three;

static gn_comm_config config_of(int rank)
{
    static char where[64];
    gn_comm_config config = gn_comm_config_default();
    snprintf(where, sizeof where, "tcp://127.0.0.1:%u", port);
    config.rank = rank;
    config.size = SIZE;
    config.rendezvous = where;
    config.interface = "lo";
    config.timeout_ms = TIMEOUT_MS;
    config.data_tos = 0;
    config.offload = GN_OFFLOAD_NONE;
    return config;
}

/// Of what rank 0 has logged: who was sent away, and of how many more it says so.
enum { SENT_AWAY, MORE_SENT_AWAY };

static void count_lines(void *context, gn_log_level level, const char *text)
{
    uint64_t *values = context;
    unsigned more = 0;
    (void)level;
    values[SENT_AWAY] += strstr(text, " was sent away: ") != NULL;
    if (sscanf(text, "and %u more were sent away", &more) == 1) values[MORE_SENT_AWAY] += more;
}

static void run_home(int rank, const ranks *all, void *argument)
{
    gn_comm_config config = config_of(0);
    (void)argument;
    config.log = count_lines;
    config.log_context = all->reports[rank].values;
    RANK_CHECK(!rank_init(rank, all, &config));  // nobody here stays to the end
}

static void begin(void)
{
    port = free_port();
    ranks_start(&group, 1, run_home, NULL);
}

/// Fails unless rank 0 gave up with these words.
static void home_says(gn_status status, const char *said)
{
    ranks_wait(&group, 30);
    ck_assert_int_eq(group.exits[0], 0);
    ck_assert_str_eq(group.reports[0].text, said);
    ck_assert_int_eq(group.reports[0].status, status);
}

static void end(void)
{
    ranks_free(&group);
}

static void come(visitor *v)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    struct sockaddr_in own;
    socklen_t length = sizeof own;
    for (int tries = 0;; tries++, usleep(10000)) {
        v->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (!connect(v->fd, (struct sockaddr *)&at, sizeof at)) break;
        ck_assert_int_lt(tries, 2000);
        close(v->fd);
    }
    ck_assert(!getsockname(v->fd, (struct sockaddr *)&own, &length));
    v->port = ntohs(own.sin_port);
    v->used = v->taken = 0;
}

static void say(const visitor *v, const void *bytes, size_t length)
{
    ck_assert_int_eq(send(v->fd, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
}

static gn_hello hello_of(uint16_t rank)
{
    const gn_comm_config config = config_of(rank);
    gn_rendezvous meeting;
    gn_error error;
    ck_assert_int_eq(gn_rendezvous_parse(config.rendezvous, &meeting, &error), GN_OK);
    return (gn_hello){.job = meeting.job,
                      .rank = rank,
                      .size = SIZE,
                      .terms = gn_terms_of(&config),
                      .address = {4, (uint16_t)(1000 + rank), (uint16_t)(2000 + rank), {127, 0, 0, 1}},
                      .timeout_ms = TIMEOUT_MS};
}

static void greet(visitor *v, const gn_hello *hello)
{
    uint8_t bytes[GN_FRAME_MAX];
    come(v);
    say(v, bytes, gn_hello_write(bytes, hello));
}

/// Takes the next message that is more than a sign of life. @return false where there is none any
/// more
static bool hears(visitor *v)
{
    for (;;) {
        const int length = gn_frame_parse(v->bytes + v->taken, v->used - v->taken, &v->frame);
        ck_assert_int_ge(length, 0);
        v->taken += (size_t)length;
        if (length && v->frame.type != GN_MSG_ALIVE) return true;
        if (length) continue;
        struct pollfd p = {.fd = v->fd, .events = POLLIN};
        ck_assert_int_eq(poll(&p, 1, 20000), 1);
        memmove(v->bytes, v->bytes + v->taken, v->used -= v->taken);
        v->taken = 0;
        const ssize_t got = recv(v->fd, v->bytes + v->used, sizeof v->bytes - v->used, 0);
        if (got <= 0) return false;
        v->used += (size_t)got;
    }
}

/// Fails unless it is told this, and then the connection ends.
static void is_refused(visitor *v, gn_status status, const char *said)
{
    gn_failure failure;
    ck_assert(hears(v));
    ck_assert_int_eq(v->frame.type, GN_MSG_FAIL);
    ck_assert(gn_failure_read(&v->frame, &failure));
    ck_assert_str_eq(failure.text, said);
    ck_assert_int_eq(failure.status, status);
    ck_assert_uint_eq(failure.culprit, GN_NO_RANK);
    ck_assert_uint_eq(failure.reporter, 0);
    ck_assert(!hears(v));
    close(v->fd);
}

/// Fails unless it is told next that these ranks have come: bit r stands for rank r.
static void hears_of(visitor *v, unsigned ranks_here)
{
    gn_roster roster;
    ck_assert(hears(v));
    ck_assert_int_eq(v->frame.type, GN_MSG_ROSTER);
    ck_assert(gn_roster_read(&v->frame, &roster));
    ck_assert_uint_eq(roster.size, SIZE);
    for (int rank = 0; rank < SIZE; rank++) ck_assert(gn_roster_has(&roster, rank) == (ranks_here >> rank & 1));
}

// All of them are sent away, and the group still waits for ranks 1 and 2.
START_TEST(who_has_no_place)
{
    char said[300];
    gn_hello hello = hello_of(1);
    hello.job++;
    greet(&one, &hello);
    is_refused(&one, GN_MISMATCH, "the rendezvous belongs to another job (GRADNIC_JOB or TORCHELASTIC_RUN_ID differ)");
    for (uint16_t size = 2; size <= 4; size += 2) {
        hello = hello_of(1), hello.size = size;
        greet(&one, &hello);
        snprintf(said, sizeof said, "rank 1 (127.0.0.1:%u) has size %u, rank 0 (127.0.0.1) has size 3", one.port, size);
        is_refused(&one, GN_MISMATCH, said);
    }
    static const uint16_t places[] = {0, 3, 4, 256, 65535};
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        hello = hello_of(places[i]);
        greet(&one, &hello);
        snprintf(said, sizeof said,
                 "rank %u came from 127.0.0.1:%u, rank 0 is 127.0.0.1: ranks must be distinct, 0 to 2", places[i],
                 one.port);
        is_refused(&one, GN_MISMATCH, said);
    }
    uint8_t bytes[GN_FRAME_MAX];
    come(&one);  // another message comes first
    say(&one, bytes, gn_empty_write(bytes, GN_MSG_READY));
    ck_assert(!hears(&one));
    come(&one);  // no message at all
    say(&one, "GET / HTTP/1.0\r\n\r\n", 18);
    ck_assert(!hears(&one));
    hello = hello_of(1);
    greet(&one, &hello);
    hears_of(&one, 3);
    hello = hello_of(1);
    greet(&two, &hello);
    snprintf(said, sizeof said, "rank 1 came twice: from 127.0.0.1:%u and from 127.0.0.1:%u", one.port, two.port);
    is_refused(&two, GN_MISMATCH, said);
    hello = hello_of(2);
    hello.terms.algorithm = GN_WORKER_AGGREGATOR;  // this one ends it
    greet(&two, &hello);
    snprintf(said, sizeof said,
             "rank 2 (127.0.0.1:%u) has algorithm worker-aggregator, rank 0 (127.0.0.1) has algorithm ring", two.port);
    is_refused(&two, GN_MISMATCH, said);
    gn_failure failure;  // and so the others are told
    ck_assert(hears(&one) && one.frame.type == GN_MSG_FAIL && gn_failure_read(&one.frame, &failure));
    ck_assert_str_eq(failure.text, said);
    home_says(GN_MISMATCH, said);
}
END_TEST

// A crowd of another job does not fill the log.
START_TEST(many_who_have_no_place)
{
    enum { MORE = 5 };
    gn_hello hello = hello_of(1);
    hello.job++;
    for (unsigned i = 0; i < GN_LOG_LINES + MORE; i++) {
        greet(&one, &hello);
        is_refused(&one, GN_MISMATCH,
                   "the rendezvous belongs to another job (GRADNIC_JOB or TORCHELASTIC_RUN_ID differ)");
    }
    const volatile uint64_t *logged = group.reports[0].values;
    for (unsigned ms = 0; ms < 1500 * GN_LOG_SPAN_S && !logged[MORE_SENT_AWAY]; ms++) usleep(1000);
    ck_assert_uint_eq(logged[SENT_AWAY], GN_LOG_LINES);
    ck_assert_uint_eq(logged[MORE_SENT_AWAY], MORE);
    hello = hello_of(1), hello.terms.quantise = 1;  // ends it
    greet(&one, &hello);
    ranks_wait(&group, 30);
    close(one.fd);
}
END_TEST

/// Terms that rank 1 may not have.
static const struct {
    const char *said;
    gn_terms terms;
    gn_address address;
} wrong[] = {
    {"rank 1 (127.0.0.1:%u) has protocol version 2, rank 0 (127.0.0.1) has protocol version 6", {.version = 2}, {0}},
    {"rank 1 (127.0.0.1:%u) has quantise on, rank 0 (127.0.0.1) has quantise off", {.quantise = 1}, {0}},
    {"rank 1 (127.0.0.1:%u) has data ToS 0x28, rank 0 (127.0.0.1) has data ToS 0x00", {.data_tos = 0x28}, {0}},
    {"rank 1 listens at 10.0.0.9, rank 0 at 127.0.0.1, which cannot reach each other: select an interface",
     {0},
     {4, 1, 1, {10, 0, 0, 9}}},
    {"rank 1 listens at ::1, rank 0 at 127.0.0.1, which cannot reach each other: select an interface",
     {0},
     {6, 1, 1, {[15] = 1}}}};

START_TEST(what_ends_the_group)
{
    char said[300], own[24];
    gn_hello hello = hello_of(1);
    if (wrong[_i].terms.version) hello.terms.version = wrong[_i].terms.version;
    hello.terms.quantise = wrong[_i].terms.quantise;
    hello.terms.data_tos = wrong[_i].terms.data_tos;
    if (wrong[_i].address.family) hello.address = wrong[_i].address;
    greet(&one, &hello);
    snprintf(said, sizeof said, "%s", wrong[_i].said);
    char *at = strstr(said, "%u");
    if (at) {
        snprintf(own, sizeof own, "%u", one.port);
        memmove(at + strlen(own), at + 2, strlen(at + 2) + 1);
        memcpy(at, own, strlen(own));
    }
    is_refused(&one, GN_MISMATCH, said);
    home_says(GN_MISMATCH, said);
}
END_TEST

/// Fails unless what it is told next is the table.
static gn_rank_table hears_table(visitor *v)
{
    gn_rank_table table = {0};
    ck_assert(hears(v));
    ck_assert_int_eq(v->frame.type, GN_MSG_TABLE);
    ck_assert(gn_rank_table_read(&v->frame, &table));
    return table;
}

/// A listener, to which rank 0 can connect, and which never says anything.
static int listens_at(uint16_t *where)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof own;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(!bind(fd, (struct sockaddr *)&own, sizeof own) && !listen(fd, 8));
    ck_assert(!getsockname(fd, (struct sockaddr *)&own, &length));
    *where = ntohs(own.sin_port);
    return fd;
}

// A rank that goes while others are missing may come again. When all have come, all get the same
// table, with the shortest patience, and nobody else comes in. Who goes then is told of.
START_TEST(all_come)
{
    static const uint8_t nothing[GN_TOKEN_BYTES];
    static gn_rank_table first, second;
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    char said[300];
    uint16_t door[2];
    const int neighbour[2] = {listens_at(&door[0]), listens_at(&door[1])};
    gn_hello hello = hello_of(1);
    greet(&one, &hello);
    hears_of(&one, 3);
    close(one.fd);
    hello.address.data_port = door[0], hello.address.oob_port = door[1];
    for (int tries = 0; tries < 1000; tries++) {  // until it has been missed
        greet(&one, &hello);
        ck_assert(hears(&one));
        if (one.frame.type == GN_MSG_ROSTER) break;
        close(one.fd);
    }
    hello = hello_of(2);
    hello.timeout_ms = 15000;
    hello.address.data_port = door[1], hello.address.oob_port = door[0];
    greet(&two, &hello);
    hears_of(&two, 7);
    hears_of(&one, 7);
    first = hears_table(&one);
    second = hears_table(&two);
    ck_assert_mem_eq(&first, &second, sizeof first);
    ck_assert_uint_eq(first.size, SIZE);
    ck_assert_uint_eq(first.timeout_ms, 15000);
    ck_assert_mem_ne(first.token, nothing, sizeof nothing);
    for (uint16_t rank = 0; rank < SIZE; rank++) {
        const gn_address *listens = &first.address[rank];
        ck_assert(listens->family == 4 && !memcmp(listens->bytes, "\x7f\0\0\1", 4) && !first.switch_index[rank]);
        if (rank) ck_assert(listens->data_port == door[rank - 1] && listens->oob_port == door[2 - rank]);
    }
    ck_assert(first.address[0].data_port && first.address[0].oob_port);
    three.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(connect(three.fd, (const struct sockaddr *)&at, sizeof at));
    close(three.fd);
    close(two.fd);
    snprintf(said, sizeof said, "rank 2 (127.0.0.1:%u) lost while the group was set up", two.port);
    gn_failure failure;
    ck_assert(hears(&one) && one.frame.type == GN_MSG_FAIL && gn_failure_read(&one.frame, &failure));
    ck_assert_str_eq(failure.text, said);
    // Until it has gone, too, no reset may take away what it was told.
    uint8_t alive[GN_FRAME_MAX];
    for (int i = 0; i < 3; i++, usleep(50000)) say(&one, alive, gn_alive_write(alive, &(gn_alive){0}));
    close(one.fd);
    home_says(GN_PEER_LOST, said);
    close(neighbour[0]), close(neighbour[1]);
}
END_TEST

// What one rank reports, all are told.
START_TEST(a_rank_that_fails)
{
    const gn_failure why = {.status = GN_IO, .culprit = GN_NO_RANK, .reporter = 1, .text = "no disk"};
    uint8_t bytes[GN_FRAME_MAX];
    gn_hello hello = hello_of(1);
    greet(&one, &hello);
    hears_of(&one, 3);
    say(&one, bytes, gn_failure_write(bytes, &why));
    gn_failure failure;
    ck_assert(hears(&one) && one.frame.type == GN_MSG_FAIL && gn_failure_read(&one.frame, &failure));
    ck_assert_str_eq(failure.text, "no disk (reported by rank 1, 127.0.0.1)");
    home_says(GN_IO, "no disk (reported by rank 1, 127.0.0.1)");
    close(one.fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("meeting");
    TCase *all = tcase_create("meeting");
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_test(all, who_has_no_place);
    tcase_add_test(all, many_who_have_no_place);
    tcase_add_loop_test(all, what_ends_the_group, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(all, all_come);
    tcase_add_test(all, a_rank_that_fails);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
