// SPDX-License-Identifier: Apache-2.0
#include "switches.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "wire_peer.h"

const gn_switchd_config plain_switch = {.listen = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}},
                                        .shards = 1,
                                        .channels = 8,
                                        .slots = 1024,
                                        .quota = 1024,
                                        .slot_values = 512,
                                        .buffer_bytes = 1 << 20,
                                        .join_timeout_ns = 2000000000,
                                        .in.seed = 1,
                                        .out.seed = 2};

running start(const gn_switchd_config *config)
{
    int ends[2];
    running r = {0};
    ck_assert_int_eq(pipe(ends), 0);
    r.pid = fork();
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
    ck_assert_int_gt(r.pid, 0);
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &r.port, sizeof r.port), sizeof r.port);
    close(ends[0]);
    snprintf(r.address, sizeof r.address, "127.0.0.1:%u", r.port);
    return r;
}

void does_not_start(const gn_switchd_config *config, const char *what)
{
    gn_switchd *daemon;
    gn_error error;
    ck_assert_int_ne(gn_switchd_open(&daemon, config, &error), 0);
    ck_assert_msg(strstr(error.text, what) != NULL, "'%s' says nothing of '%s'", error.text, what);
}

running start_ps(gn_fault_config in)
{
    gn_switchd_config config = plain_switch;
    config.role = GN_SWITCHD_PS;
    config.in = in;
    return start(&config);
}

gn_switchd_config sharing(const running *ps, gn_memory_mode mode, uint32_t slots, uint32_t windows)
{
    gn_switchd_config config = plain_switch;
    config.mode = mode;
    config.ps = ps->address;
    config.slots = slots;
    config.windows = windows;
    return config;
}

void stop(const running *r)
{
    int status;
    kill(r->pid, SIGTERM);
    ck_assert_int_eq(waitpid(r->pid, &status, 0), r->pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void slay(const running *r)
{
    kill(r->pid, SIGKILL);
    ck_assert_int_eq(waitpid(r->pid, NULL, 0), r->pid);
}

sw_client client_of(uint16_t port, const char *name, unsigned rank, unsigned ranks)
{
    sw_client c = {.host = "127.0.0.1",
                   .port = port,
                   .join = {.rank = (uint16_t)rank,
                            .ranks = (uint16_t)ranks,
                            .bit = (uint8_t)rank,
                            .children = (uint8_t)ranks,
                            .packet_values = 256,
                            .slots = 64,
                            .channels = 1},
                   .count = 20000,
                   .rounds = 3,
                   .timeout_ms = 10000};
    snprintf(c.join.name, sizeof c.join.name, "%s", name);
    return c;
}

sw_client leaf_client(uint16_t port, const char *name, unsigned rank)
{
    sw_client c = client_of(port, name, rank, 4);
    c.join.bit = (uint8_t)(rank % 2);
    c.join.children = 2;
    c.join.parent_bit = (uint8_t)(rank / 2);
    c.join.parent_children = 2;
    c.join.leader = rank / 2 ? GN_AGG_WORKERS_MAX : 0;
    return c;
}

static void *run_one(void *argument)
{
    one *o = argument;
    sw_client_run(&o->config, &o->result);
    return NULL;
}

one ones[CLIENTS_MAX];

void launch(unsigned i, const sw_client *config)
{
    ones[i].config = *config;
    ones[i].result = (sw_result){.good = false};
    ck_assert_int_eq(pthread_create(&ones[i].thread, NULL, run_one, &ones[i]), 0);
}

void launch_all(uint16_t port, const char *name, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const sw_client c = client_of(port, name, i, count);
        launch(i, &c);
    }
}

void launch_for_long(uint16_t port, const char *name, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        sw_client c = client_of(port, name, i, count);
        c.rounds = 1000;
        c.pause_s = 0.02;
        launch(i, &c);
    }
    under_way(0, count, 1);
}

void has_asked(unsigned i)
{
    for (unsigned ms = 0; ms < 60000 && !ones[i].result.asked; ms++) usleep(1000);
    ck_assert_msg(ones[i].result.asked, "client %u has not asked", i);
}

void under_way(unsigned from, unsigned count, unsigned rounds)
{
    for (unsigned i = from; i < from + count; i++) {
        for (unsigned ms = 0; ms < 60000 && ones[i].result.rounds < rounds; ms++) usleep(1000);
        ck_assert_msg(ones[i].result.rounds >= rounds, "client %u has not come so far", i);
    }
}

void await(unsigned from, unsigned count)
{
    for (unsigned i = from; i < from + count; i++) pthread_join(ones[i].thread, NULL);
}

void all_good(unsigned from, unsigned count)
{
    await(from, count);
    for (unsigned i = from; i < from + count; i++) {
        ck_assert_msg(ones[i].result.good, "client %u: %s", i, ones[i].result.error);
        ck_assert_uint_eq(ones[i].result.hash, ones[from].result.hash);
    }
}

void says(unsigned i, const char *what)
{
    ck_assert(!ones[i].result.good);
    ck_assert_msg(strstr(ones[i].result.error, what) != NULL, "worker %u: '%s' says nothing of '%s'", i,
                  ones[i].result.error, what);
}

void says_address(unsigned i, const char *format, const running *r)
{
    char text[100];
    snprintf(text, sizeof text, format, r->address);
    says(i, text);
}

int ask_in_vain(uint16_t port, uint32_t from, unsigned number, unsigned bit, unsigned children)
{
    char name[GN_ADMISSION_NAME];
    uint8_t bytes[GN_ADMISSION_MAX];
    snprintf(name, sizeof name, "never%u", number);
    gn_admission join = {.type = GN_ADMISSION_JOIN, .join = client_of(port, name, bit, children).join};
    join.join.patience_ms = 1000;
    join.join.udp_port[0] = (uint16_t)(1 + bit);
    const size_t count = gn_admission_write(&join, bytes);
    const struct sockaddr_in to = peer_loopback(port), own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(from)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)&own, sizeof own), 0);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    ck_assert_int_eq(send(fd, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
    return fd;
}

void allow_files(unsigned count)
{
    struct rlimit files;
    ck_assert(!getrlimit(RLIMIT_NOFILE, &files));
    files.rlim_cur = files.rlim_max;
    ck_assert(!setrlimit(RLIMIT_NOFILE, &files));
    ck_assert_uint_gt(files.rlim_cur, count);
}
