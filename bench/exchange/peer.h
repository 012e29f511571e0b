// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_BENCH_EXCHANGE_PEER_H
#define GRADNIC_BENCH_EXCHANGE_PEER_H
/* What the programs of the compared libraries share: the same inputs, the same way to time, the
   same line of output. Usage: PROGRAM BYTES ITERATIONS WARMUP [...]; rank 0 prints
   {"time_us": ..., "wrong": ...}. C and C++. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double peer_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline float peer_value(int rank, size_t index)
{
    uint64_t x = ((uint64_t)rank + 1) * UINT64_C(0x9E3779B97F4A7C15) + index * UINT64_C(0xD1B54A32D192ED03);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x ^= x >> 27;
    float unit = (float)(int32_t)(uint32_t)x * 0x1p-31f;
    return unit * unit * unit * 0.25f;
}

static inline uint64_t peer_wrong(const float *result, size_t count, int size)
{
    uint64_t wrong = 0;
    for (size_t i = 0; i < count; i += 97) {
        double sum = 0;
        for (int rank = 0; rank < size; rank++) sum += (double)peer_value(rank, i);
        if (fabs((double)result[i] - sum) > 1e-5) wrong++;
    }
    return wrong;
}

static inline int peer_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double peer_median(double *times, size_t count)
{
    qsort(times, count, sizeof *times, peer_compare);
    return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

#endif
