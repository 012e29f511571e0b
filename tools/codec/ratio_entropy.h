// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_CODEC_RATIO_ENTROPY_H
#define GRADNIC_TOOLS_CODEC_RATIO_ENTROPY_H
/// How many bits the integers q of lattice and dense are worth: the Shannon entropy of their histogram. No format that
/// codes integers one by one, whatever their neighbours, can need fewer. Raw values are a symbol of their own, and 32
/// bits each. Memory: half a MiB, however many values there are.

#include <stddef.h>
#include <stdint.h>

typedef struct gn_integer_counts gn_integer_counts;

/// Empty. NULL when memory is short.
gn_integer_counts *gn_integer_counts_new(void);
void gn_integer_counts_free(gn_integer_counts *counts);
void gn_integer_counts_clear(gn_integer_counts *counts);

/// Counts values that gn_quantise() gave for the bound 2^-k. May be called by several threads at once.
void gn_integer_counts_add(gn_integer_counts *counts, const float *quantised, size_t count, int bound_exp);
void gn_integer_counts_merge(gn_integer_counts *counts, const gn_integer_counts *more);

typedef struct gn_entropy {
    double bits;       ///< of all values together
    uint64_t symbols;  ///< different ones, raw counted as one
    uint64_t raw;      ///< values
} gn_entropy;

gn_entropy gn_integer_counts_entropy(const gn_integer_counts *counts);

#endif
