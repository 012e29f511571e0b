// SPDX-License-Identifier: Apache-2.0
// gradnic compress: values to a .gn file.
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
#include "tools/kit/codec_options.h"
#include "tools/kit/json.h"
#include "tools/kit/option_values.h"
#include "tools/kit/output.h"
#include "tools/kit/progress.h"
#include "tools/kit/temporary.h"
#include "tools/kit/units.h"

typedef struct options {
    gn_profile profile;
    int bound_exp;
    gn_file_options file;
} options;

static const struct argp_option option_table[] = {
    {"profile", 'p', "PROFILE", 0,
     "rule that maps values to bytes: dense, lattice (the same values in more bytes), paper (as published; its bound "
     "does not hold) (default dense)",
     0},
    {"bound", 'k', "K", 0, "error bound 2^-K, as 10 or 2^-10 (default 10)", 0},
    {"output", 'o', "OUT", 0, "output file; '-' is standard output (default FILE without .gz, with .gn)", 0},
    GN_THREADS_OPTION(". The bytes do not depend on it"),
    GN_FORMAT_OPTION("FILE"),
    GN_KERNEL_OPTION(". The bytes do not depend on it"),
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    gn_error error;
    options *o = state->input;
    if (gn_file_argument_parse(key, arg, state, &o->file)) return 0;
    switch (key) {
    case 'p':
        o->profile = gn_option_profile(state, key, arg);
        return 0;
    case 'k':
        o->bound_exp = gn_option_bound(state, key, arg);
        return 0;
    case ARGP_KEY_END:
        gn_option_check(state, 'k', gn_check_bound(o->profile, o->bound_exp, &error), &error);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] = "Compress binary32 values to a .gn file, with a bound on each value's error."
                          "\v"
                          "FILE is a NumPy array (.npy of dtype '<f4', any shape; the values are taken in the order in "
                          "which the file holds them), "
                          "raw little-endian binary32 (.f32) or a .gn file, each also packed with gzip (.gz); '-' is "
                          "standard input (.npy, .gn and gzip are recognised, anything else is raw). The .gn file "
                          "holds the values, not the shape.\n"
                          "\n"
                          "Examples:\n"
                          "  gradnic compress grads.npy                      writes grads.npy.gn\n"
                          "  gradnic compress -p lattice -k 2^-8 -o g.gn grads.f32\n"
                          "  cat grads.f32 | gradnic compress -o - - | ssh host 'cat > grads.gn'\n";

typedef struct job {
    gn_codec codec;
    gn_values *values;
    gn_container_writer *writer;
    FILE *sink;
    const char *sink_name;
    gn_progress progress;
    uint64_t value_count, written_bytes;
} job;

static void *block_new(void *context)
{
    const job *j = context;
    return gn_block_buffer_new(j->codec.profile, GN_CONTAINER_BLOCK_VALUES);
}

static gn_status block_read(void *context, void *buffer, bool *end, gn_error *error)
{
    job *j = context;
    gn_block_buffer *b = buffer;
    gn_status wrong = gn_values_read(j->values, b->values, GN_CONTAINER_BLOCK_VALUES, &b->info.count, error);
    j->value_count += b->info.count;
    *end = !b->info.count;
    return wrong;
}

static gn_status block_work(void *context, void *buffer, gn_error *error)
{
    const job *j = context;
    gn_block_buffer *b = buffer;
    const gn_status status =
        gn_container_block_encode(&j->codec, b->values, b->info.count, b->packed, b->room, &b->info.bytes);
    return status ? gn_fail(error, status, "compression failed: %s", gn_status_string(status)) : GN_OK;
}

static gn_status write_failure(const job *j, gn_status status, gn_error *error)
{
    if (!status) return GN_OK;
    if (status == GN_INVALID)
        return gn_fail(error, GN_INVALID, "%s: changed while it was read", gn_input_name(gn_values_input(j->values)));
    return gn_fail(error, status, "%s: %s", j->sink_name,
                   status == GN_IO && errno ? strerror(errno) : gn_status_string(status));
}

static gn_status block_write(void *context, void *buffer, gn_error *error)
{
    job *j = context;
    const gn_block_buffer *b = buffer;
    gn_progress_update(&j->progress, gn_input_file_position(gn_values_input(j->values)));
    return write_failure(j, gn_container_put_block(j->writer, b->packed, b->info.bytes, b->info.count), error);
}

static gn_status write_sink(void *context, const void *data, size_t bytes)
{
    job *j = context;
    j->written_bytes += bytes;
    errno = 0;
    return fwrite(data, 1, bytes, j->sink) == bytes ? GN_OK : GN_IO;
}

/// Writes the header over the zeros. The container begins at `start`.
static gn_status patch_header(const job *j, off_t start, const uint8_t *header, gn_error *error)
{
    errno = 0;
    if (fseeko(j->sink, start, SEEK_SET) || fwrite(header, 1, GN_CONTAINER_HEADER, j->sink) != GN_CONTAINER_HEADER ||
        fseeko(j->sink, 0, SEEK_END))
        return gn_fail(error, GN_IO, "%s: %s", j->sink_name, errno ? strerror(errno) : "write error");
    return GN_OK;
}

static gn_status copy_stream(FILE *from, FILE *to, const char *to_name, gn_error *error)
{
    char buffer[65536];
    size_t n;
    rewind(from);
    errno = 0;
    while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, n, to) != n) return gn_fail(error, GN_IO, "%s: %s", to_name, strerror(errno));
    return ferror(from) ? gn_fail(error, GN_IO, "temporary file: %s", strerror(errno)) : GN_OK;
}

