// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SILENCE_H
#define GRADNIC_SWITCH_DAEMON_SILENCE_H
/// Whether the switches next to this one live: those below a job, and the one above it.
///
/// A switch pings what is above it. So each of two that are connected hears from the other once a
/// beat or more often. Workers do not ping while all goes well; they tell each other of silence
/// among them.

#include "switch/daemon/job.h"

/// How long a switch next to this one has given no sign of life.
typedef struct gn_silence {
    double part;  ///< of what is allowed: 1 is the limit
    double seconds;
} gn_silence;

#define GN_SILENCE_NOTED 0.5  ///< the part from which on people are told

/// The least patience of the workers below, in milliseconds.
uint32_t gn_job_patience(const gn_job *job);

/// How long from one look to the next, and from one ping to the next.
uint64_t gn_job_beat(const gn_job *job);

/// From now on, switches next to this one are watched.
void gn_job_watch(gn_job *job);

/// The silence of a child, or (-1) of the one above. Zero when it is not a switch, or not there.
gn_silence gn_job_silence(const gn_job *job, int child, uint64_t now);

/// The switch below that has been silent for longest; -1: there is none.
int gn_job_quietest(const gn_job *job, uint64_t now);

/// Pings the one above, unless the last ping is still to be answered.
void gn_job_ping(gn_job *job, uint64_t now);

#endif
