// SPDX-License-Identifier: Apache-2.0
#include "ring/part_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/socket.h"
#include "ring/route.h"

#ifndef UDP_SEGMENT  // linux/udp.h, which netinet/udp.h of older C libraries lacks
#define UDP_SEGMENT 103
#define UDP_GRO 104
#endif

enum {
    MESSAGES = 32,        // of a system call
    SEGMENTS = 64,        // of a message: the kernel's limit
    MESSAGE_MAX = 60000,  // bytes of a message: IP's limit, and some room
    OUT_BYTES = 128 << 10,
    IN_BYTES = 1 << 16,
    RECEIVE_BUFFER = 4 << 20  // wanted of the kernel: results come in bursts
};

typedef union control {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint16_t))];
} control;

/// Datagrams that leave as one message: all of `segment` bytes but the last, which may be shorter.
typedef struct run {
    size_t first, bytes, segment;
    unsigned count;
    uint8_t tos;
    bool closed;
} run;

struct gn_part_socket {
    int fd;
    bool six, segments, full;
    size_t datagram, whole;  // longest; longest that is not fragmented
    uint8_t *out, *in;
    size_t used;
    run runs[MESSAGES];
    unsigned count, sent;
    control controls[MESSAGES];
    struct iovec pieces[MESSAGES];
    struct mmsghdr messages[MESSAGES];
};

gn_part_socket *gn_part_socket_new(int fd, size_t datagram)
{
    gn_part_socket *io = calloc(1, sizeof *io);
    if (!io) return NULL;
    gn_endpoint own;
    io->fd = fd;
    io->datagram = datagram;
    io->whole = gn_route_payload(fd);
    io->segments = true;
    io->six = gn_socket_local(fd, &own) && own.ip.version == 6;
    io->out = malloc(OUT_BYTES);
    io->in = malloc((size_t)MESSAGES * IN_BYTES);
    if (!io->out || !io->in) {
        gn_part_socket_free(io);
        return NULL;
    }
    int on = 1, room = RECEIVE_BUFFER;
    (void)setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);  // without it they come one by one
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room))
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    return io;
}

void gn_part_socket_free(gn_part_socket *io)
{
    if (!io) return;
    free(io->out);
    free(io->in);
    free(io);
}

void *gn_part_socket_room(gn_part_socket *io)
{
    const bool room = io->used + io->datagram <= OUT_BYTES && io->count < MESSAGES;
    return room ? io->out + io->used : NULL;
}

static bool joins(const gn_part_socket *io, const run *r, size_t bytes, uint8_t tos)
{
    return io->segments && !r->closed && r->tos == tos && bytes <= r->segment && r->segment <= io->whole &&
           r->count < SEGMENTS && r->bytes + bytes <= MESSAGE_MAX;
}

void gn_part_socket_put(gn_part_socket *io, size_t bytes, uint8_t tos)
{
    run *last = io->count ? &io->runs[io->count - 1] : NULL;
    if (last && joins(io, last, bytes, tos)) {
        last->closed = bytes < last->segment;
        last->bytes += bytes;
        last->count++;
    } else {
        io->runs[io->count++] =
            (run){.first = io->used, .bytes = bytes, .segment = bytes, .count = 1, .tos = tos, .closed = false};
    }
    io->used += bytes;
}

static void add_control(struct msghdr *m, control *c, int level, int type, const void *value, size_t bytes)
{
    const size_t at = m->msg_controllen;
    m->msg_control = c->bytes;
    struct cmsghdr *h = (struct cmsghdr *)(void *)(c->bytes + at);
    h->cmsg_level = level;
    h->cmsg_type = type;
    h->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(h), value, bytes);
    m->msg_controllen = at + CMSG_SPACE(bytes);
}

static void write_message(gn_part_socket *io, unsigned i)
{
    const run *r = &io->runs[i];
    struct msghdr *m = &io->messages[i].msg_hdr;
    io->pieces[i] = (struct iovec){io->out + r->first, r->bytes};
    *m = (struct msghdr){.msg_iov = &io->pieces[i], .msg_iovlen = 1};
    memset(&io->controls[i], 0, sizeof io->controls[i]);
    const int tos = r->tos | GN_TOS_ECT;
    const uint16_t segment = (uint16_t)r->segment;
    if (r->tos)
        add_control(m, &io->controls[i], io->six ? IPPROTO_IPV6 : IPPROTO_IP, io->six ? IPV6_TCLASS : IP_TOS, &tos,
                    sizeof tos);
    if (r->count > 1) add_control(m, &io->controls[i], IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment);
}

/// A route that cannot cut: from now on one by one, and this message too.
static void send_pieces(gn_part_socket *io, const run *r)
{
    io->segments = false;
    for (size_t at = 0; at < r->bytes; at += r->segment) {
        const size_t bytes = r->bytes - at < r->segment ? r->bytes - at : r->segment;
        (void)send(io->fd, io->out + r->first + at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);  // lost ones are sent again
    }
}

/// What an error of a datagram says about those to come.
static bool is_fatal(int error)
{
    return error == EMSGSIZE || error == EBADF || error == EACCES || error == EPERM || error == EINVAL;
}

bool gn_part_socket_flush(gn_part_socket *io, int *failed)
{
    *failed = 0;
    io->full = false;
    for (unsigned i = io->sent; i < io->count; i++) write_message(io, i);
    while (io->sent < io->count) {
        const int sent = sendmmsg(io->fd, io->messages + io->sent, io->count - io->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            io->sent += (unsigned)sent;
            continue;
        }
        const int error = errno;
        const run *r = &io->runs[io->sent];
        if (error == EINTR) continue;
        if (error == EAGAIN || error == ENOBUFS) {
            io->full = error == EAGAIN;
            return false;
        }
        if (r->count > 1 && (error == EINVAL || error == EIO || error == ENOPROTOOPT))
            send_pieces(io, r);
        else if (is_fatal(error))
            *failed = error;
        if (*failed) return false;
        io->sent++;  // refused, no route: as if lost on the way; the tether knows whether the switch is there
    }
    io->count = io->sent = 0;
    io->used = 0;
    return true;
}

bool gn_part_socket_is_full(const gn_part_socket *io)
{
    return io->full;
}

static size_t segment_of(struct msghdr *m, size_t whole)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        int segment;
        if (c->cmsg_level != IPPROTO_UDP || c->cmsg_type != UDP_GRO) continue;
        memcpy(&segment, CMSG_DATA(c), sizeof segment);
        if (segment > 0) return (size_t)segment;
    }
    return whole;
}

bool gn_part_socket_receive(gn_part_socket *io, void (*take)(void *context, const void *datagram, size_t bytes),
                            void *context)
{
    struct mmsghdr messages[MESSAGES];
    struct iovec pieces[MESSAGES];
    control controls[MESSAGES];
    for (unsigned i = 0; i < MESSAGES; i++) {
        pieces[i] = (struct iovec){io->in + (size_t)i * IN_BYTES, IN_BYTES};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i],
                                              .msg_iovlen = 1,
                                              .msg_control = controls[i].bytes,
                                              .msg_controllen = sizeof controls[i].bytes};
    }
    const int got = recvmmsg(io->fd, messages, MESSAGES, MSG_DONTWAIT, NULL);
    for (int i = 0; i < got; i++) {
        const uint8_t *bytes = pieces[i].iov_base;
        const size_t whole = messages[i].msg_len, segment = segment_of(&messages[i].msg_hdr, whole);
        for (size_t at = 0; at < whole; at += segment)
            take(context, bytes + at, whole - at < segment ? whole - at : segment);
    }
    return got == MESSAGES;
}
