// SPDX-License-Identifier: Apache-2.0
#include "trainer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "augment.h"
#include "clock.h"
#include "gather.h"
#include "hash.h"
#include "words.h"

static gn_status comm_fail(const gn_trainer *t, const char *doing, gn_status status, gn_train_error *error)
{
    return gn_train_fail(error, status, "%s: %s: %s", doing, gn_status_string(status),
                         gn_comm_last_error(t->averager.comm));
}

/// Fills the first layer's input with the batch of `step`.
static void load_batch(gn_trainer *t, size_t step)
{
    const gn_digits *train = &t->data->train;
    const size_t pixels = gn_digits_pixels(train);
    for (size_t i = 0; i < t->schedule.batch; i++) {
        const gn_item item = gn_schedule_item(&t->schedule, step, (size_t)t->rank, i);
        gn_augment(train, item.image, item.copy, t->settings->seed, t->mlp.value[0] + i * pixels);
        t->labels[i] = train->labels.values[item.image];
    }
}

static gn_status start_layer(gn_trainer *t, unsigned layer, gn_train_error *error)
{
    const gn_status status = gn_averager_start_layer(&t->averager, &t->mlp, layer);
    return status ? comm_fail(t, "exchange", status, error) : GN_OK;
}

/// `watched`: the gradient is needed as it is. An exchange would put sums in its place.
static gn_status backward(gn_trainer *t, bool watched, gn_train_error *error)
{
    const size_t batch = t->schedule.batch;
    gn_status wrong = GN_OK;
    gn_mlp_backward_begin(&t->mlp, t->labels, batch);
    for (unsigned l = t->mlp.layers; l-- > 0 && !wrong;) {
        gn_mlp_backward_layer(&t->mlp, l, batch);
        if (!watched) wrong = start_layer(t, l, error);
    }
    return wrong;
}

static gn_status watch_gradient(gn_trainer *t, uint64_t step, gn_train_error *error)
{
    gn_status wrong = t->watch.gradient(t->watch.context, &t->mlp, step, error);
    for (unsigned l = t->mlp.layers; l-- > 0 && !wrong;) wrong = start_layer(t, l, error);
    return wrong;
}

/// Averages the gradient over all workers. The library's counters tell how the time is split.
static gn_status exchange(gn_trainer *t, uint64_t step, double seconds[GN_PHASES], gn_train_error *error)
{
    const gn_comm_stats before = gn_comm_get_stats(t->averager.comm);
    const uint64_t start = gn_train_now();
    if (t->watch.compress) {
        const gn_status wrong = t->watch.compress(t->watch.context, &t->mlp, step, error);
        if (wrong) return wrong;
        seconds[GN_PHASE_QUANTISE] = gn_train_seconds_since(start);
    }
    const gn_status status = gn_averager_finish(&t->averager, &t->mlp);
    if (status) return comm_fail(t, "exchange", status, error);
    const double all = gn_train_seconds_since(start);
    const gn_comm_stats after = gn_comm_get_stats(t->averager.comm);
    if (!t->settings->overlap) {  // with it, part of them is hidden behind the backward pass
        seconds[GN_PHASE_QUANTISE] += after.quantise_seconds - before.quantise_seconds;
        seconds[GN_PHASE_SUM] = after.reduce_seconds - before.reduce_seconds;
    }
    seconds[GN_PHASE_COMMUNICATE] = fmax(0, all - seconds[GN_PHASE_QUANTISE] - seconds[GN_PHASE_SUM]);
    if (t->averager.nic && gn_in_process_get_stats(t->averager.nic).lost)
        return gn_train_fail(error, GN_INVALID, "the in-process NIC lost a segment");
    return GN_OK;
}

/// The optimiser at a step: only its learning rate changes with time.
static gn_sgd sgd_at(const gn_train_settings *settings, uint64_t step)
{
    gn_sgd sgd = settings->sgd;
    if (!settings->rate_drop_steps) return sgd;
    const uint64_t drops = (step - 1) / settings->rate_drop_steps;
    sgd.rate = (float)((double)sgd.rate / pow((double)settings->rate_drop, (double)drops));
    return sgd;
}

