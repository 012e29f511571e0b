// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_RESUME_H
#define GRADNIC_TOOLS_TRAIN_RESUME_H
/// Checkpoints of a training: when they are saved, and where it goes on. Rank R has FILE.R and
/// FILE.R.before, the checkpoint before it.
///
/// All ranks save after the same steps. A rank that is killed while it saves has the checkpoint
/// before. No rank is more than one checkpoint ahead, because every step needs all ranks. So there
/// is a step that all have, and they go on from the latest one.

#include "examples/train/trainer.h"
#include "options.h"
#include "saved.h"

typedef struct gn_resume {
    const gn_train_options *options;
    gn_trainer *trainer;
    gn_saved_task task;
    uint64_t saved;   ///< step of the last checkpoint
    int lock;         ///< its file, locked: another training keeps away; -1: none yet
    int interrupted;  ///< the signal that ended the training, here or at another rank; 0: none
} gn_resume;

/// Finds mistakes before the training: checkpoints of ranks `first` to `last` that are there
/// already, although nothing was said of them.
gn_status gn_resume_prepare(const gn_train_options *options, unsigned first, unsigned last, gn_error *error);

/// From now on SIGINT, SIGTERM, SIGHUP and the signals of batch systems (SIGUSR1, SIGUSR2, SIGXCPU)
/// end the training after a step. Not one that is ignored. A second signal, a second later, ends
/// this process.
void gn_resume_catch_signals(void);
/// The signal that this rank has got; 0: none.
int gn_resume_signal(void);

/// Begins, or goes on where all ranks can. The trainer is ready and has made no step.
gn_status gn_resume_begin(gn_resume *resume, const gn_train_options *options, gn_trainer *trainer,
                          gn_train_error *error);

/// After a step: saves when it is time, or when any rank has got a signal. Then it fails, with
/// `interrupted` set.
gn_status gn_resume_step(gn_resume *resume, uint64_t step, gn_train_error *error);

#endif
