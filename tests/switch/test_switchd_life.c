// SPDX-License-Identifier: Apache-2.0
// A worker that does not fit is refused and told why. A worker, switch or parameter server that
// goes or is killed is told of. Bytes that are not a frame change nothing.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/control.h"
#include "net/clock.h"
#include "net/log_limit.h"
#include "switches.h"
#include "unit/suite.h"

static void refused_with(const char *what)
{
    await(1, 1);
    says(1, what);
}

START_TEST(a_lost_parameter_server_is_noticed)
{
    const running ps = start_ps(plain_switch.in);
    // It serves switches, no workers.
    sw_client c = client_of(ps.port, "direct", 0, 1);
    launch(0, &c);
    await(0, 1);
    says(0, "this is a parameter server");
    gn_switchd_config config = sharing(&ps, GN_SHARED, plain_switch.slots, 0);
    const running r = start(&config);
    for (unsigned i = 0; i < 2; i++) {
        c = client_of(r.port, "lost", i, 2);
        c.rounds = 1000;
        c.pause_s = 0.02;
        launch(i, &c);
    }
    under_way(0, 2, 1);
    slay(&ps);
    await(0, 2);
    for (unsigned i = 0; i < 2; i++) says(i, "gone: the connection to the parameter server 127.0.0.1:");
    // A worker that asks now is told, too.
    c = client_of(r.port, "none", 0, 1);
    launch(0, &c);
    await(0, 1);
    says(0, "parameter server");
    // When there is one again at that place, the same job can be had again.
    config = plain_switch;
    config.role = GN_SWITCHD_PS;
    config.listen.port = ps.port;
    const running again = start(&config);
    for (unsigned i = 0; i < 2; i++) {
        c = client_of(r.port, "lost", i, 2);
        launch(i, &c);
    }
    all_good(0, 2);
    stop(&r);
    stop(&again);
}
END_TEST

START_TEST(who_leaves_others_waiting_is_noticed_where_slots_are_shared)
{
    const running ps = start_ps(plain_switch.in);
    gn_switchd_config config = sharing(&ps, GN_SHARED, 4, 256);
    const running r = start(&config);
    for (unsigned i = 0; i < 3; i++) {
        sw_client c = client_of(r.port, "goes", i, 3);
        c.timeout_ms = 20000;
        if (i == 1) c.stop_after = 1;
        launch(i, &c);
    }
    await(0, 3);
    for (unsigned i = 0; i < 3; i += 2)
        says(i, "gone: rank 1 (127.0.0.1:"), says(i, ") has left, and its part of a sum is missing");
    stop(&r);
    stop(&ps);
}
END_TEST

START_TEST(who_does_not_fit_is_told_why)
{
    const running r = start(&plain_switch);
    sw_client first = client_of(r.port, "fit", 0, 2), other = client_of(r.port, "fit", 1, 2);
    launch(0, &first);
    has_asked(0);
    other.join.packet_values = 128;
    launch(1, &other);
    refused_with("packet_values of job 'fit': rank 0 (127.0.0.1:");
    says(1, "says 256, rank 1 (127.0.0.1:");
    other = client_of(r.port, "fit", 1, 2), other.join.bit = 0, other.join.rank = 1;
    launch(1, &other);
    refused_with("bit 0 of job 'fit' is taken by rank 0 (127.0.0.1:");
    other = client_of(r.port, "fit", 0, 2), other.join.bit = 1;
    launch(1, &other);
    refused_with("rank 0 of job 'fit' is there already: rank 0 (127.0.0.1:");
    other = client_of(r.port, "big", 1, 2), other.join.packet_values = 513;
    launch(1, &other);
    refused_with("slots have 512 values");
    other = client_of(r.port, "tree", 1, 2), other.join.parent_children = 2;
    launch(1, &other);
    refused_with("the ranks name 2 different switches");
    // And the job can still be had. A worker that comes late has to take another name.
    atomic_bool hold = true;
    other = client_of(r.port, "fit", 1, 2), other.hold = &hold;
    launch(1, &other);
    under_way(0, 1, 1);
    launch(2, &first);
    await(2, 1);
    says(2, "is complete already");
    hold = false;
    all_good(0, 2);
    stop(&r);
}
END_TEST

START_TEST(who_does_not_come_is_named)
{
    const running r = start(&plain_switch);
    for (unsigned i = 0; i < 2; i++) {
        const sw_client c = client_of(r.port, "late", i, 4);
        launch(i, &c);
    }
    await(0, 2);
    for (unsigned i = 0; i < 2; i++) says(i, "ranks 2-3 have not come within 2 s");
    stop(&r);
}
END_TEST

