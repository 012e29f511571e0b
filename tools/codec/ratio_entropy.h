// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_CODEC_RATIO_ENTROPY_H
#define GRADNIC_TOOLS_CODEC_RATIO_ENTROPY_H
/// The Shannon entropy of the integers q of lattice and dense, from their histogram. No format
/// that codes each integer on its own can need fewer bits. Raw values are one symbol and 32 bits
/// each. The memory is half a MiB for any number of values.

#include <stddef.h>
#include <stdint.h>

typedef struct gn_integer_counts gn_integer_counts;

/// Makes empty counts; NULL if memory is short.
gn_integer_counts *gn_integer_counts_new(void);
void gn_integer_counts_free(gn_integer_counts *counts);
void gn_integer_counts_clear(gn_integer_counts *counts);

/// Counts values that gn_quantise() made with the bound 2^-k. Several threads may call it at
/// once.
void gn_integer_counts_add(gn_integer_counts *counts, const float *quantised, size_t count, int bound_exp);
void gn_integer_counts_merge(gn_integer_counts *counts, const gn_integer_counts *more);

typedef struct gn_entropy {
    double bits;       ///< for all values together
    uint64_t symbols;  ///< different integers; raw counts as one
    uint64_t raw;      ///< raw values
} gn_entropy;

gn_entropy gn_integer_counts_entropy(const gn_integer_counts *counts);

#endif
