// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/accept.h"

#include <errno.h>
#include <string.h>

#include "net/clock.h"
#include "net/tcp.h"

enum {
    AT_ONCE = 256,    ///< connections in one call
    STRANGER_MS = 50  ///< a connection has so long to ask for a job, even when all room is taken
};

gn_status gn_switchd_listen(gn_switchd *daemon, gn_error *error)
{
    char text[GN_ENDPOINT_TEXT];
    daemon->listener = gn_tcp_listen(&daemon->listen, true, 0);
    if (daemon->listener >= 0) return GN_OK;
    return gn_fail(error, GN_IO, "cannot listen on TCP %s: %s", gn_endpoint_format(&daemon->listen, text),
                   strerror(errno));
}

/// Room for one more child. If need be, it is taken from the stranger that has been here longest:
/// one who has connected and asked for nothing. @return false: all came just now, or take part in
/// jobs
static bool make_room(gn_switchd *daemon)
{
    unsigned oldest = daemon->sessions;
    if (daemon->sessions < GN_SESSIONS_MAX - GN_SESSIONS_UPWARD) return true;
    for (unsigned i = 0; i < daemon->sessions; i++) {
        const gn_session *session = daemon->session[i];
        if (session->job || session->upward) continue;
        if (oldest == daemon->sessions || session->deadline < daemon->session[oldest]->deadline) oldest = i;
    }
    if (oldest == daemon->sessions) return false;
    const uint64_t age = gn_now() + GN_SESSION_HELLO_MS * GN_MILLISECOND - daemon->session[oldest]->deadline;
    if (age < STRANGER_MS * GN_MILLISECOND) return false;
    daemon->refused++;
    gn_session_free(daemon->session[oldest]);
    daemon->session[oldest] = daemon->session[--daemon->sessions];
    return true;
}

void gn_switchd_accept(gn_switchd *daemon)
{
    for (int i = 0; i < AT_ONCE; i++) {
        gn_endpoint from;
        const bool room = make_room(daemon);
        const int fd = room ? gn_tcp_accept(daemon->listener, &from) : -1;
        if (!room || (fd < 0 && (errno == EMFILE || errno == ENFILE)))
            daemon->full_until = gn_now() + STRANGER_MS * GN_MILLISECOND;
        if (fd < 0) return;
        gn_session *session = gn_session_accepted(fd, &from);
        if (session) (void)gn_switchd_adopt(daemon, session);
    }
}
