// SPDX-License-Identifier: Apache-2.0
// A group with a shared secret: it comes to the same bits as one without, and who has another
// secret, or none, neither joins nor disturbs it.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "free_port.h"
#include "net/clock.h"
#include "net/greeting.h"
#include "net/tcp.h"
#include "ring/connection.h"
#include "suite.h"
#include "switch_host.h"

enum { SIZE = 3, VALUES = 5000 };

static char file[64], other_file[64];

static void write_file(char *path, size_t room, const char *name, const char *text)
{
    snprintf(path, room, "/tmp/gradnic-comm-secret-%d-%s", (int)getpid(), name);
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(text, f) >= 0 && !fclose(f) && !chmod(path, 0600));
}

static void begin(void)
{
    unsetenv("GRADNIC_SECRET_FILE");
    write_file(file, sizeof file, "a", "one secret of a test\n");
    write_file(other_file, sizeof other_file, "b", "another secret of a test\n");
}

static void end(void)
{
    unlink(file);
    unlink(other_file);
}

typedef struct plan {
    gn_algorithm algorithm;
    bool weights, with;
} plan;

/// Sums, and reports the hash.
static void sum(int rank, const ranks *group, gn_comm *comm)
{
    static float values[VALUES];
    for (size_t i = 0; i < VALUES; i++) values[i] = sample((uint64_t)rank, i);
    RANK_CHECK(!gn_allreduce(comm, values, values, VALUES, GN_SUM));
    group->reports[rank].hash = hash_values(values, VALUES);
    gn_comm_free(comm);
}

static void run_sum(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.aggregator_weights = p->weights;
    config.quantise = true;
    gn_codec_init(&config.codec, GN_DENSE, 10);
    if (p->with && rank)
        config.secret_file = file;
    else if (p->with)
        setenv("GRADNIC_SECRET_FILE", file, 1);  // the other way to say it
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    sum(rank, group, comm);
}

static uint64_t hash_of(plan p)
{
    ranks group;
    ranks_start(&group, SIZE, run_sum, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank++) {
        ck_assert_msg(group.exits[rank] == 0, "rank %d: %s", rank, group.reports[rank].text);
        ck_assert(group.reports[rank].hash == group.reports[0].hash);
    }
    const uint64_t hash = group.reports[0].hash;
    ranks_free(&group);
    return hash;
}

START_TEST(test_same_bits)
{
    const gn_algorithm algorithm = _i == 3 ? GN_DIRECT : _i ? GN_WORKER_AGGREGATOR : GN_RING;
    const uint64_t without = hash_of((plan){algorithm, _i == 2, false});
    ck_assert(hash_of((plan){algorithm, _i == 2, true}) == without);
}
END_TEST

/// Rank 3 is none of the group: it says that it is rank 1, with another secret or none. Rank 2 is
/// still to come.
static void run_with_stranger(int rank, const ranks *group, void *argument)
{
    const bool has_another = *(bool *)argument, stranger = rank == SIZE;
    gn_comm_config config = rank_config(rank, group);
    config.rank = stranger ? 1 : rank;
    config.size = SIZE;
    config.secret_file = !stranger ? file : has_another ? other_file : NULL;
    if (rank && !stranger) usleep(400000);
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(stranger == !comm);
    if (comm) sum(rank, group, comm);
}

START_TEST(test_strangers_are_sent_away)
{
    bool has_another = _i;
    ranks group;
    ranks_start(&group, SIZE + 1, run_with_stranger, &has_another);
    ranks_wait(&group, 30);
    for (int rank = 0; rank <= SIZE; rank++)
        ck_assert_msg(group.exits[rank] == 0, "rank %d: %s", rank, group.reports[rank].text);
    const report *r = &group.reports[SIZE];
    ck_assert_int_eq(r->status, GN_MISMATCH);
    ck_assert_msg(strstr(r->text, has_another
                                      ? "does not have the shared secret of rank 1: all need the same file (--secret"
                                      : "rank 0 (127.0.0.1) has a shared secret, and 127.0.0.1:"),
                  "%s", r->text);
    ck_assert_msg(r->seconds < 5, "told after %.1f s", r->seconds);
    ranks_free(&group);
}
END_TEST

typedef struct mixed {
    bool zero_has, one_has;
} mixed;

/// Two ranks with and without a secret, or with two.
static void run_mixed(int rank, const ranks *group, void *argument)
{
    const mixed *m = argument;
    gn_comm_config config = rank_config(rank, group);
    config.timeout_ms = 1500;
    config.secret_file = rank ? (m->one_has ? other_file : NULL) : m->zero_has ? file : NULL;
    RANK_CHECK(!rank_init(rank, group, &config));
}

