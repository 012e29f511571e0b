// SPDX-License-Identifier: Apache-2.0
// One switch with all hosts around it.
#pragma once

#include <memory>

#include <gradnic/switch.h>

#include "host.h"

namespace sim_net
{

struct JobResult {
    uint64_t finished_workers, end_ps;
};

class Star
{
  public:
    Star(const Scenario &scenario, uint64_t seed);
    Star(const Star &) = delete;
    Star &operator=(const Star &) = delete;

    const Scenario &scenario() const { return s_; }
    const JobResult &result(size_t job) const { return results_[job]; }
    gn_worker_stats worker_stats(size_t job) const;  // summed over workers: sent, resent, queries, marked, cuts
    const gn_switch_counters &counters(size_t job) const { return *gn_switch_job_counters(&switch_, job_index(job)); }
    LinkCounters links() const;
    bool finished() const;

  private:
    static unsigned job_index(size_t job) { return static_cast<unsigned>(job); }  // jobs come in this order
    void add_switch();
    void add_job(size_t job, uint64_t &seeds);
    void connect(Host &host, uint64_t &seeds);
    void arrive(uint16_t port, const Datagram &datagram, bool marked);
    void carry_out(const gn_action &action);

    const Scenario s_;
    gn_switch switch_ = {};
    std::vector<uint64_t> memory_;
    std::vector<uint8_t> room_;
    std::vector<std::unique_ptr<WorkerHost>> workers_;
    std::vector<std::unique_ptr<ServerHost>> servers_;
    std::vector<std::unique_ptr<Link>> up_, down_;  // by port
    std::vector<JobResult> results_;
};

}  // namespace sim_net
