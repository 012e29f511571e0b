// SPDX-License-Identifier: Apache-2.0
// What the simulator takes from the tools, which are C.
#pragma once

extern "C" {
#include "cli.h"
#include "command.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "sim_nic_options.h"
#include "table.h"
#include "values.h"
}
