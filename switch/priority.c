// SPDX-License-Identifier: Apache-2.0
// The priority of Wang et al. (DSA) in 16 bits.
#include <gradnic/worker.h>

#include <math.h>

uint16_t gn_priority(double remaining, unsigned layers, unsigned layer, double communication, double computation)
{
    const double one = 256, most = 65535;
    const double p = one * ((double)layers / layer) * (communication / computation) / remaining;
    if (!(p >= 1)) return 1;  // or it is not a number
    return (uint16_t)(p < most ? lrint(p) : (long)most);
}
