// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_REPORT_H
#define GRADNIC_TOOLS_TRAIN_REPORT_H
/// What a training run prints and writes: a table and JSON, both from rank 0.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "examples/train/trainer.h"
#include "options.h"

typedef struct gn_report {
    const gn_train_options *options;
    const gn_trainer *trainer;
    const gn_baseline *baseline;  ///< NULL: none
    gn_checkpoint *checkpoint;
    size_t checkpoints, capacity;
    gn_rank_result *rank;  ///< `size` of them, after the training
} gn_report;

/// Prints what will be trained.
void gn_report_print_start(const gn_report *report, FILE *stream);

/// Keeps a checkpoint.
/// @return GN_OK or GN_NO_MEMORY
gn_status gn_report_add(gn_report *report, const gn_checkpoint *checkpoint);
void gn_report_print_checkpoint(const gn_report *report, FILE *stream);

/// Prints where the time went, what was sent, and whether the replicas are identical.
void gn_report_print_end(const gn_report *report, FILE *stream);

/// The whole result as JSON; NULL if memory is short.
struct json_t *gn_report_json(const gn_report *report);

void gn_report_free(gn_report *report);

#endif
