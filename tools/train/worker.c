// SPDX-License-Identifier: Apache-2.0
#include "worker.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "augment.h"
#include "averager.h"
#include "dump.h"
#include "gather.h"
#include "hash.h"
#include "net/clock.h"
#include "result.h"
#include "schedule.h"
#include "tools/kit/cli.h"
#include "tools/kit/command.h"
#include "tools/kit/json.h"
#include "tools/kit/output.h"
#include "tools/kit/progress.h"

typedef struct worker {
    const gn_train_options *options;
    const gn_train_data *data;
    int rank, size;
    gn_averager averager;
    gn_schedule schedule;
    gn_mlp mlp;
    float *velocity;
    uint8_t *labels;  // of the batch
    gn_breakdown breakdown;
    gn_report report;
    gn_progress progress;
    gn_output *json;
    FILE *table;  // rank 0's; NULL: none
    uint64_t started;
    double loss;  // summed since the last checkpoint
    uint64_t losses;
} worker;

static double seconds_since(uint64_t start)
{
    return gn_seconds(gn_now() - start);
}

static gn_status comm_message(const worker *w, const char *doing, gn_status status, gn_error *error)
{
    return gn_fail(error, status, "%s: %s: %s", doing, gn_status_string(status), gn_comm_last_error(w->averager.comm));
}

/// Fills the first layer's input with the batch of `step`.
static void load_batch(worker *w, size_t step)
{
    const gn_digits *train = &w->data->train;
    const size_t pixels = gn_digits_pixels(train);
    for (size_t i = 0; i < w->schedule.batch; i++) {
        const gn_item item = gn_schedule_item(&w->schedule, step, (size_t)w->rank, i);
        gn_augment(train, item.image, item.copy, w->options->seed, w->mlp.value[0] + i * pixels);
        w->labels[i] = train->labels.values[item.image];
    }
}

static bool dump_is_due(const worker *w, uint64_t step)
{
    const gn_train_options *o = w->options;
    return o->dump_folder && w->rank < (int)o->dump_ranks && step % o->dump_steps == 0;
}

static gn_status backward(worker *w, gn_error *error)
{
    const size_t batch = w->schedule.batch;
    gn_mlp_backward_begin(&w->mlp, w->labels, batch);
    for (unsigned l = w->mlp.layers; l-- > 0;) {
        gn_mlp_backward_layer(&w->mlp, l, batch);
        const gn_status status = gn_averager_start_layer(&w->averager, &w->mlp, l);
        if (status) return comm_message(w, "exchange", status, error);
    }
    return GN_OK;
}

/// Averages the gradient over all workers, and splits the time it took with the library's own account of it.
static gn_status exchange(worker *w, double seconds[GN_PHASES], gn_error *error)
{
    const gn_comm_stats before = gn_comm_get_stats(w->averager.comm);
    const uint64_t start = gn_now();
    const gn_status status = gn_averager_finish(&w->averager, &w->mlp);
    if (status) return comm_message(w, "exchange", status, error);
    const double all = seconds_since(start);
    const gn_comm_stats after = gn_comm_get_stats(w->averager.comm);
    if (!w->options->overlap) {  // otherwise part of them was hidden behind the backward pass
        seconds[GN_PHASE_QUANTISE] = after.quantise_seconds - before.quantise_seconds;
        seconds[GN_PHASE_SUM] = after.reduce_seconds - before.reduce_seconds;
    }
    seconds[GN_PHASE_COMMUNICATE] = fmax(0, all - seconds[GN_PHASE_QUANTISE] - seconds[GN_PHASE_SUM]);
    if (w->averager.nic && gn_in_process_get_stats(w->averager.nic).lost)
        return gn_fail(error, GN_INVALID, "the in-process NIC lost a segment");
    return GN_OK;
}

/// The learning rate's steps down are the only thing about the optimiser that changes with time.
static gn_sgd sgd_at(const gn_train_options *options, uint64_t step)
{
    gn_sgd sgd = options->sgd;
    if (!options->rate_drop_steps) return sgd;
    const uint64_t drops = (step - 1) / options->rate_drop_steps;
    sgd.rate = (float)((double)sgd.rate / pow((double)options->rate_drop, (double)drops));
    return sgd;
}

