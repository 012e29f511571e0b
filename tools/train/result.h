// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_RESULT_H
#define GRADNIC_TOOLS_TRAIN_RESULT_H
/// What a training run says: the table on standard output and the JSON file, both from rank 0.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "breakdown.h"
#include "digits.h"
#include "inprocess.h"
#include "mlp.h"
#include "options.h"

/// One look at the state of the training, over all workers.
typedef struct gn_checkpoint {
    uint64_t epoch, step;        ///< both counted from 1, as of the end of the step
    double seconds;              ///< since the first step began
    double loss;                 ///< mean over the training images since the last checkpoint
    double test_loss, accuracy;  ///< of the test set; accuracy 0 to 1
    uint64_t weights;            ///< hash, the same at every worker
} gn_checkpoint;

/// What one worker measured.
typedef struct gn_rank_result {
    double exchange_median;  ///< seconds
    double mean[GN_PHASES];  ///< seconds per step
    gn_comm_stats comm;      ///< over all steps
    gn_in_process_stats nic;
} gn_rank_result;

typedef struct gn_report {
    const gn_train_options *options;
    int size;
    size_t parameters, train_images, test_images, rows, columns;
    uint64_t steps;
    gn_checkpoint *checkpoint;
    size_t checkpoints, capacity;
    gn_rank_result *rank;  ///< `size` of them, when the training is done
} gn_report;

/// Prints what is about to be trained.
void gn_report_print_start(const gn_report *report, const gn_mlp *mlp, FILE *stream);

/// Keeps a checkpoint. @return GN_OK or GN_NO_MEMORY.
gn_status gn_report_add(gn_report *report, const gn_checkpoint *checkpoint);
void gn_report_print_checkpoint(const gn_report *report, FILE *stream);

/// Prints the time breakdown, what was sent, and that the replicas are identical.
void gn_report_print_end(const gn_report *report, FILE *stream);

/// The whole result as JSON; NULL when out of memory.
struct json_t *gn_report_json(const gn_report *report);

void gn_report_free(gn_report *report);

#endif
