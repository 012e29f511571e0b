// SPDX-License-Identifier: Apache-2.0
#include "star.h"

#include <stdexcept>

namespace sim_net
{

Star::Star(const Scenario &scenario, uint64_t seed)
    : s_(scenario), pool_(gn_agg_bound(scenario.packet_values)), values_(scenario), progress_(scenario.jobs.size())
{
    add_switch();
    uint64_t seeds = seed;  // the stream of seeds: one for each worker and link
    for (size_t job = 0; job < s_.jobs.size(); job++) add_job(job, seeds);
    if (!s_.sample_ns) return;
    agenda_.join(*this);
    agenda_.plan(*this, s_.sample_ns * 1000);
}

void Star::add_switch()
{
    gn_switch_config config = {};
    config.slots = static_cast<uint32_t>(s_.switch_slots);
    config.slot_values = static_cast<uint16_t>(s_.packet_values);
    config.jobs = static_cast<uint16_t>(s_.jobs.size());
    config.mode = s_.mode.memory;
    config.results = s_.mode.results;
    config.preempting = s_.mode.preempting;
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
    entry.format = s_.format;
    for (uint64_t rank = 0; rank < setup.workers; rank++) {
        entry.port[rank] = static_cast<uint16_t>(up_.size());
        workers_.push_back(
            std::make_unique<WorkerHost>(agenda_, pool_, s_, job, rank, splitmix64(&seeds), values_, progress_[job]));
        connect(*workers_.back(), seeds);
    }
    if (s_.mode.memory != GN_PARTITIONED) {
        entry.ps_port = static_cast<uint16_t>(up_.size());
        servers_.push_back(std::make_unique<ServerHost>(agenda_, pool_, s_, job));
        connect(*servers_.back(), seeds);
    }
    if (gn_switch_add_job(&switch_, &entry)) throw std::runtime_error("the switch has no room for " + setup.name);
}

void Star::connect(Host &host, uint64_t &seeds)
{
    const uint16_t port = static_cast<uint16_t>(up_.size());
    up_.push_back(std::make_unique<Link>(
        agenda_, s_.link, splitmix64(&seeds),
        [this, port](const Datagram &datagram, bool marked) { arrive(port, datagram, marked); }));
    down_.push_back(
        std::make_unique<Link>(agenda_, s_.link, splitmix64(&seeds),
                               [&host](const Datagram &datagram, bool marked) { host.arrive(datagram, marked); }));
    host.up = up_.back().get();
}

void Star::arrive(uint16_t port, const Datagram &datagram, bool marked)
{
    const Datagram d = marked ? marked_datagram(pool_, datagram) : datagram;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    const unsigned count =
        gn_switch_rx(&switch_, static_cast<uint64_t>(agenda_.now_ns()), port, d.data(), d.size(), actions);
    for (unsigned i = 0; i < count; i++) carry_out(actions[i]);
}

void Star::carry_out(const gn_action &action)
{
    if (action.kind == GN_TO_NOBODY) return;
    Datagram out(pool_);
    const size_t bytes = gn_action_write(&switch_, &action, out.data(), out.room());
    if (!bytes) throw std::runtime_error("a datagram of the switch is too long");
    out.set_size(bytes);
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
    for (size_t i = 0; i < progress_.size(); i++)
        if (progress_[i].finished_workers < s_.jobs[i].workers) return false;
    return true;
}

bool Star::run()
{
    constexpr unsigned BETWEEN_LOOKS = 1000;
    const auto until_ps = static_cast<uint64_t>(s_.limit_s * 1e12);
    for (;;) {
        for (unsigned i = 0; i < BETWEEN_LOOKS; i++)
            if (!agenda_.step(until_ps)) return finished();
        if (finished()) return true;
    }
}

void Star::due()
{
    constexpr size_t MOST_SAMPLES = 100000;  // all are kept for the report
    if (samples_.size() == MOST_SAMPLES)
        throw std::runtime_error("more than " + std::to_string(MOST_SAMPLES) + " samples: give a larger sample_ns");
    const auto now_ns = static_cast<uint64_t>(agenda_.now_ns());
    occupation_.look(switch_, s_.jobs.size(), now_ns);
    Sample sample = {now_ns, occupation_.held_now(), {}, {}};
    for (size_t job = 0; job < s_.jobs.size(); job++) {
        const gn_worker_stats stats = worker_stats(job);
        sample.sent.push_back(stats.sent);
        sample.resent.push_back(stats.resent);
    }
    samples_.push_back(std::move(sample));
    if (!finished()) agenda_.plan(*this, agenda_.now_ps() + s_.sample_ns * 1000);
}

}  // namespace sim_net
