// SPDX-License-Identifier: Apache-2.0
// gradnic decompress: a .gn file to values.
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "net/clock.h"
#include "tools/commands.h"
#include "tools/files/block_buffer.h"
#include "tools/files/file_options.h"
#include "tools/files/pipeline.h"
#include "tools/kit/cli.h"
#include "tools/kit/json.h"
#include "tools/kit/option_values.h"
#include "tools/kit/output.h"
#include "tools/kit/progress.h"
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
     "output file, .npy or .f32; '-' is standard output (default FILE without .gn, with .npy unless it ends in .npy or "
     ".f32)",
     0},
    {"to", OPTION_TO, "FORMAT", 0, "npy or f32 (default by the name of OUT; f32 on standard output)", 0},
    {"shape", OPTION_SHAPE, "D1,D2,...", 0,
     "shape of the .npy array, as 784,500; its product must be the number of values (default one dimension)", 0},
    {"limit", OPTION_LIMIT, "SIZE", 0, "refuse files whose values have more bytes, as 10G (default no limit)", 0},
    GN_THREADS_OPTION(""),
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    gn_error error;
    options *o = state->input;
    switch (key) {
    case OPTION_TO:
        if (gn_parse_format(arg, &o->to, &error) || (o->to != GN_FORMAT_NPY && o->to != GN_FORMAT_F32))
            argp_error(state, "--to takes npy or f32, not '%s'", arg);
        return 0;
    case OPTION_SHAPE:
        o->shape = arg;
        return 0;
    case OPTION_LIMIT:
        o->limit = gn_option_size(state, key, arg, 1, INT64_MAX);
        return 0;
    default:
        return gn_file_argument_parse(key, arg, state, &o->file) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] =
    "Decompress a .gn file to a NumPy array (.npy) or raw little-endian binary32 (.f32)."
    "\v"
    "The file is checked. If it is corrupt, gradnic names the block and the byte, and writes no OUT. On standard "
    "output (-o -) the blocks before that byte have been written; the exit status tells.\n"
    "\n"
    "Examples:\n"
    "  gradnic decompress grads.npy.gn                 writes grads.npy\n"
    "  gradnic decompress --shape 784,500 -o w1.npy w1.gn\n"
    "  gradnic decompress --limit 10G received.gn\n"
    "  ssh host cat grads.gn | gradnic decompress -o grads.f32 -\n";