START_TEST(test_both_sides_are_told)
{
    static mixed all[] = {{true, false}, {false, true}, {true, true}};
    static const char *const zero[] = {"rank 0 (127.0.0.1) has a shared secret, and it has shown none",
                                       "it has a shared secret, and rank 0 (127.0.0.1) has none",
                                       "it does not have the shared secret of rank 0 (127.0.0.1)"};
    static const char *const one[] = {"rank 0 (127.0.0.1) has a shared secret, and 127.0.0.1:",
                                      "has not shown the shared secret of rank 1 (--secret), and says: 127.0.0.1:",
                                      "does not have the shared secret of rank 1"};
    ranks group;
    ranks_start(&group, 2, run_mixed, &all[_i]);
    ranks_wait(&group, 30);
    const report *r = group.reports;
    ck_assert_int_eq(r[0].status, GN_TIMEOUT);
    ck_assert_msg(strstr(r[0].text, "rank 1 did not come within 1500 ms; sent away was 127.0.0.1:") &&
                      strstr(r[0].text, zero[_i]) && strstr(r[0].text, "--secret"),
                  "%s", r[0].text);
    ck_assert_int_eq(r[1].status, GN_MISMATCH);
    ck_assert_msg(strstr(r[1].text, one[_i]) && strstr(r[1].text, "--secret"), "%s", r[1].text);
    ck_assert_msg(r[1].seconds < 1.4, "told after %.1f s", r[1].seconds);
    ranks_free(&group);
}
END_TEST

/// In place of rank 0: says these bytes to whoever comes, and notes all that it hears.
static size_t pretend(int listener, const void *bytes, size_t count, uint8_t *heard, size_t room)
{
    size_t used = 0;
    const int fd = accept(listener, NULL, NULL);
    ck_assert(fd >= 0 && send(fd, bytes, count, MSG_NOSIGNAL) == (ssize_t)count);
    for (ssize_t got; used < room && (got = recv(fd, heard + used, room - used, 0)) > 0;) used += (size_t)got;
    close(fd);
    return used;
}

static void run_deceived(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(1, group);
    config.size = 2;
    config.rendezvous = argument;
    config.timeout_ms = 1000;
    config.secret_file = file;
    RANK_CHECK(!rank_init(rank, group, &config));
}

/// A false rank 0 hears a call, and no HELLO: neither configuration nor addresses. What it says is
/// not believed, and silence lasts until the deadline.
START_TEST(test_false_rank_0)
{
    static const uint8_t roster[] = "GNC1\2\0\042\0\2\0\3";
    const size_t count[] = {0, 8 + 34, 88};
    uint8_t says[88] = {0}, heard[1024];
    if (_i == 1) memcpy(says, roster, sizeof roster);  // as if there were no secrets
    if (_i == 2) memcpy(says, "GNC1\40\0\120\0", 8);   // a challenge with a code of zeros
    gn_endpoint at = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}};
    int listener = gn_tcp_listen(&at, false, 0);
    char where[64];
    snprintf(where, sizeof where, "tcp://127.0.0.1:%u", at.port);
    struct timeval patience = {.tv_sec = 10};
    const int flags = fcntl(listener, F_GETFL);
    ck_assert(listener >= 0 && !fcntl(listener, F_SETFL, flags & ~O_NONBLOCK));
    ck_assert(!setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
    ranks group;
    ranks_start(&group, 1, run_deceived, where);
    const size_t used = pretend(listener, says, count[_i], heard, sizeof heard);
    ranks_wait(&group, 30);
    const report *r = &group.reports[0];
    ck_assert_uint_eq(used, 8 + 97u + (_i == 2 ? 8 + 32 : 0));  // a call, and a proof that proves nothing to it
    static const char *const words[] = {
        "said nothing for", "has a shared secret, and rank 0 (127.0.0.1:", "does not have the shared secret of rank 1"};
    ck_assert_int_eq(r->status, _i ? GN_MISMATCH : GN_TIMEOUT);
    ck_assert_msg(strstr(r->text, words[_i]), "%s", r->text);
    ck_assert_msg(r->seconds < 5, "%.1f s", r->seconds);
    ranks_free(&group);
    gn_close(&listener);
}
END_TEST

/// One that comes to rank 0, and does as the test says.
typedef struct visitor {
    gn_secret secret;
    gn_greeting greeting;
    gn_framed *home;
    gn_hello hello;
    bool said;
    char told[GN_TEXT_MAX + 1];
} visitor;

