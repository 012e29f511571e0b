// SPDX-License-Identifier: Apache-2.0
// What came out of several runs: a table, JSON and CSV with a row for each.
#pragma once

#include <string>
#include <vector>

#include "network.h"
#include "sweep.h"

namespace sim_net
{

// What is left of a run when its network is gone.
struct Outcome {
    Json report;
    Json row;  // GN_SIM_NET_FIELDS
};
Outcome outcome_of(Network &network, const Setup &setup);

void print_runs(const std::vector<SweepKey> &keys, const std::vector<Setup> &setups,
                const std::vector<Outcome> &outcomes);
// Their scenarios go: there is one for all.
Json sweep_report(const json_t *scenario, const std::vector<SweepKey> &keys, const std::vector<Setup> &setups,
                  std::vector<Outcome> &outcomes);
// A header, then the values of the keys, the seed and GN_SIM_NET_FIELDS of each run.
std::string csv_of(const std::vector<SweepKey> &keys, const std::vector<Setup> &setups,
                   const std::vector<Outcome> &outcomes);

}  // namespace sim_net
