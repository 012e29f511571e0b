// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <stdexcept>

namespace sim_net
{

static double seconds_of(const Star &star, size_t job)
{
    return static_cast<double>(star.result(job).end_ps - star.scenario().jobs[job].start_ns * 1000) * 1e-12;
}

// Of one worker: bits of its vectors in the job's time.
static double goodput_of(const Star &star, size_t job)
{
    const JobSetup &setup = star.scenario().jobs[job];
    return static_cast<double>(setup.values * setup.vectors * 32) / seconds_of(star, job);
}

static void print_table(const Star &star)
{
    gn_table *table = gn_table_new("<job|workers|time|goodput|sent again|collisions|evicted|to the server");
    for (size_t i = 0; i < star.scenario().jobs.size(); i++) {
        const JobSetup &setup = star.scenario().jobs[i];
        const gn_switch_counters &c = star.counters(i);
        gn_table_row(table, "%s|%llu|%s|%s|%llu|%llu|%llu|%llu", setup.name.c_str(),
                     static_cast<unsigned long long>(setup.workers), gn_human_duration(seconds_of(star, i) * 1e9).s,
                     gn_human_bits(goodput_of(star, i)).s, static_cast<unsigned long long>(star.worker_stats(i).resent),
                     static_cast<unsigned long long>(c.collisions), static_cast<unsigned long long>(c.evictions),
                     static_cast<unsigned long long>(c.to_ps));
    }
    if (gn_table_print(table, stdout) || fflush(stdout)) throw std::runtime_error("the report cannot be written");
}

static json_t *job_json(const Star &star, size_t job)
{
    const JobSetup &setup = star.scenario().jobs[job];
    const gn_switch_counters &c = star.counters(job);
    const gn_worker_stats w = star.worker_stats(job);
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", setup.name.c_str(),
                     "workers", gn_json_count(setup.workers), "seconds", gn_json_real(seconds_of(star, job)),
                     "goodput_bit_s", gn_json_real(goodput_of(star, job)), "sent", gn_json_count(w.sent), "resent",
                     gn_json_count(w.resent), "queries", gn_json_count(w.queries), "window_cuts", gn_json_count(w.cuts),
                     "results", gn_json_count(c.results), "collisions", gn_json_count(c.collisions), "evictions",
                     gn_json_count(c.evictions), "to_ps", gn_json_count(c.to_ps));
}

void print_report(const Star &star, json_t *setup, const gn_sim_net_options &options, gn_result_file &file)
{
    if (!options.result.json) print_table(star);
    json_t *jobs = json_array();
    for (size_t i = 0; i < star.scenario().jobs.size(); i++) json_array_append_new(jobs, job_json(star, i));
    const LinkCounters l = star.links();
    json_t *links = json_pack("{s:o, s:o, s:o, s:o, s:o}", "packets", gn_json_count(l.packets), "bytes",
                              gn_json_count(l.bytes), "lost", gn_json_count(l.lost), "dropped",
                              gn_json_count(l.dropped), "marked", gn_json_count(l.marked));
    json_t *all = json_pack("{s:o, s:O, s:s, s:o, s:o}", "seed", gn_json_count(options.seed), "scenario", setup, "mode",
                            mode_name(star.scenario().mode), "jobs", jobs, "links", links);
    gn_error error;
    if (gn_result_write(&file, &options.result, all, stdout, &error)) throw std::runtime_error(error.text);
}

}  // namespace sim_net
