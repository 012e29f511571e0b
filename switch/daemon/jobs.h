// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_JOBS_H
#define GRADNIC_SWITCH_DAEMON_JOBS_H
/// Jobs from the first child that asks to the last that leaves. All of it in the main thread.

#include "switch/daemon/base.h"
#include "switch/daemon/job.h"

enum { GN_JOB_LOOK_MS = 100 };  ///< how often to look whether somebody who has left is waited for

/// A child asks. Afterwards it belongs to its job, or has been refused.
void gn_jobs_join(gn_switchd *daemon, gn_session *session, const gn_admission_join *join);

/// A session of a job has ended, and not by this switch: a child's, or the one upward.
void gn_jobs_lost(gn_switchd *daemon, gn_session *session);

/// A child says that the job is over: a switch has ended it, or a worker's collective has failed.
void gn_jobs_child_gone(gn_switchd *daemon, gn_session *session, const char *why);

/// The connection upward stands: asks for the job there.
void gn_jobs_ask_above(gn_switchd *daemon, gn_session *session);

/// A frame from above.
void gn_jobs_above_says(gn_switchd *daemon, gn_session *session, const gn_admission *frame);

/// Ends a job and tells everyone, except `but`.
void gn_job_end(gn_switchd *daemon, gn_job *job, const gn_session *but, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void gn_jobs_end_all(gn_switchd *daemon, const char *why);

#endif
