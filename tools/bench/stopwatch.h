// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_STOPWATCH_H
#define GRADNIC_TOOLS_BENCH_STOPWATCH_H
/// Time of what never waits, for benchmarks: the thread's CPU time, so that other processes that want the core do not count. One thread.

#include <stddef.h>
#include <stdint.h>

typedef struct gn_span {
    double seconds;
    double ticks;  ///< of the processor's constant-rate counter; 0: it has none
} gn_span;

typedef struct gn_stopwatch {
    uint64_t ns, wall_ns, ticks;
} gn_stopwatch;

gn_stopwatch gn_stopwatch_start(void);

/// CPU time since `begun`, of one of `passes` passes.
gn_span gn_stopwatch_stop(gn_stopwatch begun, size_t passes);

/// Sorts `spans` (at least one) by time. @return the middle one.
gn_span gn_span_median(gn_span *spans, size_t count);

#endif