typedef struct job {
    gn_values *input;
    gn_container_reader *reader;
    const gn_container_info *info;
    FILE *sink;
    const char *sink_name;
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

static gn_status block_write(void *context, void *buffer, gn_error *error)
{
    job *j = context;
    const gn_block_buffer *b = buffer;
    gn_progress_update(&j->progress, gn_input_file_position(gn_values_input(j->input)));
    errno = 0;
    if (fwrite(b->values, sizeof *b->values, b->info.count, j->sink) == b->info.count) return GN_OK;
    return gn_fail(error, GN_IO, "%s: %s", j->sink_name, errno ? strerror(errno) : "write error");
}

static bool ends_in(const char *path, const char *suffix)
{
    const size_t length = strlen(path), n = strlen(suffix);
    return length > n && !strcmp(path + length - n, suffix);
}

/// Writes the .npy header for `count` values, with the wanted shape.
static gn_status write_npy_header(const options *o, uint64_t count, FILE *sink, gn_error *error)
{
    uint64_t shape[GN_NPY_DIMENSIONS] = {count}, product = count;
    unsigned dimensions = 1;
    gn_status wrong = o->shape ? gn_npy_parse_shape(o->shape, shape, &dimensions, &product, error) : GN_OK;
    if (wrong) return wrong;
    if (product != count)
        return gn_fail(error, GN_INVALID, "shape %s is %" PRIu64 " values; %s holds %" PRIu64, o->shape, product,
                       o->file.input, count);
    return gn_npy_write_header(sink, shape, dimensions, false, error);
}

/// A small file may hold many values. Says how many bytes they are, before they are written.
static gn_status check_size(const options *o, const job *j, const gn_output *output, gn_error *error)
{
    const uint64_t count = j->info->value_count;
    const uint64_t bytes = count > UINT64_MAX / sizeof(float) ? UINT64_MAX : count * sizeof(float);
    if (o->limit && bytes > o->limit)
        return gn_fail(error, GN_NO_SPACE, "%s: holds %s of values; --limit is %s", o->file.input,
                       gn_human_bytes(bytes).s, gn_human_bytes(o->limit).s);
    if (bytes >= worth_a_note && !o->file.result.quiet)
        gn_cli_note("gradnic decompress", "%s: holds %s of values", o->file.input, gn_human_bytes(bytes).s);
    return gn_output_check_room(output, bytes, error);
}

static gn_status decompress_to(const options *o, job *j, gn_output *output, gn_format to, gn_error *error)
{
    j->sink = gn_output_stream(output);
    j->sink_name = gn_output_name(output);
    gn_status wrong = check_size(o, j, output, error);
    if (!wrong && to == GN_FORMAT_NPY) wrong = write_npy_header(o, j->info->value_count, j->sink, error);
    if (wrong) return wrong;
    const gn_pipeline pipeline = {.context = j,
                                  .buffer_new = block_new,
                                  .buffer_free = gn_block_buffer_free,
                                  .read = block_read,
                                  .work = block_work,
                                  .write = block_write,
                                  .threads = o->file.threads,
                                  .buffer_bytes = gn_block_buffer_bytes(j->info->profile, j->info->values_per_block)};
    gn_input *input = gn_values_input(j->input);
    gn_progress_start(&j->progress, gn_input_name(input), gn_input_file_size(input), o->file.result.quiet);
    wrong = gn_pipeline_run(&pipeline, error);
    gn_progress_end(&j->progress);
    return wrong;
}

static json_t *summary(const options *o, const job *j, const char *path, gn_format to, uint64_t elapsed_ns)
{
    return json_pack(
        "{s:o, s:o, s:s, s:s, s:i, s:o, s:o, s:o}", "input", gn_json_name(o->file.input), "output", gn_json_name(path),
        "format", to == GN_FORMAT_NPY ? "npy" : "f32", "profile", gn_profile_name(j->info->profile), "bound_exp",
        j->info->bound_exp, "values", gn_json_count(j->info->value_count), "value_bytes",
        gn_json_count(j->info->value_count * sizeof(float)), "seconds", gn_json_real(gn_seconds(elapsed_ns)));
}

static gn_status decompress_open(const options *o, const char *path, gn_format to, job *j, gn_output *output,
                                 gn_error *error)
{
    gn_result_file json;
    const gn_result_options *result = &o->file.result;
    const uint64_t started = gn_now();
    gn_status wrong = gn_result_open(&json, result, path, &o->file.input, 1, error);
    if (!wrong) wrong = decompress_to(o, j, output, to, error);
    if (wrong)
        gn_output_abort(output);
    else
        wrong = gn_output_commit(output, error);
    if (!wrong) return gn_result_write(&json, result, summary(o, j, path, to, gn_now() - started), stdout, error);
    gn_result_abort(&json);
    return wrong;
}

static gn_status decompress_file(const options *o, const char *path, gn_format to, gn_error *error)
{
    job j = {0};
    gn_output *output = NULL;
    gn_status wrong = gn_values_open(&j.input, o->file.input, GN_FORMAT_GN, error);
    if (wrong) return wrong;
    j.reader = gn_values_container(j.input);
    j.info = gn_container_reader_info(j.reader);
    wrong = gn_output_check_inputs(path, &o->file.input, 1, error);
    if (!wrong) wrong = gn_output_open(&output, path, o->file.result.force, error);
    if (!wrong) wrong = decompress_open(o, path, to, &j, output, error);
    gn_values_close(j.input);
    return wrong;
}

/// The default output: FILE without ".gn" (and ".gz"). If that is neither .npy nor .f32, ".npy"
/// is added. The caller frees it.
static char *default_output(const char *input)
{
    if (!strcmp(input, "-")) return strdup("-");
    char *stem = strdup(input), *path = NULL;
    if (!stem) return NULL;
    if (ends_in(stem, ".gz")) stem[strlen(stem) - 3] = 0;
    if (ends_in(stem, ".gn")) stem[strlen(stem) - 3] = 0;
    if (ends_in(stem, ".npy") || ends_in(stem, ".f32")) return stem;
    if (asprintf(&path, "%s.npy", stem) < 0) path = NULL;
    free(stem);
    return path;
}

/// The format to write to `path`.
static gn_status output_format(const options *o, const char *path, gn_format *to, gn_error *error)
{
    *to = o->to != GN_FORMAT_AUTO                       ? o->to
          : ends_in(path, ".npy")                       ? GN_FORMAT_NPY
          : ends_in(path, ".f32") || !strcmp(path, "-") ? GN_FORMAT_F32
                                                        : GN_FORMAT_AUTO;
    if (*to == GN_FORMAT_AUTO)
        return gn_fail(error, GN_INVALID, "%s: neither .npy nor .f32; give --to npy or --to f32", path);
    if (o->shape && *to != GN_FORMAT_NPY)
        return gn_fail(error, GN_INVALID, "--shape is for .npy; raw values have none");
    return GN_OK;
}

int gn_command_decompress(int argc, char **argv)
{
    gn_error error;
    options o = {0};
    const struct argp parser = {option_table, parse_option, "FILE", doc, NULL, NULL, NULL};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    char *path = o.file.output ? strdup(o.file.output) : default_output(o.file.input);
    gn_format to = GN_FORMAT_AUTO;
    gn_status wrong = path ? output_format(&o, path, &to, &error) : gn_fail_memory(&error);
    if (!wrong && o.file.result.json && !strcmp(path, "-"))
        wrong = gn_fail(&error, GN_INVALID, "--json and the values would both go to standard output; give -o OUT");
    const int status = wrong ? GN_EXIT_USAGE : GN_EXIT_FAILED;
    if (!wrong) wrong = decompress_file(&o, path, to, &error);
    free(path);
    if (!wrong) return GN_EXIT_OK;
    gn_cli_error(argv[0], "%s", error.text);
    return status;
}
