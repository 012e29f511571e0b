// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_STOPWATCH_H
#define GRADNIC_TOOLS_BENCH_STOPWATCH_H
/// CPU time of the calling thread, for benchmarks that never wait. Other processes on the same
/// core do not count.

#include <stddef.h>
#include <stdint.h>

typedef struct gn_span {
    double seconds;
    double ticks;  ///< of the processor's time stamp counter; 0: there is none
} gn_span;

typedef struct gn_stopwatch {
    uint64_t ns, wall_ns, ticks;
} gn_stopwatch;

gn_stopwatch gn_stopwatch_start(void);

/// CPU time of one pass, when `passes` passes were made since `begun`.
gn_span gn_stopwatch_stop(gn_stopwatch begun, size_t passes);

/// Sorts `spans` by time; there is at least one.
/// @return the median
gn_span gn_span_median(gn_span *spans, size_t count);

#endif
