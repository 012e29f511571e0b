// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_TRAINER_H
#define GRADNIC_EXAMPLES_TRAIN_TRAINER_H
/// One rank's training. A rank computes the gradient of its own batch, the ranks average their
/// gradients, and each makes the same update. So all replicas keep the same bits. Every
/// checkpoint checks that.
///
///     gn_trainer trainer;
///     gn_status status = gn_trainer_init(&trainer, &settings, &data, &watch, &error);
///     if (!status) status = gn_trainer_run(&trainer, &error);
///     if (status) gn_trainer_abort(&trainer, error.text);
///     gn_trainer_free(&trainer);

#include "averager.h"
#include "breakdown.h"
#include "digits.h"
#include "error.h"
#include "mlp.h"
#include "schedule.h"
#include "settings.h"

/// Training and test set, read once and shared by the ranks of one machine.
typedef struct gn_train_data {
    gn_digits train, test;
} gn_train_data;

/// The state of the training, over all ranks.
typedef struct gn_checkpoint {
    uint64_t epoch, step;        ///< both count from 1, at the end of the step
    double seconds;              ///< since the first step
    double loss;                 ///< mean over training images since the last checkpoint
    double test_loss, accuracy;  ///< of the test set; accuracy 0 to 1
    uint64_t weights;            ///< hash, the same at every rank
} gn_checkpoint;

/// What one rank measured.
typedef struct gn_rank_result {
    double exchange_median;  ///< seconds
    double mean[GN_PHASES];  ///< seconds per step
    gn_comm_stats comm;      ///< over all steps
    gn_in_process_stats nic;
} gn_rank_result;

/// Calls during the training. Each may be NULL. A failure ends the training.
typedef struct gn_train_watch {
    void *context;
    /// Whether `gradient` wants a step's; NULL: each. No exchange of such a step begins before it,
    /// also with settings->overlap.
    bool (*wants)(void *context, uint64_t step);
    /// This rank's gradient of step `step`, before the exchange.
    gn_status (*gradient)(void *context, const gn_mlp *mlp, uint64_t step, gn_train_error *error);
    /// Changes the gradient before the exchange, and may set weights to others, which the update
    /// then is of. Not with settings->overlap. Its time is part of the exchange.
    gn_status (*compress)(void *context, gn_mlp *mlp, uint64_t step, gn_train_error *error);
    /// After the update.
    gn_status (*updated)(void *context, gn_mlp *mlp, gn_train_error *error);
    gn_status (*step)(void *context, uint64_t step, gn_train_error *error);  ///< after the step
    gn_status (*checkpoint)(void *context, const gn_checkpoint *checkpoint, gn_train_error *error);
    /// After the step and its checkpoint, when all that the next step needs is there.
    gn_status (*done)(void *context, uint64_t step, gn_train_error *error);
} gn_train_watch;

typedef struct gn_trainer {
    const gn_train_settings *settings;
    const gn_train_data *data;
    gn_train_watch watch;
    int rank, size;
    uint64_t steps;  ///< of the whole training
    uint64_t done;   ///< of them, made before: by whoever sets it, with the state after that step
    gn_averager averager;
    gn_schedule schedule;
    gn_mlp mlp;
    float *velocity;
    uint8_t *labels;  ///< of the batch
    gn_breakdown breakdown;
    uint64_t started;
    double loss;  ///< summed since the last checkpoint
    uint64_t losses;
} gn_trainer;

/// Connects all ranks and makes the network. Checks that all ranks have the same settings and
/// data. `settings` and `data` are borrowed. Call gn_trainer_free() in any case.
gn_status gn_trainer_init(gn_trainer *trainer, const gn_train_settings *settings, const gn_train_data *data,
                          const gn_train_watch *watch, gn_train_error *error);

/// Trains to the end.
gn_status gn_trainer_run(gn_trainer *trainer, gn_train_error *error);

/// A hash of the training and test data.
uint64_t gn_trainer_data_hash(const gn_trainer *trainer);

/// Collects what each rank measured, at every rank. `results` has room for `size` of them.
gn_status gn_trainer_results(gn_trainer *trainer, gn_rank_result *results, gn_train_error *error);

/// Tells the other ranks why this rank fails, so they need not wait for it.
void gn_trainer_abort(gn_trainer *trainer, const char *reason);

void gn_trainer_free(gn_trainer *trainer);

#endif
