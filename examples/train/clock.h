// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_CLOCK_H
#define GRADNIC_EXAMPLES_TRAIN_CLOCK_H
/// Monotonic time: nanoseconds for instants, seconds for spans.

#include <stdint.h>
#include <time.h>

/// CLOCK_MONOTONIC in nanoseconds.
static inline uint64_t gn_train_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline double gn_train_seconds_since(uint64_t start)
{
    return (double)(gn_train_now() - start) * 1e-9;
}

#endif
