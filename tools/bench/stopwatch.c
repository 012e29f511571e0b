// SPDX-License-Identifier: Apache-2.0
#include "stopwatch.h"

#include <stdlib.h>
#include <time.h>

#include "net/clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t read_ticks(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
}

gn_stopwatch gn_stopwatch_start(void)
{
    return (gn_stopwatch){cpu_ns(), gn_now(), read_ticks()};
}

gn_span gn_stopwatch_stop(gn_stopwatch begun, size_t passes)
{
    double ticks = (double)(read_ticks() - begun.ticks), wall_ns = (double)(gn_now() - begun.wall_ns);
    double ns = (double)(cpu_ns() - begun.ns);
    return (gn_span){ns * 1e-9 / (double)passes, ticks * (ns / wall_ns) / (double)passes};
}

static int compare_spans(const void *a, const void *b)
{
    const gn_span *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

gn_span gn_span_median(gn_span *spans, size_t count)
{
    qsort(spans, count, sizeof *spans, compare_spans);
    return spans[count / 2];
}
