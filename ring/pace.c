// SPDX-License-Identifier: Apache-2.0
#include "pace.h"

#include <gradnic/worker.h>

static const double keep = 0.875;  // of what was before, each time

void gn_pace_begin(gn_pace *pace, double now)
{
    if (pace->ended > 0) pace->computation = keep * pace->computation + (now - pace->ended);
    pace->began = now;
}

void gn_pace_end(gn_pace *pace, double now)
{
    pace->communication = keep * pace->communication + (now - pace->began);
    pace->ended = now;
}

uint16_t gn_pace_priority(const gn_pace *pace, double now, double remaining, unsigned layer, unsigned layers)
{
    const double time = remaining > 0 ? remaining : now - pace->born;
    const int known = pace->communication > 0 && pace->computation > 0;  // otherwise as long as each other
    if (!layer || layer > layers) layer = layers = 1;
    return gn_priority(time, layers, layer, known ? pace->communication : 1, known ? pace->computation : 1);
}
