// SPDX-License-Identifier: Apache-2.0
// Jobs whose time is over: not all have come, somebody has left whom others wait for, or a switch above or below has fallen silent.
#include <stdio.h>

#include "switch/daemon/jobs.h"

/// Children that a slot waits for.
static uint64_t waited_for(const gn_switchd *daemon, const gn_job *job)
{
    uint64_t missing = 0;
    for (unsigned s = 0; s < job->reserved; s++) {
        gn_shard *shard = daemon->shard[job->shard[s]];
        gn_slot_status slot;
        gn_shard_lock(shard);
        const unsigned index = gn_shard_job_index(shard, job->stream[s]);
        for (int at = -1; (at = gn_switch_waiting(&shard->sw, index, (unsigned)(at + 1), &slot)) >= 0;)
            if (!slot.waits_for_parent) missing |= slot.missing;
        gn_shard_unlock(shard);
    }
    return missing;
}

/// What all streams have counted.
typedef struct counted {
    uint64_t results, packets, up_bytes, down_bytes;
} counted;

static counted count(const gn_switchd *daemon, const gn_job *job)
{
    counted all = {0};
    for (unsigned s = 0; s < job->reserved; s++) {
        gn_shard *shard = daemon->shard[job->shard[s]];
        gn_shard_lock(shard);
        const gn_switch_counters *c = gn_switch_job_counters(&shard->sw, gn_shard_job_index(shard, job->stream[s]));
        if (c) {
            all.results += c->results + c->repeated, all.packets += c->packets;
            all.up_bytes += c->up_bytes, all.down_bytes += c->down_bytes;
        }
        gn_shard_unlock(shard);
    }
    return all;
}

/// What is waited for may be no slot's: where slots are shared it may be known to the parameter server alone, and binary32 values go to rank 0 past
/// the slots. But those who wait go on asking.
static bool is_stuck(const gn_switchd *daemon, gn_job *job, const counted *all, uint64_t now)
{
    const bool waited = job->progress && now - job->progress >= daemon->config.stuck_ns;
    const bool stuck = waited && all->results == job->results && all->packets >= job->packets + GN_JOB_ASKED;
    if (job->progress && all->results == job->results && !waited) return false;
    job->progress = now;
    job->results = all->results;
    job->packets = all->packets;
    return stuck;
}

/// Who is stopped keeps its connection, and neither asks nor leaves: it would keep the slots for ever.
static bool is_abandoned(const gn_switchd *daemon, gn_job *job, const counted *all, uint64_t now)
{
    if (job->heard && all->up_bytes == job->up_bytes) return now - job->heard >= daemon->config.abandoned_ns;
    job->heard = now;
    job->up_bytes = all->up_bytes;
    return false;
}

/// @return true: the job is over
static bool look_for_left(gn_switchd *daemon, gn_job *job, uint64_t now)
{
    char left[60], others[60], who[GN_CALLED];
    uint64_t missing = waited_for(daemon, job) & job->left;
    const counted all = count(daemon, job);
    job->deadline = now + GN_JOB_LOOK_MS * UINT64_C(1000000);
    if (!missing && is_stuck(daemon, job, &all, now)) missing = job->left;
    gn_job_bits(job->left, left, sizeof left);
    if (missing) {
        gn_job_end(daemon, job, NULL, "%s has left, and its part of a sum is missing (all who have left: children %s)",
                   gn_job_called(job, (unsigned)__builtin_ctzll(missing), who), left);
        return true;
    }
    if (!is_abandoned(daemon, job, &all, now)) return false;
    gn_job_end(daemon, job, NULL, "children %s have left, and the others, %s, have sent nothing for %g s", left,
               gn_job_bits(gn_job_everyone(job) & ~job->left, others, sizeof others),
               (double)daemon->config.abandoned_ns / 1e9);
    return true;
}

// Silence. A switch pings what is above it, so each of two that are connected hears from the other at least once a beat. Workers do not ping
// as long as they get on; of their silence they tell each other.

static const uint64_t ms = 1000000;

static uint64_t beat_of(uint32_t patience_ms)
{
    const uint64_t beat = patience_ms / GN_JOB_BEATS;
    return (beat < GN_JOB_BEAT_MIN_MS   ? GN_JOB_BEAT_MIN_MS
            : beat > GN_JOB_BEAT_MAX_MS ? GN_JOB_BEAT_MAX_MS
                                        : beat) *
           ms;
}

/// Less than the workers' own patience, which begins with the same silence: so who is told has not accused this switch yet.
static uint64_t limit_of(uint32_t patience_ms)
{
    const uint64_t half = patience_ms / 2 * ms, least = 5 * beat_of(patience_ms);
    return half > least ? half : least;
}

uint32_t gn_job_patience(const gn_job *job)
{
    uint32_t least = gn_job_terms(job)->patience_ms;
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++)
        if (job->joined >> i & 1 && job->join[i].patience_ms < least) least = job->join[i].patience_ms;
    return least;
}

