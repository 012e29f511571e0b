// SPDX-License-Identifier: Apache-2.0
// The switch with a shared secret: who has it gets right sums, and who does not gets nothing.
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/control.h"
#include "net/greeting.h"
#include "net/tcp.h"
#include "switches.h"
#include "unit/suite.h"

static char file[64], other_file[64], socket_path[64];
static gn_secret secret, other;

static void write_file(char *path, size_t room, const char *name, const char *text)
{
    snprintf(path, room, "/tmp/gradnic-secret-%d-%s", (int)getpid(), name);
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(text, f) >= 0 && !fclose(f) && !chmod(path, 0600));
}

static void begin(void)
{
    gn_error error;
    write_file(file, sizeof file, "a", "one secret of a test\n");
    write_file(other_file, sizeof other_file, "b", "another secret of a test\n");
    snprintf(socket_path, sizeof socket_path, "/tmp/gradnic-secret-%d.sock", (int)getpid());
    ck_assert_int_eq(gn_secret_read(&secret, file, &error), GN_OK);
    ck_assert_int_eq(gn_secret_read(&other, other_file, &error), GN_OK);
}

static void end(void)
{
    unlink(file);
    unlink(other_file);
}

static gn_switchd_config guarded(void)
{
    gn_switchd_config config = plain_switch;
    config.secret = file;
    config.control = socket_path;
    return config;
}

static sw_client knowing(uint16_t port, const char *name, unsigned rank, unsigned ranks)
{
    sw_client c = client_of(port, name, rank, ranks);
    c.secret = &secret;
    return c;
}

/// A counter of the switch: the number behind its name in the statistics.
static uint64_t counter(const char *name)
{
    gn_error error;
    char wanted[40];
    char *answer = gn_control_ask(socket_path, "switch", "{\"command\":\"stats\"}", &error);
    ck_assert_msg(answer != NULL, "%s", error.text);
    snprintf(wanted, sizeof wanted, "\"%s\":", name);
    const char *at = strstr(answer, wanted);
    ck_assert_msg(at != NULL, "no %s in %s", name, answer);
    const uint64_t value = strtoull(at + strlen(wanted), NULL, 10);
    free(answer);
    return value;
}

/// The hash of the sums of four workers, with or without a secret.
static uint32_t sums(gn_agg_format format, bool with)
{
    gn_switchd_config config = guarded();
    config.control = NULL;
    config.secret = with ? file : NULL;
    config.out.loss = 0.01;
    const running r = start(&config);
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = knowing(r.port, "sum", i, 4);
        if (!with) c.secret = NULL;
        c.join.format = (uint8_t)format;
        c.join.bound_exp = gn_agg_in_blocks(format) ? 0 : 10;
        c.join.channels = 3;
        launch(i, &c);
    }
    all_good(0, 4);
    stop(&r);
    return ones[0].result.hash;
}

START_TEST(sums_are_the_same_bits)
{
    const gn_agg_format format = (gn_agg_format)_i;
    ck_assert_uint_eq(sums(format, true), sums(format, false));
}
END_TEST

/// Leaves, a root that shares its slots, and a parameter server. All of them have the secret.
START_TEST(trees_and_parameter_servers)
{
    gn_switchd_config config = guarded();
    config.control = NULL;
    config.role = GN_SWITCHD_PS;
    config.in = (gn_fault_config){.seed = 7, .loss = 0.01};
    const running ps = start(&config);
    config = sharing(&ps, GN_SHARED, 16, 256);
    config.secret = file;
    const running root = start(&config);
    config.ps = NULL;
    config.parent = root.address;
    config.in = (gn_fault_config){.seed = 5, .loss = 0.01};
    const running leaf[2] = {start(&config), start(&config)};
    atomic_uint done = 0;
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = leaf_client(leaf[i / 2].port, "tree", i);
        c.secret = &secret;
        c.nan = true;  // the leader's sums pass, too
        c.done = &done;
        launch(i, &c);
    }
    all_good(0, 4);
    for (int i = 0; i < 2; i++) stop(&leaf[i]);
    stop(&root);
    stop(&ps);
}
END_TEST

