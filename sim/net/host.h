// SPDX-License-Identifier: Apache-2.0
// Hosts: one has a worker, or a parameter server, and a link to the switch. It hands over a
// datagram when the link is free, as a NIC does.
#pragma once

#include <gradnic/ps.h>
#include <gradnic/worker.h>

#include "link.h"

namespace sim_net
{

// The datagram with the mark of a queue on its way.
Datagram marked_datagram(const Datagram &datagram);

SC_MODULE(Host)
{
    SC_HAS_PROCESS(Host);
    Host(sc_core::sc_module_name, size_t room, uint64_t start_ns);
    Link *up = nullptr;

    void arrive(const Datagram &datagram, bool marked);

  protected:
    virtual void begin() {}  // a chance to do what is due now
    virtual size_t next(int64_t now, void *out, size_t room) = 0;
    virtual int64_t deadline() const = 0;  // in ns; below 0: none
    virtual void take(int64_t now, const void *datagram, size_t bytes) = 0;

  private:
    void pump();
    std::vector<uint8_t> room_;
    sc_core::sc_event wake_;
};

// A worker with its vectors. It checks every sum.
class WorkerHost : public Host
{
  public:
    WorkerHost(sc_core::sc_module_name name, const Scenario &scenario, size_t job, uint64_t rank, uint64_t seed,
               std::function<void()> finished);
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
    float value(uint64_t index, uint64_t rank) const;
    void plan(uint64_t after_ns);
    void check() const;
    const JobSetup job_;
    const uint64_t rank_;
    uint64_t random_, posted_ = 0;
    int64_t begin_ns_ = 0;  // of the next vector; below 0: one is under way, or there is none
    std::function<void()> finished_;
    gn_worker *worker_ = nullptr;
    std::vector<float> vector_;
};

class ServerHost : public Host
{
  public:
    ServerHost(sc_core::sc_module_name name, const Scenario &scenario, size_t job);
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
