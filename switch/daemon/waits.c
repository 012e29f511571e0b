// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/waits.h"

#include <stdio.h>
#include <string.h>

#include "switch/daemon/above.h"
#include "switch/daemon/silence.h"

static gn_ranks absent_ranks(const gn_job *job)
{
    gn_ranks absent = {{0}};
    for (unsigned rank = 0; rank < gn_job_terms(job)->ranks; rank++)
        if (gn_job_bit_of(job, rank) < 0) gn_ranks_add(&absent, rank);
    return absent;
}

// Only a switch without a parent has all ranks below it. Another one knows its children by number.
const char *gn_job_absent(const gn_switchd *daemon, const gn_job *job, char text[GN_CALLED])
{
    char list[60];
    const unsigned children = gn_job_terms(job)->children;
    const uint64_t missing = gn_job_everyone(job) & ~job->joined;
    const gn_ranks ranks = absent_ranks(job);
    if (!daemon->config.parent && gn_ranks_any(&ranks)) {
        const bool many = gn_ranks_list(&ranks, list, sizeof list);
        if (gn_job_terms(job)->asker == GN_ASKER_WORKER)
            snprintf(text, GN_CALLED, "rank%s %s %s not come", many ? "s" : "", list, many ? "have" : "has");
        else
            snprintf(text, GN_CALLED, "no switch has come that has rank%s %s below it", many ? "s" : "", list);
        return text;
    }
    const bool many = missing & (missing - 1);
    snprintf(text, GN_CALLED, "%s %s of 0-%u %s not come", many ? "children" : "child",
             gn_bits_list(missing, list, sizeof list), children - 1, many ? "have" : "has");
    return text;
}

static void above_waits(const gn_switchd *daemon, const gn_job *job, char text[GN_ADMISSION_TEXT])
{
    const char *what = gn_switchd_above(daemon);
    const gn_silence silence = gn_job_silence(job, -1, gn_now());
    if (!job->above->was_open)
        snprintf(text, GN_ADMISSION_TEXT, "no connection to the %s %s yet", what, job->above->name);
    else if (silence.part >= GN_SILENCE_NOTED)
        snprintf(text, GN_ADMISSION_TEXT, "no sign of life from the %s %s for %.3g s", what, job->above->name,
                 silence.seconds);
    else if (*job->above_waits)
        snprintf(text, GN_ADMISSION_TEXT, "%s %s: %.160s", what, job->above->name, job->above_waits);
    else
        snprintf(text, GN_ADMISSION_TEXT, "the %s %s has not answered yet", what, job->above->name);
}

/// Keeps the slots that have waited longest, sorted by how long.
static void keep_wait(gn_waits *w, int copy, const gn_slot_status *slot)
{
    unsigned at = w->shown < GN_WAITS_SHOWN ? w->shown++ : GN_WAITS_SHOWN - 1;
    if (w->count++ >= GN_WAITS_SHOWN && slot->since_ns >= w->slot[at].since_ns) return;
    for (; at && slot->since_ns < w->slot[at - 1].since_ns; at--) {
        w->slot[at] = w->slot[at - 1];
        w->copy[at] = w->copy[at - 1];
    }
    w->slot[at] = *slot;
    w->copy[at] = copy;
}

gn_waits gn_job_look(const gn_switchd *daemon, const gn_job *job, unsigned s)
{
    gn_shard *shard = daemon->shard[job->shard[s]];
    const unsigned channel = job->channel[s];
    gn_waits w = {.count = 0};
    gn_slot_status slot = {.since_ns = 0};
    gn_ps *ps = shard->channels[channel].ps;
    int64_t since = 0;
    gn_shard_lock(shard);
    if (ps && gn_ps_waits_for(ps, &slot.psn, &slot.absent, &since)) {
        slot.since_ns = (uint64_t)since;
        keep_wait(&w, (int)(slot.psn % shard->channels[channel].slots), &slot);
    }
    const unsigned index = gn_shard_job_index(shard, channel);
    for (int at = -1; (at = gn_switch_waiting(&shard->sw, index, (unsigned)(at + 1), &slot)) >= 0;)
        keep_wait(&w, at, &slot);
    gn_shard_unlock(shard);
    return w;
}

/// Whom the slot waits for that has waited longest, in a job that runs.
static void slot_waits(const gn_switchd *daemon, const gn_job *job, char text[GN_ADMISSION_TEXT])
{
    const uint64_t now = gn_now();
    char who[GN_CALLED] = "", list[40], more[24] = "";
    gn_slot_status oldest = {.since_ns = now};
    unsigned children = 0;
    for (unsigned s = 0; s < job->reserved; s++) {
        const gn_waits w = gn_job_look(daemon, job, s);
        if (w.shown && w.slot[0].since_ns < oldest.since_ns) oldest = w.slot[0];
    }
    const bool long_since = now - oldest.since_ns >= GN_WAITS_NOTED_MS * GN_MILLISECOND;
    for (unsigned i = 0; long_since && !oldest.waits_for_parent && i < gn_job_terms(job)->children; i++) {
        const gn_ranks ranks = gn_job_child_ranks(job, i, oldest.absent);
        if (!gn_ranks_any(&ranks) || children++) continue;
        if (job->join[i].asker == GN_ASKER_WORKER) {
            gn_job_called(job, i, who);
            continue;
        }
        const bool many = gn_ranks_list(&ranks, list, sizeof list);
        snprintf(who, sizeof who, "rank%s %s (below switch %s)", many ? "s" : "", list, job->name[i]);
    }
    if (children > 1) snprintf(more, sizeof more, " and %u more", children - 1);
    if (children)
        snprintf(text, GN_ADMISSION_TEXT, "a slot waits for %s%s", who, more);
    else if (job->above && (long_since || *job->above_waits))
        snprintf(text, GN_ADMISSION_TEXT, "%s%s %s%s%.120s", long_since ? "a slot waits for the " : "",
                 gn_switchd_above(daemon), job->above->name, *job->above_waits ? ": " : "", job->above_waits);
}

const char *gn_job_waits_for(const gn_switchd *daemon, const gn_job *job, char text[GN_ADMISSION_TEXT])
{
    char absent[GN_CALLED];
    *text = 0;
    if (job->phase == GN_JOB_RUNNING) slot_waits(daemon, job, text);
    if (job->phase == GN_JOB_ASKING) above_waits(daemon, job, text);
    if (job->phase == GN_JOB_FORMING)
        snprintf(text, GN_ADMISSION_TEXT, "%s%s%s", gn_job_absent(daemon, job, absent),
                 *job->refused ? "; refused: " : "", job->refused);
    return text;
}
