// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/silence.h"

#include "net/clock.h"

enum {
    BEATS = 16,  ///< pings within the workers' patience, within these limits:
    BEAT_MIN_MS = 50,
    BEAT_MAX_MS = 1000
};

static uint64_t beat_of(uint32_t patience_ms)
{
    const uint64_t ms = patience_ms / BEATS;
    return (ms < BEAT_MIN_MS ? BEAT_MIN_MS : ms > BEAT_MAX_MS ? BEAT_MAX_MS : ms) * GN_MILLISECOND;
}

/// How long a switch may be silent. It is less than the workers' own patience, which begins with
/// the same silence: so a worker is told of the silent switch before it accuses this one.
static uint64_t limit_of(uint32_t patience_ms)
{
    const uint64_t half = patience_ms / 2 * GN_MILLISECOND, least = 5 * beat_of(patience_ms);
    return half > least ? half : least;
}

uint32_t gn_job_patience(const gn_job *job)
{
    uint32_t least = gn_job_terms(job)->patience_ms;
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++)
        if (job->joined >> i & 1 && job->join[i].patience_ms < least) least = job->join[i].patience_ms;
    return least;
}

uint64_t gn_job_beat(const gn_job *job)
{
    return beat_of(gn_job_patience(job));
}

void gn_job_watch(gn_job *job)
{
    const uint64_t now = gn_now();
    const bool alone = !job->above && gn_job_terms(job)->asker == GN_ASKER_WORKER;
    if (alone) return;  // no switch is next to this one
    job->looked = job->alive = now;
    job->look = now + 1;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

gn_silence gn_job_silence(const gn_job *job, int child, uint64_t now)
{
    const gn_session *session = child < 0 ? job->above : job->child[child];
    if (!job->look || !session || !session->connection || (child >= 0 && !session->is_switch)) return (gn_silence){0};
    const uint64_t limit = limit_of(child < 0 ? gn_job_patience(job) : job->join[child].patience_ms);
    const uint64_t heard = child < 0 ? later(session->connection->heard, job->above_sent) : session->connection->heard;
    const uint64_t silent = gn_elapsed(later(heard, job->alive), now);
    return (gn_silence){.part = (double)silent / (double)limit, .seconds = gn_seconds(silent)};
}

int gn_job_quietest(const gn_job *job, uint64_t now)
{
    int found = -1;
    double most = -1;
    for (int i = 0; i < gn_job_terms(job)->children; i++) {
        if (!job->child[i] || !job->child[i]->is_switch) continue;
        const double part = gn_job_silence(job, i, now).part;
        if (part <= most) continue;
        most = part;
        found = i;
    }
    return found;
}

void gn_job_ping(gn_job *job, uint64_t now)
{
    gn_session *above = job->above;
    if (!above || !above->asked || !gn_session_is_open(above) || above->connection->heard < job->pinged) return;
    job->pinged = now;
    gn_session_send(above, &(gn_admission){.type = GN_ADMISSION_PING});
}
