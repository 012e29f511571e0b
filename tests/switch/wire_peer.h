// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_SWITCH_WIRE_PEER_H
#define GRADNIC_TESTS_SWITCH_WIRE_PEER_H
/// The other end of an admission connection, which says what the test wants, frame by frame. For
/// Check tests: whatever does not work fails the test.

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <check.h>

#include <gradnic/admission.h>

typedef struct wire_peer {
    int fd;
    uint8_t in[GN_ADMISSION_MAX];
    size_t used;
} wire_peer;

enum { PEER_PATIENCE_S = 20 };  ///< then whatever is awaited has not come

static inline struct sockaddr_in peer_loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static inline void peer_take(wire_peer *p, int fd)
{
    const struct timeval limit = {.tv_sec = PEER_PATIENCE_S};
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), 0);
    *p = (wire_peer){.fd = fd};
}

/// Connects. `room`: bytes of the receive buffer; 0: the kernel's choice.
static inline void peer_connect(wire_peer *p, uint16_t port, int room)
{
    const struct sockaddr_in address = peer_loopback(port);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    peer_take(p, fd);
    if (room) ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
}

/// Listens at any port. @return the listening socket
static inline int peer_listen(uint16_t *port)
{
    struct sockaddr_in address = peer_loopback(0);
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof address) && !listen(fd, 16));
    ck_assert(!getsockname(fd, (struct sockaddr *)&address, &length));
    *port = ntohs(address.sin_port);
    return fd;
}

static inline void peer_accept(wire_peer *p, int listener)
{
    const struct timeval limit = {.tv_sec = PEER_PATIENCE_S};
    ck_assert_int_eq(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    peer_take(p, accept(listener, NULL, NULL));
}

static inline void peer_close(wire_peer *p)
{
    close(p->fd);
}

static inline void peer_say(wire_peer *p, const gn_admission *frame)
{
    uint8_t bytes[GN_ADMISSION_MAX];
    const size_t count = gn_admission_write(frame, bytes);
    ck_assert_int_eq(send(p->fd, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
}

/// The next frame; it has to come.
static inline gn_admission peer_hear(wire_peer *p)
{
    gn_admission frame;
    int length;
    while (!(length = gn_admission_parse(p->in, p->used, &frame, NULL))) {
        const ssize_t got = recv(p->fd, p->in + p->used, sizeof p->in - p->used, 0);
        ck_assert_int_gt(got, 0);
        p->used += (size_t)got;
    }
    ck_assert_int_gt(length, 0);
    p->used -= (size_t)length;
    memmove(p->in, p->in + length, p->used);
    return frame;
}

#endif
