// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_BASELINE_H
#define GRADNIC_TOOLS_TRAIN_BASELINE_H
/// Compressors that gradnic is compared with, in a training: `--baseline`. Some change what a rank
/// hands to the exchange, which then travels uncompressed. Others are software on the way of all
/// data: they compress and decompress what the in-process NIC sends.

#include <argp.h>
#include <stdbool.h>

#include "examples/train/trainer.h"
#include "net/error.h"
#include "tools/codec/rivals.h"

typedef enum gn_baseline_kind {
    GN_BASELINE_NONE,
    GN_BASELINE_TRUNCATE,
    GN_BASELINE_TOP_K,
    GN_BASELINE_QSGD,
    GN_BASELINE_UNIFORM,
    GN_BASELINE_WIRE,  ///< zstd, lz4, snappy, zlib or zfp
} gn_baseline_kind;

/// As chosen on the command line.
typedef struct gn_baseline_choice {
    gn_baseline_kind kind;
    char name[24];            ///< "topk:1%"
    bool gradients, weights;  ///< truncation: of what
    unsigned bits;            ///< that are cut, or kept
    double share;             ///< top-k
    gn_rival_choice rival;
    int bound_exp;  ///< of zfp
    bool feedback;  ///< add what was removed to the next gradient
} gn_baseline_choice;

/// Reads "truncate:16", "truncate-weights:16", "truncate-both:16", "topk:1%", "qsgd:4",
/// "uniform:4", or the name of a compressor, as "zstd:1" or "zfp:10".
gn_status gn_baseline_parse(const char *text, gn_baseline_choice *choice, gn_error *error);

/// Whether replicas stay the same only where the sum is sent back as it is.
bool gn_baseline_lossy_on_wire(const gn_baseline_choice *choice);

typedef struct gn_baseline gn_baseline;

/// Of one rank. NULL in `*result` where `choice` has none. The caller frees.
gn_status gn_baseline_new(gn_baseline **result, const gn_baseline_choice *choice, uint64_t seed, gn_train_error *error);
void gn_baseline_free(gn_baseline *baseline);

/// For gn_train_settings.software: compresses and decompresses `values`.
/// @return the compressed bytes; 0: it failed
size_t gn_baseline_wire(void *baseline, float *values, size_t count);

/// Changes the network's gradient before the exchange.
gn_status gn_baseline_gradient(gn_baseline *baseline, gn_mlp *mlp, uint64_t step, int rank, gn_train_error *error);

/// After the update: workers see truncated weights, and the update is of whole ones.
gn_status gn_baseline_updated(gn_baseline *baseline, gn_mlp *mlp, gn_train_error *error);

/// Bits of all gradients so far, 32 a value, over those of the baseline's encoding. 0: not known.
double gn_baseline_ratio(const gn_baseline *baseline);

#endif