void gn_job_watch(gn_job *job)
{
    const uint64_t now = gn_now();
    if (!job->above && gn_job_terms(job)->asker == GN_ASKER_WORKER) return;  // nobody next to it is a switch
    job->looked = job->alive = now;
    job->look = now + 1;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/// How long a neighbour has been silent, as a part of what is allowed: 1 is the limit.
static double silence(const gn_job *job, uint64_t heard, uint32_t patience_ms, uint64_t now)
{
    const uint64_t sign = later(heard, job->alive);
    return sign < now ? (double)(now - sign) / (double)limit_of(patience_ms) : 0;
}

double gn_job_silence(const gn_job *job, int child, uint64_t now)
{
    const gn_session *session = child < 0 ? job->above : job->child[child];
    if (!job->look || !session || (child >= 0 && !session->is_switch)) return 0;
    const uint32_t patience = child < 0 ? gn_job_patience(job) : job->join[child].patience_ms;
    const double part =
        silence(job, child < 0 ? later(session->heard, job->above_sent) : session->heard, patience, now);
    return part < 0.5 ? 0 : part * (double)limit_of(patience) / 1e9;
}

/// Who below has been silent for longest. @return the child; -1: no switch is there
static int quietest(const gn_job *job, uint64_t now, double *part)
{
    int found = -1;
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++) {
        if (!job->child[i] || !job->child[i]->is_switch) continue;
        const double its = silence(job, job->child[i]->heard, job->join[i].patience_ms, now);
        if (found >= 0 && its <= *part) continue;
        *part = its;
        found = (int)i;
    }
    return found;
}

static void ping(gn_job *job, uint64_t now)
{
    gn_session *above = job->above;
    if (!above || above->state != GN_SESSION_OPEN || above->heard < job->pinged)
        return;  // the last one is not answered
    job->pinged = now;
    gn_session_send(above, &(gn_admission){.type = GN_ADMISSION_PING});
}

/// A switch next to this one that has stopped keeps its connections. The job ends when somebody waits meanwhile. @return true: it is over
static bool look_for_silence(gn_switchd *daemon, gn_job *job, uint64_t now)
{
    char who[GN_CALLED];
    double below = 0, above = 0;
    const uint32_t patience = gn_job_patience(job);
    const counted all = count(daemon, job);
    if (now - job->looked > 4 * beat_of(patience))
        job->alive = now;  // it was this one that stood still, and has heard nobody
    job->looked = now;
    job->look = now + beat_of(patience);
    if (all.down_bytes != job->down_bytes) job->above_sent = now;
    job->down_bytes = all.down_bytes;
    const int child = quietest(job, now, &below);
    if (job->above) above = silence(job, later(job->above->heard, job->above_sent), patience, now);
    if (below < 0.5 && above < 0.5) job->asked_bytes = all.up_bytes;
    ping(job, now);
    if (job->state != GN_JOB_ASKING && all.up_bytes == job->asked_bytes) return false;  // nobody wants anything
    if (above >= 1)
        gn_job_end(daemon, job, NULL, "no sign of life from the %s %s for %.3g s", gn_switchd_above(daemon),
                   job->above->name, above * (double)limit_of(patience) / 1e9);
    else if (below >= 1)
        gn_job_end(daemon, job, NULL, "no sign of life from %s for %.3g s", gn_job_called(job, (unsigned)child, who),
                   below * (double)limit_of(job->join[child].patience_ms) / 1e9);
    return above >= 1 || below >= 1;
}

static void expire(gn_switchd *daemon, gn_job *job)
{
    char text[GN_ADMISSION_TEXT], absent[GN_CALLED];
    const double seconds = (double)daemon->config.join_timeout_ns / 1e9;
    if (job->state == GN_JOB_ASKING)
        gn_job_end(daemon, job, NULL, "not welcomed within %g s: %s", seconds, gn_job_waits_for(daemon, job, text));
    else
        gn_job_end(daemon, job, NULL, "%s within %g s%s%s", gn_job_absent(daemon, job, absent), seconds,
                   *job->refused ? "; refused: " : "", job->refused);
}

/// @return when it is to be looked at again; UINT64_MAX: never; 0: it is over
static uint64_t look(gn_switchd *daemon, gn_job *job, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    const bool running = job->state == GN_JOB_RUNNING;
    if (!running && job->deadline <= now) {
        expire(daemon, job);
        return 0;
    }
    if (running && job->left && job->deadline <= now && look_for_left(daemon, job, now)) return 0;
    if (job->look && job->look <= now && look_for_silence(daemon, job, now)) return 0;
    if (!running || job->left) next = job->deadline;
    return job->look && job->look < next ? job->look : next;
}

uint64_t gn_jobs_expire(gn_switchd *daemon, uint64_t now)
{
    uint64_t first = UINT64_MAX;
    gn_job *next;
    for (gn_job *job = daemon->jobs; job; job = next) {
        next = job->next;
        const uint64_t due = look(daemon, job, now);
        if (due && due < first) first = due;
    }
    return first;
}
