// SPDX-License-Identifier: Apache-2.0
#include "net/framed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/clock.h"
#include "net/socket.h"

enum { DROPS_MAX = 1024 };  // reads in a row of what is dropped: the far side may send without end

gn_framed *gn_framed_new(int fd, gn_framed_state state, size_t in_room, size_t out_room)
{
    gn_framed *framed = malloc(sizeof *framed + in_room + out_room);
    if (!framed) {
        gn_close(&fd);
        return NULL;
    }
    *framed = (gn_framed){.fd = fd, .state = state, .heard = gn_now(), .in_room = in_room, .out_room = out_room};
    return framed;
}

void gn_framed_free(gn_framed *framed)
{
    if (!framed) return;
    gn_close(&framed->fd);
    free(framed);
}

int gn_framed_release(gn_framed *framed)
{
    const int fd = framed->fd;
    free(framed);
    return fd;
}

struct pollfd gn_framed_poll(const gn_framed *framed)
{
    if (!framed || framed->state == GN_FRAMED_CLOSED) return (struct pollfd){.fd = -1};
    const bool connecting = framed->state == GN_FRAMED_CONNECTING;
    const bool has_room = framed->state == GN_FRAMED_ENDING || framed->in_used - framed->in_taken < framed->in_room;
    return (struct pollfd){
        .fd = framed->fd,
        .events = (short)((!connecting && has_room ? POLLIN : 0) | (connecting || framed->out_used ? POLLOUT : 0))};
}

static void close_because(gn_framed *framed, int error)
{
    if (error) framed->error = error;
    framed->state = GN_FRAMED_CLOSED;
    framed->out_used = 0;
}

static void finish_connecting(gn_framed *framed)
{
    const int failed = gn_socket_connected(framed->fd);
    if (failed)
        close_because(framed, failed);
    else
        framed->state = GN_FRAMED_OPEN;
}

void gn_framed_serve(gn_framed *framed, short events)
{
    if (!events) return;
    if (framed->state == GN_FRAMED_CONNECTING) finish_connecting(framed);
    if (events & POLLOUT) gn_framed_flush(framed);
    if (events & (POLLIN | POLLHUP | POLLERR)) (void)gn_framed_fill(framed);
}

void gn_framed_flush(gn_framed *framed)
{
    if (!framed || !framed->out_used || framed->state == GN_FRAMED_CONNECTING) return;
    uint8_t *out = framed->bytes + framed->in_room;
    const ssize_t sent = send(framed->fd, out, framed->out_used, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent < 0) {
        framed->out_used = 0;  // broken: reading will tell, after what the far side has still said
        if (errno != EPIPE) framed->error = errno;
    } else {
        framed->out_used -= (size_t)sent;
        memmove(out, out + sent, framed->out_used);
    }
    if (framed->state == GN_FRAMED_ENDING && !framed->out_used) (void)shutdown(framed->fd, SHUT_WR);
}

size_t gn_framed_unsent(const gn_framed *framed)
{
    return framed->out_used;
}

bool gn_framed_send(gn_framed *framed, const void *frame, size_t length)
{
    if (!framed || framed->state == GN_FRAMED_ENDING || framed->state == GN_FRAMED_CLOSED) return false;
    if (length > framed->out_room - framed->out_used) gn_framed_flush(framed);
    if (length > framed->out_room - framed->out_used) {
        framed->overflow = true;
        return false;
    }
    memcpy(framed->bytes + framed->in_room + framed->out_used, frame, length);
    framed->out_used += length;
    gn_framed_flush(framed);
    return true;
}

/// Reads into the free part of the buffer, which is not empty. @return whether bytes came
static bool read_some(gn_framed *framed)
{
    const ssize_t got =
        recv(framed->fd, framed->bytes + framed->in_used, framed->in_room - framed->in_used, MSG_DONTWAIT);
    if (got > 0) {
        framed->in_used += (size_t)got;
        framed->heard = gn_now();
        return true;
    }
    if (!got)
        close_because(framed, 0);
    else if (errno != EAGAIN && errno != EINTR)
        close_because(framed, errno);
    return false;
}

static void drop_what_came(gn_framed *framed)
{
    for (int i = 0; i < DROPS_MAX; i++) {
        framed->in_used = framed->in_taken = 0;
        if (!framed->in_room || !read_some(framed)) return;
    }
}

bool gn_framed_fill(gn_framed *framed)
{
    if (framed->state == GN_FRAMED_ENDING) drop_what_came(framed);
    if (framed->state != GN_FRAMED_OPEN) return false;
    if (framed->in_taken) {
        framed->in_used -= framed->in_taken;
        memmove(framed->bytes, framed->bytes + framed->in_taken, framed->in_used);
        framed->in_taken = 0;
    }
    return framed->in_used < framed->in_room && read_some(framed);
}

int gn_framed_next(gn_framed *framed, gn_framed_parse *parse, void *frame)
{
    const size_t available = framed->in_used - framed->in_taken;
    if (!available || framed->state == GN_FRAMED_ENDING) return 0;
    const int length = parse(framed->bytes + framed->in_taken, available, frame);
    if (length > 0) framed->in_taken += (size_t)length;
    if (!length && available == framed->in_room) return -1;  // it would never be whole
    return length > 0 ? 1 : length;
}

size_t gn_framed_rest(const gn_framed *framed, const uint8_t **bytes)
{
    *bytes = framed->bytes + framed->in_taken;
    return framed->in_used - framed->in_taken;
}

void gn_framed_end(gn_framed *framed)
{
    if (!framed || framed->state == GN_FRAMED_ENDING || framed->state == GN_FRAMED_CLOSED) return;
    if (framed->state == GN_FRAMED_CONNECTING && !framed->out_used) {
        close_because(framed, 0);
        return;
    }
    framed->state = GN_FRAMED_ENDING;
    if (framed->out_used)
        gn_framed_flush(framed);
    else
        (void)shutdown(framed->fd, SHUT_WR);
    drop_what_came(framed);
}