START_TEST(who_goes_is_told_of)
{
    const running r = start(&plain_switch);
    const uint64_t begin = gn_now();
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = client_of(r.port, "goes", i, 4);
        if (i == 2) c.stop_after = 1;
        launch(i, &c);
    }
    await(0, 4);
    for (unsigned i = 0; i < 4; i++) {
        if (i == 2) continue;
        says(i, "gone: rank 2 (127.0.0.1:"), says(i, ") has left, and its part of a sum is missing");
    }
    ck_assert_uint_lt(gn_now() - begin, 5000000000);
    // Its slots are free again.
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "goes", i, 2);
        c.join.slots = 512;
        c.join.channels = 2;
        launch(i, &c);
    }
    all_good(0, 2);
    ck_assert_uint_eq(ones[0].result.welcome.slots, 512);
    stop(&r);
}
END_TEST

/// As when it has given up rank 3, which is silent: the job is not kept until all have gone.
START_TEST(who_gives_up_says_why)
{
    const running r = start(&plain_switch);
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = client_of(r.port, "fails", i, 4);
        c.rounds = i == 3 ? 1 : 3;
        if (i == 3) c.pause_s = 2;  // neither sends nor leaves
        if (i == 2) c.stop_after = 1, c.last_word = "rank 3 lost";
        c.timeout_ms = 30000;
        launch(i, &c);
    }
    await(0, 4);
    for (unsigned i = 0; i < 2; i++) says(i, "gone: rank 2 (127.0.0.1:"), says(i, "): rank 3 lost");
    stop(&r);
}
END_TEST

/// What has no integers is summed by rank 0, past the slots: no slot tells who is waited for.
START_TEST(who_leaves_and_owes_more_than_a_slot_knows_is_told_of)
{
    gn_switchd_config config = plain_switch;
    config.stuck_ns = 1500000000;
    const running r = start(&config);
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "owes", i, 2);
        c.nan = true;
        c.rounds = 1;
        c.count = 8192;  // each slot once: rank 0 can be done alone
        c.deaf = i == 1;
        c.timeout_ms = 30000;
        launch(i, &c);
    }
    await(0, 2);
    ck_assert_msg(ones[0].result.good, "%s", ones[0].result.error);
    says(1, "gone: rank 0 (127.0.0.1:"), says(1, ") has left, and its part of a sum is missing");
    stop(&r);
}
END_TEST

/// As SIGSTOP does it: the worker that is left neither sends nor leaves.
START_TEST(a_job_whose_last_worker_is_silent_ends)
{
    gn_switchd_config config = plain_switch;
    config.abandoned_ns = 400000000;
    const running r = start(&config);
    for (unsigned i = 0; i < 3; i++) {
        sw_client c = client_of(r.port, "silent", i, 3);
        c.rounds = i == 2 ? 2 : 1;
        if (i == 2) c.pause_s = 1.2;
        launch(i, &c);
    }
    all_good(0, 2);
    await(2, 1);
    says(2, "gone: children 0-1 have left, and the others, 2, have sent nothing for 0.4 s");
    stop(&r);
}
END_TEST

START_TEST(slots_are_granted_within_the_quota)
{
    gn_switchd_config config = plain_switch;
    config.quota = 256;
    config.channels = 16;
    const running r = start(&config);
    atomic_bool hold = true;
    for (unsigned job = 0; job < 5; job++) {
        char name[8];
        snprintf(name, sizeof name, "q%u", job);
        sw_client c = client_of(r.port, name, 0, 1);
        c.join.slots = 512;
        c.join.channels = job == 4 ? 1 : 2;
        c.rounds = 1;
        c.hold = &hold;
        launch(job, &c);
        if (job < 4) under_way(job, 1, 1);
    }
    await(4, 1);
    hold = false;
    await(0, 4);
    for (unsigned job = 0; job < 4; job++) {
        ck_assert_msg(ones[job].result.good, "%s", ones[job].result.error);
        ck_assert_uint_eq(ones[job].result.welcome.slots, 128);
    }
    says(4, "no slots left");
    sw_client c = client_of(r.port, "none", 0, 1);
    c.join.channels = 16;
    stop(&r);
    config.quota = 8;
    const running small = start(&config);
    c.port = small.port;
    launch(5, &c);
    await(5, 1);
    says(5, "16 channels need a slot each, and a job has at most 8 here (--quota)");
    stop(&small);
}
END_TEST

START_TEST(slots_that_there_is_no_memory_for_are_not_made)
{
    gn_switchd_config config = plain_switch;
    config.memory = 3 << 20;
    does_not_start(&config,
                   "1024 slots of 512 values need 4 MiB of memory, and 3 MiB are available (--slots, --values)");
    config.role = GN_SWITCHD_PS;
    does_not_start(&config, "need 4 MiB of memory");
    config.slots = 700;
    const running ps = start(&config);
    slay(&ps);
}
END_TEST

