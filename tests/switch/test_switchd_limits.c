// SPDX-License-Identifier: Apache-2.0
// Nobody takes a whole switch from the others: neither its connections, nor its channels, nor its
// slots. What is refused is counted, and the message names the limit and its option.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "host/control.h"
#include "net/clock.h"
#include "switch/daemon/limits.h"
#include "switches.h"
#include "unit/suite.h"

enum { FLOOD = 4200 };

static char control[64];
static int fds[FLOOD];

/// The plain switch with the limits that the program has by default, and a control socket.
static gn_switchd_config limited(void)
{
    gn_switchd_config config = plain_switch;
    snprintf(control, sizeof control, "/tmp/gradnic-test-limits-%d.sock", (int)getpid());
    config.channels = 16;
    config.quota = 256;
    config.address_jobs = GN_SWITCHD_ADDRESS_JOBS;
    config.reserve = GN_SWITCHD_RESERVE;
    config.control = control;
    return config;
}

static json_t *ask(const char *command)
{
    char request[64];
    gn_error error;
    snprintf(request, sizeof request, "{\"command\":\"%s\"}", command);
    char *answer = gn_control_ask(control, "switch", request, &error);
    ck_assert_msg(answer != NULL, "%s", error.text);
    json_t *root = json_loads(answer, 0, NULL);
    ck_assert(root != NULL);
    free(answer);
    return root;
}

static uint64_t admission_of(const char *name)
{
    json_t *stats = ask("stats");
    const json_t *admission = json_object_get(stats, "admission");
    const uint64_t value = (uint64_t)json_integer_value(json_object_get(admission, name));
    json_decref(stats);
    return value;
}

/// How often a limit was met.
static uint64_t met(const char *limit)
{
    size_t i;
    json_t *row, *stats = ask("stats");
    uint64_t found = UINT64_MAX;
    const json_t *limits = json_object_get(json_object_get(stats, "admission"), "limits");
    json_array_foreach(limits, i, row)
    {
        if (!strcmp(json_string_value(json_object_get(row, "limit")), limit))
            found = (uint64_t)json_integer_value(json_object_get(row, "refused"));
    }
    json_decref(stats);
    ck_assert_uint_ne(found, UINT64_MAX);
    return found;
}

/// Waits until it has been met so often.
static void meets(const char *limit, uint64_t times)
{
    const uint64_t until = gn_now() + 20 * GN_SECOND;
    while (met(limit) < times && gn_now() < until) usleep(20000);
    ck_assert_uint_eq(met(limit), times);
}

/// A limit as `status` says it. @return -1 for null
static int limit_of(const char *name)
{
    json_t *status = ask("status");
    const json_t *limit = json_object_get(json_object_get(status, "limits"), name);
    ck_assert_msg(json_is_integer(limit) || json_is_null(limit), "%s", name);
    const int value = json_is_null(limit) ? -1 : (int)json_integer_value(limit);
    json_decref(status);
    return value;
}

static size_t jobs_now(void)
{
    json_t *jobs = ask("jobs");
    const size_t count = json_array_size(json_object_get(jobs, "jobs"));
    json_decref(jobs);
    return count;
}

/// What the switch says last to this connection.
static const char *last_words(int fd, char text[GN_ADMISSION_TEXT])
{
    uint8_t bytes[2 * GN_ADMISSION_MAX];
    size_t count = 0;
    gn_admission frame = {.text = ""};
    for (ssize_t got; (got = recv(fd, bytes + count, sizeof bytes - count, 0)) > 0;) count += (size_t)got;
    ck_assert_int_gt(gn_admission_parse(bytes, count, &frame, NULL), 0);
    snprintf(text, GN_ADMISSION_TEXT, "%s", frame.text);
    return text;
}

