// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/serve.h"

#include <stdio.h>

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

/// What is above has not shown that it has the secret. What it says may still help.
static void end_greeting(gn_switchd *daemon, gn_session *session)
{
    char text[GN_GREETING_WHY];
    gn_admission frame;
    const bool speaks =
        session->greeting.fault == GN_GREETING_NONE_THERE && gn_frames_next(session->connection, &frame) > 0;
    if (!speaks || frame.type != GN_ADMISSION_REFUSED) {
        frame = (gn_admission){.type = GN_ADMISSION_REFUSED};
        (void)gn_greeting_why(&session->greeting, "this switch", "it", text);
        snprintf(frame.text, sizeof frame.text, "%.250s", text);
    }
    gn_jobs_above_says(daemon, session, &frame);
}

/// Upward: goes on with the greeting, if there is one, and then asks for the job.
static void greet(gn_switchd *daemon, gn_session *session)
{
    const gn_greeting_step step = gn_greeting_advance(&session->greeting, session->connection);
    if (step == GN_GREETING_FAILED) end_greeting(daemon, session);
    if (step != GN_GREETING_DONE) return;
    session->asked = true;
    gn_jobs_ask_above(daemon, session);
}

void gn_switchd_hear(gn_switchd *daemon, gn_session *session)
{
    gn_admission frame;
    char fault[GN_ADMISSION_FAULT];
    int found = 0;
    if (session->upward && !session->asked) {
        if (gn_session_is_open(session)) greet(daemon, session);
        if (!session->asked) return;
    }
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
    gn_session_serve(session, events);
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