/// Step `step` of the training, counted from 1.
static gn_status train_step(gn_trainer *t, uint64_t step, size_t step_of_epoch, gn_train_error *error)
{
    double seconds[GN_PHASES] = {0};
    uint64_t start = gn_train_now();
    load_batch(t, step_of_epoch);
    seconds[GN_PHASE_INPUT] = gn_train_seconds_since(start);

    start = gn_train_now();
    gn_mlp_forward(&t->mlp, t->schedule.batch);
    t->loss += gn_mlp_loss(&t->mlp, t->labels, t->schedule.batch, NULL);
    t->losses++;
    seconds[GN_PHASE_FORWARD] = gn_train_seconds_since(start);

    start = gn_train_now();
    const bool watched = t->watch.gradient && (!t->watch.wants || t->watch.wants(t->watch.context, step));
    gn_status wrong = backward(t, watched, error);
    if (wrong) return wrong;
    seconds[GN_PHASE_BACKWARD] = gn_train_seconds_since(start);

    if (watched) wrong = watch_gradient(t, step, error);
    if (!wrong) wrong = exchange(t, step, seconds, error);
    if (wrong) return wrong;

    start = gn_train_now();
    const gn_sgd sgd = sgd_at(t->settings, step);
    gn_sgd_step(&sgd, t->mlp.weights, t->velocity, t->mlp.gradient, gn_mlp_parameters(&t->mlp));
    if (t->watch.updated) wrong = t->watch.updated(t->watch.context, &t->mlp, error);
    if (wrong) return wrong;
    seconds[GN_PHASE_UPDATE] = gn_train_seconds_since(start);
    return gn_breakdown_add(&t->breakdown, seconds) ? gn_train_fail(error, GN_NO_MEMORY, "out of memory") : GN_OK;
}

/// Tests this worker's share of the test set.
static void evaluate(gn_trainer *t, double *loss, uint64_t *correct)
{
    const gn_digits *test = &t->data->test;
    const size_t pixels = gn_digits_pixels(test), end = test->count * ((size_t)t->rank + 1) / (size_t)t->size;
    *loss = 0;
    *correct = 0;
    for (size_t at = test->count * (size_t)t->rank / (size_t)t->size; at < end;) {
        const size_t rows = end - at < t->mlp.batch_max ? end - at : t->mlp.batch_max;
        for (size_t i = 0; i < rows; i++) gn_augment(test, at + i, 0, 0, t->mlp.value[0] + i * pixels);
        gn_mlp_forward(&t->mlp, rows);
        size_t right;
        *loss += gn_mlp_loss(&t->mlp, test->labels.values + at, rows, &right) * (double)rows;
        *correct += right;
        at += rows;
    }
}

/// What workers tell each other at a checkpoint.
enum { WORD_WEIGHTS, WORD_LOSS, WORD_TEST_LOSS, WORD_CORRECT, CHECKPOINT_WORDS };

/// Collects `count` words of every rank; the caller frees `*all`.
static gn_status gather(gn_trainer *t, const char *doing, const uint64_t *mine, size_t count, uint64_t **all,
                        gn_train_error *error)
{
    *all = malloc((size_t)t->size * count * sizeof **all);
    if (!*all) return gn_train_fail(error, GN_NO_MEMORY, "out of memory");
    const gn_status status = gn_gather_words(t->averager.comm, mine, count, *all);
    if (!status) return GN_OK;
    free(*all);
    comm_fail(t, doing, status, error);
    return status;
}

static gn_status compare_replicas(const gn_trainer *t, const uint64_t *all, uint64_t step, gn_train_error *error)
{
    for (int r = 1; r < t->size; r++)
        if (all[r * CHECKPOINT_WORDS + WORD_WEIGHTS] != all[WORD_WEIGHTS])
            return gn_train_fail(error, GN_INVALID,
                                 "replicas identical: no: after step %" PRIu64 " rank %d's weights hash to %016" PRIx64
                                 ", rank 0's to %016" PRIx64,
                                 step, r, all[r * CHECKPOINT_WORDS + WORD_WEIGHTS], all[WORD_WEIGHTS]);
    return GN_OK;
}

