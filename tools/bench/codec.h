// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_CODEC_H
#define GRADNIC_TOOLS_BENCH_CODEC_H
/// Parts of `gradnic bench codec`. codec.c has the options, the cases and the output.
/// codec_data.c makes values. codec_run.c measures.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

#include "net/error.h"
#include "tools/codec/rivals.h"

// ---- data

typedef enum gn_bench_data {
    GN_BENCH_ZERO,   ///< +0.0
    GN_BENCH_TINY,   ///< not zero, but below the bound
    GN_BENCH_MIXED,  ///< classes 0, 8 and 16 bits at random: the worst case for branch prediction
    GN_BENCH_RAW,    ///< the same, and the 32-bit class
    GN_BENCH_16BIT,  ///< all in the 16-bit class
    GN_BENCH_32BIT,  ///< all raw
    GN_BENCH_FILES   ///< the user's values, repeated as needed
} gn_bench_data;

const char *gn_bench_data_name(gn_bench_data data);

/// Fills `values`. The classes are those of `codec`. `file` and `file_count`: for GN_BENCH_FILES.
void gn_bench_fill(gn_bench_data data, const gn_codec *codec, const float *file, size_t file_count, float *values,
                   size_t count);

// ---- subjects

/// A compressor: one of gradnic's kernels, or a rival.
typedef struct gn_bench_subject {
    const char *name;    ///< profile or rival
    const char *kernel;  ///< "" for a rival
    int bound_exp;
    bool bounded;    ///< bound_exp is used
    gn_codec codec;  ///< when `rival` is NULL
    gn_rival_context *rival;
    // results
    size_t packed_bytes;
    double max_error;
    double compress_seconds, decompress_seconds;  ///< medians of one pass, in CPU time
    double compress_ticks, decompress_ticks;      ///< the same in ticks (stopwatch.h)
    unsigned repetitions;
} gn_bench_subject;

/// Values in pieces. Each piece is compressed and decompressed on its own.
typedef struct gn_bench_case {
    const float *values;
    size_t count, piece;   ///< count is a multiple of piece
    float *back;           ///< `count` values
    uint8_t *packed;       ///< piece i at i * packed_stride
    size_t packed_stride;  ///< room for a piece of any subject
    size_t *packed_bytes;  ///< of each piece
    unsigned repetitions;
    double seconds;  ///< a subject that has taken this long gets 3 rounds at most
} gn_bench_case;

/// Runs memcpy and all subjects in turn, and checks what they decompress. `*memcpy_seconds` is
/// the median of one pass.
gn_status gn_bench_run(const gn_bench_case *c, gn_bench_subject *subjects, size_t subject_count, double *memcpy_seconds,
                       gn_error *error);

/// Bytes that a piece can take at most.
size_t gn_bench_bound(const gn_bench_subject *subject, size_t piece);

#endif
