// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <algorithm>
#include <stdexcept>

namespace sim_net
{

static uint64_t switches_for(uint64_t count, uint64_t children)
{
    return (count + children - 1) / children;
}

Network::Network(const Scenario &scenario, uint64_t seed)
    : s_(scenario), pool_(std::max(gn_agg_bound(scenario.packet_values), sizeof(Piece))), values_(scenario),
      progress_(scenario.jobs.size()), ranks_(scenario.jobs.size())
{
    uint64_t seeds = seed;  // the stream of seeds: one for each worker and link
    add_switches(seeds);
    for (size_t job = 0; job < s_.jobs.size(); job++) add_job(job, seeds);
    if (!s_.sample_ns) return;
    agenda_.join(*this);
    agenda_.plan(*this, s_.sample_ns * 1000);
}

// As many as the largest job needs.
void Network::add_switches(uint64_t &seeds)
{
    uint64_t most = 1;
    for (const JobSetup &job : s_.jobs) most = std::max(most, job.workers);
    for (size_t level = 0; level < s_.tree.size(); level++) {
        most = switches_for(most, s_.tree[level]);
        nodes_.emplace_back();
        for (uint64_t i = 0; i < most; i++) {
            const std::string where = std::to_string(level) + "." + std::to_string(i);
            const std::string name = s_.tree.size() > 1 ? "switch " + where : "switch";
            nodes_.back().push_back(std::make_unique<Node>(agenda_, pool_, s_, level, name));
        }
    }
    if (nodes_.back().size() != 1) throw std::runtime_error("the tree of switches has no root");
    for (size_t level = 1; level < nodes_.size(); level++)
        for (size_t i = 0; i < nodes_[level - 1].size(); i++)
            nodes_[level][i / s_.tree[level]]->connect(*nodes_[level - 1][i], seeds);
}

// At a leaf, and known to all switches above it.
uint16_t Network::connect(Host &host, size_t leaf, uint64_t &seeds)
{
    const uint16_t port = nodes_[0][leaf]->connect(host, seeds);
    nodes_[0][leaf]->add_route(hosts_, port);
    size_t at = leaf;
    for (size_t level = 1; level < nodes_.size(); level++) {
        const uint64_t child = at % s_.tree[level];  // its port, for switches were connected before hosts
        at /= s_.tree[level];
        nodes_[level][at]->add_route(hosts_, static_cast<uint16_t>(child));
    }
    hosts_++;
    return port;
}

void Network::add_job(size_t job, uint64_t &seeds)
{
    const JobSetup &setup = s_.jobs[job];
    if (setup.exchange != Exchange::SWITCH) {
        add_peers(job, seeds);
        return;
    }
    std::vector<gn_switch_job> leaves(switches_for(setup.workers, s_.tree[0]));
    for (uint64_t rank = 0; rank < setup.workers; rank++) {
        const uint64_t leaf = rank / s_.tree[0], first = leaf * s_.tree[0];
        const Place place = {rank - first, std::min(s_.tree[0], setup.workers - first), s_.memory(0)};
        ranks_[job].push_back(std::make_unique<WorkerHost>(agenda_, pool_, s_, job, rank, place, splitmix64(&seeds),
                                                           values_, progress_[job]));
        gn_switch_job &entry = leaves[leaf];
        entry.port[entry.children++] = connect(*ranks_[job].back(), leaf, seeds);
    }
    add_to_switches(job, std::move(leaves), seeds);
}

void Network::add_peers(size_t job, uint64_t &seeds)
{
    const JobSetup &setup = s_.jobs[job];
    peers_.push_back(std::make_unique<Peers>(setup));
    Peers &peers = *peers_.back();
    for (uint64_t rank = 0; rank < setup.workers; rank++) {
        auto host = std::make_unique<PeerHost>(agenda_, pool_, s_, job, rank, hosts_, splitmix64(&seeds),
                                               progress_[job], peers);
        connect(*host, rank / s_.tree[0], seeds);
        ranks_[job].push_back(std::move(host));
    }
    // Parameter servers: as many as workers, beside them.
    for (uint64_t i = 0; setup.exchange == Exchange::SERVERS && i < setup.workers; i++) {
        peer_servers_.push_back(std::make_unique<PeerServer>(agenda_, pool_, s_, job, i, hosts_, peers));
        connect(*peer_servers_.back(), i / s_.tree[0], seeds);
    }
}

static unsigned contributions(const gn_switch_job &entry)
{
    return entry.bits ? entry.bits : entry.children;
}

// The entries of the switches above these ones, level by level, as admission makes them.
void Network::add_to_switches(size_t job, std::vector<gn_switch_job> entries, uint64_t &seeds)
{
    const JobSetup &setup = s_.jobs[job];
    const size_t root = nodes_.size() - 1;
    for (size_t level = 0; level <= root; level++) {
        for (size_t i = 0; i < entries.size(); i++) {
            entries[i].job = static_cast<uint16_t>(job + 1);
            entries[i].gen = 1;
            entries[i].slots = static_cast<uint16_t>(setup.slots);
            entries[i].format = s_.format;
            entries[i].level = static_cast<uint8_t>(std::min<uint64_t>(level, s_.own_levels));
            entries[i].leader = i ? GN_AGG_WORKERS_MAX : 0;
        }
        if (level == root) break;
        // Where both share slots, contributions go up as they are, each with a bit of its own.
        const bool nested = s_.memory(level) != GN_PARTITIONED;
        std::vector<gn_switch_job> above(switches_for(entries.size(), s_.tree[level + 1]));
        std::vector<unsigned> bits(above.size());
        for (size_t i = 0; i < entries.size(); i++) {
            gn_switch_job &child = entries[i], &parent = above[i / s_.tree[level + 1]];
            unsigned &before = bits[i / s_.tree[level + 1]];
            child.has_parent = true;
            child.parent_port = nodes_[level][i]->parent_port();
            child.parent_bit = static_cast<uint8_t>(nested ? before : parent.children);
            parent.first_bit[parent.children] = static_cast<uint8_t>(nested ? before : 0);
            parent.port[parent.children] = static_cast<uint16_t>(i % s_.tree[level + 1]);
            parent.children++;
            before += contributions(child);
            if (nested) parent.bits = static_cast<uint8_t>(before);
            if (nested && before > GN_AGG_WORKERS_MAX)
                throw std::runtime_error(setup.name + ": more than " + std::to_string(GN_AGG_WORKERS_MAX) +
                                         " contribute where slots are shared; give more levels slots of their own "
                                         "(switch.own_levels)");
        }
        for (size_t i = 0; i < entries.size(); i++) {
            entries[i].parent_fanin = static_cast<uint8_t>(contributions(above[i / s_.tree[level + 1]]));
            nodes_[level][i]->add_job(entries[i]);
        }
        entries = std::move(above);
    }
    if (s_.memory(root) != GN_PARTITIONED) {
        servers_.push_back(
            std::make_unique<ServerHost>(agenda_, pool_, s_, job, entries[0].level, contributions(entries[0])));
        entries[0].ps_port = nodes_[root][0]->connect(*servers_.back(), seeds);
    }
    nodes_[root][0]->add_job(entries[0]);
}

gn_worker_stats Network::worker_stats(size_t job) const
{
    gn_worker_stats sum = {};
    for (const std::unique_ptr<Rank> &rank : ranks_[job]) {
        const gn_worker_stats stats = rank->stats();
        sum.sent += stats.sent;
        sum.resent += stats.resent;
        sum.queries += stats.queries;
        sum.marked += stats.marked;
        sum.cuts += stats.cuts;
    }
    return sum;
}

SwitchCounters Network::counters(size_t job) const
{
    SwitchCounters sum = {};
    for (const auto &level : nodes_) {
        for (const std::unique_ptr<Node> &node : level) {
            const gn_switch_counters *c = node->counters(static_cast<uint16_t>(job + 1));
            if (!c) continue;
            sum.results = c->results;  // the root is last
            sum.collisions += c->collisions;
            sum.evictions += c->evictions;
            sum.to_ps += c->to_ps;
        }
    }
    return sum;
}

LinkCounters Network::links() const
{
    LinkCounters sum = {};
    for (const auto &level : nodes_) {
        for (const std::unique_ptr<Node> &node : level) {
            for (const std::unique_ptr<Link> &link : node->links()) {
                sum.packets += link->counters.packets;
                sum.bytes += link->counters.bytes;
                sum.lost += link->counters.lost;
                sum.dropped += link->counters.dropped;
                sum.marked += link->counters.marked;
            }
        }
    }
    return sum;
}

void Network::watch(Watcher &watcher)
{
    for (const auto &level : nodes_)
        for (const std::unique_ptr<Node> &node : level)
            for (const std::unique_ptr<Link> &link : node->links()) link->watch(watcher);
}

bool Network::finished() const
{
    for (size_t i = 0; i < progress_.size(); i++)
        if (progress_[i].finished_workers < s_.jobs[i].workers) return false;
    return true;
}

bool Network::run(const std::function<void(uint64_t)> &tell)
{
    constexpr unsigned BETWEEN_LOOKS = 1000;
    const auto until_ps = static_cast<uint64_t>(s_.limit_s * 1e12);
    for (;;) {
        for (unsigned i = 0; i < BETWEEN_LOOKS; i++)
            if (!agenda_.step(until_ps)) return finished();
        if (finished()) return true;
        uint64_t values = 0;
        for (const JobProgress &progress : progress_) values += progress.values;
        tell(values);
    }
}

void Network::due()
{
    constexpr size_t MOST_SAMPLES = 100000;  // all are kept for the report
    if (samples_.size() == MOST_SAMPLES)
        throw std::runtime_error("more than " + std::to_string(MOST_SAMPLES) + " samples: give a larger sample_ns");
    const auto now_ns = static_cast<uint64_t>(agenda_.now_ns());
    std::vector<const gn_switch *> cores;
    for (const auto &level : nodes_)
        for (const std::unique_ptr<Node> &node : level) cores.push_back(&node->core());
    occupation_.look(cores, s_.jobs.size(), now_ns);
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
