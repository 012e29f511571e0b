// SPDX-License-Identifier: Apache-2.0
// One switch with all hosts around it.
#pragma once

#include <functional>
#include <memory>

#include <gradnic/switch.h>

#include "host.h"
#include "occupation.h"

namespace sim_net
{

// A look at the switch and its jobs, every sample_ns.
struct Sample {
    uint64_t ns;
    std::vector<uint64_t> held;          // slots, by job
    std::vector<uint64_t> sent, resent;  // packets of workers so far, by job
};

class Star : public Source
{
  public:
    Star(const Scenario &scenario, uint64_t seed);
    Star(const Star &) = delete;
    Star &operator=(const Star &) = delete;

    // Until all jobs are done. false: limit_s was over before.
    bool run();

    const Scenario &scenario() const { return s_; }
    const JobProgress &progress(size_t job) const { return progress_[job]; }
    gn_worker_stats worker_stats(size_t job) const;  // summed over workers: sent, resent, queries, marked, cuts
    const gn_switch_counters &counters(size_t job) const { return *gn_switch_job_counters(&switch_, job_index(job)); }
    LinkCounters links() const;
    Occupation &occupation() { return occupation_; }
    const std::vector<Sample> &samples() const { return samples_; }

    void due() override;  // a sample

  private:
    static unsigned job_index(size_t job) { return static_cast<unsigned>(job); }  // jobs come in this order
    void add_switch();
    void add_job(size_t job, uint64_t &seeds);
    void connect(Host &host, uint64_t &seeds);
    void arrive(uint16_t port, const Datagram &datagram, bool marked);
    void carry_out(const gn_action &action);
    bool finished() const;

    const Scenario s_;
    Agenda agenda_;
    Pool pool_;
    Values values_;
    gn_switch switch_ = {};
    std::vector<uint64_t> memory_;
    std::vector<JobProgress> progress_;
    std::vector<std::unique_ptr<WorkerHost>> workers_;
    std::vector<std::unique_ptr<ServerHost>> servers_;
    std::vector<std::unique_ptr<Link>> up_, down_;  // by port
    Occupation occupation_;
    std::vector<Sample> samples_;
};

}  // namespace sim_net
