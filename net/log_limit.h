// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_LOG_LIMIT_H
#define GRADNIC_NET_LOG_LIMIT_H
/// A limit for one kind of log line, because strangers can cause any number of them: so many lines
/// in each span of time, and then how many more there were.

#include <stdbool.h>
#include <stdint.h>

enum { GN_LOG_LINES = 20, GN_LOG_SPAN_S = 10 };

/// Zeros are a limit that has seen nothing.
typedef struct gn_log_limit {
    uint64_t since;  ///< gn_now(): when the span began
    unsigned lines;  ///< logged in it
    uint64_t held;   ///< not logged in it
} gn_log_limit;

/// Whether one more line may be logged. To be called after gn_log_limit_rest().
bool gn_log_limit_take(gn_log_limit *limit, uint64_t now);

/// Lines that were held back in a span that is over; each is told once. 0: none.
uint64_t gn_log_limit_rest(gn_log_limit *limit, uint64_t now);

/// When gn_log_limit_rest() will have something to tell; UINT64_MAX: never.
uint64_t gn_log_limit_due(const gn_log_limit *limit);

#endif