/// To how many of them the switch has said this last. Does not wait.
static unsigned told(const char *what)
{
    unsigned count = 0;
    for (unsigned i = 0; i < FLOOD; i++) {
        uint8_t bytes[GN_ADMISSION_MAX];
        gn_admission frame = {.text = ""};
        const ssize_t got = recv(fds[i], bytes, sizeof bytes, MSG_DONTWAIT | MSG_PEEK);
        if (got > 0 && gn_admission_parse(bytes, (size_t)got, &frame, NULL) > 0) count += strstr(frame.text, what) != 0;
    }
    return count;
}

/// All but the last KEPT that were made.
static void close_but(unsigned kept)
{
    for (unsigned i = 0; i < FLOOD - kept; i++) {
        if (fds[i] > 0) close(fds[i]);
        fds[i] = 0;
    }
}

static void close_all(void)
{
    close_but(0);
}

/// Kilobytes of the switch's memory that are resident.
static long resident(const running *r)
{
    char path[64], line[128];
    long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)r->pid);
    FILE *file = fopen(path, "r");
    ck_assert(file != NULL);
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, "VmRSS:", 6)) kilobytes = atol(line + 6);
    (void)fclose(file);
    return kilobytes;
}

/// Waits until all who made trouble are gone, and their memory.
static void all_returns(const running *r, long before)
{
    const uint64_t until = gn_now() + 20 * GN_SECOND;
    while ((admission_of("connections") || jobs_now()) && gn_now() < until) usleep(20000);
    ck_assert_uint_eq(admission_of("connections"), 0);
    ck_assert_uint_eq(jobs_now(), 0);
    if (SANITIZED) return;  // it keeps what is freed
    while (resident(r) > before + 3000 && gn_now() < until) usleep(20000);
    ck_assert_msg(resident(r) <= before + 3000, "%ld kB, before %ld kB", resident(r), before);
}

static void gets_in(const running *r, const char *from)
{
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r->port, "honest", i, 2);
        c.from = from;
        launch(i, &c);
    }
    all_good(0, 2);
}

START_TEST(one_address_forms_no_thousands_of_jobs)
{
    allow_files(FLOOD + 100);
    gn_switchd_config config = limited();
    config.join_timeout_ns = 60 * GN_SECOND;
    const running r = start(&config);
    gets_in(&r, "127.0.0.1");
    const long before = resident(&r);
    for (unsigned i = 0; i < FLOOD; i++) fds[i] = ask_in_vain(r.port, INADDR_LOOPBACK + 1, i, 0, 64);
    gets_in(&r, "127.0.0.1");
    meets("address_jobs", FLOOD - GN_SWITCHD_ADDRESS_JOBS);
    ck_assert_uint_eq(told("127.0.0.2 waits in 64 jobs that are not complete, and one address has at most 64 "
                           "(--address-jobs)"),
                      FLOOD - GN_SWITCHD_ADDRESS_JOBS);
    ck_assert_uint_eq(jobs_now(), GN_SWITCHD_ADDRESS_JOBS);
    close_all();
    all_returns(&r, before);
    stop(&r);
}
END_TEST

/// More addresses than one: each stays below its limit, and together they take all connections.
START_TEST(many_addresses_give_way)
{
    enum { EACH = 60, LEFT = 250 };
    allow_files(FLOOD + 100);
    gn_switchd_config config = limited();
    config.join_timeout_ns = 60 * GN_SECOND;
    const running r = start(&config);
    gets_in(&r, "127.0.0.1");
    const long before = resident(&r);
    for (unsigned i = 0; i < FLOOD; i++) fds[i] = ask_in_vain(r.port, INADDR_LOOPBACK + 1 + i / EACH, i, 0, 64);
    gets_in(&r, "127.0.0.1");
    const uint64_t ended = admission_of("gave_way");
    ck_assert_uint_gt(ended, 0);
    ck_assert_uint_ge(told(" has most of the connections to jobs that form, 60"), 1);
    ck_assert_uint_ge(told("it gives way: the switch is full, and 127.0.0."), 1);
    ck_assert_uint_le(told("it gives way: the switch is full, and 127.0.0."), ended);
    // Those that are left are a crowd, too, though a small one beside those before.
    close_but(LEFT);
    while (admission_of("connections") > LEFT) usleep(20000);
    close_all();
    all_returns(&r, before);
    stop(&r);
}
END_TEST