/// Step `step` of the training, counted from 1.
static gn_status train_step(worker *w, uint64_t step, size_t step_of_epoch, gn_error *error)
{
    double seconds[GN_PHASES] = {0};
    uint64_t start = gn_now();
    load_batch(w, step_of_epoch);
    seconds[GN_PHASE_INPUT] = seconds_since(start);

    start = gn_now();
    gn_mlp_forward(&w->mlp, w->schedule.batch);
    w->loss += gn_mlp_loss(&w->mlp, w->labels, w->schedule.batch, NULL);
    w->losses++;
    seconds[GN_PHASE_FORWARD] = seconds_since(start);

    start = gn_now();
    gn_status wrong = backward(w, error);
    if (wrong) return wrong;
    seconds[GN_PHASE_BACKWARD] = seconds_since(start);

    if (dump_is_due(w, step))
        wrong = gn_dump_gradient(&w->mlp, w->options->dump_folder, step, w->rank, w->options->force, error);
    if (!wrong) wrong = exchange(w, seconds, error);
    if (wrong) return wrong;

    start = gn_now();
    const gn_sgd sgd = sgd_at(w->options, step);
    gn_sgd_step(&sgd, w->mlp.weights, w->velocity, w->mlp.gradient, gn_mlp_parameters(&w->mlp));
    seconds[GN_PHASE_UPDATE] = seconds_since(start);
    return gn_breakdown_add(&w->breakdown, seconds) ? gn_fail_memory(error) : GN_OK;
}

/// This worker's share of the test set.
static void evaluate(worker *w, double *loss, uint64_t *correct)
{
    const gn_digits *test = &w->data->test;
    const size_t pixels = gn_digits_pixels(test), end = test->count * ((size_t)w->rank + 1) / (size_t)w->size;
    *loss = 0;
    *correct = 0;
    for (size_t at = test->count * (size_t)w->rank / (size_t)w->size; at < end;) {
        const size_t rows = end - at < w->mlp.batch_max ? end - at : w->mlp.batch_max;
        for (size_t i = 0; i < rows; i++) gn_augment(test, at + i, 0, 0, w->mlp.value[0] + i * pixels);
        gn_mlp_forward(&w->mlp, rows);
        size_t right;
        *loss += gn_mlp_loss(&w->mlp, test->labels.values + at, rows, &right) * (double)rows;
        *correct += right;
        at += rows;
    }
}

/// What workers tell each other at a checkpoint.
enum { WORD_WEIGHTS, WORD_LOSS, WORD_TEST_LOSS, WORD_CORRECT, CHECKPOINT_WORDS };