static gn_status checkpoint(gn_trainer *t, uint64_t epoch, uint64_t step, gn_train_error *error)
{
    double test_loss;
    uint64_t mine[CHECKPOINT_WORDS], *all;
    evaluate(t, &test_loss, &mine[WORD_CORRECT]);
    mine[WORD_WEIGHTS] = gn_hash_floats(GN_HASH_START, t->mlp.weights, gn_mlp_parameters(&t->mlp));
    mine[WORD_LOSS] = gn_word_of(t->loss / (double)(t->losses ? t->losses : 1));
    mine[WORD_TEST_LOSS] = gn_word_of(test_loss);
    gn_status wrong = gather(t, "comparing replicas", mine, CHECKPOINT_WORDS, &all, error);
    if (wrong) return wrong;
    gn_checkpoint c = {
        .epoch = epoch, .step = step, .seconds = gn_train_seconds_since(t->started), .weights = all[WORD_WEIGHTS]};
    const double images = (double)t->data->test.count;
    for (int r = 0; r < t->size; r++) {
        const uint64_t *words = all + (size_t)r * CHECKPOINT_WORDS;
        c.loss += gn_word_number(words[WORD_LOSS]) / t->size;
        c.test_loss += gn_word_number(words[WORD_TEST_LOSS]) / images;
        c.accuracy += (double)words[WORD_CORRECT] / images;
    }
    wrong = compare_replicas(t, all, step, error);
    free(all);
    return wrong || !t->watch.checkpoint ? wrong : t->watch.checkpoint(t->watch.context, &c, error);
}

// Whether results are due after this step, however long the training is.
static bool is_due(const gn_trainer *t, uint64_t step)
{
    const uint64_t every = t->settings->evaluate_steps;
    return step % gn_schedule_steps(&t->schedule) == 0 || (every && step % every == 0);
}

gn_status gn_trainer_run(gn_trainer *t, gn_train_error *error)
{
    const size_t epoch_steps = gn_schedule_steps(&t->schedule);
    t->started = gn_train_now();
    if (t->done >= t->steps) return checkpoint(t, t->done ? (t->done - 1) / epoch_steps + 1 : 1, t->done, error);
    for (uint64_t step = t->done + 1; step <= t->steps; step++) {
        const uint64_t epoch = (step - 1) / epoch_steps, step_of_epoch = (step - 1) % epoch_steps;
        if (epoch != t->schedule.epoch) gn_schedule_start_epoch(&t->schedule, epoch);
        // Only now: a training that was killed after its last step has the same loss again.
        if (is_due(t, step - 1)) t->loss = 0, t->losses = 0;
        gn_status wrong = train_step(t, step, step_of_epoch, error);
        if (wrong) return gn_train_fail(error, wrong, "step %" PRIu64 ": %s", step, error->text);
        if (t->watch.step) wrong = t->watch.step(t->watch.context, step, error);
        if (wrong) return wrong;
        const double a_step = gn_train_seconds_since(t->started) / (double)(step - t->done);
        gn_comm_set_remaining(t->averager.comm, a_step * (double)(t->steps - step));
        if (is_due(t, step) || step == t->steps) wrong = checkpoint(t, epoch + 1, step, error);
        if (!wrong && t->watch.done) wrong = t->watch.done(t->watch.context, step, error);
        if (wrong) return wrong;
    }
    return GN_OK;
}

static uint64_t hash_data(uint64_t hash, const gn_train_data *data)
{
    const gn_digits *sets[] = {&data->train, &data->test};
    for (size_t i = 0; i < 2; i++) {
        hash = gn_hash_bytes(hash, sets[i]->images.values, sets[i]->images.count);
        hash = gn_hash_bytes(hash, sets[i]->labels.values, sets[i]->labels.count);
    }
    return hash;
}

uint64_t gn_trainer_data_hash(const gn_trainer *t)
{
    return hash_data(GN_HASH_START, t->data);
}

/// A hash of the settings and data that must be the same at all ranks.
static uint64_t hash_of_task(const gn_trainer *t)
{
    const gn_train_settings *s = t->settings;
    const uint64_t words[] = {s->convolutional,
                              s->layers,
                              s->hidden,
                              s->batch,
                              s->classes,
                              s->copies,
                              s->epochs,
                              s->steps,
                              s->evaluate_steps,
                              s->seed,
                              s->rate_drop_steps,
                              s->overlap,
                              s->feedback,
                              gn_word_of((double)s->sgd.rate),
                              gn_word_of((double)s->sgd.momentum),
                              gn_word_of((double)s->sgd.weight_decay),
                              gn_word_of((double)s->rate_drop)};
    uint64_t hash = GN_HASH_START;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) hash = gn_hash_step(hash, words[i]);
    if (s->agreed) hash = gn_hash_step(hash, s->agreed);
    hash = hash_data(hash, t->data);
    return gn_hash_floats(hash, t->mlp.weights, gn_mlp_parameters(&t->mlp));
}

