// SPDX-License-Identifier: Apache-2.0
// The switch with real sockets on loopback: sums are right over bad links, in every format, with shards and streams, under leaves and a
// root; who does not fit is refused and told why; who goes is told of; random datagrams change nothing.
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "host/clock.h"
#include "switch/daemon/switchd.h"
#include "unit/suite.h"

enum { CLIENTS_MAX = 16 };

static const gn_switchd_config plain = {.listen = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}},
                                        .shards = 1,
                                        .streams = 8,
                                        .slots = 1024,
                                        .quota = 1024,
                                        .slot_values = 512,
                                        .buffer_bytes = 1 << 20,
                                        .join_timeout_ns = 2000000000,
                                        .in.seed = 1,
                                        .out.seed = 2};

typedef struct running {
    pid_t pid;
    uint16_t port;
} running;

/// A switch in a process of its own, so that it can be killed.
static running start(const gn_switchd_config *config)
{
    int ends[2];
    running r = {0};
    ck_assert_int_eq(pipe(ends), 0);
    r.pid = fork();
    ck_assert_int_ge(r.pid, 0);
    if (!r.pid) {
        gn_switchd *daemon;
        gn_error error;
        char text[GN_ENDPOINT_TEXT];
        unsigned port = 0;
        if (gn_switchd_open(&daemon, config, &error)) {
            (void)fprintf(stderr, "%s\n", error.text);
            _exit(1);
        }
        (void)sscanf(strrchr(gn_switchd_address(daemon, text), ':') + 1, "%u", &port);
        const uint16_t chosen = (uint16_t)port;
        if (write(ends[1], &chosen, sizeof chosen) != sizeof chosen) _exit(1);
        close(ends[0]);
        close(ends[1]);
        const int status = gn_switchd_run(daemon, &error);
        gn_switchd_close(daemon);
        _exit(status ? 1 : 0);
    }
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &r.port, sizeof r.port), sizeof r.port);
    close(ends[0]);
    return r;
}

static void stop(const running *r)
{
    int status;
    kill(r->pid, SIGTERM);
    ck_assert_int_eq(waitpid(r->pid, &status, 0), r->pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static sw_client client_of(uint16_t port, const char *name, unsigned rank, unsigned ranks)
{
    sw_client c = {.host = "127.0.0.1",
                   .port = port,
                   .join = {.rank = (uint16_t)rank,
                            .ranks = (uint16_t)ranks,
                            .bit = (uint8_t)rank,
                            .children = (uint8_t)ranks,
                            .packet_values = 256,
                            .slots = 64,
                            .streams = 1},
                   .count = 20000,
                   .rounds = 3,
                   .timeout_ms = 10000};
    snprintf(c.join.name, sizeof c.join.name, "%s", name);
    return c;
}

typedef struct one {
    pthread_t thread;
    sw_client config;
    sw_result result;
} one;

static void *run_one(void *argument)
{
    one *o = argument;
    sw_client_run(&o->config, &o->result);
    return NULL;
}

static one ones[CLIENTS_MAX];

static void launch(unsigned i, const sw_client *config)
{
    ones[i].config = *config;
    ck_assert_int_eq(pthread_create(&ones[i].thread, NULL, run_one, &ones[i]), 0);
}

static void await(unsigned from, unsigned count)
{
    for (unsigned i = from; i < from + count; i++) pthread_join(ones[i].thread, NULL);
}

static void all_good(unsigned from, unsigned count)
{
    await(from, count);
    for (unsigned i = from; i < from + count; i++) {
        ck_assert_msg(ones[i].result.good, "client %u: %s", i, ones[i].result.error);
        ck_assert_uint_eq(ones[i].result.hash, ones[from].result.hash);
    }
}

static void sum_over(const gn_switchd_config *config, gn_agg_format format, unsigned streams)
{
    const running r = start(config);
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = client_of(r.port, "sum", i, 4);
        c.join.format = (uint8_t)format;
        c.join.bound_exp = format == GN_AGG_INT32 ? 0 : 10;
        c.join.streams = (uint8_t)streams;
        launch(i, &c);
    }
    all_good(0, 4);
    stop(&r);
}

START_TEST(sums_are_right)
{
    for (gn_agg_format format = 0; format < GN_AGG_FORMATS; format++) sum_over(&plain, format, 1);
}
END_TEST

START_TEST(streams_go_to_all_shards)
{
    gn_switchd_config config = plain;
    config.shards = 3;
    sum_over(&config, GN_AGG_INT32, 7);
}
END_TEST

START_TEST(bad_links_both_ways)
{
    gn_switchd_config config = plain;
    config.in = (gn_fault_config){.seed = 3, .loss = 0.02, .duplicate = 0.02, .reorder = 0.05, .reorder_ns = 2000000};
    config.out = (gn_fault_config){.seed = 4, .loss = 0.02, .duplicate = 0.02, .reorder = 0.05, .delay_ns = 200000};
    sum_over(&config, GN_AGG_DENSE, 2);
    uint64_t resent = 0;
    for (unsigned i = 0; i < 4; i++) resent += ones[i].result.stats.resent;
    ck_assert_uint_gt(resent, 0);
}
END_TEST

START_TEST(one_worker_alone)
{
    const running r = start(&plain);
    const sw_client c = client_of(r.port, "alone", 0, 1);
    launch(0, &c);
    all_good(0, 1);
    stop(&r);
}
END_TEST

/// Two leaves with two workers each under a root.
START_TEST(leaves_and_a_root)
{
    char parent[40];
    const running root = start(&plain);
    gn_switchd_config config = plain;
    snprintf(parent, sizeof parent, "127.0.0.1:%u", root.port);
    config.parent = parent;
    config.in = (gn_fault_config){.seed = 5, .loss = 0.01};
    config.out = (gn_fault_config){.seed = 6, .loss = 0.01};
    const running leaf[2] = {start(&config), start(&config)};
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = client_of(leaf[i / 2].port, "tree", i, 4);
        c.join.bit = (uint8_t)(i % 2);
        c.join.children = 2;
        c.join.parent_bit = (uint8_t)(i / 2);
        c.join.parent_children = 2;
        c.join.leader = i / 2 ? GN_AGG_WORKERS_MAX : 0;
        c.join.streams = 2;
        launch(i, &c);
    }
    all_good(0, 4);
    stop(&leaf[0]);
    stop(&leaf[1]);
    stop(&root);
}
END_TEST

