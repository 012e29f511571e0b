// SPDX-License-Identifier: Apache-2.0
#include "node.h"

#include <stdexcept>

namespace sim_net
{

Node::Node(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t level, std::string name)
    : agenda_(agenda), pool_(pool), s_(scenario), name_(std::move(name))
{
    gn_switch_config config = {};
    config.slots = static_cast<uint32_t>(s_.switch_slots);
    config.slot_values = static_cast<uint16_t>(s_.packet_values);
    config.jobs = static_cast<uint16_t>(s_.jobs.size());
    config.mode = s_.memory(level);
    if (config.mode != GN_PARTITIONED) config.results = s_.mode.results;
    config.preempting = s_.mode.preempting;
    for (const JobSetup &job : s_.jobs)
        if (job.exchange == Exchange::SWITCH) config.windows += static_cast<uint32_t>(job.slots);
    const size_t bytes = gn_switch_bytes(&config);
    memory_.resize(bytes / sizeof(uint64_t) + 1);
    if (!bytes || gn_switch_init(&switch_, &config, memory_.data(), bytes))
        throw std::runtime_error("the switch cannot be made");
}

uint16_t Node::connect(Host &host, uint64_t &seeds)
{
    const uint16_t port = static_cast<uint16_t>(out_.size());
    links_.push_back(std::make_unique<Link>(
        agenda_, s_.link, splitmix64(&seeds),
        [this, port](const Datagram &datagram, bool marked) { arrive(port, datagram, marked); }));
    host.up = links_.back().get();
    host.up->ends = {host.name(), name_};
    links_.push_back(
        std::make_unique<Link>(agenda_, s_.link, splitmix64(&seeds),
                               [&host](const Datagram &datagram, bool marked) { host.arrive(datagram, marked); }));
    links_.back()->ends = {name_, host.name()};
    out_.push_back(links_.back().get());
    return port;
}

uint16_t Node::connect(Node &below, uint64_t &seeds)
{
    const uint16_t port = static_cast<uint16_t>(out_.size()), theirs = static_cast<uint16_t>(below.out_.size());
    links_.push_back(std::make_unique<Link>(
        agenda_, s_.uplink, splitmix64(&seeds),
        [this, port](const Datagram &datagram, bool marked) { arrive(port, datagram, marked); }));
    links_.back()->ends = {below.name_, name_};
    below.out_.push_back(links_.back().get());
    below.parent_port_ = theirs;
    links_.push_back(std::make_unique<Link>(
        agenda_, s_.uplink, splitmix64(&seeds),
        [&below, theirs](const Datagram &datagram, bool marked) { below.arrive(theirs, datagram, marked); }));
    links_.back()->ends = {name_, below.name_};
    out_.push_back(links_.back().get());
    return port;
}

void Node::add_route(uint32_t host, uint16_t port)
{
    if (routes_.size() <= host) routes_.resize(host + 1, NONE);
    routes_[host] = port;
}

void Node::add_job(const gn_switch_job &job)
{
    if (gn_switch_add_job(&switch_, &job))
        throw std::runtime_error("a switch has no room for " + s_.jobs[job.job - 1u].name);
}

const gn_switch_counters *Node::counters(uint16_t job) const
{
    for (unsigned i = 0; const gn_switch_job *there = gn_switch_job_at(&switch_, i); i++)
        if (there->job == job) return gn_switch_job_counters(&switch_, i);
    return nullptr;
}

void Node::pass_on(const Datagram &datagram)
{
    const uint16_t port = datagram.to() < routes_.size() ? routes_[datagram.to()] : NONE;
    out_[port == NONE ? parent_port_ : port]->send(datagram);
}

void Node::arrive(uint16_t port, const Datagram &datagram, bool marked)
{
    if (datagram.to() != FOR_SWITCH) {
        pass_on(datagram);
        return;
    }
    const Datagram d = marked ? marked_datagram(pool_, datagram) : datagram;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    const unsigned count =
        gn_switch_rx(&switch_, static_cast<uint64_t>(agenda_.now_ns()), port, d.data(), d.size(), actions);
    for (unsigned i = 0; i < count; i++) carry_out(actions[i]);
}

void Node::carry_out(const gn_action &action)
{
    if (action.kind == GN_TO_NOBODY) return;
    Datagram out(pool_);
    const size_t bytes = gn_action_write(&switch_, &action, out.data(), out.room());
    if (!bytes) throw std::runtime_error("a datagram of the switch is too long");
    out.set_size(bytes);
    const gn_switch_job &job = *gn_switch_job_at(&switch_, action.job_index);
    if (action.kind == GN_TO_GROUP)
        for (unsigned i = 0; i < job.children; i++) out_[job.port[i]]->send(out);
    else
        out_[action.port]->send(out);
}

}  // namespace sim_net
