// SPDX-License-Identifier: Apache-2.0
#include "rank.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "pass_on.h"
#include "report.h"
#include "resume.h"
#include "tools/kit/cli.h"
#include "tools/kit/command.h"
#include "tools/kit/progress.h"

typedef struct front {
    const gn_train_options *options;
    gn_baseline *baseline;  // NULL: none
    gn_trainer trainer;
    gn_report report;
    gn_resume resume;
    gn_progress progress;
    gn_result_file json;
    FILE *table;  // rank 0's table; NULL: none
} front;

static bool dumps(void *context, uint64_t step)
{
    const front *f = context;
    const gn_train_options *o = f->options;
    return o->dump_folder && f->trainer.rank < (int)o->dump_ranks && step % o->dump_steps == 0;
}

static gn_status dump(void *context, const gn_mlp *mlp, uint64_t step, gn_train_error *error)
{
    const front *f = context;
    const gn_train_options *o = f->options;
    gn_error why;
    return gn_train_pass_on(gn_dump_gradient(mlp, o->dump_folder, step, f->trainer.rank, o->dump_mode, &why), &why,
                            error);
}

static gn_status compress(void *context, gn_mlp *mlp, uint64_t step, gn_train_error *error)
{
    const front *f = context;
    return gn_baseline_gradient(f->baseline, mlp, step, f->trainer.rank, error);
}

static gn_status updated(void *context, gn_mlp *mlp, gn_train_error *error)
{
    const front *f = context;
    return gn_baseline_updated(f->baseline, mlp, error);
}

static gn_status show_step(void *context, uint64_t step, gn_train_error *error)
{
    front *f = context;
    (void)error;
    gn_progress_update(&f->progress, step);
    return GN_OK;
}

static gn_status show_checkpoint(void *context, const gn_checkpoint *checkpoint, gn_train_error *error)
{
    front *f = context;
    if (gn_report_add(&f->report, checkpoint)) return gn_train_fail(error, GN_NO_MEMORY, "out of memory");
    if (!f->table) return GN_OK;
    gn_progress_clear();
    gn_report_print_checkpoint(&f->report, f->table);
    return GN_OK;
}

static gn_status save_step(void *context, uint64_t step, gn_train_error *error)
{
    front *f = context;
    return gn_resume_step(&f->resume, step, error);
}

/// Before checkpoints of an earlier training are replaced.
static gn_status open_result(front *f, gn_error *error)
{
    return f->trainer.rank ? GN_OK : gn_result_open(&f->json, &f->options->result, NULL, NULL, 0, error);
}

/// Rank 0 prints for all.
static void begin_report(front *f)
{
    const gn_result_options *result = &f->options->result;
    const gn_trainer *t = &f->trainer;
    f->report = (gn_report){.options = f->options, .trainer = t, .baseline = f->baseline};
    gn_progress_start_units(&f->progress, "training", "steps", t->steps, result->quiet || t->rank);
    if (t->rank || result->quiet || result->json) return;
    f->table = stdout;
    gn_report_print_start(&f->report, f->table);
}

static gn_status end_report(front *f, gn_error *error)
{
    gn_progress_end(&f->progress);
    if (f->trainer.rank) return GN_OK;
    if (f->table) gn_report_print_end(&f->report, f->table);
    return gn_result_write(&f->json, &f->options->result, gn_report_json(&f->report), stdout, error);
}

static gn_status train(front *f, const gn_train_settings *settings, const gn_train_data *data, gn_train_error *error)
{
    gn_error why;
    const gn_train_watch watch = {.context = f,
                                  .wants = dumps,
                                  .gradient = dump,
                                  .compress = f->baseline ? compress : NULL,
                                  .updated = f->baseline ? updated : NULL,
                                  .step = show_step,
                                  .checkpoint = show_checkpoint,
                                  .done = save_step};
    gn_status wrong = gn_trainer_init(&f->trainer, settings, data, &watch, error);
    if (!wrong && f->options->checkpoint) gn_resume_catch_signals();  // until then there is nothing to save
    if (!wrong) wrong = gn_train_pass_on(open_result(f, &why), &why, error);
    if (!wrong) wrong = gn_resume_begin(&f->resume, f->options, &f->trainer, error);
    if (!wrong) begin_report(f);
    if (!wrong) wrong = gn_trainer_run(&f->trainer, error);
    if (!wrong && !(f->report.rank = malloc((size_t)f->trainer.size * sizeof *f->report.rank)))
        wrong = gn_train_fail(error, GN_NO_MEMORY, "out of memory");
    if (!wrong) wrong = gn_trainer_results(&f->trainer, f->report.rank, error);
    if (!wrong) wrong = gn_train_pass_on(end_report(f, &why), &why, error);
    return wrong;
}

/// Whoever started this rank sees that a signal has ended it. With -N that is this program: the
/// rank is not reported as one that was killed, and the program ends as shells say it of a signal.
/// @return the exit status
static int end_by_signal(const gn_train_options *options, int interrupted)
{
    const int number = gn_resume_signal();
    if (options->comm.local_ranks) return GN_EXIT_SIGNAL + interrupted;
    if (!number) return GN_EXIT_FAILED;
    fflush(NULL);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
    return GN_EXIT_FAILED;
}

int gn_train_rank(const gn_train_options *options, const gn_train_data *data, int rank, int size,
                  const char *rendezvous)
{
    gn_train_error error;
    gn_train_settings settings = options->settings;
    // Ranks with checkpoints meet after each step, so all need the same options for them.
    if (options->checkpoint) settings.agreed = 1 + 2 * options->checkpoint_steps + options->resume;
    settings.comm = gn_comm_options_config(&options->comm, rank, size, rendezvous);
    front f = {.options = options};
    gn_status wrong = gn_baseline_new(&f.baseline, &options->baseline, settings.seed, &error);
    f.trainer.rank = wrong ? rank : 0;
    if (f.baseline && options->baseline.kind == GN_BASELINE_WIRE) {
        settings.software = gn_baseline_wire;
        settings.software_context = f.baseline;
    }
    if (!wrong) wrong = train(&f, &settings, data, &error);
    if (wrong && !f.resume.interrupted) gn_trainer_abort(&f.trainer, error.text);
    gn_progress_end(&f.progress);
    if (f.resume.interrupted)  // all ranks know, and one says so
        f.trainer.rank ? (void)0 : gn_cli_note(options->program, "%s", error.text);
    else if (wrong && f.trainer.rank >= 0)
        gn_cli_error(options->program, "rank %d: %s", f.trainer.rank, error.text);
    else if (wrong)
        gn_cli_error(options->program, "%s", error.text);
    gn_result_abort(&f.json);
    gn_report_free(&f.report);
    gn_trainer_free(&f.trainer);
    gn_baseline_free(f.baseline);
    if (f.resume.interrupted) return end_by_signal(options, f.resume.interrupted);
    return wrong ? GN_EXIT_FAILED : GN_EXIT_OK;
}
