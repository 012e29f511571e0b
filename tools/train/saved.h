// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_SAVED_H
#define GRADNIC_TOOLS_TRAIN_SAVED_H
/// Checkpoint files: the state of one rank's training after a step, from which it goes on with the
/// same bits. A file appears under its name when it is whole and on the disk.
///
///     magic[8] header settings[] weights[] velocity[] residual[] scales[] check
///
/// With --scale auto there is a word for the scale of each bucket. Older versions wrote none: then
/// the scales are found again, and the bits may be others. Nor did they write all settings: those
/// that they lack may be others.
///
/// All numbers are little-endian. `check` is a hash of what stands before it.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "examples/train/trainer.h"
#include "net/error.h"
#include "tools/kit/comm_options.h"

/// What a setting's word is, and so how people read it.
typedef enum gn_saved_kind {
    GN_SAVED_NUMBER,
    GN_SAVED_REAL,  ///< a double
    GN_SAVED_ONOFF,
    GN_SAVED_PROFILE,
    GN_SAVED_SCALE,
    GN_SAVED_HASH,
    GN_SAVED_ALGORITHM,  ///< and 1 more
    GN_SAVED_GROUPS,
    GN_SAVED_HALF,
    GN_SAVED_KINDS
} gn_saved_kind;

/// What must be the same when a training goes on.
typedef struct gn_saved_setting {
    const char *name;  ///< the option, or what it is
    gn_saved_kind kind;
    uint64_t word;
} gn_saved_setting;

enum { GN_SAVED_SETTINGS = 25, GN_SAVED_SETTINGS_LEAST = 20 };

/// What a file must fit.
typedef struct gn_saved_task {
    int rank, size;
    size_t parameters;
    bool residual;
    unsigned scales;  ///< buckets with a scale; at most GN_MLP_LAYERS_MAX
    gn_saved_setting setting[GN_SAVED_SETTINGS];
} gn_saved_task;

/// The arrays belong to the caller: `parameters` values each. `residual` may be NULL.
typedef struct gn_saved_state {
    uint64_t step;
    double loss;  ///< summed since the last evaluation
    uint64_t losses;
    float *weights, *velocity, *residual;
    int scale[GN_MLP_LAYERS_MAX];  ///< as gn_comm_scale() says
} gn_saved_state;

/// The task of a trainer that is ready.
gn_saved_task gn_saved_task_of(const gn_trainer *trainer);

/// Writes a whole file. `file` is new and empty.
gn_status gn_saved_write(FILE *file, const gn_saved_task *task, const gn_saved_state *state, gn_error *error);
/// Whether `file` begins as a checkpoint does, or is empty: one that was not written to its end.
bool gn_saved_begins(FILE *file);
/// Reads untrusted bytes. The arrays' contents are undefined unless it returns GN_OK.
/// @return GN_OK, GN_MISMATCH (of another training), GN_CORRUPT, GN_IO; `error` does not name the
/// file
gn_status gn_saved_read(FILE *file, const gn_saved_task *task, gn_saved_state *state, gn_error *error);

#endif
