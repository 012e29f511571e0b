// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <algorithm>
#include <stdexcept>

namespace sim_net
{

Datagram marked_datagram(Pool &pool, const Datagram &datagram)
{
    gn_agg_packet packet;
    if (gn_agg_parse(datagram.data(), datagram.size(), &packet)) throw std::runtime_error("a datagram is malformed");
    packet.flags |= GN_AGG_ECN;
    Datagram marked(pool);
    marked.set_size(gn_agg_write_again(&packet, marked.data(), marked.room()));
    return marked;
}

Host::Host(Agenda &agenda, Pool &pool, uint64_t start_ns) : agenda_(agenda), pool_(pool)
{
    agenda.join(*this);
    agenda.plan(*this, start_ns * 1000);
}

void Host::arrive(const Datagram &datagram, bool marked)
{
    const Datagram d = marked ? marked_datagram(pool_, datagram) : datagram;
    take(agenda_.now_ns(), d.data(), d.size());
    if (up->free_ps() <= agenda_.now_ps()) pump();
}

void Host::pump()
{
    const uint64_t now = agenda_.now_ps();
    begin();
    while (up->free_ps() <= now) {
        Datagram datagram(pool_);
        const size_t bytes = next(agenda_.now_ns(), datagram.data(), datagram.room());
        if (!bytes) {
            const int64_t until = deadline();
            if (until >= 0) agenda_.plan(*this, std::max(static_cast<uint64_t>(until) * 1000, now + 1000));
            return;
        }
        datagram.set_size(bytes);
        up->send(datagram);
    }
    agenda_.plan(*this, up->free_ps());
}

static uint64_t packet_bytes(const Scenario &s)
{
    return GN_AGG_HEADER + s.packet_values * s.value_bytes() + s.link.overhead_bytes;
}

WorkerHost::WorkerHost(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, uint64_t rank, uint64_t seed,
                       Values &values, JobProgress &progress)
    : Host(agenda, pool, scenario.jobs[job].start_ns), job_(scenario.jobs[job]), rank_(rank),
      schedule_(job_, scenario.link, packet_bytes(scenario), scenario.packet_values, seed), values_(values),
      progress_(progress)
{
    gn_worker_config config = {};
    config.job = static_cast<uint16_t>(job + 1);
    config.gen = 1;
    config.rank = static_cast<uint16_t>(rank);
    config.ranks = static_cast<uint16_t>(job_.workers);
    config.bit = static_cast<uint8_t>(rank);
    config.children = static_cast<uint8_t>(job_.workers);
    config.slots = static_cast<uint16_t>(job_.slots);
    config.first_window = static_cast<uint16_t>(job_.first_window);
    config.packet_values = static_cast<uint16_t>(scenario.packet_values);
    config.format = scenario.format;
    config.rto_min_ns = scenario.rto_min_ns;
    config.mode = scenario.mode.memory;
    config.priority = static_cast<uint16_t>(job_.priority);
    config.after = [](void *host, size_t first, size_t count) { static_cast<WorkerHost *>(host)->check(first, count); };
    config.context = this;
    if (gn_worker_new(&worker_, &config)) throw std::runtime_error("a worker of " + job_.name + " cannot be made");
    gn_worker_set_halves(worker_, scenario.format == GN_AGG_HALF);
}

void WorkerHost::begin()
{
    if (summing_ || schedule_.over() || schedule_.next_ns() > static_cast<uint64_t>(agenda_.now_ns())) return;
    summing_ = true;
    posted_++;
    const Tensor &tensor = job_.tensors[schedule_.tensor()];
    gn_worker_set_priority(worker_, schedule_.priority(static_cast<uint64_t>(agenda_.now_ns())));
    if (gn_worker_post(worker_, values_.of(rank_, posted_), values_.scratch(), tensor.values))
        throw std::runtime_error("a vector of " + job_.name + " cannot be posted");
    if (progress_.exchanges.size() == schedule_.iteration())
        progress_.exchanges.push_back({agenda_.now_ps(), agenda_.now_ps()});
}

int64_t WorkerHost::deadline() const
{
    if (summing_) return gn_worker_deadline(worker_);
    if (schedule_.over()) return GN_NEVER;
    return static_cast<int64_t>(schedule_.next_ns());
}

void WorkerHost::take(int64_t now, const void *datagram, size_t bytes)
{
    gn_worker_rx(worker_, now, datagram, bytes);
    if (!summing_ || !gn_worker_done(worker_)) return;
    summing_ = false;
    progress_.exchanges[schedule_.iteration()].end_ps = agenda_.now_ps();
    schedule_.done(static_cast<uint64_t>(now));
    if (!schedule_.over()) return;
    progress_.finished_workers++;
    progress_.end_ps = std::max({progress_.end_ps, agenda_.now_ps(), schedule_.end_ns() * 1000});
}

void WorkerHost::check(size_t first, size_t count) const
{
    try {
        values_.check(values_.scratch() + first, first, count, posted_, job_.workers);
    } catch (const std::runtime_error &e) {
        throw std::runtime_error(job_.name + ", rank " + std::to_string(rank_) + ": " + e.what());
    }
}

ServerHost::ServerHost(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job)
    : Host(agenda, pool, scenario.jobs[job].start_ns)
{
    const JobSetup &setup = scenario.jobs[job];
    gn_ps_config config = {};
    config.job = static_cast<uint16_t>(job + 1);
    config.gen = 1;
    config.format = scenario.format;
    config.slots = static_cast<uint16_t>(setup.slots);
    config.packet_values = static_cast<uint16_t>(scenario.packet_values);
    config.children = static_cast<uint8_t>(setup.workers);
    config.rto_min_ns = scenario.rto_min_ns;
    if (gn_ps_new(&ps_, &config)) throw std::runtime_error("the parameter server of " + setup.name + " cannot be made");
}

}  // namespace sim_net
