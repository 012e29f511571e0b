// SPDX-License-Identifier: Apache-2.0
#include "driver/rate.h"

#include "net/clock.h"

static uint64_t time_of(const gn_rate *rate, uint64_t bytes)
{
    return bytes * 8 * GN_SECOND / rate->bits_per_second;
}

void gn_rate_set(gn_rate *rate, uint64_t bits_per_second, uint64_t now)
{
    rate->bits_per_second = bits_per_second;
    rate->paid_until = now;
    rate->burst_ns = GN_RATE_BURST_NS;
    if (bits_per_second && time_of(rate, GN_RATE_BURST_BYTES) > rate->burst_ns)
        rate->burst_ns = time_of(rate, GN_RATE_BURST_BYTES);
}

void gn_rate_charge(gn_rate *rate, uint64_t bytes, uint64_t now)
{
    if (!rate->bits_per_second) return;
    if (rate->paid_until + rate->burst_ns < now) rate->paid_until = now - rate->burst_ns;
    rate->paid_until += time_of(rate, bytes);
}

uint64_t gn_rate_wait(const gn_rate *rate, uint64_t now)
{
    if (!rate->bits_per_second || rate->paid_until <= now) return 0;
    return rate->paid_until - now;
}
