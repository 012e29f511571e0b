// SPDX-License-Identifier: Apache-2.0
// What a job is given: ports, slots, numbers.
#include <stdio.h>
#include <string.h>

#include "switch/daemon/jobs.h"

static unsigned load_of(const gn_shard *shard)
{
    unsigned used = 0;
    for (unsigned i = 0; i < shard->stream_count; i++) used += shard->streams[i].used;
    return used;
}

/// Places and slots of jobs that wait for an answer from above: theirs, though not used yet.
static void count_asked(const gn_switchd *daemon, const gn_job *but, uint64_t *taken, uint32_t *slots)
{
    for (const gn_job *job = daemon->jobs; job; job = job->next) {
        if (job == but || job->state != GN_JOB_ASKING) continue;
        for (unsigned s = 0; s < gn_job_terms(job)->streams; s++) {
            if (taken) taken[job->shard[s]] |= 1ull << job->stream[s];
            if (slots) slots[job->shard[s]] += job->welcome.slots;
        }
    }
}

/// Stream after stream goes to the shard that has least to do.
static bool find_places(const gn_switchd *daemon, gn_job *job)
{
    uint64_t taken[GN_SWITCHD_SHARDS_MAX] = {0};
    unsigned load[GN_SWITCHD_SHARDS_MAX] = {0};
    const unsigned streams = gn_job_terms(job)->streams;
    count_asked(daemon, job, taken, NULL);
    for (unsigned i = 0; i < daemon->shards; i++) load[i] = load_of(daemon->shard[i]);
    for (unsigned s = 0; s < streams; s++) {
        unsigned least = 0;
        for (unsigned i = 1; i < daemon->shards; i++)
            if (load[i] < load[least]) least = i;
        const int stream = gn_shard_free_stream(daemon->shard[least], taken[least]);
        if (stream < 0) return false;
        taken[least] |= 1ull << stream;
        load[least]++;
        job->shard[s] = (uint8_t)least;
        job->stream[s] = (uint8_t)stream;
    }
    return true;
}

/// Whether each stream can have so many slots.
static bool fits(const gn_switchd *daemon, const gn_job *job, unsigned slots)
{
    const unsigned streams = gn_job_terms(job)->streams;
    const uint32_t quota = daemon->config.quota;
    uint32_t needed[GN_SWITCHD_SHARDS_MAX] = {0};
    if ((uint64_t)slots * streams > quota) return false;
    count_asked(daemon, job, NULL, needed);
    for (unsigned s = 0; s < streams; s++) needed[job->shard[s]] += slots;
    for (unsigned i = 0; i < daemon->shards; i++)
        if (needed[i] > daemon->shard[i]->slots_free) return false;
    return true;
}

/// Children that are switches ask for what they can grant themselves, which may differ.
static unsigned least_asked(const gn_job *job)
{
    unsigned least = gn_job_terms(job)->slots;
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++)
        if (job->join[i].slots < least) least = job->join[i].slots;
    return least;
}

unsigned gn_job_reserve(gn_switchd *daemon, gn_job *job, char *why, size_t room)
{
    const gn_admission_join *terms = gn_job_terms(job);
    if (!find_places(daemon, job)) {
        snprintf(why, room, "no room for %u more %s: other jobs have them (--streams, --shards)", terms->streams,
                 terms->streams == 1 ? "stream" : "streams");
        return 0;
    }
    for (unsigned slots = least_asked(job); slots; slots /= 2)
        if (fits(daemon, job, slots)) return slots;
    if (terms->streams > daemon->config.quota)
        snprintf(why, room, "%u streams need a slot each, and a job has at most %u here (--quota)", terms->streams,
                 daemon->config.quota);
    else
        snprintf(why, room, "no slots left for %u %s: other jobs have them (--slots, --quota)", terms->streams,
                 terms->streams == 1 ? "stream" : "streams");
    return 0;
}

