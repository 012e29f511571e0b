// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_CLOCK_H
#define GRADNIC_NET_CLOCK_H
/// The one clock: monotonic time in nanoseconds. Instants and spans are both `uint64_t`.

#include <stdint.h>
#include <time.h>

#define GN_SECOND UINT64_C(1000000000)    ///< in nanoseconds
#define GN_MILLISECOND UINT64_C(1000000)  ///< in nanoseconds
#define GN_FOREVER UINT64_MAX             ///< an instant that does not come

/// CLOCK_MONOTONIC in nanoseconds. Any thread.
static inline uint64_t gn_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * GN_SECOND + (uint64_t)now.tv_nsec;
}

/// A span in seconds, for messages and statistics.
static inline double gn_seconds(uint64_t nanoseconds)
{
    return (double)nanoseconds * 1e-9;
}

/// A span, for ppoll().
static inline struct timespec gn_timespec(uint64_t nanoseconds)
{
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / GN_SECOND), .tv_nsec = (long)(nanoseconds % GN_SECOND)};
}

/// The span from `before` to `now`; 0 when `before` is later.
static inline uint64_t gn_elapsed(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

/// A timeout for poll(): milliseconds from `now` until `instant`, at most one minute; -1 for
/// GN_FOREVER. It is rounded up, so that a wait never ends before the instant.
static inline int gn_ms_until(uint64_t instant, uint64_t now)
{
    if (instant == GN_FOREVER) return -1;
    const uint64_t ms = instant <= now ? 0 : (instant - now) / GN_MILLISECOND + 1;
    return ms > 60000 ? 60000 : (int)ms;
}

#endif