/// Connects to `to`, and is about to greet as `rank` of so many.
static void visit(visitor *v, const gn_endpoint *to, uint16_t rank, const gn_hello *hello)
{
    gn_error error;
    const gn_greeting_who who = {.role = GN_ROLE_RANK, .rank = rank, .size = hello->size, .job = hello->job};
    *v = (visitor){.hello = *hello};
    ck_assert_int_eq(gn_secret_read(&v->secret, file, &error), GN_OK);
    v->home = gn_connection_new(gn_tcp_connect(to, NULL, 0), GN_FRAMED_CONNECTING);
    gn_greeting_call(&v->greeting, &v->secret, GN_GREETING_EXCHANGE, &who);
}

/// Sends and receives for a moment, and does not look at what has come.
static void visitor_serves(visitor *v)
{
    struct pollfd p = gn_framed_poll(v->home);
    (void)poll(&p, 1, 50);
    gn_framed_serve(v->home, p.revents);
}

/// Greets, says HELLO, and notes what it is told.
static void visitor_speaks(visitor *v)
{
    gn_frame frame;
    gn_failure failure;
    uint8_t out[GN_FRAME_MAX];
    const uint64_t until = gn_now() + 5 * GN_SECOND;
    while (!*v->told && gn_now() < until) {
        visitor_serves(v);
        const gn_greeting_step step = gn_greeting_advance(&v->greeting, v->home);
        ck_assert_int_ne(step, GN_GREETING_FAILED);
        if (step != GN_GREETING_DONE) continue;
        if (!v->said) v->said = gn_framed_send(v->home, out, gn_hello_write(out, &v->hello));
        while (gn_connection_next(v->home, &frame) > 0)
            if (frame.type == GN_MSG_FAIL && gn_failure_read(&frame, &failure))
                memcpy(v->told, failure.text, sizeof failure.text);
    }
    gn_framed_free(v->home);
}

/// Greets at `to` as rank 2 of two, and then says a HELLO of rank 1. Notes what it is told.
static void lie(const gn_endpoint *to, char told[GN_TEXT_MAX + 1])
{
    visitor v;
    visit(&v, to, 2,
          &(gn_hello){.job = 77, .rank = 1, .size = 2, .terms.version = GN_PROTOCOL_VERSION, .address.family = 4});
    visitor_speaks(&v);
    memcpy(told, v.told, sizeof v.told);
}

static void run_alone(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(rank, group);
    config.size = 2;
    config.rendezvous = argument;
    config.timeout_ms = 3000;
    config.secret_file = file;
    RANK_CHECK(!rank_init(rank, group, &config));
}

/// Waits until somebody listens there.
static void await_listener(const gn_endpoint *at)
{
    for (int fd = -1, tries = 0; fd < 0 && tries < 500; tries++) {
        fd = gn_tcp_connect(at, NULL, 0);
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        if (fd >= 0 && (poll(&p, 1, 1000) < 1 || gn_socket_connected(fd))) gn_close(&fd);
        if (fd < 0) usleep(10000);
        if (fd >= 0) close(fd);
    }
}

/// Says the beginning of a HELLO without a greeting, and notes what it is told.
static void say_a_piece(const gn_endpoint *to, char told[GN_TEXT_MAX + 1])
{
    static const uint8_t piece[] = "GNC1\1\0\114";
    const uint64_t until = gn_now() + 5 * GN_SECOND;
    gn_framed *home = gn_connection_new(gn_tcp_connect(to, NULL, 0), GN_FRAMED_CONNECTING);
    gn_frame frame;
    gn_failure failure;
    ck_assert(gn_framed_send(home, piece, sizeof piece - 1));
    while (!*told && gn_now() < until) {
        struct pollfd p = gn_framed_poll(home);
        (void)poll(&p, 1, 50);
        gn_framed_serve(home, p.revents);
        if (gn_connection_next(home, &frame) > 0 && gn_failure_read(&frame, &failure))
            memcpy(told, failure.text, sizeof failure.text);
    }
    gn_framed_free(home);
}

/// Who has the secret is still held to what it has proved, and who has none is told by the first
/// bytes.
START_TEST(test_hello_and_greeting_agree)
{
    gn_endpoint at = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}, .port = free_port()};
    char where[64], told[GN_TEXT_MAX + 1] = "", early[GN_TEXT_MAX + 1] = "";
    snprintf(where, sizeof where, "tcp://127.0.0.1:%u", at.port);
    ranks group;
    ranks_start(&group, 1, run_alone, where);
    await_listener(&at);
    say_a_piece(&at, early);
    ck_assert_msg(strstr(early, "has shown none: give all the same --secret") != NULL, "'%s'", early);
    lie(&at, told);
    ck_assert_msg(strstr(told, "says other things in its HELLO than in its greeting") != NULL, "'%s'", told);
    ranks_wait(&group, 30);
    ck_assert_msg(strstr(group.reports[0].text, "rank 1 did not come"), "%s", group.reports[0].text);
    ranks_free(&group);
}
END_TEST