static uint64_t word_of(double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

static double number_of(uint64_t word)
{
    double number;
    memcpy(&number, &word, sizeof number);
    return number;
}

/// `count` words of every rank, which the caller frees; NULL with `error` when that failed.
static uint64_t *gather(worker *w, const char *doing, const uint64_t *mine, size_t count, gn_error *error)
{
    uint64_t *all = malloc((size_t)w->size * count * sizeof *all);
    if (!all) {
        gn_fail_memory(error);
        return NULL;
    }
    const gn_status status = gn_gather_words(w->averager.comm, mine, count, all);
    if (!status) return all;
    free(all);
    comm_message(w, doing, status, error);
    return NULL;
}

static gn_status compare_replicas(const worker *w, const uint64_t *all, uint64_t step, gn_error *error)
{
    for (int r = 1; r < w->size; r++)
        if (all[r * CHECKPOINT_WORDS + WORD_WEIGHTS] != all[WORD_WEIGHTS])
            return gn_fail(error, GN_INVALID,
                           "replicas identical: no: after step %" PRIu64 " rank %d's weights hash to %016" PRIx64
                           ", rank 0's to %016" PRIx64,
                           step, r, all[r * CHECKPOINT_WORDS + WORD_WEIGHTS], all[WORD_WEIGHTS]);
    return GN_OK;
}

static gn_status checkpoint(worker *w, uint64_t epoch, uint64_t step, gn_error *error)
{
    double test_loss;
    uint64_t mine[CHECKPOINT_WORDS];
    evaluate(w, &test_loss, &mine[WORD_CORRECT]);
    mine[WORD_WEIGHTS] = gn_hash_floats(GN_HASH_START, w->mlp.weights, gn_mlp_parameters(&w->mlp));
    mine[WORD_LOSS] = word_of(w->loss / (double)(w->losses ? w->losses : 1));
    mine[WORD_TEST_LOSS] = word_of(test_loss);
    w->loss = 0;
    w->losses = 0;
    uint64_t *all = gather(w, "comparing replicas", mine, CHECKPOINT_WORDS, error);
    if (!all) return error->status;
    gn_status wrong = compare_replicas(w, all, step, error);
    gn_checkpoint c = {
        .epoch = epoch, .step = step, .seconds = seconds_since(w->started), .weights = all[WORD_WEIGHTS]};
    const double images = (double)w->data->test.count;
    for (int r = 0; r < w->size; r++) {
        const uint64_t *words = all + (size_t)r * CHECKPOINT_WORDS;
        c.loss += number_of(words[WORD_LOSS]) / w->size;
        c.test_loss += number_of(words[WORD_TEST_LOSS]) / images;
        c.accuracy += (double)words[WORD_CORRECT] / images;
    }
    free(all);
    if (!wrong && gn_report_add(&w->report, &c)) wrong = gn_fail_memory(error);
    if (wrong || !w->table) return wrong;
    gn_progress_clear();
    gn_report_print_checkpoint(&w->report, w->table);
    return GN_OK;
}

static gn_status train(worker *w, gn_error *error)
{
    const gn_train_options *o = w->options;
    const size_t epoch_steps = gn_schedule_steps(&w->schedule);
    const uint64_t last = w->report.steps;
    w->started = gn_now();
    gn_status wrong = GN_OK;
    for (uint64_t step = 1; step <= last && !wrong; step++) {
        const uint64_t epoch = (step - 1) / epoch_steps, step_of_epoch = (step - 1) % epoch_steps;
        if (epoch != w->schedule.epoch) gn_schedule_start_epoch(&w->schedule, epoch);
        wrong = train_step(w, step, step_of_epoch, error);
        if (wrong) return gn_fail(error, GN_INVALID, "step %" PRIu64 ": %s", step, error->text);
        gn_progress_update(&w->progress, step);
        gn_comm_set_remaining(w->averager.comm, seconds_since(w->started) / (double)step * (double)(last - step));
        const bool due =
            step_of_epoch + 1 == epoch_steps || step == last || (o->evaluate_steps && step % o->evaluate_steps == 0);
        if (due) wrong = checkpoint(w, epoch + 1, step, error);
    }
    return wrong;
}

/// Options and data that must be the same everywhere, and the weights that follow from them.
static uint64_t hash_of_task(const worker *w)
{
    const gn_train_options *o = w->options;
    const uint64_t words[] = {o->layers,
                              o->hidden,
                              o->batch,
                              o->classes,
                              o->copies,
                              o->epochs,
                              o->steps,
                              o->evaluate_steps,
                              o->seed,
                              o->rate_drop_steps,
                              o->overlap,
                              o->feedback,
                              word_of((double)o->sgd.rate),
                              word_of((double)o->sgd.momentum),
                              word_of((double)o->sgd.weight_decay),
                              word_of((double)o->rate_drop)};
    uint64_t hash = GN_HASH_START;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) hash = gn_hash_step(hash, words[i]);
    const gn_digits *sets[] = {&w->data->train, &w->data->test};
    for (size_t i = 0; i < 2; i++) {
        hash = gn_hash_bytes(hash, sets[i]->images.values, sets[i]->images.count);
        hash = gn_hash_bytes(hash, sets[i]->labels.values, sets[i]->labels.count);
    }
    return gn_hash_floats(hash, w->mlp.weights, gn_mlp_parameters(&w->mlp));
}

static gn_status compare_tasks(worker *w, gn_error *error)
{
    const uint64_t mine = hash_of_task(w);
    uint64_t *all = gather(w, "comparing options", &mine, 1, error);
    if (!all) return error->status;
    gn_status wrong = GN_OK;
    for (int r = 1; r < w->size && !wrong; r++)
        if (all[r] != all[0])
            wrong = gn_fail(error, GN_MISMATCH, "rank %d was started with other options or other data than rank 0", r);
    free(all);
    return wrong;
}

static gn_status make_network(worker *w, gn_error *error)
{
    const gn_train_options *o = w->options;
    size_t width[GN_MLP_LAYERS_MAX + 1];
    for (unsigned l = 1; l < o->layers; l++) width[l] = o->hidden;
    width[0] = gn_digits_pixels(&w->data->train);
    width[o->layers] = o->classes;
    if (gn_mlp_init(&w->mlp, o->layers, width, o->batch))
        return gn_fail(error, GN_INVALID, "out of memory for the network");
    gn_mlp_randomise(&w->mlp, o->seed);
    w->velocity = calloc(gn_mlp_parameters(&w->mlp), sizeof *w->velocity);
    w->labels = malloc(o->batch);
    if (!w->velocity || !w->labels) return gn_fail(error, GN_INVALID, "out of memory for the network");
    return gn_averager_prepare(&w->averager, o, gn_mlp_parameters(&w->mlp), error);
}

