// SPDX-License-Identifier: Apache-2.0
#include "driver/rate.h"

enum { NANOSECONDS = 1000000000 };

void gn_rate_set(gn_rate *rate, uint64_t bits_per_second, uint64_t now)
{
    rate->bits_per_second = bits_per_second;
    rate->paid_until = now;
}

void gn_rate_charge(gn_rate *rate, uint64_t bytes, uint64_t now)
{
    if (!rate->bits_per_second) return;
    if (rate->paid_until + GN_RATE_BURST_NS < now) rate->paid_until = now - GN_RATE_BURST_NS;
    rate->paid_until += bytes * 8 * NANOSECONDS / rate->bits_per_second;
}

uint64_t gn_rate_wait(const gn_rate *rate, uint64_t now)
{
    if (!rate->bits_per_second || rate->paid_until <= now) return 0;
    return rate->paid_until - now;
}
