// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_PASS_ON_H
#define GRADNIC_TOOLS_TRAIN_PASS_ON_H
/// From the program's errors to those of the training.

#include "examples/train/error.h"
#include "net/error.h"

/// Passes an error of the program on as one of the training.
/// @return `status`
gn_status gn_train_pass_on(gn_status status, const gn_error *from, gn_train_error *error);

#endif
