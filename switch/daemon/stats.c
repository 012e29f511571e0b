// SPDX-License-Identifier: Apache-2.0
// Every counter. Those of a shard are taken together, under its lock.
#include <stdio.h>

#include "host/json.h"
#include "switch/daemon/job.h"
#include "switch/daemon/limits.h"
#include "switch/daemon/status.h"

#define CORE(field, text)                                                                                              \
    {                                                                                                                  \
#field, text, offsetof(gn_switch_counters, field)                                                              \
    }
static const gn_counter core_rows[] = {
    CORE(packets, "packets"),
    CORE(added, "added to a slot"),
    CORE(values, "values added"),
    CORE(results, "sums that became whole"),
    CORE(repeated, "results sent again"),
    CORE(partials, "sums sent to the parent or parameter server"),
    CORE(partials_again, "sums sent to the parent again"),
    CORE(overflows, "chunks without integers"),
    CORE(forwarded, "binary32 packets past the slots"),
    CORE(up_bytes, "bytes from children"),
    CORE(down_bytes, "bytes from the parent or parameter server"),
    CORE(collisions, "chunks that found their slot held"),
    CORE(evictions, "chunks that lost their slot"),
    CORE(to_ps, "contributions that went on unadded"),
    CORE(fetched, "partial sums that the parameter server asked for"),
    {0},
};

#define CHANNEL(field, text)                                                                                           \
    {                                                                                                                  \
#field, text, offsetof(gn_channel_counters, field)                                                             \
    }
static const gn_counter channel_rows[] = {
    CHANNEL(batches, "reads"),
    CHANNEL(datagrams, "datagrams"),
    CHANNEL(bytes, "bytes"),
    CHANNEL(unregistered, "dropped: from an unknown address"),
    CHANNEL(forged, "dropped: without the right seal"),
    CHANNEL(overrun, "dropped by the kernel: the buffer was full"),
    CHANNEL(marked, "marked by a queue on the way"),
    CHANNEL(out_datagrams, "datagrams out"),
    CHANNEL(out_bytes, "bytes out"),
    {0},
};

#define PS(field, text)                                                                                                \
    {                                                                                                                  \
#field, text, offsetof(gn_ps_stats, field)                                                                     \
    }
static const gn_counter ps_rows[] = {
    PS(received, "packets"),
    PS(ignored, "ignored"),
    PS(sent, "packets out"),
    PS(in_bytes, "bytes"),
    PS(out_bytes, "bytes out"),
    PS(whole, "chunks that the switch had summed"),
    PS(merged, "chunks that came in parts"),
    PS(overflows, "chunks without integers"),
    PS(answers, "results told again"),
    PS(reminders_switch, "reminders to the switch"),
    PS(reminders_worker, "reminders to workers"),
    PS(overlaps, "partial sums given up"),
    PS(duplicates, "contributions with nothing new"),
    {0},
};

#define OUT(field, text)                                                                                               \
    {                                                                                                                  \
#field, text, offsetof(gn_outbox_counters, field)                                                              \
    }
static const gn_counter out_rows[] = {
    OUT(datagrams, "datagrams"),
    OUT(bytes, "bytes"),
    OUT(calls, "system calls"),
    OUT(messages, "messages"),
    OUT(errors, "refused"),
    OUT(full, "no room"),
    {0},
};

/// One channel's counters at one time.
typedef struct snapshot {
    bool is_ps;
    gn_switch_counters core;
    gn_ps_stats ps;
    gn_channel_counters udp;
} snapshot;

static json_t *drops_of(const gn_switch_counters *core)
{
    json_t *list = json_array();
    for (gn_drop reason = GN_DROP_NONE + 1; reason < GN_DROPS; reason++)
        json_array_append_new(list, json_pack("{s:s,s:o}", "reason", gn_drop_string(reason), "packets",
                                              gn_json_number(core->drop[reason])));
    return list;
}

static json_t *core_of(const gn_switch_counters *core)
{
    json_t *object = gn_json_rows(core_rows, core);
    json_object_set_new(object, "drops", drops_of(core));
    return object;
}

