// SPDX-License-Identifier: Apache-2.0
#include "peer.h"

#include <algorithm>

#include "rings.h"
#include "shards.h"

namespace sim_net
{

static std::unique_ptr<Summing> new_summing(Connections &connections, const JobSetup &job, uint64_t weight,
                                            uint64_t total)
{
    if (job.exchange == Exchange::RING || job.exchange == Exchange::GROUP_RING)
        return std::make_unique<Rings>(connections, job, weight, total);
    return std::make_unique<Shards>(connections, job, weight, total);
}

// Weights are below 2^16, so a vector of 2^30 bytes times 2^10 of them stays below 2^64.
Peers::Peers(const JobSetup &job)
{
    uint64_t state = 1;
    for (uint64_t i = 0; i < job.workers; i++) {
        weights.push_back(splitmix64(&state) >> 48);
        total += weights.back();
    }
}

PeerHost::PeerHost(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, uint64_t rank, uint32_t host,
                   uint64_t seed, JobProgress &progress, Peers &peers)
    : Rank(agenda, pool, scenario, job, rank, seed, progress), peers_(peers),
      connections_(job_.peer, scenario, static_cast<uint32_t>(rank), peers.hosts),
      sum_(new_summing(connections_, job_, peers.weights[rank], peers.total))
{
    peers.members.push_back(this);
    peers.hosts.push_back(host);
}

gn_worker_stats PeerHost::stats() const
{
    gn_worker_stats stats = {};
    stats.sent = connections_.sent();
    stats.resent = connections_.resent();
    return stats;
}

void PeerHost::credit(uint32_t by, uint64_t bytes)
{
    connections_.credit(by, bytes);
    nudge();
}

void PeerHost::begin()
{
    connections_.catch_up(agenda_.now_ns());
    Rank::begin();
}

// A timeout, or the next sum.
int64_t PeerHost::deadline() const
{
    const int64_t tcp = connections_.deadline(), next = Rank::deadline();
    return tcp < 0 || next < 0 ? std::max(tcp, next) : std::min(tcp, next);
}

void PeerHost::post(const Tensor &tensor)
{
    sum_->begin(posted(), tensor.values * sizeof(float));
    const std::vector<Piece> there = std::move(later_);
    later_.clear();
    for (const Piece &piece : there) handle(piece);
    if (summing() && sum_->done()) summed(agenda_.now_ns());
}

// What comes for a vector that this rank has not begun stays in the connection.
void PeerHost::handle(const Piece &piece)
{
    if (!summing() || piece.vector != posted()) {
        later_.push_back(piece);
        return;
    }
    peers_.members[piece.from]->credit(connections_.own(), piece.bytes);
    sum_->take(piece);
    if (piece.back) progress_.values += piece.bytes / sizeof(float);
}

void PeerHost::take(int64_t now, const Datagram &datagram)
{
    std::vector<Piece> there;
    connections_.take(now, datagram, there);
    for (const Piece &piece : there) handle(piece);
    if (summing() && sum_->done()) summed(now);
}

PeerServer::PeerServer(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t job, uint64_t number, uint32_t host,
                       Peers &peers)
    : Host(agenda, pool, 0), job_(scenario.jobs[job]), peers_(peers),
      connections_(job_.peer, scenario, static_cast<uint32_t>(job_.workers + number), peers.hosts),
      sum_(new_summing(connections_, job_, 0, peers.total))
{
    peers.members.push_back(this);
    peers.hosts.push_back(host);
}

void PeerServer::credit(uint32_t by, uint64_t bytes)
{
    connections_.credit(by, bytes);
    nudge();
}

// A rank sends the next vector when it has all sums of this one. Then its sum is whole here, too.
void PeerServer::handle(const Piece &piece)
{
    if (piece.vector > vector_) {
        vector_ = piece.vector;
        const Tensor &tensor = job_.tensors[(vector_ - 1) % job_.tensors.size()];
        sum_->begin(vector_, tensor.values * sizeof(float));
    }
    peers_.members[piece.from]->credit(connections_.own(), piece.bytes);
    sum_->take(piece);
}

void PeerServer::take(int64_t now, const Datagram &datagram)
{
    std::vector<Piece> there;
    connections_.take(now, datagram, there);
    for (const Piece &piece : there) handle(piece);
}

}  // namespace sim_net
