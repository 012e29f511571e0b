// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/watch.h"

#include "switch/daemon/above.h"
#include "switch/daemon/jobs.h"
#include "switch/daemon/silence.h"
#include "switch/daemon/waits.h"

enum { ASKED = 3 };  ///< packets that are enough to tell that somebody still asks

/// Children that a slot waits for.
static uint64_t waited_for(const gn_switchd *daemon, const gn_job *job)
{
    uint64_t missing = 0;
    for (unsigned c = 0; c < job->reserved; c++) {
        gn_shard *shard = daemon->shard[job->shard[c]];
        gn_slot_status slot;
        gn_shard_lock(shard);
        const unsigned index = gn_shard_job_index(shard, job->channel[c]);
        for (int at = -1; (at = gn_switch_waiting(&shard->sw, index, (unsigned)(at + 1), &slot)) >= 0;)
            if (!slot.waits_for_parent) missing |= slot.missing;
        gn_shard_unlock(shard);
    }
    return missing;
}

/// What all channels have counted.
typedef struct counted {
    uint64_t results, packets, up_bytes, down_bytes;
} counted;

static counted count(const gn_switchd *daemon, const gn_job *job)
{
    counted all = {0};
    for (unsigned c = 0; c < job->reserved; c++) {
        gn_shard *shard = daemon->shard[job->shard[c]];
        gn_shard_lock(shard);
        const unsigned index = gn_shard_job_index(shard, job->channel[c]);
        const gn_switch_counters *one = gn_switch_job_counters(&shard->sw, index);
        if (one) {
            all.results += one->results + one->repeated, all.packets += one->packets;
            all.up_bytes += one->up_bytes, all.down_bytes += one->down_bytes;
        }
        gn_shard_unlock(shard);
    }
    return all;
}

/// Whether packets come, but no results. A slot need not show who is waited for. Where slots are
/// shared, only the parameter server may know, and binary32 values go to rank 0 past the slots. But
/// those who wait go on asking.
static bool is_stuck(const gn_switchd *daemon, gn_job *job, const counted *all, uint64_t now)
{
    const bool waited = job->progress && now - job->progress >= daemon->config.stuck_ns;
    const bool stuck = waited && all->results == job->results && all->packets >= job->packets + ASKED;
    if (job->progress && all->results == job->results && !waited) return false;
    job->progress = now;
    job->results = all->results;
    job->packets = all->packets;
    return stuck;
}

/// Whether those who are left have sent nothing for long. A process that is stopped keeps its
/// connection and neither asks nor leaves, so it would keep the slots for ever.
static bool is_abandoned(const gn_switchd *daemon, gn_job *job, const counted *all, uint64_t now)
{
    if (job->heard && all->up_bytes == job->up_bytes) return now - job->heard >= daemon->config.abandoned_ns;
    job->heard = now;
    job->up_bytes = all->up_bytes;
    return false;
}

/// Ends the job when somebody who has left is waited for. @return whether it is over
static bool look_for_left(gn_switchd *daemon, gn_job *job, uint64_t now)
{
    char left[60], others[60], who[GN_CALLED];
    uint64_t missing = waited_for(daemon, job) & job->left;
    const counted all = count(daemon, job);
    job->deadline = now + GN_JOB_LOOK_MS * GN_MILLISECOND;
    if (!missing && is_stuck(daemon, job, &all, now)) missing = job->left;
    gn_bits_list(job->left, left, sizeof left);
    if (missing) {
        gn_job_end(daemon, job, NULL, "%s has left, and its part of a sum is missing (all who have left: children %s)",
                   gn_job_called(job, (unsigned)__builtin_ctzll(missing), who), left);
        return true;
    }
    if (!is_abandoned(daemon, job, &all, now)) return false;
    gn_job_end(daemon, job, NULL, "children %s have left, and the others, %s, have sent nothing for %g s", left,
               gn_bits_list(gn_job_everyone(job) & ~job->left, others, sizeof others),
               gn_seconds(daemon->config.abandoned_ns));
    return true;
}

/// Ends the job when a switch next to this one is silent, and somebody waits meanwhile. A switch
/// that is stopped keeps its connections. @return whether the job is over
static bool look_for_silence(gn_switchd *daemon, gn_job *job, uint64_t now)
{
    char who[GN_CALLED];
    const uint64_t beat = gn_job_beat(job);
    const counted all = count(daemon, job);
    const bool stood_still = now - job->looked > 4 * beat;  // this switch: so it has heard nobody
    if (stood_still) job->alive = now;
    job->looked = now;
    job->look = now + beat;
    if (all.down_bytes != job->down_bytes) job->above_sent = now;
    job->down_bytes = all.down_bytes;
    const int child = gn_job_quietest(job, now);
    const gn_silence below = child < 0 ? (gn_silence){0} : gn_job_silence(job, child, now);
    const gn_silence above = gn_job_silence(job, -1, now);
    if (below.part < GN_SILENCE_NOTED && above.part < GN_SILENCE_NOTED) job->asked_bytes = all.up_bytes;
    gn_job_ping(job, now);
    const bool wanted = job->phase == GN_JOB_ASKING || all.up_bytes != job->asked_bytes;
    if (!wanted) return false;
    if (above.part >= 1)
        gn_job_end(daemon, job, NULL, "no sign of life from the %s %s for %.3g s", gn_switchd_above(daemon),
                   job->above->name, above.seconds);
    else if (below.part >= 1)
        gn_job_end(daemon, job, NULL, "no sign of life from %s for %.3g s", gn_job_called(job, (unsigned)child, who),
                   below.seconds);
    return above.part >= 1 || below.part >= 1;
}

/// The job has not come to run in time.
static void expire(gn_switchd *daemon, gn_job *job)
{
    char text[GN_ADMISSION_TEXT], absent[GN_CALLED];
    const double seconds = gn_seconds(daemon->config.join_timeout_ns);
    if (job->phase == GN_JOB_ASKING)
        gn_job_end(daemon, job, NULL, "not welcomed within %g s: %s", seconds, gn_job_waits_for(daemon, job, text));
    else
        gn_job_end(daemon, job, NULL, "%s within %g s%s%s", gn_job_absent(daemon, job, absent), seconds,
                   *job->refused ? "; refused: " : "", job->refused);
}

/// @return when to look at it again; GN_FOREVER: never; 0: it is over
static uint64_t look(gn_switchd *daemon, gn_job *job, uint64_t now)
{
    uint64_t next = GN_FOREVER;
    const bool running = job->phase == GN_JOB_RUNNING;
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
    uint64_t first = GN_FOREVER;
    gn_job *next;
    for (gn_job *job = daemon->jobs; job; job = next) {
        next = job->next;
        const uint64_t due = look(daemon, job, now);
        if (due && due < first) first = due;
    }
    return first;
}