static json_t *both_of(const snapshot *s)
{
    return json_pack("{s:o,s:o}", s->is_ps ? "ps" : "core",
                     s->is_ps ? gn_json_rows(ps_rows, &s->ps) : core_of(&s->core), "udp",
                     gn_json_rows(channel_rows, &s->udp));
}

static void take_channel(gn_shard *shard, unsigned number, snapshot *to)
{
    const gn_channel *channel = &shard->channels[number];
    const gn_switch_counters *core = gn_switch_job_counters(&shard->sw, gn_shard_job_index(shard, number));
    to->udp = channel->counters;
    if (core) to->core = *core;
    to->is_ps = channel->ps != NULL;
    if (to->is_ps) to->ps = gn_ps_get_stats(channel->ps);
}

/// The same list with the old name, "stream", for one release.
static json_t *with_old_name(const json_t *channels)
{
    size_t i;
    json_t *one, *list = json_deep_copy(channels);
    json_array_foreach(list, i, one)
    {
        json_object_set(one, "stream", json_object_get(one, "channel"));
        json_object_del(one, "channel");
    }
    return list;
}

static json_t *job_stats(const gn_switchd *daemon, const gn_job *job)
{
    json_t *list = json_array();
    for (unsigned c = 0; c < job->reserved; c++) {
        gn_shard *shard = daemon->shard[job->shard[c]];
        snapshot taken = {0};
        char number[12];
        gn_shard_lock(shard);
        take_channel(shard, job->channel[c], &taken);
        gn_shard_unlock(shard);
        json_t *one = both_of(&taken);
        snprintf(number, sizeof number, "%u", c);
        json_object_set_new(one, "channel", json_string(number));
        json_array_append_new(list, one);
    }
    json_t *old = with_old_name(list);
    return json_pack("{s:s,s:o,s:o}", "job", gn_job_terms(job)->name, "channels", list, "streams", old);
}

static json_t *shard_stats(gn_shard *shard, unsigned number, snapshot *total)
{
    char label[12];
    gn_shard_lock(shard);
    gn_switch_counters own = *gn_switch_get_counters(&shard->sw);
    const gn_outbox_counters out = shard->box->counters;
    const gn_fault_counters in_fault = *gn_fault_get_counters(shard->in),
                            out_fault = *gn_fault_get_counters(shard->out);
    gn_switch_counters_add(&total->core, &shard->ended);
    gn_channel_counters_add(&total->udp, &shard->channels_ended);
    gn_ps_stats_add(&total->ps, &shard->ps_ended);
    for (unsigned i = 0; i < shard->channel_count; i++) {
        snapshot one = {0};
        if (!shard->channels[i].used) continue;
        take_channel(shard, i, &one);
        gn_switch_counters_add(&total->core, &one.core);
        gn_channel_counters_add(&total->udp, &one.udp);
        gn_ps_stats_add(&total->ps, &one.ps);
    }
    gn_shard_unlock(shard);
    gn_switch_counters_add(&total->core, &own);
    snprintf(label, sizeof label, "%u", number);
    return json_pack("{s:s,s:o,s:o,s:o,s:o}", "shard", label, "nobodys_drops", drops_of(&own), "sent",
                     gn_json_rows(out_rows, &out), "fault_in", gn_json_fault_counters(&in_fault), "fault_out",
                     gn_json_fault_counters(&out_fault));
}

/// How often each limit was met.
static json_t *limits_of(const gn_switchd *daemon)
{
    json_t *list = json_array();
    for (gn_switchd_limit limit = 0; limit < GN_LIMITS; limit++)
        json_array_append_new(list, json_pack("{s:s,s:o}", "limit", gn_limits_name(limit), "refused",
                                              gn_json_number(daemon->refused_by[limit])));
    return list;
}