/// A few jobs, but with many children each.
START_TEST(one_address_has_half_of_the_connections)
{
    allow_files(FLOOD + 100);
    gn_switchd_config config = limited();
    config.join_timeout_ns = 60 * GN_SECOND;
    const running r = start(&config);
    for (unsigned i = 0; i < 2000; i++) fds[i] = ask_in_vain(r.port, INADDR_LOOPBACK + 1, i / 63, 1 + i % 63, 64);
    meets("address_connections", 80);
    ck_assert_uint_eq(told("127.0.0.2 has 1920 connections here, and one address has at most half of all"), 80);
    gets_in(&r, "127.0.0.1");
    close_all();
    all_returns(&r, resident(&r));
    stop(&r);
}
END_TEST

/// A process that may have few files has less room, and nobody is locked out for want of one.
START_TEST(few_files_are_shared_too)
{
    enum { FILES = 320, MANY = 300, EACH = 50 };
    const struct rlimit few = {FILES, FILES};
    gn_switchd_config config = limited();
    config.join_timeout_ns = 60 * GN_SECOND;
    ck_assert(!setrlimit(RLIMIT_NOFILE, &few));
    const running r = start(&config);
    for (unsigned i = 0; i < MANY; i++) fds[i] = ask_in_vain(r.port, INADDR_LOOPBACK + 1 + i / EACH, i, 0, 64);
    gets_in(&r, "127.0.0.1");
    ck_assert_uint_gt(admission_of("gave_way"), 0);
    close_all();
    stop(&r);
}
END_TEST

/// Where jobs hold all descriptors, newcomers wait for a while, and then hear why. There is room
/// for MANY by the switch's own account, but this process may have no more FILES.
START_TEST(who_finds_no_descriptor_is_told)
{
    enum { FILES = 36, MANY = 14 };
    static const char why[] = "this switch has no room for connections: Too many open files (raise ulimit -n, or "
                              "LimitNOFILE of the service)";
    gn_switchd_config config = limited();
    config.join_timeout_ns = 60 * GN_SECOND;
    ck_assert(!setrlimit(RLIMIT_NOFILE, &(struct rlimit){FILES, FILES}));
    const running r = start(&config);
    gets_in(&r, "127.0.0.1");
    const uint64_t begin = gn_now(), until = begin + 10 * GN_SECOND;
    for (unsigned i = 0; i < MANY; i++) fds[i] = ask_in_vain(r.port, INADDR_LOOPBACK + 1 + i, i, 0, 64);
    while (!told(why)) {
        ck_assert_msg(gn_now() < until, "nobody was told");
        usleep(10000);
    }
    ck_assert_uint_gt(gn_elapsed(begin, gn_now()), GN_SECOND);
    close_all();
    gets_in(&r, "127.0.0.1");
    ck_assert_uint_gt(met("connections"), 0);
    stop(&r);
}
END_TEST

/// poll() takes no more entries than a process may have files, and counts those that are ignored.
START_TEST(few_files_end_no_switch)
{
    enum { FILES = 18 };
    gn_switchd_config config = limited();
    config.channels = 2;
    ck_assert(!setrlimit(RLIMIT_NOFILE, &(struct rlimit){FILES, FILES}));
    const running r = start(&config);
    gets_in(&r, "127.0.0.1");
    stop(&r);
}
END_TEST

/// In place of libc's: the clock on the wall is far behind.
time_t time(time_t *t)
{
    if (t) *t = 0;
    return 0;
}

