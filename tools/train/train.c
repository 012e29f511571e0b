// SPDX-License-Identifier: Apache-2.0
// gradnic train: reads the data, then is one worker or starts several workers.
#include "tools/commands.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "options.h"
#include "pass_on.h"
#include "rank.h"
#include "resume.h"
#include "tools/kit/cli.h"
#include "tools/kit/launch.h"
#include "tools/kit/output.h"
#include "tools/kit/units.h"

/// A pattern of glob() that stands for this text alone.
static void quote(const char *text, char quoted[2 * PATH_MAX])
{
    size_t used = 0;
    for (; *text && used + 3 < 2 * PATH_MAX; text++) {
        if (strchr("*?[]\\", *text)) quoted[used++] = '\\';
        quoted[used++] = *text;
    }
    quoted[used] = 0;
}

/// Finds the file of `folder` that one of the patterns names. MNIST calls its test set t10k.
static gn_status find_file(const char *folder, const char *const patterns[2], char path[PATH_MAX],
                           gn_train_error *error)
{
    for (int i = 0; i < 2 && patterns[i]; i++) {
        char quoted[2 * PATH_MAX], pattern[sizeof quoted + 64];
        glob_t found;
        quote(folder, quoted);
        snprintf(pattern, sizeof pattern, "%s/%s", quoted, patterns[i]);
        if (glob(pattern, GLOB_NOSORT, NULL, &found)) continue;
        const size_t matches = found.gl_pathc;
        snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
        globfree(&found);
        if (matches == 1) return GN_OK;
        return gn_train_fail(error, GN_INVALID, "%s: %zu files match %s; name the four files one by one", folder,
                             matches, patterns[i]);
    }
    return gn_train_fail(error, GN_INVALID, "%s: no file matches %s%s%s", folder, patterns[0],
                         patterns[1] ? " or " : "", patterns[1] ? patterns[1] : "");
}

/// `file` if it was named, otherwise the one found in the folder.
static gn_status locate(const char *file, const char *folder, const char *const patterns[2], char path[PATH_MAX],
                        gn_train_error *error)
{
    if (!file) return find_file(folder, patterns, path, error);
    snprintf(path, PATH_MAX, "%s", file);
    return GN_OK;
}

static gn_status load_set(gn_digits *digits, const gn_train_options *options, bool test, gn_train_error *error)
{
    static const char *const images_of[][2] = {{"*train*images*", NULL}, {"*t10k*images*", "*test*images*"}};
    static const char *const labels_of[][2] = {{"*train*labels*", NULL}, {"*t10k*labels*", "*test*labels*"}};
    char images[PATH_MAX], labels[PATH_MAX];
    gn_status wrong =
        locate(test ? options->test_images : options->train_images, options->data, images_of[test], images, error);
    if (!wrong)
        wrong =
            locate(test ? options->test_labels : options->train_labels, options->data, labels_of[test], labels, error);
    const char *const files[] = {images, labels};
    gn_error why;
    for (int i = 0; i < 2 && !wrong; i++) gn_output_spare_path(files[i]);
    if (!wrong && options->result.json_file)
        wrong = gn_train_pass_on(gn_output_check_inputs(options->result.json_file, files, 2, &why), &why, error);
    return wrong ? wrong : gn_digits_load(digits, images, labels, options->settings.classes, error);
}

static gn_status load_data(gn_train_data *data, const gn_train_options *options, gn_train_error *error)
{
    gn_status wrong = load_set(&data->train, options, false, error);
    if (!wrong) wrong = load_set(&data->test, options, true, error);
    if (!wrong) wrong = gn_digits_pair(&data->train, &data->test, error);
    if (wrong || !options->comm.local_ranks) return wrong;
    gn_schedule schedule;  // a mistake is printed once here, not by every rank
    wrong = gn_schedule_init(&schedule, data->train.count, options->settings.copies, options->settings.batch,
                             options->comm.local_ranks, options->settings.seed, error);
    gn_schedule_free(&schedule);
    return wrong;
}

/// Finds mistakes before the training, and prints them once.
static gn_status prepare_files(const gn_train_options *o, gn_train_error *error)
{
    gn_error why;
    const unsigned first = o->comm.local_ranks ? 0 : (unsigned)o->comm.rank;
    unsigned last = o->comm.local_ranks ? o->comm.local_ranks - 1 : first;
    if (gn_resume_prepare(o, first, last, &why)) return gn_train_pass_on(why.status, &why, error);
    if (!o->dump_folder || first >= o->dump_ranks) return GN_OK;
    if (last >= o->dump_ranks) last = o->dump_ranks - 1;
    return gn_train_pass_on(gn_dump_prepare(o->dump_folder, o->dump_steps, first, last, o->dump_mode, &why), &why,
                            error);
}

enum { SAVE_MS = 60000 };  ///< after a signal, for a step and a checkpoint

typedef struct task {
    const gn_train_options *options;
    const gn_train_data *data;
} task;

static int run_rank(unsigned rank, const char *rendezvous, void *context)
{
    const task *t = context;
    return gn_train_rank(t->options, t->data, (int)rank, (int)t->options->comm.local_ranks, rendezvous);
}

static int run(const gn_train_options *options, const gn_train_data *data)
{
    gn_comm_options_say(&options->comm, options->program, options->result.quiet);
    if (!options->comm.local_ranks)
        return gn_train_rank(options, data, options->comm.rank, options->comm.size, options->comm.rendezvous);
    task t = {options, data};
    const gn_launch launch = {.program = options->program,
                              .ranks = options->comm.local_ranks,
                              .run = run_rank,
                              .context = &t,
                              .end_ms = options->checkpoint ? SAVE_MS : 0};
    return gn_launch_ranks(&launch);
}

int gn_command_train(int argc, char **argv)
{
    gn_train_error error;
    gn_train_options options;
    gn_train_parse(argc, argv, &options);
    if (!options.result.quiet) options.comm.teller = options.program;
    gn_train_data data = {0};
    gn_status wrong = load_data(&data, &options, &error);
    if (!wrong) wrong = prepare_files(&options, &error);
    if (wrong) gn_cli_error(options.program, "%s", error.text);
    const int result = wrong ? GN_EXIT_FAILED : run(&options, &data);
    gn_digits_free(&data.train);
    gn_digits_free(&data.test);
    return result;
}
