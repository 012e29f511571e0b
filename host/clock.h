// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_CLOCK_H
#define GRADNIC_HOST_CLOCK_H
/// The time that daemons measure with.

#include <stdint.h>
#include <time.h>

/// CLOCK_MONOTONIC in nanoseconds.
static inline uint64_t gn_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