static json_t *now_of(const gn_switchd *daemon)
{
    uint64_t forming = 0, running = 0, slots = 0, unused = 0;
    for (const gn_job *job = daemon->jobs; job; job = job->next) job->phase == GN_JOB_RUNNING ? running++ : forming++;
    for (unsigned i = 0; i < daemon->shards; i++) {
        slots += gn_switchd_places(&daemon->config) / daemon->config.shards;
        unused += daemon->shard[i]->slots_free;
    }
    return GN_JSON_FIELDS({"jobs_forming", forming}, {"jobs_running", running}, {"slots", slots},
                          {"slots_used", slots - unused});
}

json_t *gn_switchd_stats(gn_switchd *daemon)
{
    json_t *shards = json_array(), *jobs = json_array();
    snapshot total = {.is_ps = daemon->config.role == GN_SWITCHD_PS};
    for (unsigned i = 0; i < daemon->shards; i++)
        json_array_append_new(shards, shard_stats(daemon->shard[i], i, &total));
    for (const gn_job *job = daemon->jobs; job; job = job->next) json_array_append_new(jobs, job_stats(daemon, job));
    json_t *admission =
        GN_JSON_FIELDS({"admitted", daemon->admitted}, {"refused", daemon->refused + daemon->lobby.gave_way},
                       {"ended", daemon->ran.count + daemon->never_ran.count}, {"gave_way", daemon->gave_way},
                       {"connections", gn_switchd_connections(daemon)});
    json_object_set_new(admission, "limits", limits_of(daemon));
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "uptime_s",
                     gn_json_number(gn_elapsed(daemon->opened, gn_now()) / GN_SECOND), "admission", admission, "now",
                     now_of(daemon), "total", both_of(&total), "shards", shards, "jobs", jobs);
}

#define DROPS GN_METRICS(GN_COUNTER("packets", "packets dropped, by reason"))
#define FAULTS                                                                                                         \
    GN_METRICS(GN_COUNTER("lost", "packets lost"), GN_COUNTER("duplicated", "packets twice"),                          \
               GN_COUNTER("reordered", "packets held back"), GN_COUNTER("delayed", "packets delayed"),                 \
               GN_COUNTER("overflow", "packets lost because too many were waiting"))

static const gn_metric_group groups[] = {
    {"", "Switch", GN_METRICS(GN_GAUGE("uptime_s", "seconds since it was opened")), NULL},
    {"admission", "Admission",
     GN_METRICS(GN_COUNTER("admitted", "children that got a place"),
                GN_COUNTER("refused", "who was turned away before they had a job"),
                GN_COUNTER("ended", "jobs that have ended"),
                GN_COUNTER("gave_way", "jobs that formed, and ended since all connections were taken"),
                GN_GAUGE("connections", "connections now")),
     NULL},
    {"admission.limits", "Admission", GN_METRICS(GN_COUNTER("refused", "who was turned away, by limit")), NULL},
    {"now", "Now",
     GN_METRICS(GN_GAUGE("jobs_forming", "jobs that wait for children or for the switch above"),
                GN_GAUGE("jobs_running", "jobs that run"),
                GN_GAUGE("slots", "slots; where slots are shared, chunks that may be under way"),
                GN_GAUGE("slots_used", "of these, what jobs have")),
     NULL},
    {"total.core", "All jobs", NULL, core_rows},
    {"total.core.drops", "All jobs", DROPS, NULL},
    {"total.ps", "All jobs", NULL, ps_rows},
    {"total.udp", "All jobs", NULL, channel_rows},
    {"shards.nobodys_drops", "No job can be blamed", DROPS, NULL},
    {"shards.sent", "Sent by the shard", NULL, out_rows},
    {"shards.fault_in", "Bad link on purpose, in", FAULTS, NULL},
    {"shards.fault_out", "Bad link on purpose, out", FAULTS, NULL},
    {"jobs.channels.core", "Channel of a job", NULL, core_rows},
    {"jobs.channels.core.drops", "Channel of a job", DROPS, NULL},
    {"jobs.channels.ps", "Channel of a job", NULL, ps_rows},
    {"jobs.channels.udp", "Channel of a job", NULL, channel_rows},
    {0},
};

const gn_metric_set gn_switchd_metrics = {"gradnic_switch", "listen", "jobs.streams", groups};
