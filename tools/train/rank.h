// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_RANK_H
#define GRADNIC_TOOLS_TRAIN_RANK_H
/// One rank of `gradnic train`: the training of examples/train, with the report, dumps and progress
/// that the options ask for.

#include "examples/train/trainer.h"
#include "net/error.h"
#include "options.h"

/// `rank`, `size` and `rendezvous` are those of gn_comm_config.
/// @return exit status
int gn_train_rank(const gn_train_options *options, const gn_train_data *data, int rank, int size,
                  const char *rendezvous);

#endif
