// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_CODEC_H
#define GRADNIC_TOOLS_BENCH_CODEC_H
/// What `gradnic bench codec` is made of: data (bench_codec_data.c), subjects and their timing (bench_codec_run.c),
/// options and output (bench_codec.c).

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
    GN_BENCH_MIXED,  ///< classes 0, 8 and 16 bits, uniformly random per value: what a branch predictor likes least
    GN_BENCH_RAW,    ///< the same with the 32-bit class
    GN_BENCH_16BIT,  ///< all of 16 bits
    GN_BENCH_32BIT,  ///< all raw
    GN_BENCH_FILES   ///< the user's values, repeated until there are enough
} gn_bench_data;

const char *gn_bench_data_name(gn_bench_data data);

/// Fills `values`. The classes are those of `codec`. `file` and `file_count`: for GN_BENCH_FILES.
void gn_bench_fill(gn_bench_data data, const gn_codec *codec, const float *file, size_t file_count, float *values,
                   size_t count);

// ---- subjects

/// Something that compresses: one of gradnic's kernels, or a rival.
typedef struct gn_bench_subject {
    const char *name;    ///< profile or rival
    const char *kernel;  ///< "" for a rival
    int bound_exp;
    bool bounded;    ///< bound_exp means something
    gn_codec codec;  ///< when `rival` is NULL
    gn_rival_context *rival;
    // results
    size_t packed_bytes;
    double max_error;
    double compress_seconds, decompress_seconds;  ///< CPU time: medians, of one pass over the values
    double compress_ticks, decompress_ticks;      ///< the same in ticks of the time stamp counter; 0: there is none
    unsigned repetitions;
} gn_bench_subject;

/// Values in pieces: each is compressed and decompressed on its own.
typedef struct gn_bench_case {
    const float *values;
    size_t count, piece;   ///< count is a multiple of piece
    float *back;           ///< `count` values
    uint8_t *packed;       ///< piece i at i * packed_stride
    size_t packed_stride;  ///< bound of a piece, for every subject
    size_t *packed_bytes;  ///< of each piece
    unsigned repetitions;
    double seconds;  ///< a subject is not repeated more than 3 times once it has taken so long
} gn_bench_case;

/// Runs memcpy and all subjects, interleaved, and checks what they decompress. `*memcpy_seconds`: median of one pass.
gn_status gn_bench_run(const gn_bench_case *c, gn_bench_subject *subjects, size_t subject_count, double *memcpy_seconds,
                       gn_error *error);

/// Bytes that a piece can take at most.
size_t gn_bench_bound(const gn_bench_subject *subject, size_t piece);

#endif
