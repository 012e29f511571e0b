// SPDX-License-Identifier: Apache-2.0
// Hosts: one has a worker, or a parameter server, and a link to the switch. It hands over a
// datagram when the link is free, as a NIC does.
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

    void arrive(const Datagram &datagram, bool marked);
    void due() override { pump(); }

  protected:
    virtual void begin() {}  // a chance to do what is due now
    virtual size_t next(int64_t now, void *out, size_t room) = 0;
    virtual int64_t deadline() const = 0;  // in ns; below 0: none
    virtual void take(int64_t now, const void *datagram, size_t bytes) = 0;
    Agenda &agenda_;

  private:
    void pump();
    Pool &pool_;
};

// What a job's workers have come to, together.
struct JobProgress {
    struct Exchange {
        uint64_t begin_ps, end_ps;  // the first worker's begin, the last worker's end
    };
    uint64_t finished_workers = 0, end_ps = 0;
    std::vector<Exchange> exchanges;  // by iteration
};

// A worker with its vectors. It checks every sum.
class WorkerHost : public Host
{
  public:
    WorkerHost(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, uint64_t rank, uint64_t seed,
               Values &values, JobProgress &progress);
    ~WorkerHost() override { gn_worker_free(worker_); }
    WorkerHost(const WorkerHost &) = delete;
    WorkerHost &operator=(const WorkerHost &) = delete;
    gn_worker_stats stats() const { return gn_worker_get_stats(worker_); }

  protected:
    void begin() override;
    size_t next(int64_t now, void *out, size_t room) override { return gn_worker_send(worker_, now, out, room); }
    int64_t deadline() const override;
    void take(int64_t now, const void *datagram, size_t bytes) override;

  private:
    void check(size_t first, size_t count) const;
    const JobSetup job_;
    const uint64_t rank_;
    Schedule schedule_;
    Values &values_;
    JobProgress &progress_;
    uint64_t posted_ = 0;
    bool summing_ = false;
    gn_worker *worker_ = nullptr;
};

class ServerHost : public Host
{
  public:
    ServerHost(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job);
    ~ServerHost() override { gn_ps_free(ps_); }
    ServerHost(const ServerHost &) = delete;
    ServerHost &operator=(const ServerHost &) = delete;
    gn_ps_stats stats() const { return gn_ps_get_stats(ps_); }

  protected:
    size_t next(int64_t now, void *out, size_t room) override { return gn_ps_send(ps_, now, out, room); }
    int64_t deadline() const override { return gn_ps_deadline(ps_); }
    void take(int64_t now, const void *datagram, size_t bytes) override { gn_ps_rx(ps_, now, datagram, bytes); }

  private:
    gn_ps *ps_ = nullptr;
};

}  // namespace sim_net
