// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_GRANT_H
#define GRADNIC_SWITCH_DAEMON_GRANT_H
/// What a job is given: places in shards, slots, numbers.

#include "switch/daemon/base.h"
#include "switch/daemon/job.h"

/// Finds a place for every channel. `*slots`: how many each channel can be granted.
/// @return GN_OK; GN_NO_SPACE, and `error` says what is missing
gn_status gn_job_reserve(gn_switchd *daemon, gn_job *job, unsigned *slots, gn_error *error);

/// Makes the job run in its shards, with the slots and numbers of job->welcome. That WELCOME may
/// come from above, with numbers and UDP ports from there; afterwards it has this switch's ports.
gn_status gn_job_start(gn_switchd *daemon, gn_job *job, gn_error *error);

/// Gives its channels and slots back.
void gn_job_stop(gn_switchd *daemon, gn_job *job);

#endif
