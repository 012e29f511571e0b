// SPDX-License-Identifier: Apache-2.0
#include "breakdown.h"

#include <stdlib.h>
#include <string.h>

const char *gn_phase_name(gn_phase phase)
{
    static const char *const name[GN_PHASES] = {"input", "forward",     "backward", "quantise",
                                                "sum",   "communicate", "update"};
    return name[phase];
}

gn_status gn_breakdown_add(gn_breakdown *breakdown, const double seconds[GN_PHASES])
{
    if (breakdown->steps == breakdown->capacity) {
        const size_t capacity = breakdown->capacity ? 2 * breakdown->capacity : 1024;
        double *grown = realloc(breakdown->exchange, capacity * sizeof *grown);
        if (!grown) return GN_NO_MEMORY;
        breakdown->exchange = grown;
        breakdown->capacity = capacity;
    }
    for (int p = 0; p < GN_PHASES; p++) breakdown->total[p] += seconds[p];
    breakdown->exchange[breakdown->steps++] =
        seconds[GN_PHASE_QUANTISE] + seconds[GN_PHASE_SUM] + seconds[GN_PHASE_COMMUNICATE];
    return GN_OK;
}

double gn_breakdown_mean(const gn_breakdown *breakdown, gn_phase phase)
{
    return breakdown->steps ? breakdown->total[phase] / (double)breakdown->steps : 0;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double gn_breakdown_exchange(const gn_breakdown *breakdown)
{
    if (!breakdown->steps) return 0;
    const size_t n = breakdown->steps;
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted) return 0;
    memcpy(sorted, breakdown->exchange, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    const double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    free(sorted);
    return median;
}

void gn_breakdown_free(gn_breakdown *breakdown)
{
    free(breakdown->exchange);
    memset(breakdown, 0, sizeof *breakdown);
}
