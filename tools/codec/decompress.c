// SPDX-License-Identifier: Apache-2.0
// gradnic decompress: a .gn file to values.
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "each_file.h"
#include "net/clock.h"
#include "tools/commands.h"
#include "tools/files/block_buffer.h"
#include "tools/files/c_order.h"
#include "tools/files/file_options.h"
#include "tools/files/npz.h"
#include "tools/files/pipeline.h"
#include "tools/kit/cli.h"
#include "tools/kit/json.h"
#include "tools/kit/option_values.h"
#include "tools/kit/output.h"
#include "tools/kit/parse.h"
#include "tools/kit/progress.h"
#include "tools/kit/temporary.h"
#include "tools/kit/units.h"

typedef struct options {
    gn_format to;
    const char *shape;
    uint64_t limit;  ///< bytes of values; 0: none
    gn_file_options file;
} options;

enum { OPTION_TO = 0x100, OPTION_SHAPE, OPTION_LIMIT };

static const uint64_t worth_a_note = (uint64_t)1 << 30;  // bytes

static const struct argp_option option_table[] = {
    {"output", 'o', "OUT", 0,
     "output file, .npy, .npz or .f32, or a folder for the files; '-' is standard output (default FILE without .gn, "
     "with .npy, or .npz for tensors with names; FILE.NAME.npy for one of them)",
     0},
    {"to", OPTION_TO, "FORMAT", 0, "npy, npz or f32 (default by the name of OUT; f32 on standard output)", 0},
    {"shape", OPTION_SHAPE, "D1,D2,...", 0,
     "shape of the .npy array, as 784,500; its product must be the number of values (default the shape in FILE, or one "
     "dimension)",
     0},
    GN_TENSOR_OPTION,
    GN_LIST_OPTION,
    {"limit", OPTION_LIMIT, "SIZE", 0, "refuse files whose values have more bytes, as 10G (default no limit)", 0},
    GN_THREADS_OPTION(""),
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

/// Whatever the file holds, it has to be a shape.
static void check_shape(const char *text, struct argp_state *state)
{
    uint64_t shape[GN_NPY_DIMENSIONS], count;
    unsigned dimensions;
    gn_error error;
    if (gn_npy_parse_shape(text, shape, &dimensions, &count, &error))
        gn_option_wrong(state, OPTION_SHAPE, "%s", error.text);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    gn_error error;
    options *o = state->input;
    switch (key) {
    case OPTION_TO:
        if (gn_parse_format(arg, &o->to, &error) ||
            (o->to != GN_FORMAT_NPY && o->to != GN_FORMAT_NPZ && o->to != GN_FORMAT_F32))
            argp_error(state, "--to takes npy, npz or f32, not '%s'", arg);
        return 0;
    case OPTION_SHAPE:
        check_shape(arg, state);
        o->shape = arg;
        return 0;
    case OPTION_LIMIT:
        o->limit = gn_option_size(state, key, arg, 1, INT64_MAX);
        return 0;
    default:
        return gn_file_arguments_parse(key, arg, state, &o->file) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] =
    "Decompress .gn files to NumPy arrays (.npy, .npz) or raw little-endian binary32 (.f32)."
    "\v"
    "Names and shapes come back where FILE has them (gradnic compress --help). Values are float32, whatever they were "
    "before. Each of several files becomes a file of its own; where one fails, the others go on.\n"
    "\n"
    "The file is checked. If it is corrupt, gradnic names the block and the byte, and writes no OUT. On standard "
    "output (-o -) the blocks before that byte have been written; the exit status tells.\n"
    "\n"
    "Examples:\n"
    "  gradnic decompress grads.npy.gn                 writes grads.npy\n"
    "  gradnic decompress model.pt.gn                  writes model.pt.npz\n"
    "  gradnic decompress m.npz.gn:w                   writes m.npz.w.npy\n"
    "  gradnic decompress --shape 784,500 -o w1.npy w1.gn\n"
    "  gradnic decompress --limit 10G received.gn\n"
    "  ssh host cat grads.gn | gradnic decompress -o grads.f32 -\n";

typedef struct job {
    const options *options;
    const char *program, *argument;  // FILE as given
    gn_values *input;
    gn_container_reader *reader;
    const gn_container_info *info;
    const gn_tensor_list *tensors;
    gn_format to;
    FILE *sink;
    const char *sink_name;
    gn_npz_writer *npz;  // NULL: another format
    uint64_t position;   // values of the file so far
    size_t current;      // tensor that is written, and whether it was begun
    bool begun;
    bool sorts;    // `sink` is a temporary file, of values that are put into C order behind
    off_t header;  // its bytes before them
    gn_progress progress;
} job;

static void *block_new(void *context)
{
    const job *j = context;
    return gn_block_buffer_new(j->info->profile, j->info->values_per_block);
}

static gn_status block_read(void *context, void *buffer, bool *end, gn_error *error)
{
    job *j = context;
    gn_block_buffer *b = buffer;
    const gn_status status = gn_container_next_block(j->reader, b->packed, &b->info);
    *end = !b->info.bytes;
    return gn_values_check_container(j->input, status, error);
}

static gn_status block_work(void *context, void *buffer, gn_error *error)
{
    const job *j = context;
    gn_block_buffer *b = buffer;
    gn_container_fault fault;
    if (!gn_container_block_decode(gn_container_reader_codec(j->reader), &b->info, b->values, &fault)) return GN_OK;
    return gn_fail(error, GN_INVALID, "%s: %s", gn_input_name(gn_values_input(j->input)), fault.text);
}

static gn_status write_values(job *j, const float *values, size_t count, gn_error *error)
{
    if (j->npz) return gn_npz_write(j->npz, values, count * sizeof *values, error);
    errno = 0;
    if (fwrite(values, sizeof *values, count, j->sink) == count) return GN_OK;
    return gn_fail(error, GN_IO, "%s: %s", j->sink_name, errno ? strerror(errno) : "write error");
}

/// Begins the current tensor in the output, once.
static gn_status begin_tensor(job *j, gn_error *error)
{
    if (j->begun || !j->npz) return GN_OK;
    j->begun = true;
    return gn_npz_begin(j->npz, &j->tensors->tensors[j->current], error);
}

/// Writes what the chosen tensors have in the file's next `count` values.
static gn_status write_range(job *j, const float *values, uint64_t count, gn_error *error)
{
    const uint64_t begin = j->position, end = begin + count;
    gn_status wrong = GN_OK;
    for (; j->current < j->tensors->count && !wrong; j->current++, j->begun = false) {
        const gn_tensor *t = &j->tensors->tensors[j->current];
        const uint64_t first = t->offset > begin ? t->offset : begin, last = t->offset + t->count;
        if (t->offset > end) break;
        wrong = begin_tensor(j, error);
        const uint64_t stop = last < end ? last : end;
        if (!wrong && first < stop) wrong = write_values(j, values + (first - begin), (size_t)(stop - first), error);
        if (last > end) break;
    }
    j->position = end;
    return wrong;
}

static gn_status block_write(void *context, void *buffer, gn_error *error)
{
    job *j = context;
    const gn_block_buffer *b = buffer;
    gn_progress_update(&j->progress, gn_input_file_position(gn_values_input(j->input)));
    return write_range(j, b->values, b->info.count, error);
}

static bool ends_in(const char *path, const char *suffix)
{
    const size_t length = strlen(path), n = strlen(suffix);
    return length > n && !strcmp(path + length - n, suffix);
}

static bool has_shape(const gn_tensor *t, const uint64_t *shape, unsigned dimensions)
{
    return t->shaped && t->dimensions == dimensions && !memcmp(t->shape, shape, dimensions * sizeof *shape);
}

/// Writes the .npy header, with the shape that was asked for, or the tensor's own.
static gn_status write_npy_header(job *j, gn_error *error)
{
    const char *wanted = j->options->shape;
    const gn_tensor *t = &j->tensors->tensors[0];
    uint64_t shape[GN_NPY_DIMENSIONS] = {t->count}, product = t->count;
    unsigned dimensions = 1;
    if (j->tensors->count > 1)
        return gn_fail(error, GN_INVALID, "%s: holds %zu tensors; write .npz, or choose one with --tensor", j->argument,
                       j->tensors->count);
    if (!wanted && t->shaped) return gn_npy_write_header(j->sink, t->shape, t->dimensions, t->fortran_order, error);
    gn_status wrong = wanted ? gn_npy_parse_shape(wanted, shape, &dimensions, &product, error) : GN_OK;
    if (wrong) return wrong;
    if (product != t->count)
        return gn_fail(error, GN_INVALID, "shape %s is %" PRIu64 " values; %s holds %" PRIu64, wanted, product,
                       j->argument, t->count);
    const bool by_columns = t->fortran_order && has_shape(t, shape, dimensions);
    return gn_npy_write_header(j->sink, shape, dimensions, by_columns, error);
}

/// Raw values of version 1 have no shape; in .npz they have one dimension.
static gn_status begin_npz(job *j, gn_error *error)
{
    gn_tensor *t = &j->tensors->tensors[0];
    if (!t->shaped) {
        t->dimensions = 1;
        t->shape[0] = t->count;
    }
    return gn_npz_writer_new(&j->npz, j->sink, j->sink_name, error);
}

/// A small file may hold many values. Says how many bytes they are, before they are written.
static gn_status check_size(const job *j, const gn_output *output, gn_error *error)
{
    const options *o = j->options;
    const uint64_t count = gn_values_count(j->input);
    const uint64_t bytes = count > UINT64_MAX / sizeof(float) ? UINT64_MAX : count * sizeof(float);
    if (o->limit && bytes > o->limit)
        return gn_fail(error, GN_NO_SPACE, "%s: holds %s of values; --limit is %s", j->argument,
                       gn_human_bytes(bytes).s, gn_human_bytes(o->limit).s);
    if (bytes >= worth_a_note && !o->file.result.quiet)
        gn_cli_note(j->program, "%s: holds %s of values", j->argument, gn_human_bytes(bytes).s);
    return gn_output_check_room(output, bytes, error);
}

static gn_status run_blocks(job *j, gn_error *error)
{
    gn_status wrong = GN_OK;
    if (j->to == GN_FORMAT_NPY) wrong = write_npy_header(j, error);
    if (j->to == GN_FORMAT_NPZ) wrong = begin_npz(j, error);
    if (wrong) return wrong;
    if (j->sorts) j->header = ftello(j->sink);
    const gn_pipeline pipeline = {.context = j,
                                  .buffer_new = block_new,
                                  .buffer_free = gn_block_buffer_free,
                                  .read = block_read,
                                  .work = block_work,
                                  .write = block_write,
                                  .threads = j->options->file.threads,
                                  .buffer_bytes = gn_block_buffer_bytes(j->info->profile, j->info->values_per_block)};
    gn_input *input = gn_values_input(j->input);
    gn_progress_start(&j->progress, gn_input_name(input), gn_input_file_size(input), j->options->file.result.quiet);
    wrong = gn_pipeline_run(&pipeline, error);
    gn_progress_end(&j->progress);
    if (!wrong) wrong = write_range(j, NULL, 0, error);  // tensors without values at the end
    if (!j->npz) return wrong;
    if (!wrong) return gn_npz_finish(j->npz, error);
    gn_npz_abort(j->npz);
    return wrong;
}

/// Whether values are to come in another order than the file's: in C order, as NumPy gives them,
/// where no header says that they are in Fortran order.
static bool changes_order(const job *j)
{
    uint64_t shape[GN_NPY_DIMENSIONS], count;
    unsigned dimensions;
    gn_error error;
    bool by_columns = false;
    for (size_t i = 0; i < j->tensors->count; i++) by_columns |= gn_tensor_by_columns(&j->tensors->tensors[i]);
    if (!by_columns || j->to == GN_FORMAT_NPZ) return false;
    if (j->to == GN_FORMAT_F32) return true;
    return j->options->shape && !gn_npy_parse_shape(j->options->shape, shape, &dimensions, &count, &error) &&
           !has_shape(&j->tensors->tensors[0], shape, dimensions);
}

/// Writes the values to `output`. An archive is written at several places, so where the output
/// cannot be rewound, it goes through a temporary file. So do values that change their order.
static gn_status decompress_to(job *j, gn_output *output, const char *path, gn_error *error)
{
    j->sorts = changes_order(j);
    const bool spool = j->sorts || (j->to == GN_FORMAT_NPZ && (!gn_output_seekable(output) || !strcmp(path, "-")));
    gn_status wrong = check_size(j, output, error);
    j->sink = gn_output_stream(output);
    j->sink_name = spool ? "temporary file" : gn_output_name(output);
    if (!wrong && spool) wrong = gn_temporary_open(&j->sink, error);
    if (wrong) return wrong;
    wrong = run_blocks(j, error);
    if (!spool) return wrong;
    FILE *const stream = gn_output_stream(output);
    if (!wrong && j->sorts)
        wrong = gn_c_order_copy(j->sink, (size_t)j->header, j->tensors, stream, gn_output_name(output), error);
    else if (!wrong)
        wrong = gn_temporary_copy(j->sink, stream, gn_output_name(output), error);
    fclose(j->sink);
    return wrong;
}

static const char *suffix_of(gn_format format)
{
    return format == GN_FORMAT_NPY ? "npy" : format == GN_FORMAT_NPZ ? "npz" : "f32";
}

static json_t *summary(const job *j, const char *path, uint64_t elapsed_ns)
{
    const uint64_t count = gn_values_count(j->input);
    return json_pack("{s:o, s:o, s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "input", gn_json_name(j->argument), "output",
                     gn_json_name(path), "format", suffix_of(j->to), "profile", gn_profile_name(j->info->profile),
                     "bound_exp", j->info->bound_exp, "tensors", gn_json_count(j->tensors->count), "values",
                     gn_json_count(count), "value_bytes", gn_json_count(count * sizeof(float)), "seconds",
                     gn_json_real(gn_seconds(elapsed_ns)));
}

static void note_types(const job *j)
{
    size_t others = 0;
    for (size_t i = 0; i < j->tensors->count; i++) others += j->tensors->tensors[i].dtype != GN_FLOAT32;
    if (!others || j->options->file.result.quiet) return;
    if (j->tensors->count == 1)
        gn_cli_note(j->program, "%s: written as float32; it was %s before", j->argument, j->tensors->tensors[0].type);
    else
        gn_cli_note(j->program, "%s: written as float32; of its %zu tensors %zu had another type before", j->argument,
                    j->tensors->count, others);
}

static gn_status decompress_values(job *j, const char *path, json_t **result, gn_error *error)
{
    gn_output *output;
    const uint64_t started = gn_now();
    gn_status wrong = gn_output_open(&output, path, j->options->file.result.force, error);
    if (wrong) return wrong;
    wrong = decompress_to(j, output, path, error);
    if (wrong)
        gn_output_abort(output);
    else
        wrong = gn_output_commit(output, error);
    if (wrong) return wrong;
    note_types(j);
    *result = summary(j, path, gn_now() - started);
    return GN_OK;
}

/// What the output is where its name does not say. Of several tensors one may be chosen, with
/// `tensor`: it is an array.
static gn_format default_format(const options *o, const char *stem, const char *tensor, const gn_tensor_list *tensors)
{
    if (o->to != GN_FORMAT_AUTO) return o->to;
    if (tensors->tensors[0].name && !(tensor && tensors->count == 1)) return GN_FORMAT_NPZ;
    return ends_in(stem, ".f32") ? GN_FORMAT_F32 : GN_FORMAT_NPY;
}

/// The default output: FILE without ".gn" (and ".gz"), with the suffix of what is written. One
/// tensor by name adds it, as in compress: model.npz.gn:w becomes model.npz.w.npy. What was chosen
/// never gets the name of the whole, model.npz: --force would replace the user's. The caller frees
/// it.
static char *default_output(const options *o, const char *input, const char *tensor, const gn_tensor_list *tensors)
{
    if (!strcmp(input, "-")) return strdup("-");
    char *stem = strdup(input), *path = NULL, *suffix = NULL;
    if (!stem) return NULL;
    if (ends_in(stem, ".gz")) stem[strlen(stem) - 3] = 0;
    if (ends_in(stem, ".gn")) stem[strlen(stem) - 3] = 0;
    const char *const end = suffix_of(default_format(o, stem, tensor, tensors));
    if (asprintf(&suffix, ".%s", end) < 0) suffix = NULL;
    if (suffix && !tensor && ends_in(stem, suffix))
        path = strdup(stem);
    else if (suffix)
        path = gn_each_file_name(stem, strlen(stem), tensors->count == 1 ? tensor : NULL, suffix);
    free(suffix);
    free(stem);
    return path;
}

/// The format to write to `path`.
static gn_status output_format(const options *o, const char *path, gn_format *to, gn_error *error)
{
    *to = o->to != GN_FORMAT_AUTO                       ? o->to
          : ends_in(path, ".npy")                       ? GN_FORMAT_NPY
          : ends_in(path, ".npz")                       ? GN_FORMAT_NPZ
          : ends_in(path, ".f32") || !strcmp(path, "-") ? GN_FORMAT_F32
                                                        : GN_FORMAT_AUTO;
    if (*to == GN_FORMAT_AUTO)
        return gn_fail(error, GN_INVALID, "%s: neither .npy, .npz nor .f32; give --to npy, --to npz or --to f32", path);
    if (o->shape && *to != GN_FORMAT_NPY)
        return gn_fail(error, GN_INVALID, "--shape is for .npy; raw values and .npz do not take it");
    return GN_OK;
}

typedef struct run {
    const options *options;
    const char *program;
} run;

static gn_status decompress_file(void *context, gn_each_file *each, size_t index, json_t **result, gn_error *error)
{
    const run *r = context;
    const gn_file_options *file = &r->options->file;
    const char *output;
    gn_values_choice choice = gn_file_choice(file, index);
    choice.format = GN_FORMAT_GN;
    job j = {.options = r->options, .program = r->program, .argument = file->arguments[index]};
    gn_status wrong = gn_values_open_choice(&j.input, file->paths[index], &choice, error);
    if (wrong) return wrong;
    j.reader = gn_values_container(j.input);
    j.info = gn_container_reader_info(j.reader);
    j.tensors = gn_values_tensors(j.input);
    char *path = default_output(r->options, file->paths[index], choice.tensor, j.tensors);
    wrong = path ? gn_each_file_output(each, path, &output, error) : gn_fail_memory(error);
    free(path);
    if (!wrong) wrong = output_format(r->options, output, &j.to, error);
    if (!wrong) wrong = decompress_values(&j, output, result, error);
    gn_values_close(j.input);
    return wrong;
}

/// Usage that can be judged before any file is opened.
static gn_status check_usage(const options *o, gn_error *error)
{
    gn_format to;
    const char *output = o->file.output ? o->file.output : o->file.count == 1 ? o->file.paths[0] : "";
    const bool standard = !strcmp(output, "-");
    if (o->file.result.json && standard)
        return gn_fail(error, GN_INVALID, "--json and the values would both go to standard output; give -o OUT");
    if (o->shape && o->file.count > 1) return gn_fail(error, GN_INVALID, "--shape is for one FILE");
    if (o->file.output && !gn_each_file_is_folder(output)) return output_format(o, output, &to, error);
    return o->shape && standard ? output_format(o, output, &to, error) : GN_OK;
}

static int decompress_files(const options *o, const char *program)
{
    gn_error error;
    if (o->file.list) return gn_file_list(&o->file, program);
    run r = {.options = o, .program = program};
    if (!check_usage(o, &error)) return gn_each_file_run(&o->file, program, decompress_file, &r);
    gn_cli_error(program, "%s", error.text);
    return GN_EXIT_USAGE;
}

int gn_command_decompress(int argc, char **argv)
{
    options o = {0};
    const struct argp parser = {option_table, parse_option, "FILE...", doc, NULL, NULL, NULL};
    gn_argp_parse(&parser, argc, argv, &o);
    const int status = decompress_files(&o, argv[0]);
    gn_file_arguments_free(&o.file);
    return status;
}
