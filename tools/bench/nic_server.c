// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nic.h"
#include "tools/kit/cli.h"
#include "tools/kit/command.h"

static int listen_on(const gn_bench_nic *b, uint16_t port)
{
    const int fd = gn_bench_nic_socket(AF_INET6, 0), off = 0;
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (fd < 0) goto failed;
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (!bind(fd, (struct sockaddr *)&address, sizeof address) && !listen(fd, 8)) return fd;
failed:
    gn_cli_error(b->program, "port %u: %s", port, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

typedef struct checker {
    const gn_bench_nic *bench;
    uint64_t bytes;
    double worst;
    bool differs;  // a value that had to stay the same has changed
} checker;

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Compares whole values, which begin at `offset` of the flow, with the sent values.
static void compare(checker *c, const float *got, size_t count, uint64_t offset)
{
    const gn_bench_nic *b = c->bench;
    for (size_t i = 0; i < count; i++) {
        const float sent = b->values[(offset / 4 + i) % b->value_count];
        const double error = fabs((double)got[i] - (double)sent);
        if (error > c->worst) c->worst = error;
        if (b->bound == 0 || !isfinite(sent) || !isfinite(got[i])) c->differs |= bits_of(got[i]) != bits_of(sent);
    }
}

static void serve_flow(const gn_bench_nic *b, int fd)
{
    checker c = {.bench = b};
    char answer[160];
    size_t kept = 0;  // bytes of an incomplete value
    char *buffer = malloc(GN_BENCH_NIC_CHUNK);
    ssize_t got;
    while (buffer && (got = recv(fd, buffer + kept, GN_BENCH_NIC_CHUNK - kept, 0)) > 0) {
        const size_t held = kept + (size_t)got, whole = held & ~(size_t)3;
        if (b->values) compare(&c, (const float *)(void *)buffer, whole / 4, c.bytes - kept);
        c.bytes += (uint64_t)got;
        kept = held - whole;
        memmove(buffer, buffer + whole, kept);
    }
    free(buffer);
    const bool wrong = c.differs || c.worst > b->bound;
    const int length =
        snprintf(answer, sizeof answer, "{\"bytes\": %llu, \"checked\": %s, \"max_error\": %.9g, \"wrong\": %s}",
                 (unsigned long long)c.bytes, b->values ? "true" : "false", c.worst, wrong ? "true" : "false");
    (void)send(fd, answer, (size_t)length, MSG_NOSIGNAL);
}

static void serve_echo(int fd)
{
    uint32_t size;
    if (recv(fd, &size, sizeof size, MSG_WAITALL) != sizeof size) return;
    size = ntohl(size);
    char *message = size && size <= GN_BENCH_NIC_CHUNK ? malloc(size) : NULL;
    while (message && recv(fd, message, size, MSG_WAITALL) == (ssize_t)size &&
           send(fd, message, size, MSG_NOSIGNAL) == (ssize_t)size) {
    }
    free(message);
}

int gn_bench_nic_server(gn_bench_nic *b)
{
    struct pollfd listening[2] = {{.fd = listen_on(b, b->port), .events = POLLIN}, {.fd = -1, .events = POLLIN}};
    if (listening[0].fd >= 0) listening[1].fd = listen_on(b, (uint16_t)(b->port + 1));
    int status = listening[1].fd >= 0 ? GN_EXIT_OK : GN_EXIT_FAILED;
    bool more = status == GN_EXIT_OK;
    while (more && poll(listening, 2, -1) > 0) {
        for (int i = 0; i < 2; i++) {
            if (!listening[i].revents) continue;
            const int fd = accept4(listening[i].fd, NULL, NULL, SOCK_CLOEXEC);
            if (fd < 0) continue;
            if (i == 0)
                serve_flow(b, fd);
            else
                serve_echo(fd);
            close(fd);
            more = !b->once;
        }
    }
    for (int i = 0; i < 2; i++)
        if (listening[i].fd >= 0) close(listening[i].fd);
    return status;
}