static gn_switch_job describe(const gn_switchd *daemon, const gn_job *job, unsigned s)
{
    const gn_admission_join *terms = gn_job_terms(job);
    gn_switch_job it = {.job = job->welcome.job[s],
                        .gen = job->welcome.gen[s],
                        .format = (gn_agg_format)terms->format,
                        .bound_exp = terms->bound_exp,
                        .slots = job->welcome.slots,
                        .level = terms->level,
                        .children = terms->children,
                        .has_parent = daemon->config.parent != NULL,
                        .parent_bit = terms->parent_bit,
                        .parent_fanin = terms->parent_children,
                        .leader = GN_AGG_WORKERS_MAX};
    if (terms->bits) it.bits = (uint8_t)gn_job_first_bit(job, terms->children);
    for (unsigned i = 0; terms->bits && i < terms->children; i++) it.first_bit[i] = (uint8_t)gn_job_first_bit(job, i);
    if (gn_switchd_shares_above(&daemon->config)) {
        it.parent_bit = job->welcome.bit;
        it.parent_fanin = job->welcome.fanin;
    } else if (daemon->config.place_fanin) {
        it.parent_bit = daemon->config.place_bit;
        it.parent_fanin = daemon->config.place_fanin;
    }
    for (unsigned i = 0; i < terms->children; i++)
        if (!job->join[i].rank) it.leader = (uint8_t)i;
    return it;
}

static gn_status start_ps_stream(gn_switchd *daemon, gn_job *job, unsigned s)
{
    const gn_admission_join *terms = gn_job_terms(job);
    const gn_ps_config config = {.job = job->welcome.job[s],
                                 .gen = job->welcome.gen[s],
                                 .format = (gn_agg_format)terms->format,
                                 .bound_exp = terms->bound_exp,
                                 .slots = job->welcome.slots,
                                 .packet_values = terms->packet_values,
                                 .level = (uint8_t)(terms->level - 1),
                                 .children = job->fanin};
    gn_endpoint below = job->child[job->first]->peer;
    below.port = terms->udp_port[s];
    return gn_shard_add_ps(daemon->shard[job->shard[s]], job->stream[s], &config, &below);
}

static gn_status start_stream(gn_switchd *daemon, gn_job *job, unsigned s, const gn_endpoint *above)
{
    gn_endpoint children[GN_AGG_WORKERS_MAX];
    gn_switch_job it = describe(daemon, job, s);
    for (unsigned i = 0; i < it.children; i++) {
        children[i] = job->child[i]->peer;
        children[i].port = job->join[i].udp_port[s];
    }
    return gn_shard_add(daemon->shard[job->shard[s]], job->stream[s], &it, children, above);
}

static bool has_leader(const gn_switchd *daemon, const gn_job *job)
{
    bool found = daemon->config.parent || daemon->config.role == GN_SWITCHD_PS;
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++) found |= !job->join[i].rank;
    return found;
}

/// The WELCOME from above has its numbers and UDP ports; what the children get has this switch's ports instead.
bool gn_job_start(gn_switchd *daemon, gn_job *job, char *why, size_t room)
{
    const unsigned streams = gn_job_terms(job)->streams;
    if (!has_leader(daemon, job)) {
        snprintf(why, room, "rank 0 is none of the children, nor the lowest rank below one");
        return false;
    }
    for (unsigned s = 0; s < streams; s++) {
        gn_endpoint above = daemon->above;
        above.port = job->welcome.udp_port[s];
        const gn_status status = daemon->config.role == GN_SWITCHD_PS
                                     ? start_ps_stream(daemon, job, s)
                                     : start_stream(daemon, job, s, above.ip.version ? &above : NULL);
        if (status) {
            snprintf(why, room, "stream %u with %u slots: %s", s, job->welcome.slots,
                     status == GN_NO_SPACE ? "no room in one piece (--slots)" : gn_status_string(status));
            return false;
        }
        job->reserved++;
        job->welcome.udp_port[s] = daemon->shard[job->shard[s]]->streams[job->stream[s]].udp_port;
    }
    return true;
}

void gn_job_stop(gn_switchd *daemon, gn_job *job)
{
    while (job->reserved) {
        job->reserved--;
        gn_shard_remove(daemon->shard[job->shard[job->reserved]], job->stream[job->reserved]);
    }
}