static gn_status run_blocks(job *j, const options *o, uint8_t header[GN_CONTAINER_HEADER], gn_error *error)
{
    const uint64_t announced = gn_values_count(j->values);  // UINT64_MAX is GN_CONTAINER_UNKNOWN
    gn_status wrong =
        write_failure(j, gn_container_writer_new(&j->writer, &j->codec, 0, announced, write_sink, j), error);
    if (wrong) return wrong;
    const gn_pipeline pipeline = {.context = j,
                                  .buffer_new = block_new,
                                  .buffer_free = gn_block_buffer_free,
                                  .read = block_read,
                                  .work = block_work,
                                  .write = block_write,
                                  .threads = o->file.threads,
                                  .buffer_bytes = gn_block_buffer_bytes(o->profile, GN_CONTAINER_BLOCK_VALUES)};
    wrong = gn_pipeline_run(&pipeline, error);
    if (wrong) {
        gn_container_writer_abort(j->writer);
        return wrong;
    }
    return write_failure(j, gn_container_writer_finish(j->writer, header), error);
}

/// Writes the container to `output`. If only the end of the input tells the count, the header
/// gets it afterwards. If the output cannot be rewound, everything goes through a temporary file.
static gn_status compress_to(job *j, const options *o, gn_output *output, gn_error *error)
{
    const bool known = gn_values_count(j->values) != UINT64_MAX;
    const bool spool = !known && !gn_output_seekable(output);
    gn_status wrong = GN_OK;
    if (spool)
        wrong = gn_temporary_open(&j->sink, error);
    else
        j->sink = gn_output_stream(output);
    if (wrong) return wrong;
    j->sink_name = spool ? "temporary file" : gn_output_name(output);
    const off_t start = known ? 0 : ftello(j->sink);
    uint8_t header[GN_CONTAINER_HEADER];
    wrong = run_blocks(j, o, header, error);
    if (!wrong && !known) wrong = patch_header(j, start, header, error);
    if (spool) {
        if (!wrong) wrong = copy_stream(j->sink, gn_output_stream(output), gn_output_name(output), error);
        fclose(j->sink);
    }
    return wrong;
}

/// The default output: FILE without ".gz", with ".gn"; standard output for
/// standard input. The caller frees it.
static char *default_output(const char *input)
{
    if (!strcmp(input, "-")) return strdup("-");
    size_t length = strlen(input);
    if (length > 3 && !strcmp(input + length - 3, ".gz")) length -= 3;
    char *path;
    return asprintf(&path, "%.*s.gn", (int)length, input) < 0 ? NULL : path;
}

