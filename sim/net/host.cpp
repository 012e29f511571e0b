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

// Ranks that send each other values over TCP take no notice of marks.
void Host::arrive(const Datagram &datagram, bool marked)
{
    const bool tell = marked && datagram.to() == FOR_SWITCH;
    take(agenda_.now_ns(), tell ? marked_datagram(pool_, datagram) : datagram);
    nudge();
}

void Host::pump()
{
    const uint64_t now = agenda_.now_ps();
    begin();
    while (up->free_ps() <= now) {
        if (!blank_.is_there()) blank_ = Datagram(pool_);
        if (!next(agenda_.now_ns(), blank_)) {
            const int64_t until = deadline();
            if (until >= 0) agenda_.plan(*this, std::max(static_cast<uint64_t>(until) * 1000, now + 1000));
            return;
        }
        up->send(blank_);
        blank_ = Datagram();
    }
    agenda_.plan(*this, up->free_ps());
}

Rank::Rank(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, uint64_t rank, uint64_t seed,
           JobProgress &progress)
    : Host(agenda, pool, scenario.jobs[job].start_ns), job_(scenario.jobs[job]), rank_(rank),
      schedule_(job_, scenario.link, scenario.packet_bytes(job_), scenario.values_of_packet(job_), seed),
      progress_(progress)
{
}

void Rank::begin()
{
    if (summing_ || schedule_.over() || schedule_.next_ns() > static_cast<uint64_t>(agenda_.now_ns())) return;
    summing_ = true;
    posted_++;
    if (progress_.exchanges.size() == schedule_.iteration())
        progress_.exchanges.push_back({agenda_.now_ps(), agenda_.now_ps()});
    post(job_.tensors[schedule_.tensor()]);
}

int64_t Rank::deadline() const
{
    if (summing_) return summing_deadline();
    if (schedule_.over()) return GN_NEVER;
    return static_cast<int64_t>(schedule_.next_ns());
}

void Rank::summed(int64_t now)
{
    summing_ = false;
    progress_.exchanges[schedule_.iteration()].end_ps = agenda_.now_ps();
    schedule_.done(static_cast<uint64_t>(now));
    if (!schedule_.over()) return;
    progress_.finished_workers++;
    progress_.end_ps = std::max({progress_.end_ps, agenda_.now_ps(), schedule_.end_ns() * 1000});
}

WorkerHost::WorkerHost(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, uint64_t rank,
                       const Place &place, uint64_t seed, Values &values, JobProgress &progress)
    : Rank(agenda, pool, scenario, job, rank, seed, progress), values_(values)
{
    gn_worker_config config = {};
    config.job = static_cast<uint16_t>(job + 1);
    config.gen = 1;
    config.rank = static_cast<uint16_t>(rank);
    config.ranks = static_cast<uint16_t>(job_.workers);
    config.bit = static_cast<uint8_t>(place.bit);
    config.children = static_cast<uint8_t>(place.children);
    config.slots = static_cast<uint16_t>(job_.slots);
    config.first_window = static_cast<uint16_t>(job_.first_window);
    config.packet_values = static_cast<uint16_t>(scenario.packet_values);
    config.format = scenario.format;
    config.rto_min_ns = scenario.rto_min_ns;
    config.mode = place.memory;
    config.priority = static_cast<uint16_t>(job_.priority);
    config.after = [](void *host, size_t first, size_t count) { static_cast<WorkerHost *>(host)->check(first, count); };
    config.context = this;
    if (gn_worker_new(&worker_, &config)) throw std::runtime_error("a worker of " + job_.name + " cannot be made");
    gn_worker_set_halves(worker_, scenario.format == GN_AGG_HALF);
}

void WorkerHost::post(const Tensor &tensor)
{
    gn_worker_set_priority(worker_, schedule_.priority(static_cast<uint64_t>(agenda_.now_ns())));
    if (gn_worker_post(worker_, values_.of(rank_, posted()), values_.scratch(), tensor.values))
        throw std::runtime_error("a vector of " + job_.name + " cannot be posted");
}

bool WorkerHost::next(int64_t now, Datagram &out)
{
    const size_t bytes = gn_worker_send(worker_, now, out.data(), out.room());
    out.set_size(bytes);
    return bytes;
}

void WorkerHost::take(int64_t now, const Datagram &datagram)
{
    gn_worker_rx(worker_, now, datagram.data(), datagram.size());
    if (summing() && gn_worker_done(worker_)) summed(now);
}

void WorkerHost::check(size_t first, size_t count)
{
    progress_.values += count;
    try {
        values_.check(values_.scratch() + first, first, count, posted(), job_.workers);
    } catch (const std::runtime_error &e) {
        throw std::runtime_error(job_.name + ", rank " + std::to_string(rank_) + ": " + e.what());
    }
}

ServerHost::ServerHost(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, unsigned level,
                       unsigned children)
    : Host(agenda, pool, scenario.jobs[job].start_ns)
{
    const JobSetup &setup = scenario.jobs[job];
    gn_ps_config config = {};
    config.job = static_cast<uint16_t>(job + 1);
    config.gen = 1;
    config.format = scenario.format;
    config.slots = static_cast<uint16_t>(setup.slots);
    config.packet_values = static_cast<uint16_t>(scenario.packet_values);
    config.level = static_cast<uint8_t>(level);
    config.children = static_cast<uint8_t>(children);
    config.rto_min_ns = scenario.rto_min_ns;
    if (gn_ps_new(&ps_, &config)) throw std::runtime_error("the parameter server of " + setup.name + " cannot be made");
}

bool ServerHost::next(int64_t now, Datagram &out)
{
    const size_t bytes = gn_ps_send(ps_, now, out.data(), out.room());
    out.set_size(bytes);
    return bytes;
}

}  // namespace sim_net
