// SPDX-License-Identifier: Apache-2.0
// The runs of --sweep: each combination of the values of some fields.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json.h"
#include "tools.h"

namespace sim_net
{

struct SweepValue {
    std::string text;  // as it was given
    Json value;
};

// A field of the scenario, or "seed", and its values.
struct SweepKey {
    std::string name;
    std::vector<SweepValue> values;
};

// One run. Without a sweep there is one, of the scenario as it is.
struct Setup {
    std::vector<const SweepValue *> values;  // one of each key
    Json scenario;
    uint64_t seed = 0;
    std::string name;  // for errors and progress: the file, and the values
};

std::vector<SweepKey> read_sweeps(const gn_sim_net_options &options);

// The runs, those of the first key's first value first. They borrow the keys' values.
std::vector<Setup> setups_of(const json_t *root, const std::vector<SweepKey> &keys, const gn_sim_net_options &options);

}  // namespace sim_net
