// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_RTT_H
#define GRADNIC_SWITCH_RTT_H
/// How long to wait for an answer: RFC 6298's estimate, a moving average and its deviation, doubled after each attempt.

#include <stdbool.h>
#include <stdint.h>

typedef struct gn_rtt {
    bool known;
    double smoothed_ns, variation_ns;
    int64_t began_ns, longest_ns;  ///< the round trip that is being looked at: since when, and the longest in it
    uint64_t min_ns, max_ns;       ///< of a timeout
} gn_rtt;

/// 0: 1 ms, 1 s. Before anything has been measured, 50 ms is waited: a second question too early only adds to what is slow.
gn_rtt gn_rtt_new(uint64_t min_ns, uint64_t max_ns);

/// Something took so long. Only what is the answer to the first time that it was asked for is to be measured.
/// Windows of answers come together: of those within one round trip the longest counts, and counts once, or the deviation between round trips would be
/// forgotten in each (RFC 7323, appendix G).
void gn_rtt_measure(gn_rtt *rtt, int64_t now_ns, int64_t took_ns);

/// The time to wait after so many attempts that failed. `first`: of a vector, so that it includes waiting for workers who have not begun: at least 10 ms.
int64_t gn_rtt_timeout(const gn_rtt *rtt, unsigned attempts, bool first);

#endif
