// SPDX-License-Identifier: Apache-2.0
#include "tether.h"
#include "net/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static void end(gn_tether *t, const char *why)
{
    if (!t->gone) snprintf(t->why, sizeof t->why, "%s", why);
    t->gone = true;
}

gn_status gn_tether_open(gn_tether *tether, const gn_endpoint *to)
{
    *tether = (gn_tether){.last_heard = gn_now()};
    tether->fd = gn_tcp_connect(to, NULL, 0);
    if (tether->fd >= 0) return GN_OK;
    end(tether, strerror(errno));
    return GN_IO;
}

static void send_frame(gn_tether *t, const gn_admission *frame)
{
    uint8_t out[GN_ADMISSION_MAX];
    const size_t bytes = gn_admission_write(frame, out);
    const ssize_t sent = send(t->fd, out, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent == (ssize_t)bytes) return;
    // Frames are few and small: when there is no room for one, nobody reads at the other side; and half a frame cannot be mended.
    if (sent < 0 && (errno == EAGAIN || errno == EINTR) && frame->type == GN_ADMISSION_PING) return;
    end(t, sent < 0 ? strerror(errno) : "it takes no messages");
}

static void fill(gn_tether *t)
{
    const ssize_t got = recv(t->fd, t->in + t->in_used, sizeof t->in - t->in_used, MSG_DONTWAIT);
    if (got > 0) {
        t->in_used += (size_t)got;
        t->last_heard = gn_now();
    } else if (got == 0) {
        end(t, "it has closed the connection");
    } else if (errno != EAGAIN && errno != EINTR) {
        end(t, strerror(errno));
    }
}

/// The next whole frame. @return false when there is none.
static bool next(gn_tether *t, gn_admission *frame)
{
    const char *wrong;
    char text[GN_ADMISSION_FAULT + 64], fault[GN_ADMISSION_FAULT];
    const int bytes = gn_admission_parse(t->in, t->in_used, frame, &wrong);
    if (bytes < 0) {
        snprintf(text, sizeof text, "it %s: is it the right port?", gn_admission_fault(t->in, t->in_used, fault));
        end(t, text);
    }
    if (bytes <= 0) return false;
    t->in_used -= (size_t)bytes;
    memmove(t->in, t->in + bytes, t->in_used);
    return true;
}

static void take_news(gn_tether *t, const gn_admission *frame)
{
    if (frame->type == GN_ADMISSION_PONG) snprintf(t->waits, sizeof t->waits, "%s", frame->text);
    if (frame->type != GN_ADMISSION_GONE) return;
    t->told |= !t->gone;
    end(t, frame->text);
}

static void read_answer(gn_tether *t, gn_admission *answer)
{
    gn_admission frame;
    fill(t);
    while (next(t, &frame)) {  // also what came before the end
        if (frame.type == GN_ADMISSION_WELCOME || frame.type == GN_ADMISSION_REFUSED) *answer = frame;
        take_news(t, &frame);
    }
}

gn_status gn_tether_advance(gn_tether *t, const gn_admission_join *join, gn_admission *answer)
{
    answer->type = GN_ADMISSION_JOIN;
    if (!t->up) {
        struct pollfd p = {.fd = t->fd, .events = POLLOUT};
        if (poll(&p, 1, 0) <= 0) return GN_OK;
        const int failed = gn_socket_connected(t->fd);
        if (failed) end(t, strerror(failed));
        t->up = !failed;
    }
    if (!t->gone && !t->joined && join) {
        send_frame(t, &(gn_admission){.type = GN_ADMISSION_JOIN, .join = *join});
        t->joined = true;
    }
    if (!t->gone) read_answer(t, answer);
    return t->gone && answer->type == GN_ADMISSION_JOIN ? GN_IO : GN_OK;
}

short gn_tether_events(const gn_tether *tether)
{
    return tether->up ? POLLIN : POLLOUT;
}

void gn_tether_ping(gn_tether *t, uint64_t now)
{
    t->last_ping = now;
    if (!t->gone) send_frame(t, &(gn_admission){.type = GN_ADMISSION_PING});
}

static void send_last(gn_tether *t, const gn_admission *frame)
{
    uint8_t rest[GN_ADMISSION_MAX];
    if (t->fd < 0 || t->gone || !t->joined) return;
    send_frame(t, frame);
    shutdown(t->fd, SHUT_WR);
    // Unread bytes would turn the close into a reset.
    while (recv(t->fd, rest, sizeof rest, MSG_DONTWAIT) > 0) continue;
}

void gn_tether_end(gn_tether *t, const char *why)
{
    gn_admission frame = {.type = GN_ADMISSION_GONE};
    snprintf(frame.text, sizeof frame.text, "%s", why);
    send_last(t, &frame);
}

void gn_tether_leave(gn_tether *t)
{
    send_last(t, &(gn_admission){.type = GN_ADMISSION_LEAVE});
}

bool gn_tether_serve(gn_tether *t)
{
    gn_admission frame;
    if (t->fd < 0 || t->gone) return false;
    fill(t);
    while (next(t, &frame)) take_news(t, &frame);
    return !t->gone;
}

void gn_tether_close(gn_tether *tether)
{
    gn_close(&tether->fd);
}
