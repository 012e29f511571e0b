// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/serve.h"

#include "switch/daemon/jobs.h"
#include "switch/daemon/waits.h"

static void answer_ping(gn_switchd *daemon, gn_session *session)
{
    gn_admission pong = {.type = GN_ADMISSION_PONG};
    gn_job_waits_for(daemon, session->job, pong.text);
    gn_session_send(session, &pong);
}

static void child_says(gn_switchd *daemon, gn_session *session, const gn_admission *frame)
{
    if (frame->type == GN_ADMISSION_PING)
        answer_ping(daemon, session);
    else if (frame->type == GN_ADMISSION_GONE)
        gn_jobs_child_gone(daemon, session, frame->text);
    else if (frame->type == GN_ADMISSION_LEAVE)
        session->leaves = true;
    else
        gn_session_close(session, "sent a frame that a child does not send");
}

void gn_switchd_hear(gn_switchd *daemon, gn_session *session)
{
    gn_admission frame;
    char fault[GN_ADMISSION_FAULT];
    int found = 0;
    while (gn_session_is_open(session) && (found = gn_frames_next(session->connection, &frame)) > 0) {
        if (session->upward)
            gn_jobs_above_says(daemon, session, &frame);
        else
            child_says(daemon, session, &frame);
    }
    if (!gn_session_is_open(session) || !found) return;
    (void)gn_frames_fault(session->connection, fault);
    gn_session_close(session, fault);
}

void gn_switchd_serve(gn_switchd *daemon, gn_session *session, short events)
{
    const bool connecting = !session->was_open;
    gn_session_serve(session, events);
    if (session->upward && connecting && gn_session_is_open(session)) gn_jobs_ask_above(daemon, session);
    gn_switchd_hear(daemon, session);
    if (!session->connection && session->job) gn_jobs_lost(daemon, session);
}

void gn_switchd_sweep(gn_switchd *daemon)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < daemon->sessions; i++) {
        gn_session *session = daemon->session[i];
        if (!session->connection) {
            if (session->job) gn_jobs_lost(daemon, session);
            gn_session_free(session);
        } else {
            daemon->session[kept++] = session;
        }
    }
    daemon->sessions = kept;
}
