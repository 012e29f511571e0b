// SPDX-License-Identifier: Apache-2.0
// What the switch says of jobs: who they are, and what they wait for.
#include "switch/daemon/status.h"

#include <unistd.h>

#include "host/json.h"
#include "switch/daemon/limits.h"
#include "switch/daemon/silence.h"
#include "switch/daemon/waits.h"

static const char *phase_name(const gn_job *job)
{
    static const char *const names[] = {"forming", "asking above", "running"};
    return names[job->phase];
}

static double seconds(uint64_t since, uint64_t now)
{
    return gn_seconds(gn_elapsed(since, now));
}

static json_t *terms_of(const gn_job *job, uint64_t now)
{
    static const char *const formats[GN_AGG_FORMATS] = {"int32", "lattice", "dense", "half"};
    const gn_admission_join *t = gn_job_terms(job);
    return json_pack("{s:s,s:s,s:f,s:i,s:i,s:i,s:i,s:s,s:i,s:i,s:i}", "job", t->name, "state", phase_name(job), "for_s",
                     seconds(job->since, now), "ranks", t->ranks, "level", t->level, "children", t->children, "joined",
                     __builtin_popcountll(job->joined), "format", formats[t->format], "bound", t->bound_exp,
                     "packet_values", t->packet_values, "slots", job->welcome.slots);
}

static json_t *children_of(const gn_job *job)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++)
        if (job->child[i])
            json_array_append_new(list, json_pack("{s:i,s:i,s:s}", "bit", (int)i, "rank", job->join[i].rank, "address",
                                                  job->child[i]->name));
    return list;
}

static json_t *channels_of(const gn_switchd *daemon, const gn_job *job)
{
    json_t *list = json_array();
    for (unsigned c = 0; c < job->reserved; c++) {
        const gn_channel *channel = &daemon->shard[job->shard[c]]->channels[job->channel[c]];
        json_array_append_new(list,
                              json_pack("{s:i,s:i,s:i,s:i}", "number", job->welcome.job[c], "generation",
                                        job->welcome.gen[c], "shard", job->shard[c], "udp_port", channel->udp_port));
    }
    return list;
}

/// Switches next to this one that have been silent for long.
static json_t *silent_of(const gn_job *job, uint64_t now)
{
    char who[GN_CALLED];
    json_t *list = json_array();
    for (int i = -1; i < gn_job_terms(job)->children; i++) {
        const gn_silence silence = gn_job_silence(job, i, now);
        if (silence.part >= GN_SILENCE_NOTED)
            json_array_append_new(list, json_pack("{s:s,s:f}", "who",
                                                  i < 0 ? job->above->name : gn_job_called(job, (unsigned)i, who),
                                                  "for_s", silence.seconds));
    }
    return list;
}

/// The last but `back`; NULL: there were not so many, or they are forgotten.
static const gn_over *over_at(const gn_overs *overs, uint64_t back)
{
    return back < overs->count && back < GN_OVERS ? &overs->last[(overs->count - 1 - back) % GN_OVERS] : NULL;
}

/// Jobs that have ended, the last one first: some that ran, and some that never did.
static json_t *ended(const gn_switchd *daemon, uint64_t now)
{
    json_t *list = json_array();
    uint64_t ran = 0, never = 0;
    for (;;) {
        const gn_over *a = over_at(&daemon->ran, ran), *b = over_at(&daemon->never_ran, never), *over = a;
        if (!a && !b) return list;
        if (!a || (b && b->at > a->at)) over = b;
        over == a ? ran++ : never++;
        json_array_append_new(
            list, json_pack("{s:s,s:f,s:s}", "job", over->job, "for_s", seconds(over->at, now), "why", over->why));
    }
}

json_t *gn_switchd_jobs(gn_switchd *daemon)
{
    const uint64_t now = gn_now();
    json_t *list = json_array();
    for (const gn_job *job = daemon->jobs; job; job = job->next) {
        json_t *one = terms_of(job, now);
        json_object_set_new(one, "members", children_of(job));
        json_object_set_new(one, "channels", channels_of(daemon, job));
        // The old name, for one release.
        json_object_set(one, "streams", json_object_get(one, "channels"));
        if (job->above) json_object_set_new(one, "above", json_string(job->above->name));
        json_object_set_new(one, "silent", silent_of(job, now));
        json_array_append_new(list, one);
    }
    return json_pack("{s:o,s:o}", "jobs", list, "ended", ended(daemon, now));
}

static json_t *rank_list(const gn_ranks *ranks)
{
    json_t *list = json_array();
    for (unsigned rank = 0; rank < GN_ADMISSION_RANKS_MAX; rank++)
        if (gn_ranks_have(ranks, rank)) json_array_append_new(list, json_integer(rank));
    return list;
}

/// A child whose contributions are missing: a worker; or a switch, with those ranks below it whose
/// values are missing.
static json_t *misses(const gn_job *job, unsigned child, const gn_ranks *ranks)
{
    const gn_admission_join *join = &job->join[child];
    const char *address = job->child[child] ? job->name[child] : "has left";
    if (join->asker == GN_ASKER_WORKER) return json_pack("{s:i,s:s}", "rank", join->rank, "address", address);
    return json_pack("{s:o,s:s}", "ranks", rank_list(ranks), "below", address);
}

