// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/serve.h"

#include <string.h>

#include "switch/daemon/jobs.h"
#include "switch/daemon/waits.h"

static void answer_ping(gn_switchd *daemon, gn_session *session)
{
    gn_admission pong = {.type = GN_ADMISSION_PONG};
    if (session->job) gn_job_waits_for(daemon, session->job, pong.text);
    gn_session_send(session, &pong);
}

static void child_says(gn_switchd *daemon, gn_session *session, const gn_admission *frame)
{
    if (frame->type == GN_ADMISSION_PING)
        answer_ping(daemon, session);
    else if (frame->type == GN_ADMISSION_JOIN && !session->job)
        gn_jobs_join(daemon, session, &frame->join);
    else if (frame->type == GN_ADMISSION_GONE && session->job)
        gn_jobs_child_gone(daemon, session, frame->text);
    else if (frame->type == GN_ADMISSION_LEAVE && session->job)
        session->leaves = true;
    else
        gn_session_close(session, "sent a frame that a child does not send");
}

/// Takes the frames that have come.
static void hear(gn_switchd *daemon, gn_session *session)
{
    gn_admission frame;
    const char *wrong;
    int got = 0;
    while (session->state == GN_SESSION_OPEN && (got = gn_session_next(session, &frame, &wrong)) > 0) {
        if (!session->upward)
            child_says(daemon, session, &frame);
        else if (session->job)
            gn_jobs_above_says(daemon, session, &frame);
    }
    if (session->state != GN_SESSION_OPEN || got >= 0) return;
    char fault[GN_ADMISSION_FAULT];
    gn_admission_fault(session->in, session->in_bytes, fault);
    if (session->job || session->upward) {
        gn_session_close(session, fault);
        return;
    }
    daemon->refused++;
    // Strangers with another protocol may be many: they are only counted.
    if (strcmp(wrong, "magic") != 0) gn_switchd_log(daemon, "%s was refused: it %s", session->name, fault);
    gn_session_end(session, GN_ADMISSION_REFUSED, fault);
}

void gn_switchd_serve(gn_switchd *daemon, gn_session *session, short events, uint64_t now)
{
    const bool connecting = session->state == GN_SESSION_CONNECTING;
    gn_session_serve(session, events);
    if (connecting && session->state == GN_SESSION_OPEN && session->job) gn_jobs_ask_above(daemon, session);
    hear(daemon, session);
    if (session->deadline && session->deadline <= now && session->state != GN_SESSION_CLOSED)
        gn_session_close(session, NULL);
    if (session->state == GN_SESSION_CLOSED && session->job) gn_jobs_lost(daemon, session);
}

void gn_switchd_sweep(gn_switchd *daemon)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < daemon->sessions; i++) {
        gn_session *session = daemon->session[i];
        if (session->state == GN_SESSION_CLOSED) {
            if (session->job) gn_jobs_lost(daemon, session);
            gn_session_free(session);
        } else {
            daemon->session[kept++] = session;
        }
    }
    daemon->sessions = kept;
}
