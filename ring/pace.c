// SPDX-License-Identifier: Apache-2.0
#include "ring/pace.h"

#include <gradnic/worker.h>

#include "net/clock.h"

/// Each time an eighth of what was before is forgotten.
static uint64_t remembered(uint64_t span)
{
    return span - span / 8;
}

void gn_pace_begin(gn_pace *pace, uint64_t now)
{
    if (pace->ended) pace->computation = remembered(pace->computation) + gn_elapsed(pace->ended, now);
    pace->began = now;
}

void gn_pace_end(gn_pace *pace, uint64_t now)
{
    pace->communication = remembered(pace->communication) + gn_elapsed(pace->began, now);
    pace->ended = now;
}

uint16_t gn_pace_priority(const gn_pace *pace, uint64_t now, uint64_t remaining, unsigned layer, unsigned layers)
{
    const double time = gn_seconds(remaining ? remaining : gn_elapsed(pace->born, now));
    // As long as they are not known, they count as equally long.
    const bool known = pace->communication && pace->computation;
    if (!layer || layer > layers) layer = layers = 1;
    return gn_priority(time, layers, layer, known ? gn_seconds(pace->communication) : 1,
                       known ? gn_seconds(pace->computation) : 1);
}
