// SPDX-License-Identifier: Apache-2.0
// Hosts: each has a link to a switch, and hands over a datagram when the link is free, as a NIC
// does. What it hands over is its class's: a worker's, a parameter server's, or a rank's that sums
// without a switch (peer.h).
#pragma once

#include <gradnic/ps.h>
#include <gradnic/worker.h>

#include "link.h"
#include "schedule.h"
#include "values.h"

namespace sim_net
{

// The datagram with the mark of a queue on its way.
Datagram marked_datagram(Pool &pool, const Datagram &datagram);

class Host : public Source
{
  public:
    Host(Agenda &agenda, Pool &pool, uint64_t start_ns);
    Link *up = nullptr;
    virtual std::string name() const = 0;

    void arrive(const Datagram &datagram, bool marked);
    void due() override { pump(); }

  protected:
    virtual void begin() {}                             // a chance to do what is due now
    virtual bool next(int64_t now, Datagram &out) = 0;  // false: nothing is to be sent now
    virtual int64_t deadline() const = 0;               // in ns; below 0: none
    virtual void take(int64_t now, const Datagram &datagram) = 0;
    // Sends what there is, if the link is free.
    void nudge()
    {
        if (up->free_ps() <= agenda_.now_ps()) pump();
    }
    Agenda &agenda_;

  private:
    void pump();
    Pool &pool_;
    Datagram blank_;  // the next one to send
};

// What a job's workers have come to, together.
struct JobProgress {
    struct Exchange {
        uint64_t begin_ps, end_ps;  // the first worker's begin, the last worker's end
    };
    uint64_t finished_workers = 0, end_ps = 0;
    uint64_t values = 0;              // that have come to their workers
    std::vector<Exchange> exchanges;  // by iteration
};

// A rank of a job, which sums its vectors one after the other.
class Rank : public Host
{
  public:
    Rank(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, uint64_t rank, uint64_t seed,
         JobProgress &progress);
    virtual gn_worker_stats stats() const = 0;

  protected:
    void begin() override;
    int64_t deadline() const override;
    virtual void post(const Tensor &tensor) = 0;   // begins a sum
    virtual int64_t summing_deadline() const = 0;  // of a sum that has begun
    void summed(int64_t now);                      // the sum is there
    bool summing() const { return summing_; }
    uint64_t posted() const { return posted_; }  // vectors that have begun
    const JobSetup job_;
    const uint64_t rank_;
    Schedule schedule_;
    JobProgress &progress_;

  private:
    uint64_t posted_ = 0;
    bool summing_ = false;
};

// A place at a switch, for a worker: its bit there, of so many, and how that switch shares slots.
struct Place {
    uint64_t bit, children;
    gn_memory_mode memory;
};

// A worker around switches that add. It checks every sum.
class WorkerHost : public Rank
{
  public:
    WorkerHost(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, uint64_t rank, const Place &place,
               uint64_t seed, Values &values, JobProgress &progress);
    ~WorkerHost() override { gn_worker_free(worker_); }
    WorkerHost(const WorkerHost &) = delete;
    WorkerHost &operator=(const WorkerHost &) = delete;
    gn_worker_stats stats() const override { return gn_worker_get_stats(worker_); }
    std::string name() const override { return "worker " + std::to_string(rank_); }

  protected:
    bool next(int64_t now, Datagram &out) override;
    void take(int64_t now, const Datagram &datagram) override;
    void post(const Tensor &tensor) override;
    int64_t summing_deadline() const override { return gn_worker_deadline(worker_); }

  private:
    void check(size_t first, size_t count);
    Values &values_;
    gn_worker *worker_ = nullptr;
};

class ServerHost : public Host
{
  public:
    // Of a switch of this level, where so many contribute.
    ServerHost(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, unsigned level, unsigned children);
    ~ServerHost() override { gn_ps_free(ps_); }
    ServerHost(const ServerHost &) = delete;
    ServerHost &operator=(const ServerHost &) = delete;
    std::string name() const override { return "server"; }

  protected:
    bool next(int64_t now, Datagram &out) override;
    int64_t deadline() const override { return gn_ps_deadline(ps_); }
    void take(int64_t now, const Datagram &datagram) override { gn_ps_rx(ps_, now, datagram.data(), datagram.size()); }

  private:
    gn_ps *ps_ = nullptr;
};

}  // namespace sim_net
