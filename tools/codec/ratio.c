// SPDX-License-Identifier: Apache-2.0
// gradnic ratio: measures how well a dump compresses, and writes nothing.
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "ratio_report.h"
#include "tools/commands.h"
#include "tools/files/file_options.h"
#include "tools/files/pipeline.h"
#include "tools/kit/cli.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/progress.h"

enum { BOUNDS_MAX = 64 };

typedef struct options {
    gn_profile profiles[GN_PROFILE_COUNT];
    size_t profile_count;
    int bounds[BOUNDS_MAX];
    size_t bound_count;
    gn_rival_choice rivals[GN_RIVALS_MAX];
    size_t rival_count;
    bool rivals_given;
    gn_file_options file;
} options;

enum { OPTION_AGAINST = 0x100 };

static const struct argp_option option_table[] = {
    {"profile", 'p', "LIST", 0, "profiles, as dense,lattice: dense, lattice, paper, or all (default all)", 0},
    {"bound", 'k', "LIST", 0, "error bounds 2^-K, as 6,8,10 or 2^-6,2^-8 (default 10)", 0},
    {"against", OPTION_AGAINST, "LIST", 0,
     "other compressors to compare with: zstd, lz4, snappy, zlib (lossless), zfp (same bound), each with a level as in "
     "zstd:3; all that are compiled in; none (default all)",
     0},
    GN_FORMAT_OPTION("the files"),
    GN_TENSOR_OPTION,
    GN_LIST_OPTION,
    GN_CAST_OPTION,
    GN_KERNEL_OPTION(". The results do not depend on it"),
    GN_THREADS_OPTION(". The results do not depend on it"),
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    gn_error error;
    options *o = state->input;
    if (gn_file_arguments_parse(key, arg, state, &o->file)) return 0;
    switch (key) {
    case 'p':
        gn_option_check(state, key, gn_parse_profiles(arg, o->profiles, &o->profile_count, &error), &error);
        return 0;
    case 'k':
        gn_option_check(state, key, gn_parse_bounds(arg, o->bounds, BOUNDS_MAX, &o->bound_count, &error), &error);
        return 0;
    case OPTION_AGAINST:
        gn_option_check(state, key, gn_parse_rivals(arg, o->rivals, &o->rival_count, &error), &error);
        o->rivals_given = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] =
    "Measure how well gradients compress: ratio, tags, classes and errors, beside other compressors."
    "\v"
    "FILE is .npy, raw .f32 or .gn, each also packed with gzip (.gz), or a file of tensors: .npz, .safetensors or .pt "
    "(of torch.save; no code of it is run). '-' is standard input. float16, bfloat16 and float64 are read as float32, "
    "with a note. One table per file, and a total when there are several. A file of several tensors has a line for "
    "each before its table; FILE:NAME or --tensor chooses.\n"
    "\n"
    "Columns:\n"
    "  ratio                bytes of the values / bytes of the stream\n"
    "  payload              the same without tag words, quad headers and runs\n"
    "  bits                 of the stream, per value\n"
    "  0 bit % ... 32 bit % paper, lattice: share of values that keep so many bits\n"
    "  max, rms, mean error of decoded - value; the mean is the bias\n"
    "  kept %               sum of |decoded| / sum of |value|\n"
    "  above %              share of the values with errors above the bound\n"
    "\n"
    "The row 'entropy' is not a codec but a limit: the entropy of the histogram of the integers of dense and lattice. "
    "A format that codes each integer on its own cannot need fewer bits. dense can, if zeros come together. Below the "
    "table are the classes of dense, each with its share of all groups of 8 values. A class is zero, a number of bits "
    "for each value, signed (1 to 8, 10, 12, 16) or unsigned (u1 to u3), or 32-bit words, which raw values need.\n"
    "\n"
    "Everything is compressed in pieces of 65536 values. Lossless compressors see the raw bytes; zfp is in its "
    "fixed-accuracy mode with the bound as its tolerance. It is left out if there are NaNs or infinities.\n"
    "\n"
    "Examples:\n"
    "  gradnic ratio grads.npy\n"
    "  gradnic ratio -p all -k 6,8,10 --against zstd,zfp layer*.npy.gz\n"
    "  gradnic ratio --json -k 10 grads.f32 | jq '.files[0].results[0].ratio'\n";

/// Adds the entropy of integers, at every bound that they can have, if a profile has integers.
static gn_status list_entropies(const options *o, gn_ratio_subject *subjects, size_t *count, gn_error *error)
{
    bool wanted = false;
    for (size_t p = 0; p < o->profile_count; p++) wanted |= o->profiles[p] != GN_PAPER;
    for (size_t b = 0; wanted && b < o->bound_count; b++) {
        gn_ratio_subject *s = &subjects[(*count)++];
        *s = (gn_ratio_subject){.kind = GN_RATIO_ENTROPY, .bound_exp = o->bounds[b]};
        gn_codec_init(&s->codec, GN_DENSE, s->bound_exp);
        s->histogram = gn_integer_counts_new();
        s->file = gn_integer_counts_new();
        s->total = gn_integer_counts_new();
        if (!s->histogram || !s->file || !s->total) return gn_fail_memory(error);
    }
    return GN_OK;
}

/// All subjects of the run: profiles by bounds, entropies by bounds, lossy rivals by bounds,
/// lossless rivals once.
static gn_status list_subjects(const options *o, gn_ratio_subject *subjects, size_t *count, gn_error *error)
{
    size_t n = 0;
    const size_t most = (o->profile_count + o->rival_count + 1) * o->bound_count;
    if (most > GN_RATIO_LINES)
        return gn_fail(error, GN_INVALID, "%zu codecs and bounds; at most %d at a time", most, GN_RATIO_LINES);
    for (size_t p = 0; p < o->profile_count; p++)
        for (size_t b = 0; b < o->bound_count; b++) {
            gn_ratio_subject *s = &subjects[n++];
            *s = (gn_ratio_subject){.bound_exp = o->bounds[b]};
            gn_status wrong = gn_check_bound(o->profiles[p], s->bound_exp, error);
            if (wrong) return wrong;
            const gn_status status = gn_codec_init_kernel(&s->codec, o->profiles[p], s->bound_exp, o->file.kernel);
            if (status)
                return gn_fail(error, status, "kernel '%s': %s", o->file.kernel ? o->file.kernel : "auto",
                               gn_status_string(status));
        }
    gn_status wrong = list_entropies(o, subjects, &n, error);
    for (size_t p = 0; p < o->rival_count; p++)
        for (size_t b = 0; b < (o->rivals[p].rival->lossless ? 1 : o->bound_count); b++)
            subjects[n++] =
                (gn_ratio_subject){.kind = GN_RATIO_RIVAL, .choice = o->rivals[p], .bound_exp = o->bounds[b]};
    *count = n;
    return wrong;
}

typedef struct job {
    const gn_ratio_subject *subjects;
    size_t count;
    gn_values *values;
    gn_progress *progress;
    gn_ratio_result *result;
} job;

/// One block in the pipeline.
typedef struct block {
    float values[GN_RATIO_BLOCK];
    size_t count;
    gn_ratio_input input;
    gn_ratio_stats stats[GN_RATIO_LINES];
    gn_ratio_scratch *scratch;
} block;

static void *block_new(void *context)
{
    const job *j = context;
    block *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->scratch = gn_ratio_scratch_new(j->subjects, j->count);
    if (b->scratch) return b;
    free(b);
    return NULL;
}

static void block_free(void *buffer)
{
    block *b = buffer;
    gn_ratio_scratch_free(b->scratch);
    free(b);
}

static gn_status block_read(void *context, void *buffer, bool *end, gn_error *error)
{
    job *j = context;
    block *b = buffer;
    gn_status wrong = gn_values_read(j->values, b->values, GN_RATIO_BLOCK, &b->count, error);
    *end = !b->count;
    return wrong;
}

static gn_status block_work(void *context, void *buffer, gn_error *error)
{
    (void)context;
    block *b = buffer;
    b->input = (gn_ratio_input){0};
    gn_ratio_input_add(&b->input, b->values, b->count);
    return gn_ratio_measure(b->scratch, b->values, b->count, b->stats, error);
}

static gn_status block_write(void *context, void *buffer, gn_error *error)
{
    (void)error;
    job *j = context;
    const block *b = buffer;
    gn_ratio_input_merge(&j->result->input, &b->input);
    for (size_t i = 0; i < j->count; i++) gn_ratio_stats_merge(&j->result->stats[i], &b->stats[i]);
    gn_progress_update(j->progress, gn_values_position(j->values));
    return GN_OK;
}

/// Measures what is left of the current tensor.
static gn_status measure_tensor(const options *o, job *j, gn_error *error)
{
    memset(j->result, 0, sizeof *j->result);
    for (size_t i = 0; i < j->count; i++)
        if (j->subjects[i].kind == GN_RATIO_ENTROPY) gn_integer_counts_clear(j->subjects[i].histogram);
    const gn_pipeline pipeline = {.context = j,
                                  .buffer_new = block_new,
                                  .buffer_free = block_free,
                                  .read = block_read,
                                  .work = block_work,
                                  .write = block_write,
                                  .threads = o->file.threads,
                                  .buffer_bytes = 4 << 20};  // with zstd's and zlib's memory
    const gn_status wrong = gn_pipeline_run(&pipeline, error);
    for (size_t i = 0; i < j->count; i++)
        if (j->subjects[i].kind == GN_RATIO_ENTROPY)
            j->result->stats[i].entropy = gn_integer_counts_entropy(j->subjects[i].histogram);
    return wrong;
}

/// Adds a tensor's result to its file's, and its histograms.
static void add_to_file(gn_ratio_result *file, const job *j)
{
    gn_ratio_input_merge(&file->input, &j->result->input);
    for (size_t i = 0; i < j->count; i++) {
        gn_ratio_stats_merge(&file->stats[i], &j->result->stats[i]);
        if (j->subjects[i].kind != GN_RATIO_ENTROPY) continue;
        gn_integer_counts_merge(j->subjects[i].file, j->subjects[i].histogram);
        file->stats[i].entropy = gn_integer_counts_entropy(j->subjects[i].file);
    }
}

static void add_to_total(gn_ratio_result *total, const gn_ratio_result *result, const gn_ratio_subject *subjects,
                         size_t count)
{
    gn_ratio_input_merge(&total->input, &result->input);
    for (size_t i = 0; i < count; i++) {
        gn_ratio_stats_merge(&total->stats[i], &result->stats[i]);
        if (subjects[i].kind != GN_RATIO_ENTROPY) continue;
        gn_integer_counts_merge(subjects[i].total, subjects[i].file);
        total->stats[i].entropy = gn_integer_counts_entropy(subjects[i].total);
    }
}

/// What --json says about a tensor: its result, and what it is.
static json_t *tensor_json(const gn_tensor *tensor, gn_ratio_result *result, const gn_ratio_subject *subjects,
                           size_t count)
{
    result->name = tensor->name ? tensor->name : "";
    json_t *json = gn_ratio_json(result, subjects, count), *shape = json_array();
    for (unsigned i = 0; i < tensor->dimensions; i++) json_array_append_new(shape, gn_json_count(tensor->shape[i]));
    json_object_set_new(json, "type", json_string(tensor->type));
    json_object_set_new(json, "shape", shape);
    return json;
}

/// A file that is being measured: its tensors' lines for people and as JSON.
typedef struct measured_file {
    gn_values *values;
    gn_ratio_result *result;
    gn_table *lines;  // NULL: it has one tensor
    json_t *tensors;
} measured_file;

static gn_status measure_tensors(const options *o, const gn_ratio_subject *subjects, size_t count, measured_file *file,
                                 gn_error *error)
{
    static gn_ratio_result result;
    gn_progress progress = {0};
    const gn_tensor_list *list = gn_values_tensors(file->values);
    job j = {.subjects = subjects, .count = count, .values = file->values, .progress = &progress, .result = &result};
    gn_progress_start(&progress, gn_input_name(gn_values_input(file->values)), gn_values_size(file->values),
                      o->file.result.quiet);
    gn_values_by_tensor(file->values);
    gn_status wrong = GN_OK;
    for (size_t i = 0; i < list->count && !wrong; i++) {
        wrong = measure_tensor(o, &j, error);
        if (wrong) break;
        add_to_file(file->result, &j);
        gn_ratio_line(file->lines, &list->tensors[i], &result, subjects, count);
        if (list->tensors[i].name)
            json_array_append_new(file->tensors, tensor_json(&list->tensors[i], &result, subjects, count));
        gn_values_next(file->values);
    }
    gn_progress_end(&progress);
    return wrong;
}

static gn_status measure_file(const options *o, const char *program, size_t index, const gn_ratio_subject *subjects,
                              size_t count, measured_file *file, gn_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (subjects[i].kind == GN_RATIO_ENTROPY) gn_integer_counts_clear(subjects[i].file);
    const gn_values_choice choice = gn_file_choice(&o->file, index);
    gn_status wrong = gn_values_open_choice(&file->values, o->file.paths[index], &choice, error);
    if (wrong) return wrong;
    if (gn_values_tensors(file->values)->count > 1) file->lines = gn_ratio_lines_new(subjects, count);
    wrong = measure_tensors(o, subjects, count, file, error);
    if (!wrong && !o->file.result.quiet) gn_values_note(file->values, program, 0);
    gn_values_close(file->values);
    return wrong;
}

/// Measures a file, prints its table unless only JSON is wanted, and collects the JSON.
static gn_status report_file(const options *o, const char *program, size_t index, const gn_ratio_subject *subjects,
                             size_t count, bool first, json_t *files, gn_ratio_result *total, gn_error *error)
{
    static gn_ratio_result result;
    memset(&result, 0, sizeof result);
    measured_file file = {.result = &result, .tensors = json_array()};
    const char *argument = o->file.arguments[index];
    const gn_status wrong = measure_file(o, program, index, subjects, count, &file, error);
    result.name = strcmp(argument, "-") ? argument : "standard input";
    if (!wrong) {
        const bool tables = !o->file.result.json;
        add_to_total(total, &result, subjects, count);
        json_t *json = gn_ratio_json(&result, subjects, count);
        if (json_array_size(file.tensors)) json_object_set(json, "tensors", file.tensors);
        json_array_append_new(files, json);
        if (tables && !first) putchar('\n');
        if (tables && file.lines) {
            gn_table_print(file.lines, stdout);
            file.lines = NULL;
            putchar('\n');
        }
        if (tables) gn_ratio_print(&result, subjects, count, stdout);
    }
    gn_table_free(file.lines);
    json_decref(file.tensors);
    return wrong;
}

/// Measures every file. Reports a file that cannot be read, and goes on.
static bool measure_all(const options *o, const char *program, const gn_ratio_subject *subjects, size_t count,
                        json_t *files, gn_ratio_result *total)
{
    const bool tables = !o->file.result.json;
    size_t good = 0;
    for (size_t i = 0; i < o->file.count; i++) {
        gn_error error;
        if (report_file(o, program, i, subjects, count, !good, files, total, &error))
            gn_cli_error(program, "%s", error.text);
        else
            good++;
    }
    if (tables && good > 1) {
        putchar('\n');
        gn_ratio_print(total, subjects, count, stdout);
    }
    return good == o->file.count;
}

static int measure_and_report(const options *o, const char *program, const gn_ratio_subject *subjects, size_t count)
{
    static gn_ratio_result total = {.name = "total"};
    gn_error error;
    gn_result_file file;
    gn_status wrong = gn_result_open(&file, &o->file.result, NULL, o->file.paths, o->file.count, &error);
    bool whole = false;
    if (!wrong) {
        json_t *files = json_array();
        whole = measure_all(o, program, subjects, count, files, &total);
        wrong = gn_result_write(&file, &o->file.result,
                                json_pack("{s:o, s:o, s:o}", "environment", gn_json_environment(), "files", files,
                                          "total", gn_ratio_json(&total, subjects, count)),
                                stdout, &error);
    }
    if (wrong) gn_cli_error(program, "%s", error.text);
    return wrong || !whole ? GN_EXIT_FAILED : GN_EXIT_OK;
}

static int ratio_files(const options *o, const char *program)
{
    gn_error error;
    static gn_ratio_subject subjects[GN_RATIO_LINES];
    size_t count = 0;
    if (o->file.list) return gn_file_list(&o->file, program);
    gn_status wrong = list_subjects(o, subjects, &count, &error);
    if (wrong) {
        gn_cli_error(program, "%s", error.text);
        return wrong == GN_NO_MEMORY ? GN_EXIT_FAILED : GN_EXIT_USAGE;
    }
    if (!o->rivals_given && !o->file.result.quiet && *gn_rivals_missing())
        gn_cli_note(program, "not compared with %s: not found when gradnic was built", gn_rivals_missing());
    const int status = measure_and_report(o, program, subjects, count);
    for (size_t i = 0; i < count; i++)
        gn_integer_counts_free(subjects[i].histogram), gn_integer_counts_free(subjects[i].file),
            gn_integer_counts_free(subjects[i].total);
    return status;
}

int gn_command_ratio(int argc, char **argv)
{
    gn_error error;
    options o = {.bounds = {10}, .bound_count = 1};
    gn_parse_profiles("all", o.profiles, &o.profile_count, &error);
    gn_parse_rivals("all", o.rivals, &o.rival_count, &error);
    const struct argp parser = {option_table, parse_option, "FILE...", doc, NULL, NULL, NULL};
    gn_argp_parse(&parser, argc, argv, &o);
    const int status = ratio_files(&o, argv[0]);
    gn_file_arguments_free(&o.file);
    return status;
}
