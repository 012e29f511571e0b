// SPDX-License-Identifier: Apache-2.0
// Pictures of CSV: figures/net-picture draws them.
#pragma once

#include <string>
#include <vector>

#include "tools.h"

namespace sim_net
{

// Throws where pictures cannot be drawn. A simulation may take long, so ask before it.
void check_pictures();

// Writes an SVG of `csv` to the file. `words`: what to draw, as figures/net-picture has it.
void draw(const std::vector<std::string> &words, const std::string &csv, FILE *svg);

}  // namespace sim_net
