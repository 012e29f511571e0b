// SPDX-License-Identifier: Apache-2.0
// Strangers at the switch. They take nobody's place, and jobs of theirs that never run fill no log.
// Bytes that are not a frame change nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/control.h"
#include "net/clock.h"
#include "net/log_limit.h"
#include "switches.h"
#include "unit/suite.h"
#include "wire_peer.h"

/// More strangers than there is room for. The oldest of them go, a worker that asks is served, and
/// a connection is left for the parent.
START_TEST(strangers_take_nobody_s_place)
{
    enum { STRANGERS = 4300 };
    static wire_peer strangers[STRANGERS];
    allow_files(STRANGERS + 100);
    const running root = start(&plain_switch);
    gn_switchd_config config = plain_switch;
    config.parent = root.address;
    const running r = start(&config);
    for (unsigned i = 0; i < STRANGERS; i++) peer_connect(&strangers[i], r.port, 0);
    sw_client c = client_of(r.port, "served", 0, 1);
    c.join.parent_children = 1;
    launch(0, &c);
    all_good(0, 1);
    for (unsigned i = 0; i < STRANGERS; i++) peer_close(&strangers[i]);
    stop(&r);
    stop(&root);
}
END_TEST

/// What it says until it hangs up. @return bytes
static size_t hears_to_the_end(wire_peer *p, uint8_t *bytes, size_t room)
{
    size_t count = 0;
    for (ssize_t got; (got = recv(p->fd, bytes + count, room - count, 0)) > 0;) count += (size_t)got;
    peer_close(p);
    return count;
}

/// Is refused with this answer; NULL: is hung up on.
static void says_hello(const running *r, const void *bytes, size_t count, const char *answer)
{
    uint8_t in[600];
    wire_peer p;
    gn_admission frame;
    peer_connect(&p, r->port, 0);
    if (count)
        ck_assert_int_eq(send(p.fd, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
    else
        shutdown(p.fd, SHUT_WR);
    const size_t whole = hears_to_the_end(&p, in, sizeof in);
    ck_assert_int_eq(gn_admission_parse(in, whole, &frame, NULL), (int)whole);
    ck_assert_int_eq(whole > 0, answer != NULL);
    if (answer) ck_assert_str_eq(frame.text, answer);
}

START_TEST(bytes_that_are_no_frame)
{
    const running r = start(&plain_switch);
    static const struct {
        const char *bytes;
        size_t count;
        const char *answer;
    } hellos[] = {{"GET / HTTP/1.0\r\n\r\n", 18, "sent bytes that are not an admission frame"},
                  {"GNAD\2\0\0\0", 8, "speaks version 2 of admission, not 5"},
                  {"GNAD\5\5\0\1x", 9, NULL},  // a child's, but it has no job
                  {"GNAD\5\0\0\1x", 9, "sent JOIN with a length that ends 47 bytes too soon"},
                  {"", 0, NULL}};
    for (unsigned i = 0; i < sizeof hellos / sizeof *hellos; i++)
        says_hello(&r, hellos[i].bytes, hellos[i].count, hellos[i].answer);
    gn_admission frame = {.type = GN_ADMISSION_JOIN, .join = client_of(r.port, "odd", 0, 1).join};
    uint8_t bytes[GN_ADMISSION_MAX];
    frame.join.patience_ms = 1;
    frame.join.udp_port[0] = 1;
    frame.join.slots = 3;
    says_hello(&r, bytes, gn_admission_write(&frame, bytes), "sent JOIN with slots 3: want a power of two");
    frame.join.slots = 4;
    frame.join.ranks = 257;
    says_hello(&r, bytes, gn_admission_write(&frame, bytes), "sent JOIN with ranks 257: want 1 to 256");
    const sw_client c = client_of(r.port, "after", 0, 1);
    launch(0, &c);
    all_good(0, 1);
    stop(&r);
}
END_TEST

// A child need not wait for answers. After GONE the switch hangs up.
START_TEST(frames_that_come_together)
{
    const running r = start(&plain_switch);
    static const char *const answers[] = {"", "", "rank 1 has not come"};
    gn_admission frame[5] = {{.type = GN_ADMISSION_PING},
                             {.type = GN_ADMISSION_PING},
                             {.type = GN_ADMISSION_JOIN, .join = client_of(r.port, "together", 0, 2).join},
                             {.type = GN_ADMISSION_PING},
                             {.type = GN_ADMISSION_GONE}};
    uint8_t bytes[5 * GN_ADMISSION_MAX];
    size_t count = 0, at = 0;
    frame[2].join.patience_ms = 1000;
    frame[2].join.udp_port[0] = 1;
    for (unsigned i = 0; i < 5; i++) count += gn_admission_write(&frame[i], bytes + count);
    wire_peer p;
    peer_connect(&p, r.port, 0);
    ck_assert_int_eq(send(p.fd, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
    count = hears_to_the_end(&p, bytes, sizeof bytes);
    for (unsigned i = 0; i < 3; i++) {
        const int length = gn_admission_parse(bytes + at, count - at, &frame[0], NULL);
        ck_assert_int_gt(length, 0);
        ck_assert_int_eq(frame[0].type, GN_ADMISSION_PONG);
        ck_assert_str_eq(frame[0].text, answers[i]);
        at += (size_t)length;
    }
    ck_assert_uint_eq(at, count);
    stop(&r);
}
END_TEST

static void write_line(void *context, const char *text)
{
    (void)dprintf(*(int *)context, "%s\n", text);
}

// Jobs that never run fill neither the log nor the list of jobs that ran.
START_TEST(floods_of_jobs_fill_no_log)
{
    enum { NEVER = 60 };
    int ends[2];
    char path[64], *log = calloc(1, 1 << 20), *answer;
    gn_error error;
    gn_switchd_config config = plain_switch;
    snprintf(path, sizeof path, "/tmp/gradnic-test-log-%d.sock", (int)getpid());
    ck_assert(!pipe(ends) && log);
    config.log = write_line;
    config.join_timeout_ns = 20 * GN_MILLISECOND;
    config.log_context = &ends[1];
    config.control = path;
    const running r = start(&config);
    close(ends[1]);
    const sw_client c = client_of(r.port, "kept", 0, 1);
    launch(0, &c);
    all_good(0, 1);
    for (unsigned i = 0; i < NEVER; i++) {
        uint8_t bytes[GN_ADMISSION_MAX];
        wire_peer p = {.fd = ask_in_vain(r.port, INADDR_LOOPBACK, i, 0, 2)};
        (void)hears_to_the_end(&p, bytes, sizeof bytes);
    }
    answer = gn_control_ask(path, "switch", "{\"command\":\"status\"}", &error);
    ck_assert_msg(answer != NULL, "%s", error.text);
    ck_assert_msg(strstr(answer, "kept") && strstr(answer, "never59"), "%s", answer);
    free(answer);
    stop(&r);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], log + length, (1 << 20) - 1 - length)) > 0;) length += (size_t)got;
    close(ends[0]);
    unsigned said = 0;
    for (const char *at = log; (at = strstr(at, "job 'never")); at++) said++;
    ck_assert_msg(said == GN_LOG_LINES, "%u lines: %s", said, log);
    ck_assert_msg(strstr(log, "\nand 40 more jobs that never ran\n"), "%s", log);
    ck_assert_msg(strstr(log, "job 'kept' is over"), "%s", log);
    free(log);
}
END_TEST

int main(void)
{
    return RUN_TESTS("switchd_strangers", strangers_take_nobody_s_place, bytes_that_are_no_frame,
                     frames_that_come_together, floods_of_jobs_fill_no_log);
}
