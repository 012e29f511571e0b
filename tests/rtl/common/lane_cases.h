// SPDX-License-Identifier: Apache-2.0
// The profiles and bounds with which the lanes are compared on every input.
#pragma once

#include <vector>

#include <gradnic/codec.h>

namespace bench
{

struct LaneCase {
    gn_profile profile;
    int k;
};

// `all`: for all 2^32 inputs; else also with the ends of the ranges.
inline std::vector<LaneCase> lane_cases(bool all)
{
    std::vector<LaneCase> cases;
    for (int k : {6, 8, 10, 12, 15})
        for (int p = GN_PAPER; p < GN_PROFILE_COUNT; p++) cases.push_back({static_cast<gn_profile>(p), k});
    for (int k : {-4, 24}) cases.push_back({GN_LATTICE, k});
    if (!all)
        for (const LaneCase &c : {LaneCase{GN_PAPER, 1}, LaneCase{GN_PAPER, 126}, LaneCase{GN_LATTICE, -31},
                                  LaneCase{GN_LATTICE, 31}, LaneCase{GN_DENSE, -31}, LaneCase{GN_DENSE, 31}})
            cases.push_back(c);
    return cases;
}

}  // namespace bench
