// SPDX-License-Identifier: Apache-2.0
// What a worker does when: it computes tensors one after the other, each is summed when it is there
// and the one before has its sum, and a layer's forward pass begins when the layer's sums are
// there.
#pragma once

#include <cstdint>
#include <vector>

#include "scenario.h"

namespace sim_net
{

class Schedule
{
  public:
    Schedule(const JobSetup &job, const LinkSetup &link, uint64_t packet_bytes, uint64_t packet_values, uint64_t seed);

    bool over() const { return iteration_ == job_.iterations; }
    uint64_t iteration() const { return iteration_; }
    size_t tensor() const { return tensor_; }
    // When the tensor's sum may begin.
    uint64_t next_ns() const { return next_ns_; }
    // The tensor has its sum.
    void done(uint64_t now_ns);
    // When the last iteration's forward pass was over.
    uint64_t end_ns() const { return end_ns_; }
    // Of the tensor, for a switch that preempts.
    uint16_t priority(uint64_t now_ns) const;

  private:
    void begin(uint64_t now_ns);
    uint64_t forward() const;
    const JobSetup job_;
    uint64_t random_;
    uint64_t iteration_ = 0, end_ns_ = 0, next_ns_ = 0;
    size_t tensor_ = 0;
    std::vector<uint64_t> ready_ns_, done_ns_;  // by tensor
    double communication_ns_, computation_ns_;  // of an iteration that has the links alone
};

}  // namespace sim_net
