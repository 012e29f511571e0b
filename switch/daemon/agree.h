// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_AGREE_H
#define GRADNIC_SWITCH_DAEMON_AGREE_H
/// What a child says of its job: this switch must be able to do it, and all children must say the
/// same. All functions: @return GN_OK, or another status with the reason in `error`.

#include "switch/daemon/base.h"
#include "switch/daemon/job.h"

/// Whether this switch can have such a job at all.
gn_status gn_job_check_possible(gn_switchd *daemon, const gn_session *session, const gn_admission_join *join,
                                gn_error *error);

/// Whether one more child fits into the job as it is.
gn_status gn_job_check_child(const gn_job *job, const gn_session *session, const gn_admission_join *join,
                             gn_error *error);

/// Whether the job is whole, once all children have come.
gn_status gn_job_check_whole(const gn_switchd *daemon, const gn_job *job, gn_error *error);

#endif
