// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <stdexcept>

namespace sim_net
{

static double seconds_of(const Network &network, size_t job)
{
    return static_cast<double>(network.progress(job).end_ps - network.scenario().jobs[job].start_ns * 1000) * 1e-12;
}

// From the first worker's begin of each iteration's sums to the last worker's end.
static double exchange_seconds_of(const Network &network, size_t job)
{
    uint64_t sum = 0;
    for (const JobProgress::Exchange &e : network.progress(job).exchanges) sum += e.end_ps - e.begin_ps;
    return static_cast<double>(sum) * 1e-12;
}

// Of one worker's vectors.
static double values_of(const JobSetup &setup)
{
    return static_cast<double>(setup.values() * setup.iterations);
}

// Of one worker: bits of its vectors in the job's time.
static double goodput_of(const Network &network, size_t job)
{
    return values_of(network.scenario().jobs[job]) * 32 / seconds_of(network, job);
}

// While a job exchanges: what one worker's packets with values take of its link's time.
static double utilisation_of(const Network &network, size_t job)
{
    const Scenario &s = network.scenario();
    const double packets = values_of(s.jobs[job]) / static_cast<double>(s.values_of_packet(s.jobs[job]));
    return packets * static_cast<double>(s.packet_bytes(s.jobs[job])) * 8 /
           (static_cast<double>(s.link.rate) * exchange_seconds_of(network, job));
}

void print_jobs(const Network &network)
{
    gn_table *table = gn_table_new("<job|workers|time|goodput|sent again|collisions|evicted|to the server");
    for (size_t i = 0; i < network.scenario().jobs.size(); i++) {
        const JobSetup &setup = network.scenario().jobs[i];
        const SwitchCounters c = network.counters(i);
        gn_table_row(table, "%s|%llu|%s|%s|%llu|%llu|%llu|%llu", gn_cell(setup.name.c_str()).s,
                     static_cast<unsigned long long>(setup.workers), gn_human_duration(seconds_of(network, i) * 1e9).s,
                     gn_human_bits(goodput_of(network, i)).s,
                     static_cast<unsigned long long>(network.worker_stats(i).resent),
                     static_cast<unsigned long long>(c.collisions), static_cast<unsigned long long>(c.evictions),
                     static_cast<unsigned long long>(c.to_ps));
    }
    if (gn_table_print(table, stdout) || fflush(stdout)) throw std::runtime_error("the report cannot be written");
}

static json_t *job_json(const Network &network, size_t job)
{
    const JobSetup &setup = network.scenario().jobs[job];
    const SwitchCounters c = network.counters(job);
    const gn_worker_stats w = network.worker_stats(job);
    json_t *json = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", setup.name.c_str(), "workers",
        gn_json_count(setup.workers), "seconds", gn_json_real(seconds_of(network, job)), "exchange_seconds",
        gn_json_real(exchange_seconds_of(network, job)), "goodput_bit_s", gn_json_real(goodput_of(network, job)),
        "utilisation", gn_json_real(utilisation_of(network, job)), "sent", gn_json_count(w.sent), "resent",
        gn_json_count(w.resent), "queries", gn_json_count(w.queries), "window_cuts", gn_json_count(w.cuts), "results",
        gn_json_count(c.results), "collisions", gn_json_count(c.collisions), "evictions", gn_json_count(c.evictions),
        "to_ps", gn_json_count(c.to_ps));
    return json;
}

static json_t *counts(const std::vector<uint64_t> &numbers)
{
    json_t *list = json_array();
    for (const uint64_t number : numbers) json_array_append_new(list, gn_json_count(number));
    return list;
}

// Times that chunks held a slot, at some quantiles.
static json_t *hold_json(const std::vector<uint64_t> &times_ns)
{
    json_t *json = json_object();
    for (const size_t percent : {10, 50, 90, 99})
        json_object_set_new(json, std::to_string(percent).c_str(),
                            times_ns.empty() ? json_null()
                                             : gn_json_count(times_ns[(times_ns.size() - 1) * percent / 100]));
    return json;
}

// What the samples say, and the samples.
static void add_samples(Network &network, json_t *all)
{
    if (!network.scenario().sample_ns) return;
    Occupation &occupation = network.occupation();
    const std::vector<uint64_t> &times = occupation.times_ns();
    json_object_set_new(all, "slots",
                        json_pack("{s:o, s:o, s:o}", "held_mean", gn_json_real(occupation.mean_held()), "holds_seen",
                                  gn_json_count(times.size()), "held_ns", hold_json(times)));
    json_t *list = json_array();
    for (const Sample &s : network.samples())
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "ns", gn_json_count(s.ns), "held", counts(s.held),
                                              "sent", counts(s.sent), "resent", counts(s.resent)));
    json_object_set_new(all, "samples", list);
}

Json report_of(Network &network, const Setup &setup)
{
    json_t *jobs = json_array();
    for (size_t i = 0; i < network.scenario().jobs.size(); i++) json_array_append_new(jobs, job_json(network, i));
    const LinkCounters l = network.links();
    json_t *links = json_pack("{s:o, s:o, s:o, s:o, s:o}", "packets", gn_json_count(l.packets), "bytes",
                              gn_json_count(l.bytes), "lost", gn_json_count(l.lost), "dropped",
                              gn_json_count(l.dropped), "marked", gn_json_count(l.marked));
    json_t *all = json_pack("{s:o, s:O, s:s, s:o, s:o}", "seed", gn_json_count(setup.seed), "scenario",
                            setup.scenario.get(), "mode", network.scenario().mode.name, "jobs", jobs, "links", links);
    add_samples(network, all);
    return own(all);
}

}  // namespace sim_net
