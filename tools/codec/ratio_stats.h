// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_CODEC_RATIO_STATS_H
#define GRADNIC_TOOLS_CODEC_RATIO_STATS_H
/// What `gradnic ratio` measures for each codec and bound: sizes, tags, errors. Sums are made for
/// each block and added in the order of blocks, so results do not depend on threads.

#include <gradnic/codec.h>

#include "net/error.h"
#include "ratio_entropy.h"
#include "rivals.h"

enum {
    GN_RATIO_BLOCK = 65536,  ///< values measured at a time; rivals get pieces of this size
    GN_RATIO_LINES = 128     ///< codecs times bounds in one run
};

typedef enum gn_ratio_kind {
    GN_RATIO_CODEC,    ///< one of gradnic's
    GN_RATIO_ENTROPY,  ///< the entropy of its integers
    GN_RATIO_RIVAL
} gn_ratio_kind;

/// What a line of the report measures.
typedef struct gn_ratio_subject {
    gn_ratio_kind kind;
    gn_codec codec;                ///< GN_RATIO_CODEC, and GN_RATIO_ENTROPY: one with integers
    gn_integer_counts *histogram;  ///< GN_RATIO_ENTROPY: of one tensor
    gn_integer_counts *file;       ///< ... of one file
    gn_integer_counts *total;      ///< ... of all files
    gn_rival_choice choice;        ///< GN_RATIO_RIVAL
    int bound_exp;                 ///< unused for a lossless rival
} gn_ratio_subject;

/// The values themselves.
typedef struct gn_ratio_input {
    uint64_t values;
    uint64_t zeros;       ///< +0.0 and -0.0
    uint64_t not_finite;  ///< NaN and infinities: left out of all sums and maxima
    double largest;       ///< max |v|
    double sum_squares;
    double sum_magnitudes;  ///< of |v|
} gn_ratio_input;

/// The results of one subject. An error is decoded - value, for finite values.
typedef struct gn_ratio_stats {
    uint64_t packed_bytes;
    gn_tally tally;      ///< of gradnic's codecs
    gn_entropy entropy;  ///< GN_RATIO_ENTROPY, after all blocks
    double max_error;    ///< largest |error|
    double sum_error;    ///< with its sign: the bias
    double sum_error_squares;
    double sum_magnitudes;  ///< of |decoded|
    uint64_t above_bound;   ///< values with |error| > 2^-k
} gn_ratio_stats;

void gn_ratio_input_add(gn_ratio_input *input, const float *values, size_t count);
void gn_ratio_input_merge(gn_ratio_input *input, const gn_ratio_input *more);

/// Adds one decoded block to the errors. `bound`: 2^-k.
void gn_ratio_errors_add(gn_ratio_stats *stats, const float *values, const float *decoded, size_t count, double bound);
void gn_ratio_stats_merge(gn_ratio_stats *stats, const gn_ratio_stats *more);

/// Memory for measuring a block with every subject.
typedef struct gn_ratio_scratch gn_ratio_scratch;
gn_ratio_scratch *gn_ratio_scratch_new(const gn_ratio_subject *subjects, size_t count);
void gn_ratio_scratch_free(gn_ratio_scratch *scratch);

/// Compresses and decompresses `count` values with every subject and sets stats[i]. `count` is 1
/// to GN_RATIO_BLOCK.
gn_status gn_ratio_measure(gn_ratio_scratch *scratch, const float *values, size_t count, gn_ratio_stats *stats,
                           gn_error *error);

#endif
