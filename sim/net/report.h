// SPDX-License-Identifier: Apache-2.0
// What came out: a table, and JSON. Neither says when or where it was made, so that the same
// scenario and seed give the same bytes.
#pragma once

#include "network.h"
#include "tools.h"

namespace sim_net
{

// Takes over `file`. `setup` is the scenario as it was read.
void print_report(Network &network, json_t *setup, const gn_sim_net_options &options, gn_result_file &file);

}  // namespace sim_net
