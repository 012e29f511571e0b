// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_RTT_H
#define GRADNIC_SWITCH_RTT_H
/// How long to wait for an answer: RFC 6298's estimate, a moving average and its deviation, doubled after each attempt.

#include <stdbool.h>
#include <stdint.h>

typedef struct gn_rtt {
    bool known;
    double smoothed_ns, variation_ns, least_ns;
    uint64_t min_ns, max_ns;  ///< of a timeout
} gn_rtt;

/// 0: 1 ms, 1 s.
gn_rtt gn_rtt_new(uint64_t min_ns, uint64_t max_ns);

/// Something took so long. Only what was asked for once is to be measured (Karn's rule: which of several questions was answered is not known).
void gn_rtt_measure(gn_rtt *rtt, int64_t took_ns);

/// The time to wait after so many attempts that failed.
int64_t gn_rtt_timeout(const gn_rtt *rtt, unsigned attempts);

#endif
