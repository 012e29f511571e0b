// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_WORKER_H
#define GRADNIC_TOOLS_TRAIN_WORKER_H
/// One rank's life: connect, train, compare, report.

#include "digits.h"
#include "options.h"

/// Training and test set, read once and shared by the ranks of this machine.
typedef struct gn_train_data {
    gn_digits train, test;
} gn_train_data;

/// `rank`, `size` and `rendezvous` as in gn_comm_config. @return the exit status.
int gn_train_worker(const gn_train_options *options, const gn_train_data *data, int rank, int size,
                    const char *rendezvous);

#endif
