// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <stdexcept>

namespace sim_net
{

Datagram marked_datagram(const Datagram &datagram)
{
    gn_agg_packet packet;
    if (gn_agg_parse(datagram->data(), datagram->size(), &packet)) throw std::runtime_error("a datagram is malformed");
    packet.flags |= GN_AGG_ECN;
    std::vector<uint8_t> bytes(datagram->size());
    bytes.resize(gn_agg_write_again(&packet, bytes.data(), bytes.size()));
    return std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
}

Host::Host(sc_core::sc_module_name, size_t room, uint64_t start_ns) : room_(room)
{
    SC_METHOD(pump);
    sensitive << wake_;
    dont_initialize();
    wake_.notify(ps(start_ns * 1000));
}

void Host::arrive(const Datagram &datagram, bool marked)
{
    const Datagram d = marked ? marked_datagram(datagram) : datagram;
    take(now_ns(), d->data(), d->size());
    pump();
}

void Host::pump()
{
    const uint64_t now = now_ps();
    begin();
    while (up->free_ps() <= now) {
        const size_t bytes = next(now_ns(), room_.data(), room_.size());
        if (!bytes) {
            // A wake-up that is planned for an earlier time stays.
            const int64_t until = deadline();
            if (until >= 0) wake_.notify(ps(std::max(static_cast<uint64_t>(until) * 1000, now + 1000) - now));
            return;
        }
        up->send(
            std::make_shared<const std::vector<uint8_t>>(room_.begin(), room_.begin() + static_cast<ptrdiff_t>(bytes)));
    }
    wake_.notify(ps(up->free_ps() - now));
}

WorkerHost::WorkerHost(sc_core::sc_module_name name, const Scenario &scenario, size_t job, uint64_t rank, uint64_t seed,
                       std::function<void()> finished)
    : Host(name, gn_agg_bound(scenario.packet_values), scenario.jobs[job].start_ns), job_(scenario.jobs[job]),
      rank_(rank), random_(seed), finished_(std::move(finished)), vector_(job_.values)
{
    gn_worker_config config = {};
    config.job = static_cast<uint16_t>(job + 1);
    config.gen = 1;
    config.rank = static_cast<uint16_t>(rank);
    config.ranks = static_cast<uint16_t>(job_.workers);
    config.bit = static_cast<uint8_t>(rank);
    config.children = static_cast<uint8_t>(job_.workers);
    config.slots = static_cast<uint16_t>(job_.slots);
    config.packet_values = static_cast<uint16_t>(scenario.packet_values);
    config.rto_min_ns = scenario.rto_min_ns;
    config.mode = scenario.mode;
    config.priority = static_cast<uint16_t>(job_.priority);
    if (gn_worker_new(&worker_, &config)) throw std::runtime_error("a worker of " + job_.name + " cannot be made");
    plan(job_.start_ns);
}

constexpr uint64_t PERIOD = 64;  // of the values, over their index

// Small integers: their sums are exact.
float WorkerHost::value(uint64_t index, uint64_t rank) const
{
    return static_cast<float>((index * 7 + rank * 3 + posted_) % PERIOD);
}

void WorkerHost::plan(uint64_t after_ns)
{
    const double straggles = uniform(random_) * static_cast<double>(job_.straggle_ns);
    begin_ns_ = static_cast<int64_t>(after_ns + job_.compute_ns + static_cast<uint64_t>(straggles));
}

void WorkerHost::begin()
{
    if (begin_ns_ < 0 || begin_ns_ > now_ns()) return;
    begin_ns_ = -1;
    posted_++;
    for (uint64_t i = 0; i < job_.values; i++) vector_[i] = value(i, rank_);
    if (gn_worker_post(worker_, vector_.data(), vector_.data(), vector_.size()))
        throw std::runtime_error("a vector of " + job_.name + " cannot be posted");
}

int64_t WorkerHost::deadline() const
{
    return begin_ns_ >= 0 ? begin_ns_ : gn_worker_deadline(worker_);
}

void WorkerHost::take(int64_t now, const void *datagram, size_t bytes)
{
    const bool was_done = gn_worker_done(worker_);
    gn_worker_rx(worker_, now, datagram, bytes);
    if (was_done || !gn_worker_done(worker_)) return;
    check();
    if (posted_ < job_.vectors)
        plan(static_cast<uint64_t>(now));
    else
        finished_();
}

void WorkerHost::check() const
{
    float sums[PERIOD] = {};
    for (uint64_t i = 0; i < PERIOD; i++)
        for (uint64_t rank = 0; rank < job_.workers; rank++) sums[i] += value(i, rank);
    for (uint64_t i = 0; i < job_.values; i++) {
        if (vector_[i] != sums[i % PERIOD])
            throw std::runtime_error(job_.name + ", rank " + std::to_string(rank_) + ": value " + std::to_string(i) +
                                     " is a wrong sum");
    }
}

ServerHost::ServerHost(sc_core::sc_module_name name, const Scenario &scenario, size_t job)
    : Host(name, gn_agg_bound(scenario.packet_values), scenario.jobs[job].start_ns)
{
    const JobSetup &setup = scenario.jobs[job];
    gn_ps_config config = {};
    config.job = static_cast<uint16_t>(job + 1);
    config.gen = 1;
    config.slots = static_cast<uint16_t>(setup.slots);
    config.packet_values = static_cast<uint16_t>(scenario.packet_values);
    config.children = static_cast<uint8_t>(setup.workers);
    config.rto_min_ns = scenario.rto_min_ns;
    if (gn_ps_new(&ps_, &config)) throw std::runtime_error("the parameter server of " + setup.name + " cannot be made");
}

}  // namespace sim_net
