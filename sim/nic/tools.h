// SPDX-License-Identifier: Apache-2.0
// The parts of the tools that the simulator uses. They are C.
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
