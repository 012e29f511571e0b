// SPDX-License-Identifier: Apache-2.0
// How a rank looks for rank 0 where something else is in its place. getaddrinfo() is this file's.
// So a name has two addresses, and the first is silent.
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "free_port.h"
#include "net/clock.h"
#include "net/tcp.h"
#include "ring/message.h"
#include "suite.h"

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list);

int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
    if (strcmp(host, "two.test") != 0) return __real_getaddrinfo(host, service, hints, list);
    const int failed = __real_getaddrinfo("127.0.0.2", service, hints, list);
    struct addrinfo *last = *list;
    while (!failed && last->ai_next) last = last->ai_next;
    return failed ? failed : __real_getaddrinfo("127.0.0.1", service, hints, &last->ai_next);
}

enum { PORTS_MS = 2000 };

/// A port that answers nobody, because its queue is full. Packets vanish as behind a packet filter.
static void fill_port(uint16_t port)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1), .sin_port = htons(port)};
    const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    ck_assert(!setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
    ck_assert(!bind(listener, (const struct sockaddr *)&at, sizeof at) && !listen(listener, 0));
    for (int i = 0; i < 4; i++)
        (void)connect(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), (const struct sockaddr *)&at, sizeof at);
}

static void run_two_addresses(int rank, const ranks *group, void *argument)
{
    char where[64];
    gn_comm_config config = rank_config(rank, group);
    snprintf(where, sizeof where, "tcp://%s:%u", rank ? "two.test" : "127.0.0.1", *(uint16_t *)argument);
    config.rendezvous = where;
    config.interface = "lo";
    config.timeout_ms = PORTS_MS;
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) return;
    RANK_CHECK(!gn_barrier(comm));
    gn_comm_free(comm);
}

START_TEST(test_a_silent_address_costs_a_turn)
{
    ranks group;
    uint16_t port = free_port();
    fill_port(port);
    ranks_start(&group, 2, run_two_addresses, &port);
    ranks_wait(&group, 20);
    for (int rank = 0; rank < 2; rank++) {
        ck_assert_int_eq(group.exits[rank], 0);
        ck_assert_msg(!group.reports[rank].status, "rank %d: %s", rank, group.reports[rank].text);
    }
    ranks_free(&group);
}
END_TEST

static void run_deceived(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = rank_config(1, group);
    config.size = 2;
    config.rendezvous = argument;
    config.timeout_ms = 1000;
    RANK_CHECK(!rank_init(rank, group, &config));
}

// Signs of life alone do not make it rank 0. The rank does not accuse itself.
START_TEST(test_signs_of_life_are_not_all)
{
    gn_endpoint at = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}};
    int listener = gn_tcp_listen(&at, false, 0);
    ck_assert(listener >= 0 && !fcntl(listener, F_SETFL, 0));
    char where[64];
    snprintf(where, sizeof where, "tcp://127.0.0.1:%u", at.port);
    struct timeval patience = {.tv_sec = 10};
    ck_assert(!setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
    ranks group;
    ranks_start(&group, 1, run_deceived, where);
    const int guest = accept(listener, NULL, NULL);
    ck_assert_int_ge(guest, 0);
    uint8_t frame[GN_FRAME_MAX];
    const size_t length = gn_alive_write(frame, &(gn_alive){0});
    const uint64_t until = gn_now() + 5 * GN_SECOND;
    while (gn_now() < until && send(guest, frame, length, MSG_NOSIGNAL) > 0) usleep(50000);
    ranks_wait(&group, 20);
    const report *r = &group.reports[0];
    ck_assert_int_eq(r->status, GN_TIMEOUT);
    ck_assert_msg(strstr(r->text, "rank 0 did not come: 127.0.0.1:") &&
                      strstr(r->text, "takes the connection, but has not let this rank in within 1000 ms"),
                  "%s", r->text);
    close(guest);
    gn_close(&listener);
    ranks_free(&group);
}
END_TEST

int main(void)
{
    return RUN_TESTS("comm home", test_a_silent_address_costs_a_turn, test_signs_of_life_are_not_all);
}