/// Two jobs share few slots; what finds none, and every result, goes by the parameter server.
static void share(gn_memory_mode mode, gn_agg_format format)
{
    char above[40];
    gn_switchd_config config = plain;
    config.role = GN_SWITCHD_PS;
    config.in = (gn_fault_config){.seed = 7, .loss = 0.01};
    const running ps = start(&config);
    snprintf(above, sizeof above, "127.0.0.1:%u", ps.port);
    config.role = GN_SWITCHD_SWITCH;
    config.mode = mode;
    config.ps = above;
    config.slots = 16;
    config.windows = 1024;
    config.in = (gn_fault_config){.seed = 8, .loss = 0.01};
    config.out = (gn_fault_config){.seed = 9, .loss = 0.01, .duplicate = 0.01};
    const running r = start(&config);
    for (unsigned i = 0; i < 6; i++) {
        sw_client c = client_of(r.port, i < 3 ? "one" : "two", i % 3, 3);
        c.join.format = (uint8_t)format;
        c.join.bound_exp = format == GN_AGG_INT32 ? 0 : 10;
        c.join.priority = i < 3 ? 100 : 200;
        c.join.streams = 2;
        launch(i, &c);
    }
    all_good(0, 3);
    all_good(3, 3);
    stop(&r);
    stop(&ps);
}

START_TEST(jobs_share_slots)
{
    share(GN_SHARED, GN_AGG_INT32);
    share(GN_PREEMPTIVE, GN_AGG_DENSE);
}
END_TEST