START_TEST(the_clock_on_the_wall_may_jump)
{
    const gn_switchd_config config = limited();
    const running r = start(&config);
    for (unsigned i = 0; i < 2; i++) {
        json_t *answer = ask(i ? "stats" : "status");
        const json_t *uptime = json_object_get(answer, "uptime_s");
        ck_assert_msg(json_is_integer(uptime) && json_integer_value(uptime) < 60, "%" JSON_INTEGER_FORMAT,
                      json_integer_value(uptime));
        json_decref(answer);
    }
    stop(&r);
}
END_TEST

/// One host has all IPv6 addresses with the same first 64 bits.
START_TEST(sites)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {{"192.0.2.1", "192.0.2.1", true},
                 {"192.0.2.1", "192.0.2.2", false},
                 {"2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true},
                 {"2001:db8:0:1::1", "2001:db8:0:2::1", false}};
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        gn_ip a, b;
        ck_assert(gn_ip_parse(pairs[i].a, &a) && gn_ip_parse(pairs[i].b, &b));
        a = gn_limits_site(&a), b = gn_limits_site(&b);
        ck_assert_msg(!gn_ip_compare(&a, &b) == pairs[i].same, "%s %s", pairs[i].a, pairs[i].b);
    }
}
END_TEST

START_TEST(a_job_that_never_fills_ends)
{
    char text[GN_ADMISSION_TEXT];
    gn_switchd_config config = limited();
    config.join_timeout_ns = 1500 * GN_MILLISECOND;
    config.address_jobs = 1;
    const running r = start(&config);
    fds[0] = ask_in_vain(r.port, INADDR_LOOPBACK, 0, 0, 64);
    // What others say meanwhile does not prolong it.
    for (unsigned i = 1; i < 4; i++) {
        usleep(80000);
        fds[i] = ask_in_vain(r.port, INADDR_LOOPBACK, 0, i, 64);
    }
    ck_assert_str_eq(last_words(fds[0], text), "ranks 4-63 have not come within 1.5 s");
    // The address may form another job now.
    gets_in(&r, "127.0.0.1");
    close_all();
    stop(&r);
}
END_TEST

/// A worker of one job that runs for some seconds.
static sw_client holder(const running *r, const char *name, const char *from, unsigned channels, unsigned slots)
{
    sw_client c = client_of(r->port, name, 0, 1);
    c.from = from;
    c.join.channels = (uint8_t)channels;
    c.join.slots = (uint16_t)slots;
    c.rounds = 1;
    c.pause_s = 2;
    return c;
}

static void refused(unsigned i, const sw_client *c, const char *what)
{
    launch(i, c);
    await(i, 1);
    says(i, what);
}

START_TEST(one_job_does_not_take_all_channels)
{
    gn_switchd_config config = limited();
    const running r = start(&config);
    sw_client c = holder(&r, "all", "127.0.0.2", 16, 1);
    refused(0, &c, "channels is 16, and one job has at most 14 of 16 here (--job-channels, --reserve)");
    meets("job_channels", 1);
    c = holder(&r, "most", "127.0.0.2", 14, 1);
    launch(0, &c);
    usleep(200000);
    c = holder(&r, "more", "127.0.0.2", 1, 1);
    refused(1, &c, "no room for 1 more channel: the last 2 are kept for addresses that have none yet");
    ck_assert_uint_eq(met("reserve"), 1);
    for (unsigned i = 1; i < 3; i++) {  // an address that has none gets one, and then another
        char from[16];
        snprintf(from, sizeof from, "127.0.0.%u", i + 2);
        c = holder(&r, from, from, 1, 1);
        launch(i, &c);
        usleep(100000);
    }
    c = holder(&r, "late", "127.0.0.9", 1, 1);
    refused(3, &c, "no room for 1 more channel: other jobs have them (--channels, --shards)");
    ck_assert_uint_eq(met("channels"), 1);
    all_good(0, 1), all_good(1, 1), all_good(2, 1);
    // All is free again.
    c = holder(&r, "again", "127.0.0.2", 14, 1);
    c.pause_s = 0;
    launch(0, &c);
    all_good(0, 1);
    stop(&r);
}
END_TEST

