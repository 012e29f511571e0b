// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/session.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/clock.h"
#include "net/tcp.h"

static uint64_t in_ms(uint64_t ms)
{
    return gn_now() + ms * GN_MILLISECOND;
}

/// A host that vanishes must be noticed even when nothing is sent to it.
static void watch_silence(int fd)
{
    const int on = 1, idle = GN_SESSION_SILENCE_S / 2, every = 1, probes = GN_SESSION_SILENCE_S - idle,
              limit = GN_SESSION_SILENCE_S * 1000;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
}

static gn_session *make(int fd, gn_session_state state, const gn_endpoint *remote)
{
    gn_session *session = calloc(1, sizeof *session);
    if (!session) {
        gn_close(&fd);
        return NULL;
    }
    watch_silence(fd);
    session->fd = fd;
    session->state = state;
    session->heard = gn_now();
    session->remote = *remote;
    gn_endpoint_format(remote, session->name);
    return session;
}

gn_session *gn_session_accepted(int fd, const gn_endpoint *remote)
{
    gn_session *session = make(fd, GN_SESSION_OPEN, remote);
    if (session) session->deadline = in_ms(GN_SESSION_HELLO_MS);
    return session;
}

gn_session *gn_session_connect(const gn_endpoint *to, const gn_endpoint *from, gn_error *error)
{
    char text[GN_ENDPOINT_TEXT];
    const int fd = gn_tcp_connect(to, from, 0);
    if (fd < 0) {
        gn_fail(error, GN_IO, "cannot connect to %s above: %s", gn_endpoint_format(to, text), strerror(errno));
        return NULL;
    }
    gn_session *session = make(fd, GN_SESSION_CONNECTING, to);
    if (session)
        session->upward = true;
    else
        gn_fail_memory(error);
    return session;
}

void gn_session_introduce(gn_session *session, const gn_admission_join *join)
{
    gn_endpoint listens = session->remote;
    if (join->asker == GN_ASKER_WORKER) return;
    session->is_switch = true;
    listens.port = join->listens;
    gn_endpoint_format(&listens, session->name);
}

void gn_session_free(gn_session *session)
{
    if (!session) return;
    gn_close(&session->fd);
    free(session);
}

void gn_session_close(gn_session *session, const char *broken)
{
    gn_close(&session->fd);
    session->state = GN_SESSION_CLOSED;
    if (broken) snprintf(session->broken, sizeof session->broken, "%s", broken);
}

short gn_session_events(const gn_session *session)
{
    const bool writes = session->out_bytes || session->state == GN_SESSION_CONNECTING;
    return (short)((session->state == GN_SESSION_CONNECTING ? 0 : POLLIN) | (writes ? POLLOUT : 0));
}

static void write_out(gn_session *session)
{
    if (!session->out_bytes) return;
    const ssize_t sent = send(session->fd, session->out, session->out_bytes, MSG_NOSIGNAL);
    if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR) gn_session_close(session, strerror(errno));
        return;
    }
    session->out_bytes -= (size_t)sent;
    memmove(session->out, session->out + sent, session->out_bytes);
    if (!session->out_bytes && session->state == GN_SESSION_LEAVING) (void)shutdown(session->fd, SHUT_WR);
}

static void read_in(gn_session *session)
{
    if (session->state == GN_SESSION_LEAVING) session->in_bytes = 0;  // nobody listens any more
    const size_t room = sizeof session->in - session->in_bytes;
    if (!room) return;  // whole frames are taken out before more is read
    const ssize_t got = recv(session->fd, session->in + session->in_bytes, room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0)
        session->in_bytes += (size_t)got, session->heard = gn_now();
    else
        gn_session_close(session, got ? strerror(errno) : NULL);
}

static void finish_connecting(gn_session *session)
{
    const int reason = gn_socket_connected(session->fd);
    if (reason)
        gn_session_close(session, strerror(reason));
    else
        session->state = GN_SESSION_OPEN;
    session->was_open = !reason;
}

void gn_session_serve(gn_session *session, short events)
{
    if (!events) return;
    if (session->state == GN_SESSION_CONNECTING) finish_connecting(session);
    if (session->state != GN_SESSION_CLOSED && events & POLLOUT) write_out(session);
    if (session->state != GN_SESSION_CLOSED && events & (POLLIN | POLLHUP | POLLERR)) read_in(session);
}

int gn_session_next(gn_session *session, gn_admission *frame, const char **wrong)
{
    if (session->state == GN_SESSION_LEAVING) return 0;
    const int length = gn_admission_parse(session->in, session->in_bytes, frame, wrong);
    if (length <= 0) return length;
    session->in_bytes -= (size_t)length;
    memmove(session->in, session->in + length, session->in_bytes);
    return 1;
}

void gn_session_send(gn_session *session, const gn_admission *frame)
{
    uint8_t bytes[GN_ADMISSION_MAX];
    const size_t length = gn_admission_write(frame, bytes);
    if (session->state == GN_SESSION_CLOSED || session->state == GN_SESSION_LEAVING) return;
    if (session->out_bytes + length > sizeof session->out) {
        gn_session_close(session, "does not read what it is sent");
        return;
    }
    memcpy(session->out + session->out_bytes, bytes, length);
    session->out_bytes += length;
    if (session->state == GN_SESSION_OPEN) write_out(session);
}

void gn_session_end(gn_session *session, gn_admission_type type, const char *text)
{
    gn_admission frame = {.type = type};
    snprintf(frame.text, sizeof frame.text, "%s", text);
    gn_session_send(session, &frame);
    session->job = NULL;
    if (session->state == GN_SESSION_CLOSED) return;
    if (session->state == GN_SESSION_OPEN && !session->out_bytes) (void)shutdown(session->fd, SHUT_WR);
    session->state = GN_SESSION_LEAVING;
    session->deadline = in_ms(GN_SESSION_LINGER_MS);
}
