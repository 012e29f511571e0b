// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_WAITS_H
#define GRADNIC_SWITCH_DAEMON_WAITS_H
/// Whom a job waits for. Before it runs: who has not come. Then: whose part of a sum is missing.

#include "switch/daemon/base.h"
#include "switch/daemon/job.h"

enum {
    GN_WAITS_SHOWN = 8,      ///< of a channel: the slots that have waited longest
    GN_WAITS_NOTED_MS = 100  ///< a slot that waits for less is nothing special
};

/// Slots of one channel that wait. A parameter server tells of the one that has waited longest.
typedef struct gn_waits {
    unsigned count, shown;
    int copy[GN_WAITS_SHOWN];
    gn_slot_status slot[GN_WAITS_SHOWN];
} gn_waits;

/// The slots of a job's channel that wait; those that have waited longest come first.
gn_waits gn_job_look(const gn_switchd *daemon, const gn_job *job, unsigned channel);

/// Who has not come to a job that is forming: "ranks 2-3 have not come", "no switch has come that
/// has ranks 2-3 below it"; below a parent "child 1 of 0-3 has not come". @return text
const char *gn_job_absent(const gn_switchd *daemon, const gn_job *job, char text[GN_CALLED]);

/// Whom the job waits for. Forming: as gn_job_absent(), and who was refused. Asking: what those
/// above wait for. Running: whom a slot waits for. Empty: nobody, or not for long. @return text
const char *gn_job_waits_for(const gn_switchd *daemon, const gn_job *job, char text[GN_ADMISSION_TEXT]);

#endif