START_TEST(a_lost_parameter_server_is_noticed)
{
    char above[40];
    gn_switchd_config config = plain;
    config.role = GN_SWITCHD_PS;
    const running ps = start(&config);
    snprintf(above, sizeof above, "127.0.0.1:%u", ps.port);
    // It serves switches, no workers.
    sw_client c = client_of(ps.port, "direct", 0, 1);
    launch(0, &c);
    await(0, 1);
    ck_assert_msg(strstr(ones[0].result.error, "this is a parameter server") != NULL, "%s", ones[0].result.error);
    config.role = GN_SWITCHD_SWITCH;
    config.mode = GN_SHARED;
    config.ps = above;
    const running r = start(&config);
    for (unsigned i = 0; i < 2; i++) {
        c = client_of(r.port, "lost", i, 2);
        c.rounds = 1000;
        c.pause_s = 0.02;
        launch(i, &c);
    }
    usleep(300000);
    kill(ps.pid, SIGKILL);
    waitpid(ps.pid, NULL, 0);
    await(0, 2);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_msg(strstr(ones[i].result.error, "gone: the connection to the parameter server 127.0.0.1:") != NULL,
                      "%s", ones[i].result.error);
    // Who asks now is told, too.
    c = client_of(r.port, "none", 0, 1);
    launch(0, &c);
    await(0, 1);
    ck_assert_msg(strstr(ones[0].result.error, "parameter server") != NULL, "%s", ones[0].result.error);
    stop(&r);
}
END_TEST

START_TEST(who_leaves_others_waiting_is_noticed_where_slots_are_shared)
{
    char above[40];
    gn_switchd_config config = plain;
    config.role = GN_SWITCHD_PS;
    const running ps = start(&config);
    snprintf(above, sizeof above, "127.0.0.1:%u", ps.port);
    config.role = GN_SWITCHD_SWITCH;
    config.mode = GN_SHARED;
    config.ps = above;
    config.slots = 4;
    config.windows = 256;
    const running r = start(&config);
    for (unsigned i = 0; i < 3; i++) {
        sw_client c = client_of(r.port, "goes", i, 3);
        c.timeout_ms = 20000;
        if (i == 1) c.stop_after = 1;
        launch(i, &c);
    }
    await(0, 3);
    for (unsigned i = 0; i < 3; i += 2)
        ck_assert_msg(strstr(ones[i].result.error, "gone: rank 1 has left") != NULL, "%s", ones[i].result.error);
    stop(&r);
    stop(&ps);
}
END_TEST

static void refused_with(const char *what)
{
    await(1, 1);
    ck_assert(!ones[1].result.good);
    ck_assert_msg(strstr(ones[1].result.error, what) != NULL, "'%s' says nothing of '%s'", ones[1].result.error, what);
}

START_TEST(who_does_not_fit_is_told_why)
{
    const running r = start(&plain);
    sw_client first = client_of(r.port, "fit", 0, 2), other = client_of(r.port, "fit", 1, 2);
    launch(0, &first);
    usleep(200000);
    other.join.packet_values = 128;
    launch(1, &other);
    refused_with("packet_values of job 'fit': rank 0 (127.0.0.1:");
    refused_with("says 256, rank 1 (127.0.0.1:");
    other = client_of(r.port, "fit", 1, 2), other.join.bit = 0, other.join.rank = 1;
    launch(1, &other);
    refused_with("bit 0 of job 'fit' is taken by child 0 (rank 0");
    other = client_of(r.port, "fit", 0, 2), other.join.bit = 1;
    launch(1, &other);
    refused_with("rank 0 of job 'fit' is there already");
    other = client_of(r.port, "big", 1, 2), other.join.packet_values = 513;
    launch(1, &other);
    refused_with("slots have 512 values");
    other = client_of(r.port, "tree", 1, 2), other.join.parent_children = 2;
    launch(1, &other);
    refused_with("this switch has no parent");
    // And the job can still be had; whoever comes late has to take another name.
    other = client_of(r.port, "fit", 1, 2), other.pause_s = 0.3;
    launch(1, &other);
    usleep(200000);
    launch(2, &first);
    await(2, 1);
    ck_assert(strstr(ones[2].result.error, "is complete already") != NULL);
    all_good(0, 2);
    stop(&r);
}
END_TEST

START_TEST(who_does_not_come_is_named)
{
    const running r = start(&plain);
    for (unsigned i = 0; i < 2; i++) {
        const sw_client c = client_of(r.port, "late", i, 4);
        launch(i, &c);
    }
    await(0, 2);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_msg(strstr(ones[i].result.error, "children 2-3 have not come within 2 s") != NULL, "%s",
                      ones[i].result.error);
    stop(&r);
}
END_TEST

