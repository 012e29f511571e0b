// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_DUMP_H
#define GRADNIC_TOOLS_TRAIN_DUMP_H
/// Gradients as .npy files, one for each tensor, for `gradnic ratio` and NumPy.

#include <stdint.h>

#include "examples/train/mlp.h"
#include "net/error.h"

/// What happens to a file that is there already.
typedef enum gn_dump_mode {
    GN_DUMP_NEW,    ///< it is refused
    GN_DUMP_AGAIN,  ///< a training that goes on makes the same bits again: one that has others is refused
    GN_DUMP_OVER    ///< it is overwritten
} gn_dump_mode;

/// Makes the folder. Call it before a training. It fails if gradients cannot be written later: if
/// the folder cannot be made or written to, or, with GN_DUMP_NEW, if it has files of ranks `first`
/// to `last` at steps that `every` divides.
gn_status gn_dump_prepare(const char *folder, uint64_t every, unsigned first, unsigned last, gn_dump_mode mode,
                          gn_error *error);

/// Writes mlp->gradient as FOLDER/step00100-rank0-layer1-weight.npy (outputs x inputs) and
/// ...-bias.npy. Layers count from 1. The folder exists.
gn_status gn_dump_gradient(const gn_mlp *mlp, const char *folder, uint64_t step, int rank, gn_dump_mode mode,
                           gn_error *error);

#endif
