// SPDX-License-Identifier: Apache-2.0
// Switches, alone or in a tree, with all hosts around them.
#pragma once

#include <functional>

#include "node.h"
#include "occupation.h"
#include "peer.h"

namespace sim_net
{

// A look at the switches and their jobs, every sample_ns.
struct Sample {
    uint64_t ns;
    std::vector<uint64_t> held;          // slots, by job
    std::vector<uint64_t> sent, resent;  // packets of workers so far, by job
};

// Of a job, at all switches; results are the root's.
struct SwitchCounters {
    uint64_t results, collisions, evictions, to_ps;
};

class Network : public Source
{
  public:
    Network(const Scenario &scenario, uint64_t seed);
    Network(const Network &) = delete;
    Network &operator=(const Network &) = delete;

    // Until all jobs are done. Meanwhile it tells how many values have their sum at their worker,
    // of about scenario().total_values(). false: limit_s was over before.
    bool run(const std::function<void(uint64_t)> &tell);

    const Scenario &scenario() const { return s_; }
    const JobProgress &progress(size_t job) const { return progress_[job]; }
    gn_worker_stats worker_stats(size_t job) const;  // summed over workers: sent, resent, queries, marked, cuts
    SwitchCounters counters(size_t job) const;
    LinkCounters links() const;
    Occupation &occupation() { return occupation_; }
    const std::vector<Sample> &samples() const { return samples_; }

    // All packets on links, from now on.
    void watch(Watcher &watcher);
    void due() override;  // a sample

  private:
    void add_switches(uint64_t &seeds);
    void add_job(size_t job, uint64_t &seeds);
    void add_peers(size_t job, uint64_t &seeds);
    uint16_t connect(Host &host, size_t leaf, uint64_t &seeds);
    void add_to_switches(size_t job, std::vector<gn_switch_job> entries, uint64_t &seeds);
    bool finished() const;

    const Scenario s_;
    Agenda agenda_;
    Pool pool_;
    Values values_;
    std::vector<std::vector<std::unique_ptr<Node>>> nodes_;  // by level, the leaves first
    std::vector<JobProgress> progress_;
    std::vector<std::vector<std::unique_ptr<Rank>>> ranks_;  // by job
    std::vector<std::unique_ptr<ServerHost>> servers_;
    std::vector<std::unique_ptr<Peers>> peers_;
    std::vector<std::unique_ptr<PeerServer>> peer_servers_;
    uint32_t hosts_ = 0;
    Occupation occupation_;
    std::vector<Sample> samples_;
};

}  // namespace sim_net
