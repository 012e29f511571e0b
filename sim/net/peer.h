// SPDX-License-Identifier: Apache-2.0
// Hosts that sum without a switch: ranks, and the parameter servers beside them.
#pragma once

#include <memory>

#include "connections.h"
#include "host.h"

namespace sim_net
{

// A member of a job: a rank or a parameter server.
class Peer
{
  public:
    virtual ~Peer() = default;
    // Another member has taken so many bytes.
    virtual void credit(uint32_t by, uint64_t bytes) = 0;
};

// The members of a job, the ranks first.
struct Peers {
    explicit Peers(const JobSetup &job);
    std::vector<Peer *> members;
    std::vector<uint32_t> hosts;    // numbers of their hosts
    std::vector<uint64_t> weights;  // of ranks
    uint64_t total = 0;             // of all weights
};

class PeerHost : public Rank, public Peer
{
  public:
    PeerHost(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, uint64_t rank, uint32_t host,
             uint64_t seed, JobProgress &progress, Peers &peers);
    gn_worker_stats stats() const override;
    std::string name() const override { return "rank " + std::to_string(rank_); }
    void credit(uint32_t by, uint64_t bytes) override;

  protected:
    void begin() override;
    bool next(int64_t now, Datagram &out) override { return connections_.next(now, out); }
    int64_t deadline() const override;
    void take(int64_t now, const Datagram &datagram) override;
    void post(const Tensor &tensor) override;
    int64_t summing_deadline() const override { return GN_NEVER; }

  private:
    void handle(const Piece &piece);
    Peers &peers_;
    Connections connections_;
    std::unique_ptr<Summing> sum_;
    std::vector<Piece> later_;  // of vectors that this rank has not begun
};

class PeerServer : public Host, public Peer
{
  public:
    PeerServer(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, uint64_t number, uint32_t host,
               Peers &peers);
    std::string name() const override { return "server " + std::to_string(connections_.own() - job_.workers); }
    void credit(uint32_t by, uint64_t bytes) override;

  protected:
    void begin() override { connections_.catch_up(agenda_.now_ns()); }
    bool next(int64_t now, Datagram &out) override { return connections_.next(now, out); }
    int64_t deadline() const override { return connections_.deadline(); }
    void take(int64_t now, const Datagram &datagram) override;

  private:
    void handle(const Piece &piece);
    const JobSetup job_;
    Peers &peers_;
    Connections connections_;
    std::unique_ptr<Summing> sum_;
    uint64_t vector_ = 0;  // that it sums
};

}  // namespace sim_net