/// Rank 0 speaks for all.
static gn_status prepare_report(worker *w, gn_error *error)
{
    const gn_train_options *o = w->options;
    const gn_digits *train_set = &w->data->train;
    w->report = (gn_report){.options = o,
                            .size = w->size,
                            .parameters = gn_mlp_parameters(&w->mlp),
                            .train_images = train_set->count,
                            .test_images = w->data->test.count,
                            .rows = train_set->rows,
                            .columns = train_set->columns,
                            .steps = o->steps ? o->steps : o->epochs * gn_schedule_steps(&w->schedule)};
    const bool speaks = !w->rank;
    gn_progress_start_units(&w->progress, "training", "steps", w->report.steps, o->quiet || !speaks);
    if (!speaks) return GN_OK;
    if (o->json) {
        gn_status wrong = gn_output_open(&w->json, o->json, o->force, error);
        if (wrong) return wrong;
    }
    if (!o->quiet) w->table = o->json && !strcmp(o->json, "-") ? stderr : stdout;
    if (w->table) gn_report_print_start(&w->report, &w->mlp, w->table);
    return GN_OK;
}

static gn_rank_result own_result(const worker *w)
{
    gn_rank_result result = {.exchange_median = gn_breakdown_exchange(&w->breakdown),
                             .comm = gn_comm_get_stats(w->averager.comm)};
    for (gn_phase p = 0; p < GN_PHASES; p++) result.mean[p] = gn_breakdown_mean(&w->breakdown, p);
    if (w->averager.nic) result.nic = gn_in_process_get_stats(w->averager.nic);
    return result;
}

static gn_status report_end(worker *w, gn_error *error)
{
    _Static_assert(sizeof(gn_rank_result) % sizeof(uint64_t) == 0, "results travel as 64-bit words");
    enum { WORDS = sizeof(gn_rank_result) / sizeof(uint64_t) };
    uint64_t mine[WORDS];
    const gn_rank_result own = own_result(w);
    memcpy(mine, &own, sizeof mine);
    uint64_t *all = gather(w, "collecting results", mine, WORDS, error);
    if (!all) return error->status;
    w->report.rank = malloc((size_t)w->size * sizeof *w->report.rank);
    if (w->report.rank) memcpy(w->report.rank, all, (size_t)w->size * sizeof *w->report.rank);
    free(all);
    if (!w->report.rank) return gn_fail_memory(error);
    gn_progress_end(&w->progress);
    if (w->table) gn_report_print_end(&w->report, w->table);
    if (!w->json) return GN_OK;
    gn_status wrong = gn_json_print(gn_report_json(&w->report), gn_output_stream(w->json), error);
    if (wrong) return wrong;
    gn_output *json = w->json;
    w->json = NULL;
    return gn_output_commit(json, error);
}

static gn_status work(worker *w, int rank, int size, const char *rendezvous, gn_error *error)
{
    const gn_train_options *o = w->options;
    gn_status wrong = gn_averager_init(&w->averager, o, rank, size, rendezvous, error);
    if (wrong) return wrong;
    w->rank = gn_comm_rank(w->averager.comm);
    w->size = gn_comm_size(w->averager.comm);
    wrong = gn_schedule_init(&w->schedule, w->data->train.count, o->copies, o->batch, (size_t)w->size, o->seed, error);
    if (!wrong) wrong = make_network(w, error);
    if (!wrong) wrong = compare_tasks(w, error);
    if (!wrong) wrong = prepare_report(w, error);
    if (!wrong) wrong = train(w, error);
    if (!wrong) wrong = report_end(w, error);
    // The others learn at once, and from us, why; where the exchange itself failed they know already.
    if (wrong) gn_comm_abort(w->averager.comm, error->text);
    return wrong;
}

int gn_train_worker(const gn_train_options *options, const gn_train_data *data, int rank, int size,
                    const char *rendezvous)
{
    gn_error error;
    worker w = {.options = options, .data = data, .rank = rank, .size = size};
    gn_status wrong = work(&w, rank, size, rendezvous, &error);
    gn_progress_end(&w.progress);
    if (wrong && w.rank >= 0)
        gn_cli_error(options->program, "rank %d: %s", w.rank, error.text);
    else if (wrong)
        gn_cli_error(options->program, "%s", error.text);
    gn_output_abort(w.json);
    gn_averager_free(&w.averager);
    gn_schedule_free(&w.schedule);
    gn_mlp_free(&w.mlp);
    gn_breakdown_free(&w.breakdown);
    gn_report_free(&w.report);
    free(w.velocity);
    free(w.labels);
    return wrong ? GN_EXIT_FAILED : GN_EXIT_OK;
}
