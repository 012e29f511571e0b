// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_RTT_H
#define GRADNIC_SWITCH_RTT_H
/// How long to wait for an answer: the estimate of RFC 6298, a moving average and its deviation.
/// The time doubles after each attempt.

#include <stdbool.h>
#include <stdint.h>

typedef struct gn_rtt {
    bool known;
    double smoothed_ns, variation_ns;
    int64_t began_ns, longest_ns;  ///< the round trip being measured: start, longest answer
    uint64_t min_ns, max_ns;       ///< of a timeout
} gn_rtt;

/// 0: 1 ms, 1 s. Before the first measurement the time is 50 ms: a second question that comes too
/// early only makes a slow network slower.
gn_rtt gn_rtt_new(uint64_t min_ns, uint64_t max_ns);

/// Notes how long the answer to a first question took. The answers of a window come together. Of
/// those within one round trip only the longest counts, and it counts once; otherwise each round
/// trip would forget how much round trips differ (RFC 7323, appendix G).
void gn_rtt_measure(gn_rtt *rtt, int64_t now_ns, int64_t took_ns);

/// The time to wait after so many attempts that failed. `first`: for the first answer of a vector.
/// It includes waiting for workers that have not begun, so it is at least 10 ms.
int64_t gn_rtt_timeout(const gn_rtt *rtt, unsigned attempts, bool first);

#endif
