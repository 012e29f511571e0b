// SPDX-License-Identifier: Apache-2.0
// Gradients of a network, averaged over ranks: all at once, or a layer at a time. Who is lost
// amid it is an error of that very step.
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "examples/train/averager.h"
#include "suite.h"

enum { RANKS = 3, LAYERS = 3 };

static const size_t width[LAYERS + 1] = {64, 100, 50, 10};

typedef struct worker {
    gn_train_settings settings;
    gn_averager averager;
    gn_mlp mlp;
} worker;

static void begin(worker *w, int rank, const ranks *group, bool overlap)
{
    gn_train_error error;
    w->settings = gn_train_settings_default();
    w->settings.overlap = overlap;
    w->settings.comm = rank_config(rank, group);
    RANK_CHECK(!gn_mlp_init(&w->mlp, LAYERS, width, 1));
    RANK_CHECK(!gn_averager_init(&w->averager, &w->settings, &error));
    RANK_CHECK(!gn_averager_prepare(&w->averager, &w->settings, gn_mlp_parameters(&w->mlp), &error));
}

static void end(worker *w)
{
    gn_averager_free(&w->averager);
    gn_mlp_free(&w->mlp);
}

static void average(int rank, const ranks *group, void *argument)
{
    worker w;
    begin(&w, rank, group, *(const bool *)argument);
    for (int step = 0; step < 2; step++) {
        for (size_t i = 0; i < gn_mlp_parameters(&w.mlp); i++) w.mlp.gradient[i] = (float)(i % 100 + (size_t)rank);
        for (unsigned l = LAYERS; l-- > 0;) RANK_CHECK(!gn_averager_start_layer(&w.averager, &w.mlp, l));
        RANK_CHECK(!gn_averager_finish(&w.averager, &w.mlp));
        for (size_t i = 0; i < gn_mlp_parameters(&w.mlp); i++)
            RANK_CHECK(w.mlp.gradient[i] == (float)(i % 100 + (RANKS - 1) / 2));
    }
    end(&w);
}

START_TEST(the_mean_of_all)
{
    ranks_run(RANKS, average, &(bool){false}, 60);
    ranks_run(RANKS, average, &(bool){true}, 60);
}
END_TEST

static void lose_one(int rank, const ranks *group, void *argument)
{
    worker w;
    begin(&w, rank, group, true);
    int *waiting = argument;  // ranks that have started all layers
    if (rank == RANKS - 1) {
        while (__atomic_load_n(waiting, __ATOMIC_ACQUIRE) < RANKS - 1) usleep(1000);
        gn_comm_abort(w.averager.comm, "no more");
    } else {
        for (unsigned l = LAYERS; l-- > 0;) RANK_CHECK(!gn_averager_start_layer(&w.averager, &w.mlp, l));
        __atomic_fetch_add(waiting, 1, __ATOMIC_RELEASE);
        RANK_CHECK(gn_averager_finish(&w.averager, &w.mlp));
    }
    end(&w);
}

START_TEST(a_lost_rank_is_this_steps_error)
{
    int *waiting = ranks_share(sizeof *waiting);
    ranks_run(RANKS, lose_one, waiting, 60);
    munmap(waiting, sizeof *waiting);
}
END_TEST

int main(void)
{
    return RUN_TESTS("averager", the_mean_of_all, a_lost_rank_is_this_steps_error);
}
