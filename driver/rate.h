// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_RATE_H
#define GRADNIC_DRIVER_RATE_H
/// A link's speed as a token bucket. What is sent may take the bucket below zero by one segment; nothing more is taken from the
/// host until it has been paid for. So a link never drops because it is slow: the host's queue waits, as before a real one.

#include <stdint.h>

/// Credit that an idle link gathers: this many bytes (as `tbf burst 128k`), or what it carries in a millisecond if that is
/// more. It is what makes up for waking late.
enum { GN_RATE_BURST_BYTES = 128 << 10, GN_RATE_BURST_NS = 1000000 };

typedef struct gn_rate {
    uint64_t bits_per_second;  ///< 0: unlimited
    uint64_t burst_ns;         ///< the credit, as time
    uint64_t paid_until;       ///< nanoseconds (CLOCK_MONOTONIC): the link is busy until then
} gn_rate;

void gn_rate_set(gn_rate *rate, uint64_t bits_per_second, uint64_t now);
/// Charges bytes that have been sent.
void gn_rate_charge(gn_rate *rate, uint64_t bytes, uint64_t now);
/// Nanoseconds until the link is free; 0: now.
uint64_t gn_rate_wait(const gn_rate *rate, uint64_t now);

#endif