START_TEST(without_or_with_another_secret)
{
    const gn_switchd_config config = guarded();
    const running r = start(&config);
    sw_client c = client_of(r.port, "job", 0, 1);
    launch(0, &c);
    c.secret = &other;
    launch(1, &c);
    c = knowing(r.port, "job", 0, 2);
    c.as_another = true;  // it proves to be rank 1, and then joins as rank 0
    launch(2, &c);
    await(0, 3);
    says(0, "has a shared secret, and 127.0.0.1:");
    says(0, "has shown none: give all the same --secret FILE (GRADNIC_SECRET_FILE), or none");
    says(1, "it does not have the shared secret of this worker");
    says(2, "JOIN asks for another job or rank than the greeting has proved");
    c = knowing(r.port, "job", 0, 1);  // the switch goes on
    launch(0, &c);
    all_good(0, 1);
    stop(&r);
}
END_TEST

START_TEST(a_switch_without_secret)
{
    gn_switchd_config config = guarded();
    config.secret = NULL;
    const running r = start(&config);
    const sw_client c = knowing(r.port, "job", 0, 1);
    launch(0, &c);
    await(0, 1);
    says(0, "it has shown none");
    stop(&r);
}
END_TEST

/// A leaf with a secret below a root without, or with another one.
START_TEST(above_without_or_with_another_secret)
{
    gn_switchd_config config = guarded();
    config.control = NULL;
    config.secret = _i ? other_file : NULL;
    const running root = start(&config);
    config.secret = file;
    config.parent = root.address;
    const running leaf = start(&config);
    sw_client c = knowing(leaf.port, "job", 0, 2);
    c.join.children = 1;
    c.join.parent_children = 2;
    launch(0, &c);
    await(0, 1);
    says(0, root.address);
    says(0, _i ? "it does not have the shared secret of this switch" : "has none: give all the same --secret FILE");
    stop(&leaf);
    stop(&root);
}
END_TEST

/// Datagrams of a child that are sealed with a wrong key, or have a bit turned, are as if they had
/// not come. Those that come twice are as without a secret.
START_TEST(forged_datagrams)
{
    const gn_switchd_config config = guarded();
    const running r = start(&config);
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = knowing(r.port, "spoilt", i, 2);
        c.copies = i;
        launch(i, &c);
    }
    all_good(0, 2);
    const uint64_t spoilt = counter("forged");
    ck_assert_uint_gt(spoilt, 0);
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = knowing(r.port, "forged", i, 2);
        c.timeout_ms = 1000;
        c.forges = i;
        launch(i, &c);
    }
    await(0, 2);
    says(0, "nothing came from the switch");
    ck_assert_uint_gt(counter("forged"), spoilt);
    stop(&r);
}
END_TEST

