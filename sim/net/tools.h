// SPDX-License-Identifier: Apache-2.0
// The parts of the tools that the simulator uses. They are C.
#pragma once

extern "C" {
#include "tools/kit/beside.h"
#include "tools/kit/cli.h"
#include "tools/kit/command.h"
#include "tools/kit/json.h"
#include "tools/kit/label.h"
#include "tools/kit/output.h"
#include "tools/kit/progress.h"
#include "tools/kit/result_options.h"
#include "tools/kit/table.h"
#include "tools/kit/temporary.h"
#include "tools/kit/units.h"
#include "tools/kit/with_parent.h"
#include "tools/sim/net_options.h"
}
