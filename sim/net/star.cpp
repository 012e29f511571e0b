// SPDX-License-Identifier: Apache-2.0
#include "star.h"

#include <stdexcept>

namespace sim_net
{

Star::Star(const Scenario &scenario, uint64_t seed)
    : s_(scenario), room_(gn_agg_bound(scenario.packet_values)), results_(scenario.jobs.size())
{
    add_switch();
    uint64_t seeds = seed;  // the stream of seeds: one for each worker and link
    for (size_t job = 0; job < s_.jobs.size(); job++) add_job(job, seeds);
}

void Star::add_switch()
{
    gn_switch_config config = {};
    config.slots = static_cast<uint32_t>(s_.switch_slots);
    config.slot_values = static_cast<uint16_t>(s_.packet_values);
    config.jobs = static_cast<uint16_t>(s_.jobs.size());
    config.mode = s_.mode;
    for (const JobSetup &job : s_.jobs) config.windows += static_cast<uint32_t>(job.slots);
    const size_t bytes = gn_switch_bytes(&config);
    memory_.resize(bytes / sizeof(uint64_t) + 1);
    if (!bytes || gn_switch_init(&switch_, &config, memory_.data(), bytes))
        throw std::runtime_error("the switch cannot be made");
}

void Star::add_job(size_t job, uint64_t &seeds)
{
    const JobSetup &setup = s_.jobs[job];
    gn_switch_job entry = {};
    entry.job = static_cast<uint16_t>(job + 1);
    entry.gen = 1;
    entry.slots = static_cast<uint16_t>(setup.slots);
    entry.children = static_cast<uint8_t>(setup.workers);
    for (uint64_t rank = 0; rank < setup.workers; rank++) {
        entry.port[rank] = static_cast<uint16_t>(up_.size());
        JobResult &result = results_[job];
        workers_.push_back(std::make_unique<WorkerHost>(
            sc_core::sc_gen_unique_name("worker"), s_, job, rank, splitmix64(&seeds), [this, &result, &setup] {
                result.end_ps = now_ps();
                if (++result.finished_workers == setup.workers && finished()) sc_core::sc_stop();
            }));
        connect(*workers_.back(), seeds);
    }
    if (s_.mode != GN_PARTITIONED) {
        entry.ps_port = static_cast<uint16_t>(up_.size());
        servers_.push_back(std::make_unique<ServerHost>(sc_core::sc_gen_unique_name("server"), s_, job));
        connect(*servers_.back(), seeds);
    }
    if (gn_switch_add_job(&switch_, &entry)) throw std::runtime_error("the switch has no room for " + setup.name);
}

void Star::connect(Host &host, uint64_t &seeds)
{
    const uint16_t port = static_cast<uint16_t>(up_.size());
    up_.push_back(std::make_unique<Link>(
        sc_core::sc_gen_unique_name("up"), s_.link, splitmix64(&seeds),
        [this, port](const Datagram &datagram, bool marked) { arrive(port, datagram, marked); }));
    down_.push_back(
        std::make_unique<Link>(sc_core::sc_gen_unique_name("down"), s_.link, splitmix64(&seeds),
                               [&host](const Datagram &datagram, bool marked) { host.arrive(datagram, marked); }));
    host.up = up_.back().get();
}

void Star::arrive(uint16_t port, const Datagram &datagram, bool marked)
{
    const Datagram d = marked ? marked_datagram(datagram) : datagram;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    const unsigned count = gn_switch_rx(&switch_, static_cast<uint64_t>(now_ns()), port, d->data(), d->size(), actions);
    for (unsigned i = 0; i < count; i++) carry_out(actions[i]);
}

void Star::carry_out(const gn_action &action)
{
    if (action.kind == GN_TO_NOBODY) return;
    const size_t bytes = gn_action_write(&switch_, &action, room_.data(), room_.size());
    if (!bytes) throw std::runtime_error("a datagram of the switch is too long");
    const Datagram out =
        std::make_shared<const std::vector<uint8_t>>(room_.begin(), room_.begin() + static_cast<ptrdiff_t>(bytes));
    const gn_switch_job &job = *gn_switch_job_at(&switch_, action.job_index);
    if (action.kind == GN_TO_GROUP)
        for (unsigned i = 0; i < job.children; i++) down_[job.port[i]]->send(out);
    else
        down_[action.kind == GN_TO_PS ? job.ps_port : action.port]->send(out);
}

gn_worker_stats Star::worker_stats(size_t job) const
{
    gn_worker_stats sum = {};
    size_t first = 0;
    for (size_t i = 0; i < job; i++) first += s_.jobs[i].workers;
    for (size_t i = first; i < first + s_.jobs[job].workers; i++) {
        const gn_worker_stats stats = workers_[i]->stats();
        sum.sent += stats.sent;
        sum.resent += stats.resent;
        sum.queries += stats.queries;
        sum.marked += stats.marked;
        sum.cuts += stats.cuts;
    }
    return sum;
}

LinkCounters Star::links() const
{
    LinkCounters sum = {};
    for (const auto *links : {&up_, &down_}) {
        for (const std::unique_ptr<Link> &link : *links) {
            sum.packets += link->counters.packets;
            sum.bytes += link->counters.bytes;
            sum.lost += link->counters.lost;
            sum.dropped += link->counters.dropped;
            sum.marked += link->counters.marked;
        }
    }
    return sum;
}

bool Star::finished() const
{
    for (size_t i = 0; i < results_.size(); i++)
        if (results_[i].finished_workers < s_.jobs[i].workers) return false;
    return true;
}

}  // namespace sim_net
