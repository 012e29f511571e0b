// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_DUMP_H
#define GRADNIC_TOOLS_TRAIN_DUMP_H
/// Gradients as .npy files, one for each tensor, for `gradnic ratio` and NumPy.

#include <stdbool.h>
#include <stdint.h>

#include "examples/train/mlp.h"
#include "net/error.h"

/// Makes the folder. Call it before a training. It fails if gradients cannot be written later: if
/// the folder cannot be made or written to, or, unless `force`, if it has files of ranks `first`
/// to `last` at steps that `every` divides.
gn_status gn_dump_prepare(const char *folder, uint64_t every, unsigned first, unsigned last, bool force,
                          gn_error *error);

/// Writes mlp->gradient as FOLDER/step00100-rank0-layer1-weight.npy (outputs x inputs) and
/// ...-bias.npy. Layers count from 1. The folder exists. Existing files are refused unless
/// `force`.
gn_status gn_dump_gradient(const gn_mlp *mlp, const char *folder, uint64_t step, int rank, bool force, gn_error *error);

#endif
