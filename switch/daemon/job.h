// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_JOB_H
#define GRADNIC_SWITCH_DAEMON_JOB_H
/// A job: its terms, its children, and who is below them. All of it belongs to the main thread.

#include <gradnic/admission.h>

#include "switch/daemon/ranks.h"
#include "switch/daemon/session.h"

typedef enum gn_job_phase {
    GN_JOB_FORMING,  ///< some children have come
    GN_JOB_ASKING,   ///< all have come, and the parent (or parameter server) has been asked
    GN_JOB_RUNNING
} gn_job_phase;

enum { GN_CALLED = 144 };  ///< bytes for what people call a child

typedef struct gn_job {
    struct gn_job *next;
    gn_job_phase phase;
    uint64_t since;     ///< gn_now(): when the phase began
    uint64_t deadline;  ///< gn_now(): when the phase has to be over; running: when to look again
    unsigned first;     ///< the child that came first; the others must agree with its fields
    uint64_t joined;    ///< children that have come, as bits
    uint64_t left;      ///< of those: children that have closed the connection while the job ran
    uint64_t wordless;  ///< of those: children that closed it without LEAVE
    gn_session *child[GN_AGG_WORKERS_MAX];
    gn_admission_join join[GN_AGG_WORKERS_MAX];
    char name[GN_AGG_WORKERS_MAX][GN_ENDPOINT_TEXT];  ///< of each child that has come: its address
    gn_ip site[GN_AGG_WORKERS_MAX];                   ///< the same, as limits count it
    gn_session *above;                                ///< to the parent or parameter server
    unsigned tried_above;                             ///< addresses of it that did not answer
    uint8_t fanin;      ///< parameter server: bits of the switch, which is the only child here
    unsigned reserved;  ///< channels that have a place; these are the places:
    uint8_t shard[GN_ADMISSION_CHANNELS_MAX], channel[GN_ADMISSION_CHANNELS_MAX];
    gn_admission_welcome welcome;
    // Progress, for watch.c. The counts are of all channels, when they were last looked at.
    uint64_t progress;  ///< gn_now() when a look last found a sum that had become whole
    uint64_t results, packets;
    uint64_t heard;  ///< gn_now() when a look last found that a child had sent something
    uint64_t up_bytes;
    // Silence of the switches above and below, for silence.c. Instants of gn_now().
    uint64_t look;            ///< when to look next; 0: there are no such switches
    uint64_t looked, pinged;  ///< the last look; the last ping to the one above
    uint64_t alive;           ///< when all were taken to live, whatever they have said
    uint64_t above_sent;      ///< when a look last found that datagrams had come from above
    uint64_t down_bytes;      ///< from above, at the last look
    uint64_t asked_bytes;     ///< from below, when all lived; more since: somebody waits
    // Words for people; may be empty.
    char above_waits[GN_ADMISSION_TEXT];  ///< whom the one above waits for
    char refused[120];                    ///< who was sent away last, and why
} gn_job;

/// What all children of the job agree on, except `slots`: of those they get the least.
static inline const gn_admission_join *gn_job_terms(const gn_job *job)
{
    return &job->join[job->first];
}

/// Bits of all children.
static inline uint64_t gn_job_everyone(const gn_job *job)
{
    const unsigned children = gn_job_terms(job)->children;
    return children == 64 ? ~0ull : (1ull << children) - 1;
}

/// The first bit of a child: the number of bits that the children before it have. For the number of
/// children: how many contribute in all.
unsigned gn_job_first_bit(const gn_job *job, unsigned child);

/// The bit here of the contribution that has a rank's values; -1: the rank is below no child that
/// has come.
int gn_job_bit_of(const gn_job *job, unsigned rank);

/// The ranks below a child; a worker's own rank.
gn_ranks gn_join_ranks(const gn_admission_join *join);
/// Those of them whose values are in contributions with these bits.
gn_ranks gn_job_child_ranks(const gn_job *job, unsigned child, uint64_t bits);

/// What people call a child: "rank 2 (10.0.0.3:41234)", "switch 10.0.0.3:7777 with ranks 4-7".
/// @return text
const char *gn_join_called(const gn_admission_join *join, const char *address, char text[GN_CALLED]);
/// The same of a child that has come, even if it has left again.
const char *gn_job_called(const gn_job *job, unsigned child, char text[GN_CALLED]);

#endif
