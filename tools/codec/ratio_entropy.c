// SPDX-License-Identifier: Apache-2.0
#include "ratio_entropy.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { Q_MAX = 32767, SYMBOLS = 2 * Q_MAX + 2, RAW = SYMBOLS - 1, NEAR = 128 };

struct gn_integer_counts {
    _Atomic uint64_t count[SYMBOLS];  // q + Q_MAX, and RAW
};

gn_integer_counts *gn_integer_counts_new(void)
{
    return calloc(1, sizeof(gn_integer_counts));
}

void gn_integer_counts_free(gn_integer_counts *counts)
{
    free(counts);
}

void gn_integer_counts_clear(gn_integer_counts *counts)
{
    memset(counts, 0, sizeof *counts);
}

static void count_symbol(gn_integer_counts *counts, size_t symbol, uint64_t times)
{
    if (times) atomic_fetch_add_explicit(&counts->count[symbol], times, memory_order_relaxed);
}

void gn_integer_counts_add(gn_integer_counts *counts, const float *quantised, size_t count, int bound_exp)
{
    const float steps = ldexpf(1, bound_exp - 1);
    // The most frequent integers are counted locally first, so threads do not wait for each other.
    uint64_t near[2 * NEAR + 1] = {0}, raw = 0;
    for (size_t i = 0; i < count; i++) {
        const float q = quantised[i] * steps;  // exact; raw values are larger
        if (fabsf(q) <= NEAR)
            near[(int)q + NEAR]++;
        else if (fabsf(q) <= Q_MAX)
            count_symbol(counts, (size_t)((ptrdiff_t)q + Q_MAX), 1);
        else
            raw++;
    }
    count_symbol(counts, RAW, raw);
    for (int q = -NEAR; q <= NEAR; q++) count_symbol(counts, (size_t)((ptrdiff_t)q + Q_MAX), near[q + NEAR]);
}

void gn_integer_counts_merge(gn_integer_counts *counts, const gn_integer_counts *more)
{
    for (size_t i = 0; i < SYMBOLS; i++) count_symbol(counts, i, more->count[i]);
}

gn_entropy gn_integer_counts_entropy(const gn_integer_counts *counts)
{
    gn_entropy entropy = {.raw = counts->count[RAW]};
    double all = 0;
    for (size_t i = 0; i < SYMBOLS; i++) all += (double)counts->count[i];
    for (size_t i = 0; i < SYMBOLS; i++) {
        const double n = (double)counts->count[i];
        if (n == 0) continue;
        entropy.symbols++;
        entropy.bits += n * log2(all / n);
    }
    entropy.bits += 32 * (double)entropy.raw;
    return entropy;
}
