// SPDX-License-Identifier: Apache-2.0
#include <gradnic/worker.h>

#include <math.h>

uint16_t gn_priority(double remaining, unsigned layers, unsigned layer, double communication, double computation)
{
    const double one = 256, most = 65535;
    const double p = one * ((double)layers / layer) * (communication / computation) / remaining;
    if (!(p >= 1)) return 1;  // not a number, too
    return (uint16_t)(p < most ? lrint(p) : (long)most);
}
