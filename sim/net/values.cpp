// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sim_net
{

static uint64_t longest(const Scenario &scenario)
{
    uint64_t most = 0;
    for (const JobSetup &job : scenario.jobs)
        for (const Tensor &tensor : job.tensors)
            if (job.exchange == Exchange::SWITCH) most = std::max(most, tensor.values);
    return most;
}

// A half keeps 11 bits of a sum.
Values::Values(const Scenario &scenario)
    : tolerance_(scenario.format == GN_AGG_HALF ? 0x1p-11F : 0), values_(longest(scenario) + PERIOD),
      sums_(longest(scenario))
{
    for (size_t i = 0; i < values_.size(); i++) values_[i] = value(i);
    for (const JobSetup &job : scenario.jobs) {
        std::vector<float> &sums = expected_[job.workers];
        sums.assign(2 * PERIOD, 0);
        for (uint64_t i = 0; i < sums.size(); i++)
            for (uint64_t rank = 0; rank < job.workers; rank++) sums[i] += value(i + place(rank, 0));
    }
}

void Values::check(const float *sums, size_t first, size_t count, uint64_t number, uint64_t ranks) const
{
    const float *expected = expected_.at(ranks).data();
    const float tolerance = tolerance_;
    for (size_t i = 0; i < count;) {
        const size_t at = (first + i + number) % PERIOD, run = std::min<size_t>(count - i, PERIOD);
        unsigned wrong = 0;  // not a bool, so that compilers make vectors of it
        for (size_t k = 0; k < run; k++)
            wrong |= !(std::fabs(sums[i + k] - expected[at + k]) <= tolerance * expected[at + k]);
        if (wrong) throw std::runtime_error("a sum is wrong, from value " + std::to_string(first + i) + " on");
        i += run;
    }
}

}  // namespace sim_net