START_TEST(who_goes_is_told_of)
{
    const running r = start(&plain);
    const uint64_t begin = gn_now();
    for (unsigned i = 0; i < 4; i++) {
        sw_client c = client_of(r.port, "goes", i, 4);
        if (i == 2) c.stop_after = 1;
        launch(i, &c);
    }
    await(0, 4);
    for (unsigned i = 0; i < 4; i++) {
        if (i == 2) continue;
        ck_assert_msg(strstr(ones[i].result.error, "gone: rank 2 has left") != NULL, "%s", ones[i].result.error);
    }
    ck_assert_uint_lt(gn_now() - begin, 5000000000);
    // Its slots are free again.
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "goes", i, 2);
        c.join.slots = 512;
        c.join.streams = 2;
        launch(i, &c);
    }
    all_good(0, 2);
    ck_assert_uint_eq(ones[0].result.welcome.slots, 512);
    stop(&r);
}
END_TEST

START_TEST(slots_are_granted_within_the_quota)
{
    gn_switchd_config config = plain;
    config.quota = 256;
    config.streams = 16;
    const running r = start(&config);
    for (unsigned job = 0; job < 5; job++) {
        char name[8];
        snprintf(name, sizeof name, "q%u", job);
        sw_client c = client_of(r.port, name, 0, 1);
        c.join.slots = 512;
        c.join.streams = job == 4 ? 1 : 2;
        c.rounds = 1;
        c.pause_s = 1;
        launch(job, &c);
        usleep(100000);
    }
    await(0, 5);
    for (unsigned job = 0; job < 4; job++) {
        ck_assert_msg(ones[job].result.good, "%s", ones[job].result.error);
        ck_assert_uint_eq(ones[job].result.welcome.slots, 128);
    }
    ck_assert_msg(strstr(ones[4].result.error, "no slots left") != NULL, "%s", ones[4].result.error);
    stop(&r);
}
END_TEST

START_TEST(a_killed_switch_is_noticed)
{
    running r = start(&plain);
    const uint64_t begin = gn_now();
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "killed", i, 2);
        c.rounds = 1000;
        c.pause_s = 0.02;
        launch(i, &c);
    }
    usleep(300000);
    kill(r.pid, SIGKILL);
    waitpid(r.pid, NULL, 0);
    await(0, 2);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_msg(strstr(ones[i].result.error, "the switch 127.0.0.1:") != NULL, "%s", ones[i].result.error);
    ck_assert_uint_lt(gn_now() - begin, 5000000000);
    // At the same place again: another generation.
    gn_switchd_config config = plain;
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
    const running r = start(&plain);
    for (unsigned i = 0; i < 2; i++) {
        sw_client c = client_of(r.port, "ends", i, 2);
        c.rounds = 1000;
        c.pause_s = 0.02;
        launch(i, &c);
    }
    usleep(300000);
    stop(&r);
    await(0, 2);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_msg(strstr(ones[i].result.error, "gone: the switch was told to end") != NULL, "%s",
                      ones[i].result.error);
}
END_TEST

START_TEST(bytes_that_are_no_frame)
{
    const running r = start(&plain);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(r.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const char *const hellos[] = {"GET / HTTP/1.0\r\n\r\n", "GNAD\2\0\0\0", "GNAD\1\5\0\1x", "GNAD\1\0\0\1x",
                                         ""};
    static const size_t lengths[] = {18, 8, 9, 9, 0};
    for (unsigned i = 0; i < sizeof hellos / sizeof *hellos; i++) {
        char answer[600];
        ssize_t got, whole = 0;
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
        const size_t bytes = lengths[i];
        if (bytes) ck_assert_int_eq(send(fd, hellos[i], bytes, MSG_NOSIGNAL), (ssize_t)bytes);
        if (!bytes) shutdown(fd, SHUT_WR);
        while ((got = recv(fd, answer + whole, sizeof answer - (size_t)whole, 0)) > 0) whole += got;
        close(fd);
    }
    const sw_client c = client_of(r.port, "after", 0, 1);
    launch(0, &c);
    all_good(0, 1);
    stop(&r);
}
END_TEST

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    return RUN_TESTS("switchd", sums_are_right, streams_go_to_all_shards, bad_links_both_ways, one_worker_alone,
                     leaves_and_a_root, jobs_share_slots, a_lost_parameter_server_is_noticed,
                     who_leaves_others_waiting_is_noticed_where_slots_are_shared, who_does_not_fit_is_told_why,
                     who_does_not_come_is_named, who_goes_is_told_of, slots_are_granted_within_the_quota,
                     a_killed_switch_is_noticed, a_switch_that_ends_says_so, bytes_that_are_no_frame);
}
