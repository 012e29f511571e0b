// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_CLOCK_H
#define GRADNIC_RING_CLOCK_H
/// Monotonic time, and the milliseconds that poll() takes until an instant.

#include <time.h>

static inline double gn_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/// Rounded up, so that a wait never ends before the instant; at most one minute.
static inline int gn_ms_until(double instant, double now)
{
    double left = (instant - now) * 1e3;
    if (left <= 0) return 0;
    return left > 60000 ? 60000 : (int)left + 1;
}

#endif