static void run_first(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(rank, group);
    config.size = 3;
    config.rendezvous = argument;
    config.secret_file = file;
    unsetenv("GRADNIC_JOB");
    unsetenv("TORCHELASTIC_RUN_ID");
    RANK_CHECK(!rank_init(rank, group, &config));
}

/// The group fails while a rank is in the middle of its greeting. It hears why, too, instead of
/// looking for rank 0 until its deadline.
START_TEST(test_failure_reaches_who_still_greets)
{
    const uint64_t no_name = 0xCBF29CE484222325u;  // of a job, as a number
    gn_hello hello = {.job = no_name, .rank = 1, .size = 3, .terms.version = GN_PROTOCOL_VERSION, .address.family = 4};
    gn_endpoint at = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}, .port = free_port()};
    char where[64];
    static visitor late, odd;
    const uint8_t *bytes;
    snprintf(where, sizeof where, "tcp://127.0.0.1:%u", at.port);
    ranks group;
    ranks_start(&group, 1, run_first, where);
    await_listener(&at);
    visit(&late, &at, 1, &hello);
    (void)gn_greeting_advance(&late.greeting, late.home);
    for (int i = 0; i < 100 && !gn_framed_rest(late.home, &bytes); i++) visitor_serves(&late);
    hello.rank = 2;
    hello.terms.algorithm = 77;
    visit(&odd, &at, 2, &hello);
    visitor_speaks(&odd);
    ck_assert_msg(strstr(odd.told, "rank 2 (127.0.0.1:") != NULL, "'%s'", odd.told);
    visitor_speaks(&late);
    ck_assert_str_eq(late.told, odd.told);
    ranks_wait(&group, 30);
    ck_assert_msg(group.reports[0].seconds < 5, "%.1f s", group.reports[0].seconds);
    ranks_free(&group);
}
END_TEST

static void run_at_false_switch(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = GN_SWITCH;
    config.switch_address = argument;
    config.timeout_ms = 1000;
    config.secret_file = file;
    RANK_CHECK(!rank_init(rank, group, &config));
}

/// A switch that knows of no greeting gets no JOIN. This one does not even answer.
START_TEST(test_false_switch)
{
    switch_host host;
    ranks group;
    switch_start(&host, NULL);
    ranks_start(&group, 2, run_at_false_switch, host.address);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < 2; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_msg(group.exits[rank] == 0 && r->status, "rank %d: %s", rank, r->text);
        ck_assert_msg(strstr(r->text, host.address), "rank %d: %s", rank, r->text);
        ck_assert_msg(r->seconds < 8, "rank %d took %.1f s", rank, r->seconds);
    }
    ranks_free(&group);
    switch_stop(&host, SIGKILL);
}
END_TEST

START_TEST(test_bad_files_are_refused_at_once)
{
    gn_comm_config config = gn_comm_config_default();
    gn_comm *comm;
    config.rank = 0;
    config.size = 2;
    config.rendezvous = "tcp://127.0.0.1:1";
    config.secret_file = file;
    ck_assert_int_eq(gn_comm_config_check(&config), GN_OK);
    ck_assert(!chmod(file, 0644));
    ck_assert_int_eq(gn_comm_config_check(&config), GN_INVALID);
    ck_assert_int_eq(gn_comm_init(&comm, &config), GN_INVALID);
    ck_assert_msg(strstr(gn_comm_last_error(NULL), "others can read or write it (mode 0644)"), "%s",
                  gn_comm_last_error(NULL));
    config.size = 1;  // also where there is nobody to meet
    ck_assert_int_eq(gn_comm_init(&comm, &config), GN_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm secret");
    TCase *all = tcase_create("secret");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_loop_test(all, test_same_bits, 0, 4);
    tcase_add_loop_test(all, test_strangers_are_sent_away, 0, 2);
    tcase_add_loop_test(all, test_both_sides_are_told, 0, 3);
    tcase_add_loop_test(all, test_false_rank_0, 0, 3);
    tcase_add_test(all, test_hello_and_greeting_agree);
    tcase_add_test(all, test_failure_reaches_who_still_greets);
    tcase_add_test(all, test_false_switch);
    tcase_add_test(all, test_bad_files_are_refused_at_once);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
