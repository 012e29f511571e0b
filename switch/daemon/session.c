// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/session.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/tcp.h"

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

/// A session of this connection; NULL: out of memory.
static gn_session *make(gn_framed *connection, const gn_endpoint *remote)
{
    gn_session *session = connection ? calloc(1, sizeof *session) : NULL;
    if (!session) {
        gn_framed_free(connection);
        return NULL;
    }
    watch_silence(connection->fd);
    session->connection = connection;
    session->remote = *remote;
    gn_endpoint_format(remote, session->name);
    return session;
}

gn_session *gn_session_of_child(gn_framed *connection, const gn_endpoint *remote, const gn_admission_join *join)
{
    gn_endpoint listens = *remote;
    gn_session *session = make(connection, remote);
    if (!session || join->asker == GN_ASKER_WORKER) return session;
    session->is_switch = true;
    listens.port = join->listens;
    gn_endpoint_format(&listens, session->name);
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
    gn_session *session = make(gn_framed_new(fd, GN_FRAMED_CONNECTING, GN_FRAMES_IN, GN_FRAMES_OUT), to);
    if (session)
        session->upward = true;
    else
        gn_fail_memory(error);
    return session;
}

void gn_session_free(gn_session *session)
{
    if (!session) return;
    gn_framed_free(session->connection);
    gn_greeting_wipe(&session->greeting);
    free(session);
}

bool gn_session_is_open(const gn_session *session)
{
    return session->connection && session->connection->state == GN_FRAMED_OPEN;
}

void gn_session_serve(gn_session *session, short events)
{
    const gn_framed *connection = session->connection;
    if (!connection) return;
    gn_framed_serve(session->connection, events);
    if (connection->state == GN_FRAMED_OPEN) session->was_open = true;
    if (connection->state == GN_FRAMED_CLOSED)
        gn_session_close(session, connection->error ? strerror(connection->error) : NULL);
}

void gn_session_send(gn_session *session, const gn_admission *frame)
{
    if (session->connection && !gn_frames_send(session->connection, frame))
        gn_session_close(session, "does not read what it is sent");
}

void gn_session_end(gn_session *session, gn_lobby *lobby, gn_admission_type type, const char *text)
{
    if (session->connection) gn_frames_end(session->connection, lobby, type, text);
    session->connection = NULL;
    session->job = NULL;
}

void gn_session_hang_up(gn_session *session, gn_lobby *lobby)
{
    if (session->connection) gn_frames_hang_up(session->connection, lobby);
    session->connection = NULL;
    session->job = NULL;
}

void gn_session_close(gn_session *session, const char *broken)
{
    gn_framed_free(session->connection);
    session->connection = NULL;
    if (broken) snprintf(session->broken, sizeof session->broken, "%s", broken);
}