/// Connects to the switch and sends these bytes. @return what it answers, until it closes
static size_t talk(uint16_t port, const uint8_t *bytes, size_t count, uint8_t *answer, size_t room, int wait_ms)
{
    gn_endpoint to = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}, .port = port};
    int fd = gn_tcp_connect(&to, NULL, 0);
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    size_t used = 0;
    ck_assert(fd >= 0 && poll(&p, 1, 5000) == 1 && !gn_socket_connected(fd));
    ck_assert_int_eq(send(fd, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
    for (p.events = POLLIN; used < room && poll(&p, 1, wait_ms) == 1;) {
        const ssize_t got = recv(fd, answer + used, room - used, 0);
        if (got <= 0) break;
        used += (size_t)got;
    }
    gn_close(&fd);
    return used;
}

/// What one connection has said, said again on another, proves nothing: the nonces are others.
START_TEST(a_recorded_greeting_is_refused)
{
    const gn_switchd_config config = guarded();
    const running r = start(&config);
    gn_greeting caller;
    uint8_t said[600], answer[600];
    const gn_greeting_who who = {.role = GN_ROLE_CHILD, .rank = 0, .size = 1, .to = GN_GREETING_ANYBODY, .name = "job"};
    int ends[2];
    ck_assert(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
    // The caller speaks into one end, and the switch's answers are put in there.
    gn_framed *mine = gn_framed_new(ends[0], GN_FRAMED_OPEN, 600, 600);
    gn_greeting_call(&caller, &secret, GN_GREETING_SWITCH, &who);
    ck_assert_int_eq(gn_greeting_advance(&caller, mine), GN_GREETING_PENDING);
    ssize_t count = recv(ends[1], said, sizeof said, 0);
    ck_assert_int_gt(count, 0);
    size_t got = talk(r.port, said, (size_t)count, answer, sizeof answer, 300);
    ck_assert_int_eq(send(ends[1], answer, got, 0), (ssize_t)got);
    ck_assert(gn_framed_fill(mine));
    ck_assert_int_eq(gn_greeting_advance(&caller, mine), GN_GREETING_DONE);  // it is our switch
    const ssize_t proof = recv(ends[1], said + count, sizeof said - (size_t)count, 0);
    ck_assert_int_gt(proof, 0);
    got = talk(r.port, said, (size_t)(count + proof), answer, sizeof answer, 5000);
    gn_admission frame;
    gn_greeting_frame challenge = {.dialect = GN_GREETING_SWITCH, .type = GN_CHALLENGE};
    const int first = gn_greeting_parse(answer, got, &challenge);
    ck_assert_int_gt(first, 0);
    ck_assert_int_gt(gn_admission_parse(answer + first, got - (size_t)first, &frame, NULL), 0);
    ck_assert_int_eq(frame.type, GN_ADMISSION_REFUSED);
    ck_assert_msg(strstr(frame.text, "does not have the shared secret") != NULL, "%s", frame.text);
    gn_framed_free(mine);
    close(ends[1]);
    stop(&r);
}
END_TEST

/// The beginning of a JOIN is enough to say what is missing.
START_TEST(a_piece_of_a_join)
{
    const gn_switchd_config config = guarded();
    const running r = start(&config);
    const gn_admission join = {.type = GN_ADMISSION_JOIN, .join = client_of(r.port, "job", 0, 1).join};
    uint8_t said[GN_ADMISSION_MAX], answer[600];
    gn_admission frame;
    ck_assert_uint_gt(gn_admission_write(&join, said), 6);
    const size_t got = talk(r.port, said, 6, answer, sizeof answer, 5000);
    ck_assert_int_gt(gn_admission_parse(answer, got, &frame, NULL), 0);
    ck_assert_int_eq(frame.type, GN_ADMISSION_REFUSED);
    ck_assert_msg(strstr(frame.text, "has shown none: give all the same --secret") != NULL, "%s", frame.text);
    stop(&r);
}
END_TEST

START_TEST(does_not_open_with_a_bad_file)
{
    gn_switchd_config config = guarded();
    ck_assert(!chmod(file, 0640));
    does_not_start(&config, "others can read or write it (mode 0640)");
    config.secret = "/tmp/gradnic-no-such-file";
    does_not_start(&config, "secret file /tmp/gradnic-no-such-file: No such file");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("switchd secret");
    TCase *all = tcase_create("secret");
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_loop_test(all, sums_are_the_same_bits, 0, GN_AGG_FORMATS);
    tcase_add_test(all, trees_and_parameter_servers);
    tcase_add_test(all, without_or_with_another_secret);
    tcase_add_test(all, a_switch_without_secret);
    tcase_add_loop_test(all, above_without_or_with_another_secret, 0, 2);
    tcase_add_test(all, forged_datagrams);
    tcase_add_test(all, a_recorded_greeting_is_refused);
    tcase_add_test(all, a_piece_of_a_join);
    tcase_add_test(all, does_not_open_with_a_bad_file);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
