// SPDX-License-Identifier: Apache-2.0
// A sum by a ring (docs/collectives-protocol.md), or by rings within groups and across them. Bytes
// are passed on as they come.
#pragma once

#include "connections.h"

namespace sim_net
{

class Rings : public Summing
{
  public:
    // `weight`: this rank's; `total`: of all.
    Rings(Connections &connections, const JobSetup &job, uint64_t weight, uint64_t total);

    void begin(uint64_t vector, uint64_t bytes) override;
    void take(const Piece &piece) override;
    bool done() const override { return stage_ == stages_.size(); }

  private:
    // A ring, or one leg of it: sums in blocks, then handing them round.
    struct Stage {
        std::vector<uint32_t> members;
        uint32_t position;
        bool sums, hands_round;
        uint64_t offset, bytes;  // of what the ring sums, in the vector
    };
    void plan();
    uint64_t start_of(const Stage &stage, uint64_t block) const;
    uint64_t length_of(const Stage &stage, uint64_t block) const;
    void start();
    void handle(const Piece &piece);
    void pass_on(Piece piece, uint64_t weight, bool back);
    void whole(uint64_t bytes, uint64_t weight);
    void advance();

    Connections &connections_;
    const uint64_t ranks_, group_, own_weight_, total_;
    std::vector<Stage> stages_;
    size_t stage_ = 0;
    uint64_t vector_ = 0, bytes_ = 0;
    uint64_t weight_ = 0, next_weight_ = 0;  // of what this rank adds; in the next stage
    uint64_t awaited_ = 0;                   // bytes of this stage
    uint64_t whole_ = 0, checked_ = 0;       // bytes of sums; times their weights
    std::vector<Piece> later_;               // for later stages
};

}  // namespace sim_net
