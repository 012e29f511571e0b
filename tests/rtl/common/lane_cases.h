// SPDX-License-Identifier: Apache-2.0
// The profiles and bounds with which the lanes are compared on every input.
#pragma once

#include <vector>

#include <gradnic/codec.h>

#include "tests/rtl/common/bench.h"

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

// dense's integers are lattice's.
inline gn_codec lane_codec(const LaneCase &c, const char *kernel = nullptr)
{
    return codec(c.profile == GN_DENSE ? GN_LATTICE : c.profile, c.k, kernel);
}

// What a lane gives for a payload. Only the tag's bytes count: dense extends its integers to 32
// bits, paper and lattice give no bits above those kept.
inline uint32_t lane_payload(gn_profile profile, unsigned tag, uint32_t payload)
{
    switch (tag) {
    case 0:
        return 0;
    case 1:
        return profile == GN_DENSE ? static_cast<uint32_t>(static_cast<int8_t>(payload)) : payload & 0xff;
    case 2:
        return profile == GN_DENSE ? static_cast<uint32_t>(static_cast<int16_t>(payload)) : payload & 0xffff;
    default:
        return payload;
    }
}

}  // namespace bench