static json_t *who_misses(const gn_job *job, const gn_slot_status *slot)
{
    json_t *list = json_array();
    if (slot->waits_for_parent || !slot->absent) {
        json_array_append_new(list, json_pack("{s:s}", "above", job->above ? job->above->name : "?"));
        return list;
    }
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++) {
        const gn_ranks ranks = gn_job_child_ranks(job, i, slot->absent);
        if (gn_ranks_any(&ranks)) json_array_append_new(list, misses(job, i, &ranks));
    }
    return list;
}

static void add_waits(const gn_switchd *daemon, const gn_job *job, json_t *one, uint64_t now)
{
    unsigned count = 0;
    json_t *list = json_array();
    for (unsigned c = 0; c < job->reserved; c++) {
        const gn_waits w = gn_job_look(daemon, job, c);
        count += w.count;
        for (unsigned i = 0; i < w.shown; i++)  // "stream": the old name, for one release
            json_array_append_new(
                list, json_pack("{s:i,s:i,s:i,s:I,s:f,s:o}", "channel", (int)c, "stream", (int)c, "slot",
                                daemon->config.mode == GN_PARTITIONED && !job->fanin ? w.copy[i] / 2 : w.copy[i],
                                "chunk", (json_int_t)w.slot[i].psn, "for_s", seconds(w.slot[i].since_ns, now),
                                "waits_for", who_misses(job, &w.slot[i])));
    }
    json_object_set_new(one, "slots_waiting", json_integer(count));
    json_object_set_new(one, "waiting", list);
}

static json_t *missing_children(const gn_job *job)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++)
        if (!(job->joined >> i & 1)) json_array_append_new(list, json_integer(i));
    return list;
}

static json_t *jobs_with_waits(const gn_switchd *daemon)
{
    char text[GN_ADMISSION_TEXT];
    const uint64_t now = gn_now();
    json_t *list = json_array();
    for (const gn_job *job = daemon->jobs; job; job = job->next) {
        json_t *one = terms_of(job, now);
        json_object_set_new(one, "missing", missing_children(job));
        const bool runs = job->phase == GN_JOB_RUNNING;  // then slots say it
        json_object_set_new(one, "absent", json_string(runs ? "" : gn_job_waits_for(daemon, job, text)));
        if (*job->refused) json_object_set_new(one, "refused", json_string(job->refused));
        json_object_set_new(one, "silent", silent_of(job, now));
        add_waits(daemon, job, one, now);
        json_array_append_new(list, one);
    }
    return list;
}

/// A limit that may not be set.
static json_t *limit_of(uint32_t most)
{
    return most ? json_integer(most) : json_null();
}

/// What one job and one address may have, and what is kept for others. null: no limit.
static json_t *limits_of(const gn_switchd *daemon)
{
    const gn_switchd_config *c = &daemon->config;
    return json_pack("{s:i,s:i,s:o,s:o,s:o,s:i,s:i,s:i,s:i}", "job_channels", (int)gn_limits_job_channels(daemon),
                     "job_slots", (int)c->quota, "address_channels", limit_of(c->address_channels), "address_slots",
                     limit_of(c->address_slots), "address_jobs", limit_of(c->address_jobs), "reserve_percent",
                     (int)c->reserve, "reserve_channels", (int)gn_limits_reserved_channels(daemon), "reserve_slots",
                     (int)(gn_limits_reserved_slots(daemon) * c->shards), "connections", (int)daemon->room);
}

json_t *gn_switchd_status(gn_switchd *daemon)
{
    static const char *const modes[GN_MEMORY_MODES] = {"partitioned", "shared", "preemptive"};
    const gn_switchd_config *c = &daemon->config;
    char listen[GN_ENDPOINT_TEXT];
    uint32_t unused = 0;
    for (unsigned i = 0; i < daemon->shards; i++) unused += daemon->shard[i]->slots_free;
    json_t *status =
        json_pack("{s:s,s:i,s:o,s:s,s:i,s:i,s:i,s:i,s:i,s:o,s:o}", "listen", gn_switchd_address(daemon, listen), "pid",
                  (int)getpid(), "uptime_s", gn_json_number(gn_elapsed(daemon->opened, gn_now()) / GN_SECOND), "mode",
                  modes[c->mode], "shards", (int)daemon->shards, "slots", (int)c->slots, "slots_free", (int)unused,
                  "quota", (int)c->quota, "slot_values", c->slot_values, "fault_in", gn_json_fault_settings(&c->in),
                  "fault_out", gn_json_fault_settings(&c->out));
    json_object_set_new(status, "limits", limits_of(daemon));
    json_object_set_new(status, "role", json_string(c->role == GN_SWITCHD_PS ? "ps" : "switch"));
    json_object_set_new(status, "secret", json_boolean(daemon->secret.set));
    json_object_set_new(status, "windows", json_integer(c->windows));
    json_object_set_new(status, "memory_bytes", gn_json_number(gn_switchd_memory(c)));
    json_object_set_new(status, "parent", c->parent ? json_string(c->parent) : json_null());
    json_object_set_new(status, "ps", c->ps ? json_string(c->ps) : json_null());
    json_object_set_new(status, "jobs", jobs_with_waits(daemon));
    json_object_set_new(status, "ended", ended(daemon, gn_now()));
    return status;
}