static double ratio_of(const job *j)
{
    return (double)j->value_count * sizeof(float) / (double)j->written_bytes;
}

static void print_summary(const job *j, const char *path)
{
    fprintf(stderr, "%s: %s values, %s to %s, ratio %.2f (%s %s)\n", path, gn_human_count(j->value_count).s,
            gn_human_bytes(j->value_count * sizeof(float)).s, gn_human_bytes(j->written_bytes).s, ratio_of(j),
            gn_profile_name(j->codec.profile), gn_human_bound(j->codec.bound_exp).s);
}

static json_t *summary(const options *o, const job *j, const char *path, uint64_t elapsed_ns)
{
    return json_pack("{s:o, s:o, s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o}", "input", gn_json_name(o->file.input),
                     "output", gn_json_name(path), "profile", gn_profile_name(j->codec.profile), "bound_exp",
                     j->codec.bound_exp, "kernel", gn_codec_kernel_name(&j->codec), "values",
                     gn_json_count(j->value_count), "value_bytes", gn_json_count(j->value_count * sizeof(float)),
                     "output_bytes", gn_json_count(j->written_bytes), "ratio", gn_json_real(ratio_of(j)), "seconds",
                     gn_json_real(gn_seconds(elapsed_ns)));
}

static gn_status compress_open(const options *o, const char *path, job *j, gn_output *output, gn_error *error)
{
    gn_result_file json;
    const gn_result_options *result = &o->file.result;
    const uint64_t started = gn_now();
    gn_input *input = gn_values_input(j->values);
    gn_status wrong = gn_result_open(&json, result, path, &o->file.input, 1, error);
    if (!wrong) {
        gn_progress_start(&j->progress, gn_input_name(input), gn_input_file_size(input), result->quiet);
        wrong = compress_to(j, o, output, error);
        gn_progress_end(&j->progress);
    }
    if (wrong)
        gn_output_abort(output);
    else
        wrong = gn_output_commit(output, error);
    if (wrong) {
        gn_result_abort(&json);
        return wrong;
    }
    if (!result->quiet && !result->json && strcmp(path, "-") != 0) print_summary(j, path);
    return gn_result_write(&json, result, summary(o, j, path, gn_now() - started), stdout, error);
}

static gn_status compress_file(const options *o, const char *path, gn_error *error)
{
    job j = {0};
    gn_output *output = NULL;
    const gn_status status = gn_codec_init_kernel(&j.codec, o->profile, o->bound_exp, o->file.kernel);
    if (status)
        return gn_fail(error, status, "kernel '%s': %s", o->file.kernel ? o->file.kernel : "auto",
                       gn_status_string(status));
    gn_status wrong = gn_values_open(&j.values, o->file.input, o->file.format, error);
    if (wrong) return wrong;
    wrong = gn_output_check_inputs(path, &o->file.input, 1, error);
    if (!wrong) wrong = gn_output_open(&output, path, o->file.result.force, error);
    if (!wrong) wrong = compress_open(o, path, &j, output, error);
    gn_values_close(j.values);
    return wrong;
}

int gn_command_compress(int argc, char **argv)
{
    gn_error error;
    options o = {.profile = GN_DENSE, .bound_exp = 10};
    const struct argp parser = {option_table, parse_option, "FILE", doc, NULL, NULL, NULL};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    char *path = o.file.output ? strdup(o.file.output) : default_output(o.file.input);
    if (path && o.file.result.json && !strcmp(path, "-")) {
        gn_cli_error(argv[0], "--json and the .gn file would both go to standard output; give -o OUT");
        free(path);
        return GN_EXIT_USAGE;
    }
    gn_status wrong = path ? compress_file(&o, path, &error) : gn_fail_memory(&error);
    free(path);
    if (!wrong) return GN_EXIT_OK;
    gn_cli_error(argv[0], "%s", error.text);
    return GN_EXIT_FAILED;
}