START_TEST(a_killed_switch_is_noticed)
{
    running r = start(&plain_switch);
    const uint64_t begin = gn_now();
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "killed", i, 2);
        c.rounds = 1000;
        c.pause_s = 0.02;
        launch(i, &c);
    }
    under_way(0, 2, 1);
    slay(&r);
    await(0, 2);
    for (unsigned i = 0; i < 2; i++) says(i, "the switch 127.0.0.1:");
    ck_assert_uint_lt(gn_now() - begin, 5000000000);
    // At the same place again: another generation.
    gn_switchd_config config = plain_switch;
    config.listen.port = r.port;
    const uint16_t gen = ones[0].result.welcome.gen[0];
    sleep(1);
    r = start(&config);
    for (unsigned i = 0; i < 2; i++) {
        const sw_client c = client_of(r.port, "killed", i, 2);
        launch(i, &c);
    }
    all_good(0, 2);
    ck_assert_uint_ne(ones[0].result.welcome.gen[0], gen);
    stop(&r);
}
END_TEST

START_TEST(a_switch_that_ends_says_so)
{
    const running r = start(&plain_switch);
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "ends", i, 2);
        c.rounds = 1000;
        c.pause_s = 0.02;
        launch(i, &c);
    }
    under_way(0, 2, 1);
    stop(&r);
    await(0, 2);
    for (unsigned i = 0; i < 2; i++) says(i, "gone: the switch was told to end");
}
END_TEST

/// More strangers than there is room for. The oldest of them go, a worker that asks is served, and
/// a connection is left for the parent.
START_TEST(strangers_take_nobody_s_place)
{
    enum { STRANGERS = 4300 };
    static int fds[STRANGERS];
    struct rlimit files;
    ck_assert(!getrlimit(RLIMIT_NOFILE, &files));
    files.rlim_cur = files.rlim_max;
    ck_assert(!setrlimit(RLIMIT_NOFILE, &files));
    ck_assert_uint_gt(files.rlim_cur, STRANGERS + 100);
    const running root = start(&plain_switch);
    gn_switchd_config config = plain_switch;
    config.parent = root.address;
    const running r = start(&config);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(r.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (unsigned i = 0; i < STRANGERS; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM, 0);
        ck_assert_int_eq(connect(fds[i], (struct sockaddr *)&address, sizeof address), 0);
    }
    sw_client c = client_of(r.port, "served", 0, 1);
    c.join.parent_children = 1;
    launch(0, &c);
    all_good(0, 1);
    for (unsigned i = 0; i < STRANGERS; i++) close(fds[i]);
    stop(&r);
    stop(&root);
}
END_TEST

/// Is refused with this answer; NULL: is hung up on.
static void says_hello(const running *r, const void *bytes, size_t count, const char *answer)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(r->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint8_t in[600];
    ssize_t got, whole = 0;
    gn_admission frame;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    if (count)
        ck_assert_int_eq(send(fd, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
    else
        shutdown(fd, SHUT_WR);
    while ((got = recv(fd, in + whole, sizeof in - (size_t)whole, 0)) > 0) whole += got;
    close(fd);
    ck_assert_int_eq(gn_admission_parse(in, (size_t)whole, &frame, NULL), whole);
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
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(r.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
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
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(send(fd, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
    count = 0;
    for (ssize_t got; (got = recv(fd, bytes + count, sizeof bytes - count, 0)) > 0;) count += (size_t)got;
    close(fd);
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

// A job that never runs: its other child does not come.
static void ask_in_vain(const running *r, unsigned number)
{
    char name[GN_ADMISSION_NAME];
    uint8_t bytes[GN_ADMISSION_MAX];
    snprintf(name, sizeof name, "never%u", number);
    gn_admission join = {.type = GN_ADMISSION_JOIN, .join = client_of(r->port, name, 0, 2).join};
    join.join.patience_ms = 1000;
    join.join.udp_port[0] = 1;
    const size_t count = gn_admission_write(&join, bytes);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(r->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(send(fd, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
    while (recv(fd, bytes, sizeof bytes, 0) > 0) continue;
    close(fd);
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
    for (unsigned i = 0; i < NEVER; i++) ask_in_vain(&r, i);
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
    return RUN_TESTS("switchd_life", a_lost_parameter_server_is_noticed,
                     who_leaves_others_waiting_is_noticed_where_slots_are_shared, who_does_not_fit_is_told_why,
                     who_does_not_come_is_named, who_goes_is_told_of, who_gives_up_says_why,
                     who_leaves_and_owes_more_than_a_slot_knows_is_told_of, a_job_whose_last_worker_is_silent_ends,
                     slots_are_granted_within_the_quota, slots_that_there_is_no_memory_for_are_not_made,
                     a_killed_switch_is_noticed, a_switch_that_ends_says_so, strangers_take_nobody_s_place,
                     bytes_that_are_no_frame, frames_that_come_together, floods_of_jobs_fill_no_log);
}
