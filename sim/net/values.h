// SPDX-License-Identifier: Apache-2.0
// What workers sum: small integers that repeat, so that sums are exact and each can be checked. All
// workers read one piece of memory, from different places on, and write to one other. So a thousand
// workers need no more memory than one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "scenario.h"

namespace sim_net
{

class Values
{
  public:
    explicit Values(const Scenario &scenario);
    // Of a rank's vector `number`.
    const float *of(uint64_t rank, uint64_t number) const { return values_.data() + place(rank, number); }
    float *scratch() { return sums_.data(); }
    // Throws when `sums` are not those of vector `number` of so many ranks, from index `first` on.
    void check(const float *sums, size_t first, size_t count, uint64_t number, uint64_t ranks) const;

  private:
    static constexpr uint64_t PERIOD = 64;
    static uint64_t place(uint64_t rank, uint64_t number) { return (rank * 3 + number) % PERIOD; }
    static float value(uint64_t index) { return static_cast<float>(index * 7 % PERIOD); }
    const float tolerance_;  // of a sum, relative
    std::vector<float> values_, sums_;
    std::map<uint64_t, std::vector<float>> expected_;  // by number of ranks: a period of vector 0, twice
};

}  // namespace sim_net
