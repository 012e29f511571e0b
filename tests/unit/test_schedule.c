// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "examples/train/breakdown.h"
#include "examples/train/schedule.h"
#include "suite.h"

static gn_train_error error;  // of the last failure

enum { IMAGES = 103, COPIES = 3, BATCH = 7, RANKS = 4 };

/// How often each item is used in an epoch.
static void count_uses(const gn_schedule *schedule, unsigned *uses)
{
    memset(uses, 0, IMAGES * (1 + COPIES) * sizeof *uses);
    for (size_t step = 0; step < gn_schedule_steps(schedule); step++)
        for (size_t rank = 0; rank < RANKS; rank++)
            for (size_t i = 0; i < BATCH; i++) {
                const gn_item item = gn_schedule_item(schedule, step, rank, i);
                ck_assert(item.image < IMAGES && item.copy <= COPIES);
                uses[item.image * (1 + COPIES) + item.copy]++;
            }
}

START_TEST(every_item_at_most_once_an_epoch)
{
    gn_schedule schedule;
    unsigned uses[IMAGES * (1 + COPIES)], used = 0;
    ck_assert_int_eq(gn_schedule_init(&schedule, IMAGES, COPIES, BATCH, RANKS, 5, &error), GN_OK);
    ck_assert_uint_eq(gn_schedule_steps(&schedule), IMAGES * (1 + COPIES) / (BATCH * RANKS));
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        gn_schedule_start_epoch(&schedule, epoch);
        count_uses(&schedule, uses);
        used = 0;
        for (size_t i = 0; i < IMAGES * (1 + COPIES); i++) {
            ck_assert_uint_le(uses[i], 1);
            used += uses[i];
        }
        ck_assert_uint_eq(used, gn_schedule_steps(&schedule) * BATCH * RANKS);
    }
    gn_schedule_free(&schedule);
}
END_TEST

START_TEST(orders_differ_by_epoch_and_seed_and_nothing_else)
{
    gn_schedule a, b;
    const size_t bytes = IMAGES * (1 + COPIES) * sizeof *a.order;
    ck_assert_int_eq(gn_schedule_init(&a, IMAGES, COPIES, BATCH, RANKS, 5, &error), GN_OK);
    ck_assert_int_eq(gn_schedule_init(&b, IMAGES, COPIES, BATCH, RANKS, 5, &error), GN_OK);
    ck_assert_mem_eq(a.order, b.order, bytes);
    gn_schedule_start_epoch(&b, 2);
    ck_assert_mem_ne(a.order, b.order, bytes);
    gn_schedule_start_epoch(&a, 1);
    gn_schedule_start_epoch(&a, 2);  // no matter what came before
    ck_assert_mem_eq(a.order, b.order, bytes);
    gn_schedule_free(&b);
    ck_assert_int_eq(gn_schedule_init(&b, IMAGES, COPIES, BATCH, RANKS, 6, &error), GN_OK);
    gn_schedule_start_epoch(&b, 2);
    ck_assert_mem_ne(a.order, b.order, bytes);
    gn_schedule_free(&a);
    gn_schedule_free(&b);
}
END_TEST

START_TEST(too_few_images_or_too_many)
{
    gn_schedule schedule;
    ck_assert_fails(gn_schedule_init(&schedule, 10, 1, 7, 3, 1, &error),
                    "a step of 3 workers takes 21 images, there are 20 (--batch, --augment)");
    ck_assert_int_eq(gn_schedule_init(&schedule, 21, 0, 7, 3, 1, &error), GN_OK);
    ck_assert_uint_eq(gn_schedule_steps(&schedule), 1);
    gn_schedule_free(&schedule);
    ck_assert_int_ne(gn_schedule_init(&schedule, (size_t)1 << 31, 1, 7, 3, 1, &error), GN_OK);
}
END_TEST

static void add_step(gn_breakdown *breakdown, double forward, double communicate)
{
    double seconds[GN_PHASES] = {0};
    seconds[GN_PHASE_FORWARD] = forward;
    seconds[GN_PHASE_SUM] = 1;
    seconds[GN_PHASE_COMMUNICATE] = communicate;
    ck_assert_int_eq(gn_breakdown_add(breakdown, seconds), GN_OK);
}

START_TEST(means_and_median)
{
    gn_breakdown breakdown = {0};
    ck_assert(gn_breakdown_exchange(&breakdown) == 0 && gn_breakdown_mean(&breakdown, GN_PHASE_SUM) == 0);
    add_step(&breakdown, 1, 9);
    add_step(&breakdown, 2, 3);
    add_step(&breakdown, 3, 4);
    ck_assert(gn_breakdown_exchange(&breakdown) == 5);
    add_step(&breakdown, 4, 100);
    ck_assert(gn_breakdown_exchange(&breakdown) == 7.5);
    ck_assert(gn_breakdown_mean(&breakdown, GN_PHASE_FORWARD) == 2.5);
    for (int i = 0; i < 3000; i++) add_step(&breakdown, 0, 0);
    ck_assert(gn_breakdown_exchange(&breakdown) == 1);
    gn_breakdown_free(&breakdown);
    ck_assert(gn_breakdown_exchange(&breakdown) == 0);
    gn_breakdown_free(&breakdown);
}
END_TEST

int main(void)
{
    return RUN_TESTS("schedule", every_item_at_most_once_an_epoch, orders_differ_by_epoch_and_seed_and_nothing_else,
                     too_few_images_or_too_many, means_and_median);
}