static gn_status compare_tasks(gn_trainer *t, gn_train_error *error)
{
    uint64_t *all;
    const uint64_t mine = hash_of_task(t);
    gn_status wrong = gather(t, "comparing options", &mine, 1, &all, error);
    if (wrong) return wrong;
    for (int r = 1; r < t->size && !wrong; r++)
        if (all[r] != all[0])
            wrong = gn_train_fail(error, GN_MISMATCH,
                                  "rank %d was started with other options or other data than rank 0", r);
    free(all);
    return wrong;
}

static gn_status make_network(gn_trainer *t, gn_train_error *error)
{
    const gn_train_settings *s = t->settings;
    const gn_digits *train = &t->data->train;
    size_t width[GN_MLP_LAYERS_MAX + 1];
    for (unsigned l = 1; l < s->layers; l++) width[l] = s->hidden;
    width[0] = gn_digits_pixels(train);
    width[s->layers] = s->classes;
    const gn_status status = s->convolutional
                                 ? gn_mlp_init_cnn(&t->mlp, train->rows, train->columns, s->classes, s->batch)
                                 : gn_mlp_init(&t->mlp, s->layers, width, s->batch);
    if (!status) {
        gn_mlp_randomise(&t->mlp, s->seed);
        t->velocity = calloc(gn_mlp_parameters(&t->mlp), sizeof *t->velocity);
        t->labels = malloc(s->batch);
    }
    if (status || !t->velocity || !t->labels)
        return gn_train_fail(
            error, GN_NO_MEMORY,
            "out of memory for the network and products of its matrices, which alone take %d MiB (ulimit -v?)",
            GN_MLP_PRODUCT_MIB);
    return gn_averager_prepare(&t->averager, s, gn_mlp_parameters(&t->mlp), error);
}

gn_status gn_trainer_init(gn_trainer *t, const gn_train_settings *settings, const gn_train_data *data,
                          const gn_train_watch *watch, gn_train_error *error)
{
    const gn_train_settings *s = settings;
    *t = (gn_trainer){.settings = s, .data = data, .watch = *watch, .rank = s->comm.rank, .size = s->comm.size};
    gn_status wrong = gn_averager_init(&t->averager, s, error);
    if (wrong) return wrong;
    t->rank = gn_comm_rank(t->averager.comm);
    t->size = gn_comm_size(t->averager.comm);
    wrong = gn_schedule_init(&t->schedule, data->train.count, s->copies, s->batch, (size_t)t->size, s->seed, error);
    if (!wrong) wrong = make_network(t, error);
    if (!wrong) wrong = compare_tasks(t, error);
    if (!wrong) t->steps = s->steps ? s->steps : s->epochs * gn_schedule_steps(&t->schedule);
    return wrong;
}

static gn_rank_result own_result(const gn_trainer *t)
{
    gn_rank_result result = {.exchange_median = gn_breakdown_exchange(&t->breakdown),
                             .comm = gn_comm_get_stats(t->averager.comm)};
    for (gn_phase p = 0; p < GN_PHASES; p++) result.mean[p] = gn_breakdown_mean(&t->breakdown, p);
    if (t->averager.nic) result.nic = gn_in_process_get_stats(t->averager.nic);
    return result;
}

gn_status gn_trainer_results(gn_trainer *t, gn_rank_result *results, gn_train_error *error)
{
    _Static_assert(sizeof(gn_rank_result) % sizeof(uint64_t) == 0, "results travel as 64-bit words");
    enum { WORDS = sizeof(gn_rank_result) / sizeof(uint64_t) };
    uint64_t mine[WORDS], *all;
    const gn_rank_result own = own_result(t);
    memcpy(mine, &own, sizeof mine);
    const gn_status wrong = gather(t, "collecting results", mine, WORDS, &all, error);
    if (wrong) return wrong;
    memcpy(results, all, (size_t)t->size * sizeof *results);
    free(all);
    return GN_OK;
}

void gn_trainer_abort(gn_trainer *t, const char *reason)
{
    gn_comm_abort(t->averager.comm, reason);  // if the exchange failed, they know already
}

void gn_trainer_free(gn_trainer *t)
{
    gn_averager_free(&t->averager);
    gn_schedule_free(&t->schedule);
    gn_mlp_free(&t->mlp);
    gn_breakdown_free(&t->breakdown);
    free(t->velocity);
    free(t->labels);
}
