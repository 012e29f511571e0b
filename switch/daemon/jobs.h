// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_JOBS_H
#define GRADNIC_SWITCH_DAEMON_JOBS_H
/// Jobs from the first child that asks to the first that leaves. All of it in the daemon's main thread.

#include <gradnic/admission.h>

#include "switch/daemon/private.h"

typedef enum gn_job_state {
    GN_JOB_FORMING,  ///< some children have come
    GN_JOB_ASKING,   ///< all have, and the parent (or parameter server) has been asked
    GN_JOB_RUNNING
} gn_job_state;

enum { GN_CALLED = 144 };  ///< bytes for what people call a child

/// A set of ranks.
typedef struct gn_ranks {
    uint64_t bits[GN_WORKER_RANKS_MAX / 64];
} gn_ranks;

static inline bool gn_ranks_have(const gn_ranks *ranks, unsigned rank)
{
    return ranks->bits[rank / 64] >> rank % 64 & 1;
}

static inline bool gn_ranks_any(const gn_ranks *ranks)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < sizeof ranks->bits / sizeof *ranks->bits; i++) any |= ranks->bits[i];
    return any;
}

static inline void gn_ranks_add(gn_ranks *ranks, unsigned rank)
{
    ranks->bits[rank / 64] |= 1ull << rank % 64;
}

typedef struct gn_job {
    struct gn_job *next;
    gn_job_state state;
    uint64_t since, deadline;  ///< gn_now(): of the state; when it is to be over, or, running, to be looked at
    unsigned first;            ///< child that came first: whose fields the others must have
    uint64_t joined;           ///< children, as bits
    uint64_t left;             ///< of those: who has closed the connection while the job ran
    uint64_t wordless;         ///< of those: who has not said that it leaves
    gn_session *child[GN_AGG_WORKERS_MAX];
    gn_admission_join join[GN_AGG_WORKERS_MAX];
    char name[GN_AGG_WORKERS_MAX][GN_ENDPOINT_TEXT];  ///< of each child that has come: its address
    gn_session *above;                                ///< to the parent or parameter server
    uint8_t fanin;  ///< parameter server: bits of the switch, which is the only child here
    uint8_t shard[GN_ADMISSION_STREAMS_MAX], stream[GN_ADMISSION_STREAMS_MAX];  ///< where each stream is
    unsigned reserved;                                                          ///< streams that have a place
    gn_admission_welcome welcome;
    uint64_t progress;          ///< gn_now() when the last sum became whole, as far as it has been looked
    uint64_t results, packets;  ///< of all streams, then
    uint64_t heard;             ///< gn_now() when it was last seen that a child has sent
    uint64_t up_bytes;          ///< of children, in all streams, then
    uint64_t look;  ///< gn_now() when it is next looked whether switches above and below live; 0: there are none
    uint64_t looked, pinged;           ///< when it was, and when the one above was pinged
    uint64_t alive;                    ///< when all were taken to live, whatever they have said
    uint64_t above_sent;               ///< when it was last seen that datagrams have come from above
    uint64_t down_bytes, asked_bytes;  ///< from above, then; from below, when all lived: more since, and somebody waits
    char above_waits[GN_ADMISSION_TEXT];  ///< whom the one above waits for, as it said last; empty: it has said nothing
    char refused[120];                    ///< who was sent away last and why; empty: nobody
} gn_job;

/// What all children of the job agree in, but for `slots`, of which they get the least.
static inline const gn_admission_join *gn_job_terms(const gn_job *job)
{
    return &job->join[job->first];
}

enum {
    GN_JOB_LOOK_MS = 100,  ///< how often it is looked whether somebody is waited for who has left
    GN_JOB_ASKED = 3,      ///< packets
    GN_JOB_BEATS = 16,     ///< pings in the workers' patience, but for these limits:
    GN_JOB_BEAT_MIN_MS = 50,
    GN_JOB_BEAT_MAX_MS = 1000
};

/// Bits of all children.
static inline uint64_t gn_job_everyone(const gn_job *job)
{
    const unsigned children = gn_job_terms(job)->children;
    return children == 64 ? ~0ull : (1ull << children) - 1;
}

// below.c: who is below the children, and what people call them

/// Bits of all children before this one, so the first of its own; of as many children as there are: how many contribute in all.
unsigned gn_job_first_bit(const gn_job *job, unsigned child);

/// The bit here of the contribution that has a rank's values; -1: the rank is below no child that has come.
int gn_job_bit_of(const gn_job *job, unsigned rank);

