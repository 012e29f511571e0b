// SPDX-License-Identifier: Apache-2.0
#include "shards.h"

#include <algorithm>
#include <stdexcept>

namespace sim_net
{

Shards::Shards(Connections &connections, const JobSetup &job, uint64_t weight, uint64_t total)
    : connections_(connections), ranks_(job.workers), owners_(job.exchange == Exchange::AGGREGATOR ? 1 : job.workers),
      first_owner_(job.exchange == Exchange::SERVERS ? job.workers : 0), weight_(weight), total_(total),
      own_(connections.own()), gather_first_(job.peer.gather_first)
{
}

void Shards::begin(uint64_t vector, uint64_t bytes)
{
    vector_ = vector;
    bytes_ = bytes;
    gathered_ = 0;
    const bool is_rank = own_ < ranks_;
    const uint64_t mine = owns() ? own_ - first_owner_ : 0, first = start_of(mine),
                   end = owns() ? start_of(mine + 1) : first;
    awaited_ = is_rank ? bytes : end - first;
    units_.assign((end - first + connections_.unit() - 1) / connections_.unit(), {weight_, ranks_ - is_rank});
    if (owns() && is_rank && ranks_ == 1) whole(end - first, weight_);
    // Each begins with another owner, so that not all send to one.
    for (uint64_t i = 1; is_rank && i <= owners_; i++) {
        const uint64_t owner = (own_ + i) % owners_;
        if (owner + first_owner_ == own_) continue;
        connections_.send(static_cast<uint32_t>(owner + first_owner_),
                          {vector, start_of(owner), start_of(owner + 1) - start_of(owner), weight_, 0, 0, 0, false,
                           false, false, 0, 0});
    }
}

void Shards::add(const Piece &piece)
{
    Unit &unit = units_.at((piece.offset - start_of(own_ - first_owner_)) / connections_.unit());
    unit.weight += piece.weight;
    if (--unit.missing) return;
    whole(piece.bytes, unit.weight);
    Piece sum = piece;
    sum.weight = unit.weight;
    if (!gather_first_) {
        send_back(sum);
        return;
    }
    if (++gathered_ < units_.size()) return;
    sum.offset = start_of(own_ - first_owner_);
    sum.bytes = start_of(own_ - first_owner_ + 1) - sum.offset;
    send_back(sum);
}

void Shards::send_back(Piece sum)
{
    sum.hop = 1;
    sum.back = true;
    for (uint64_t i = 1; i <= ranks_; i++) {
        const uint64_t rank = (own_ + i) % ranks_;
        if (rank != own_) connections_.send(static_cast<uint32_t>(rank), sum);
    }
}

void Shards::take(const Piece &piece)
{
    if (piece.hop)
        whole(piece.bytes, piece.weight);
    else
        add(piece);
}

void Shards::whole(uint64_t bytes, uint64_t weight)
{
    if (weight != total_ || bytes > awaited_)
        throw std::runtime_error("a sum is wrong at member " + std::to_string(own_));
    awaited_ -= bytes;
}

}  // namespace sim_net
