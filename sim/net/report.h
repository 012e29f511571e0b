// SPDX-License-Identifier: Apache-2.0
// What came out of a run: a table, and JSON. Neither says when or where it was made, so that the
// same scenario and seed give the same bytes.
#pragma once

#include "network.h"
#include "sweep.h"

namespace sim_net
{

void print_jobs(const Network &network);
Json report_of(Network &network, const Setup &setup);

}  // namespace sim_net
