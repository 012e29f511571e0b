// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_RATE_H
#define GRADNIC_DRIVER_RATE_H
/// A link's speed as a token bucket. One segment may take the bucket below zero; then nothing is
/// taken from the host until the debt is paid. So a slow link drops nothing: the host's queue
/// waits, as in front of a real link.

#include <stdint.h>

/// Credit that an idle link gathers, which makes up for a late waking: this many bytes (as `tbf
/// burst 128k`), or what the link carries in a millisecond if that is more.
enum { GN_RATE_BURST_BYTES = 128 << 10, GN_RATE_BURST_NS = 1000000 };

typedef struct gn_rate {
    uint64_t bits_per_second;  ///< 0: unlimited
    uint64_t burst_ns;         ///< the credit, as time
    uint64_t paid_until;       ///< gn_now() until which the link is busy
} gn_rate;

void gn_rate_set(gn_rate *rate, uint64_t bits_per_second, uint64_t now);
/// Charges bytes that have been sent.
void gn_rate_charge(gn_rate *rate, uint64_t bytes, uint64_t now);
/// Nanoseconds until the link is free; 0: now.
uint64_t gn_rate_wait(const gn_rate *rate, uint64_t now);

#endif
