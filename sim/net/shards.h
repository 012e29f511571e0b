// SPDX-License-Identifier: Apache-2.0
// A sum by owners: each has a block of the vector, adds what comes from all ranks, and sends the
// sum back to all. The owners are all ranks (direct), rank 0 (worker-aggregator), or parameter
// servers beside the ranks.
#pragma once

#include "connections.h"

namespace sim_net
{

class Shards : public Summing
{
  public:
    // `weight`: this rank's; a parameter server's is 0. `total`: of all.
    Shards(Connections &connections, const JobSetup &job, uint64_t weight, uint64_t total);

    void begin(uint64_t vector, uint64_t bytes) override;
    void take(const Piece &piece) override;
    bool done() const override { return !awaited_; }

  private:
    struct Unit {
        uint64_t weight;
        uint64_t missing;  // ranks
    };
    uint64_t start_of(uint64_t owner) const { return bytes_ / 4 * owner / owners_ * 4; }
    bool owns() const { return own_ >= first_owner_ && own_ < first_owner_ + owners_; }
    void add(const Piece &piece);
    void send_back(Piece sum);
    void whole(uint64_t bytes, uint64_t weight);

    Connections &connections_;
    const uint64_t ranks_, owners_, first_owner_, weight_, total_, own_;
    const bool gather_first_;
    uint64_t vector_ = 0, bytes_ = 0;
    uint64_t awaited_ = 0;  // bytes that are to become whole here
    std::vector<Unit> units_;
    uint64_t gathered_ = 0;  // of them that are whole
};

}  // namespace sim_net
