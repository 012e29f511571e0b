// SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { PURPOSE = 0x6f726472 };

gn_status gn_schedule_init(gn_schedule *schedule, size_t images, unsigned copies, size_t batch, size_t ranks,
                           uint64_t seed, gn_train_error *error)
{
    memset(schedule, 0, sizeof *schedule);
    const size_t items = images * (1 + (size_t)copies);
    if (items > UINT32_MAX)
        return gn_train_fail(error, GN_INVALID, "%zu images and copies; at most %u can be put in order (--augment)",
                             items, UINT32_MAX);
    if (items < batch * ranks)
        return gn_train_fail(error, GN_INVALID,
                             "a step of %zu workers takes %zu images, there are %zu (--batch, --augment)", ranks,
                             batch * ranks, items);
    *schedule = (gn_schedule){.images = images, .items = items, .batch = batch, .ranks = ranks, .seed = seed};
    schedule->order = malloc(items * sizeof *schedule->order);
    if (!schedule->order) return gn_train_fail(error, GN_INVALID, "out of memory for the order of %zu images", items);
    gn_schedule_start_epoch(schedule, 0);
    return GN_OK;
}

void gn_schedule_free(gn_schedule *schedule)
{
    free(schedule->order);
    memset(schedule, 0, sizeof *schedule);
}

size_t gn_schedule_steps(const gn_schedule *schedule)
{
    return schedule->items / (schedule->batch * schedule->ranks);
}

void gn_schedule_start_epoch(gn_schedule *schedule, uint64_t epoch)
{
    uint32_t *order = schedule->order;
    gn_random random = gn_random_for(schedule->seed, PURPOSE, epoch);
    for (size_t i = 0; i < schedule->items; i++) order[i] = (uint32_t)i;
    for (size_t i = schedule->items; i > 1; i--) {  // Fisher and Yates
        const size_t j = gn_random_below(&random, (uint32_t)i);
        const uint32_t other = order[i - 1];
        order[i - 1] = order[j];
        order[j] = other;
    }
    schedule->epoch = epoch;
}

gn_item gn_schedule_item(const gn_schedule *schedule, size_t step, size_t rank, size_t index)
{
    const size_t item = schedule->order[(step * schedule->ranks + rank) * schedule->batch + index];
    return (gn_item){.image = item % schedule->images, .copy = (unsigned)(item / schedule->images)};
}
