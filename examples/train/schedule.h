// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_SCHEDULE_H
#define GRADNIC_EXAMPLES_TRAIN_SCHEDULE_H
/// Which worker sees which image (or copy of one) in which step. Every epoch has a new order, the
/// same at every worker, and is cut into batches. Images at the end of an epoch that do not fill
/// a step are left out.

#include <stddef.h>
#include <stdint.h>

#include "error.h"

typedef struct gn_schedule {
    size_t images, items;  ///< items: images and all their copies
    size_t batch, ranks;
    uint64_t seed, epoch;
    uint32_t *order;  ///< of the items in this epoch
} gn_schedule;

/// One item: copy `copy` of image `image`; copy 0 is the image itself.
typedef struct gn_item {
    size_t image;
    unsigned copy;
} gn_item;

/// The caller frees with gn_schedule_free(). Fails if there are not enough images for one step.
gn_status gn_schedule_init(gn_schedule *schedule, size_t images, unsigned copies, size_t batch, size_t ranks,
                           uint64_t seed, gn_train_error *error);
void gn_schedule_free(gn_schedule *schedule);

/// Steps in an epoch, at least 1.
size_t gn_schedule_steps(const gn_schedule *schedule);

/// Makes the order of an epoch. It depends on seed and epoch alone.
void gn_schedule_start_epoch(gn_schedule *schedule, uint64_t epoch);

/// Item `index` of `rank`'s batch in `step` of the epoch.
gn_item gn_schedule_item(const gn_schedule *schedule, size_t step, size_t rank, size_t index);

#endif