START_TEST(four_jobs_do_not_take_all_slots)
{
    gn_switchd_config config = limited();
    const running r = start(&config);
    static const unsigned granted[] = {256, 256, 256, 128, 4, 2};
    for (unsigned i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "q%u", i);
        sw_client c = holder(&r, name, "127.0.0.2", 1, 256);
        launch(i, &c);
        usleep(100000);
    }
    sw_client c = holder(&r, "q7", "127.0.0.2", 1, 256);
    refused(7, &c,
            "no slots left for 1 channel: the last 12% are kept for addresses that have none yet (--slots, --reserve)");
    c = holder(&r, "other", "127.0.0.3", 1, 256);  // half of the reserve of 122
    launch(8, &c);
    usleep(100000);
    c = holder(&r, "third", "127.0.0.4", 1, 256);  // half of what is left
    launch(9, &c);
    await(0, 6), await(8, 2);
    for (unsigned i = 0; i < 6; i++) {
        ck_assert_msg(ones[i].result.good, "%u: %s", i, ones[i].result.error);
        ck_assert_uint_eq(ones[i].result.welcome.slots, granted[i]);
    }
    ck_assert_msg(ones[8].result.good && ones[9].result.good, "%s%s", ones[8].result.error, ones[9].result.error);
    ck_assert_uint_eq(ones[8].result.welcome.slots, 32);
    ck_assert_uint_eq(ones[9].result.welcome.slots, 32);
    stop(&r);
}
END_TEST

START_TEST(an_address_has_what_its_limits_say)
{
    gn_switchd_config config = limited();
    config.address_channels = 3;
    config.address_slots = 100;
    config.job_channels = 2;
    const running r = start(&config);
    sw_client c = holder(&r, "three", "127.0.0.2", 3, 64);
    refused(0, &c, "channels is 3, and one job has at most 2 of 16 here");
    c = holder(&r, "one", "127.0.0.2", 1, 64);
    launch(0, &c);
    usleep(100000);
    c = holder(&r, "two", "127.0.0.2", 1, 64);
    launch(1, &c);
    usleep(100000);
    c = holder(&r, "six", "127.0.0.2", 2, 2);
    refused(2, &c, "no room for 2 more channels: jobs of one address have at most 3 (--address-channels)");
    c = holder(&r, "last", "127.0.0.2", 1, 4);
    launch(2, &c);
    usleep(100000);
    c = holder(&r, "other", "127.0.0.3", 1, 64);
    launch(3, &c);
    await(0, 4);
    static const unsigned granted[] = {64, 32, 4, 64};
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_msg(ones[i].result.good, "%u: %s", i, ones[i].result.error);
        ck_assert_uint_eq(ones[i].result.welcome.slots, granted[i]);
    }
    ck_assert_uint_eq(met("address_channels"), 1);
    ck_assert_int_eq(limit_of("address_channels"), 3);
    ck_assert_int_eq(limit_of("address_slots"), 100);
    stop(&r);
    config.address_slots = 1;
    config.address_channels = 0;
    const running small = start(&config);
    c = holder(&small, "two", "127.0.0.2", 2, 64);
    refused(0, &c, "no slots left for 2 channels: jobs of one address have at most 1 (--address-slots)");
    ck_assert_uint_eq(met("address_slots"), 1);
    ck_assert_int_eq(limit_of("address_channels"), -1);  // not set
    stop(&small);
}
END_TEST

int main(void)
{
    return RUN_TESTS("switchd_limits", one_address_forms_no_thousands_of_jobs, many_addresses_give_way,
                     one_address_has_half_of_the_connections, few_files_are_shared_too, who_finds_no_descriptor_is_told,
                     few_files_end_no_switch, the_clock_on_the_wall_may_jump, sites, a_job_that_never_fills_ends,
                     one_job_does_not_take_all_channels, four_jobs_do_not_take_all_slots,
                     an_address_has_what_its_limits_say);
}