/// Ranks that are below who asks, or that is itself.
gn_ranks gn_join_ranks(const gn_admission_join *join);
/// Those of a child whose values are in contributions with these bits.
gn_ranks gn_job_child_ranks(const gn_job *job, unsigned child, uint64_t bits);
/// One that is in both; -1: none.
int gn_ranks_common(const gn_ranks *a, const gn_ranks *b);

/// "rank 2 (10.0.0.3:41234)", "switch 10.0.0.3:7777 with ranks 4-7". @return text
const char *gn_join_called(const gn_admission_join *join, const char *address, char text[GN_CALLED]);
/// The same of a child that has come, whether it is still there or not.
const char *gn_job_called(const gn_job *job, unsigned child, char text[GN_CALLED]);

/// Numbers in a set as a list, "1-3, 7"; what there is no room for as "...". @return whether there is more than one
bool gn_ranks_list(const gn_ranks *set, char *text, size_t room);
/// Bits of children as such a list. @return text
const char *gn_job_bits(uint64_t bits, char *text, size_t room);

// waits.c: whom a job waits for

enum { GN_WAITS_SHOWN = 8 };  ///< of a stream: those that have waited longest

/// Slots of one stream that wait. A parameter server tells of the one that has waited longest.
typedef struct gn_waits {
    unsigned count, shown;
    int copy[GN_WAITS_SHOWN];
    gn_slot_status slot[GN_WAITS_SHOWN];
} gn_waits;

/// Of a stream of a job; those that have waited longest come first.
void gn_job_look(const gn_switchd *daemon, const gn_job *job, unsigned stream, gn_waits *w);

/// Of a job that is forming: "ranks 2-3 have not come", "no switch has come that has ranks 2-3 below it", or, below a parent, "child 1 of 0-3 has not come". @return text
const char *gn_job_absent(const gn_switchd *daemon, const gn_job *job, char text[GN_CALLED]);
/// The same, with who was refused; or for whom those above wait; of a job that runs: for whom a slot waits. Empty: for nobody, or not for long. @return text
const char *gn_job_waits_for(const gn_switchd *daemon, const gn_job *job, char text[GN_ADMISSION_TEXT]);

// jobs.c

/// A child asks. It is refused, or belongs to its job afterwards.
void gn_jobs_join(gn_switchd *daemon, gn_session *session, const gn_admission_join *join);

/// A session of a job, a child's or the one upward, has ended without our doing.
void gn_jobs_lost(gn_switchd *daemon, gn_session *session);

/// A child says that the job is over: a switch has ended it, or a worker's collective has failed.
void gn_jobs_child_gone(gn_switchd *daemon, gn_session *session, const char *why);

/// A frame from above.
void gn_jobs_above_says(gn_switchd *daemon, gn_session *session, const gn_admission *frame);

/// The connection upward stands: ask.
void gn_jobs_ask_above(gn_switchd *daemon, gn_session *session);

/// Ends a job: everyone is told, but for the one that `but` is.
void gn_job_end(gn_switchd *daemon, gn_job *job, const gn_session *but, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void gn_jobs_end_all(gn_switchd *daemon, const char *why);

// watch.c

/// Ends jobs whose time to form is over, those that wait for somebody who has left, or for a switch that is silent. @return gn_now() of the next that will be; UINT64_MAX: none
uint64_t gn_jobs_expire(gn_switchd *daemon, uint64_t now);
/// From now on it is looked whether the switches above and below live.
void gn_job_watch(gn_job *job);
/// A neighbour that is a switch, child or (-1) above: seconds for which it has given no sign of life; 0: no more than half of what is allowed.
double gn_job_silence(const gn_job *job, int child, uint64_t now);
/// The least of all children's, milliseconds.
uint32_t gn_job_patience(const gn_job *job);

// agree.c

/// Why a child cannot belong to the job as it is. @return false: it can
bool gn_job_disagrees(const gn_job *job, const gn_session *session, const gn_admission_join *join, char *why,
                      size_t room);
/// What is missing, now that all children have come. @return false: nothing
bool gn_job_lacks(const gn_switchd *daemon, const gn_job *job, char *why, size_t room);
/// Why this switch cannot have such a job at all. @return false: it can
bool gn_job_impossible(const gn_switchd *daemon, const gn_session *session, const gn_admission_join *join, char *why,
                       size_t room);

// grant.c

/// Finds a place for every stream. @return slots that can be granted for each; 0: none, `why` says what is missing
unsigned gn_job_reserve(gn_switchd *daemon, gn_job *job, char *why, size_t room);
/// Makes the job run: in its shards, with slots and numbers of job->welcome. @return false: `why` says why not
bool gn_job_start(gn_switchd *daemon, gn_job *job, char *why, size_t room);
/// Gives its streams and slots back.
void gn_job_stop(gn_switchd *daemon, gn_job *job);

#endif
