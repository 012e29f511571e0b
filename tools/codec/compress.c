// SPDX-License-Identifier: Apache-2.0
// gradnic compress: values to a .gn file.
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "each_file.h"
#include "net/clock.h"
#include "net/escape.h"
#include "tools/commands.h"
#include "tools/files/block_buffer.h"
#include "tools/files/file_options.h"
#include "tools/files/pipeline.h"
#include "tools/kit/cli.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/json.h"
#include "tools/kit/option_values.h"
#include "tools/kit/output.h"
#include "tools/kit/parse.h"
#include "tools/kit/progress.h"
#include "tools/kit/temporary.h"
#include "tools/kit/units.h"

typedef struct options {
    gn_profile profile;
    int bound_exp;
    bool no_shape;
    gn_file_options file;
} options;

enum { OPTION_NO_SHAPE = 0x100 };

static const struct argp_option option_table[] = {
    {"profile", 'p', "PROFILE", 0,
     "rule that maps values to bytes: dense, lattice (the same values in more bytes), paper (as published; its bound "
     "does not hold) (default dense)",
     0},
    {"bound", 'k', "K", 0, "error bound 2^-K, as 10 or 2^-10 (default 10)", 0},
    {"output", 'o', "OUT", 0,
     "output file, or a folder for the files; '-' is standard output (default FILE without .gz, with .gn)", 0},
    GN_THREADS_OPTION(". The bytes do not depend on it"),
    GN_FORMAT_OPTION("the files"),
    GN_TENSOR_OPTION,
    GN_LIST_OPTION,
    GN_CAST_OPTION,
    {"no-shape", OPTION_NO_SHAPE, 0, 0,
     "write the values alone, without names, types and shapes: version 1 of the format, which older programs read", 0},
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
    if (gn_file_arguments_parse(key, arg, state, &o->file)) return 0;
    switch (key) {
    case 'p':
        o->profile = gn_option_profile(state, key, arg);
        return 0;
    case 'k':
        o->bound_exp = gn_option_bound(state, key, arg);
        return 0;
    case OPTION_NO_SHAPE:
        o->no_shape = true;
        return 0;
    case ARGP_KEY_END:
        gn_option_check(state, 'k', gn_check_bound(o->profile, o->bound_exp, &error), &error);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] =
    "Compress floating-point values to .gn files, with a bound on each value's error."
    "\v"
    "FILE is a NumPy array (.npy) or raw little-endian binary32 (.f32) or a .gn file, each also packed with gzip "
    "(.gz). It may also be a file of tensors: .npz, .safetensors or .pt (of torch.save; no code of it is run). '-' is "
    "standard input (.npy, .gn and gzip are recognised, anything else is raw).\n"
    "\n"
    "The .gn file keeps names, types and shapes. Tensors that are not floating point are left out, with a note. "
    "float16, bfloat16 and float64 become float32, with a note. Each of several files becomes a file of its own; where "
    "one fails, the others go on.\n"
    "\n"
    "Examples:\n"
    "  gradnic compress grads.npy                      writes grads.npy.gn\n"
    "  gradnic compress -p lattice -k 2^-8 -o g.gn grads.f32\n"
    "  gradnic compress -o packed/ w*.npy              writes packed/w0.npy.gn, ...\n"
    "  gradnic compress --list model.pt                shows the tensors\n"
    "  gradnic compress --tensor 'layer1.*' model.pt   writes model.pt.gn\n"
    "  cat grads.f32 | gradnic compress -o - - | ssh host 'cat > grads.gn'\n";

typedef struct job {
    const char *program, *input;
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
    gn_progress_update(&j->progress, gn_values_position(j->values));
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

/// Whether version 1 of the format holds all that is known: nothing but values, in one dimension.
static bool fits_version_1(const gn_tensor_list *list)
{
    const gn_tensor *t = &list->tensors[0];
    return list->count == 1 && !t->name && (!t->shaped || (t->dimensions == 1 && t->dtype == GN_FLOAT32));
}

static gn_status check_orders(const char *file, const gn_tensor_list *list, gn_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        const gn_tensor *t = &list->tensors[i];
        if (gn_tensor_by_columns(t))
            return gn_fail(error, GN_INVALID,
                           "%s: %s%sits values are in Fortran order, which --no-shape would lose; leave --no-shape "
                           "away, or save what numpy.ascontiguousarray() gives",
                           file, t->name ? gn_label(t->name).s : "", t->name ? ": " : "");
    }
    return GN_OK;
}

/// Begins the file: version 1 where that holds everything, so that older programs can read it.
static gn_status new_writer(job *j, const options *o, gn_error *error)
{
    const gn_tensor_list *list = gn_values_tensors(j->values);
    if (o->no_shape && check_orders(gn_input_name(gn_values_input(j->values)), list, error)) return error->status;
    if (o->no_shape || fits_version_1(list)) {
        const uint64_t announced = gn_values_count(j->values);  // UINT64_MAX is GN_CONTAINER_UNKNOWN
        return write_failure(j, gn_container_writer_new(&j->writer, &j->codec, 0, announced, write_sink, j), error);
    }
    gn_container_tensor *tensors = calloc(list->count, sizeof *tensors);
    if (!tensors) return gn_fail_memory(error);
    for (size_t i = 0; i < list->count; i++) {
        const gn_tensor *t = &list->tensors[i];
        tensors[i] = (gn_container_tensor){.name = t->name ? t->name : "",
                                           .dtype = t->dtype,
                                           .fortran_order = t->fortran_order,
                                           .dimensions = t->dimensions,
                                           .shape = t->shape};
    }
    const gn_status status =
        gn_container_writer_new_tensors(&j->writer, &j->codec, 0, tensors, list->count, write_sink, j);
    free(tensors);
    if (status == GN_INVALID)
        return gn_fail(error, status,
                       "%s: its %zu names and shapes need more than the 16 MiB that a .gn file has for them",
                       gn_input_name(gn_values_input(j->values)), list->count);
    return write_failure(j, status, error);
}

static gn_status run_blocks(job *j, const options *o, uint8_t header[GN_CONTAINER_HEADER], gn_error *error)
{
    gn_status wrong = new_writer(j, o, error);
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
        if (!wrong) wrong = gn_temporary_copy(j->sink, gn_output_stream(output), gn_output_name(output), error);
        fclose(j->sink);
    }
    return wrong;
}

/// The default output: FILE without ".gz", with ".gn"; standard output for standard input. One
/// tensor by name adds it: model.pt:fc.weight becomes model.pt.fc.weight.gn. The caller frees it.
static char *default_output(const char *path, const char *tensor)
{
    if (!strcmp(path, "-")) return strdup("-");
    size_t length = strlen(path);
    if (length > 3 && !strcmp(path + length - 3, ".gz")) length -= 3;
    return gn_each_file_name(path, length, tensor, ".gn");
}

static double ratio_of(const job *j)
{
    return (double)j->value_count * sizeof(float) / (double)j->written_bytes;
}

static void print_summary(const job *j, const char *path)
{
    char *const shown = gn_escape_new(path, "");
    fprintf(stderr, "%s: %s values, %s to %s, ratio %.2f (%s %s)\n", shown ? shown : "",
            gn_human_count(j->value_count).s, gn_human_bytes(j->value_count * sizeof(float)).s,
            gn_human_bytes(j->written_bytes).s, ratio_of(j), gn_profile_name(j->codec.profile),
            gn_human_bound(j->codec.bound_exp).s);
    free(shown);
}

static json_t *summary(const job *j, const char *path, uint64_t elapsed_ns)
{
    return json_pack("{s:o, s:o, s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o}", "input", gn_json_name(j->input), "output",
                     gn_json_name(path), "profile", gn_profile_name(j->codec.profile), "bound_exp", j->codec.bound_exp,
                     "kernel", gn_codec_kernel_name(&j->codec), "values", gn_json_count(j->value_count), "value_bytes",
                     gn_json_count(j->value_count * sizeof(float)), "output_bytes", gn_json_count(j->written_bytes),
                     "ratio", gn_json_real(ratio_of(j)), "seconds", gn_json_real(gn_seconds(elapsed_ns)));
}

static gn_status compress_values(const options *o, job *j, const char *path, json_t **result, gn_error *error)
{
    gn_output *output;
    const uint64_t started = gn_now();
    gn_status wrong = gn_output_open(&output, path, o->file.result.force, error);
    if (wrong) return wrong;
    gn_progress_start(&j->progress, gn_input_name(gn_values_input(j->values)), gn_values_size(j->values),
                      o->file.result.quiet);
    wrong = compress_to(j, o, output, error);
    gn_progress_end(&j->progress);
    if (wrong)
        gn_output_abort(output);
    else
        wrong = gn_output_commit(output, error);
    if (wrong) return wrong;
    if (!o->file.result.quiet) gn_values_note(j->values, j->program, ldexp(1, -o->bound_exp));
    if (!o->file.result.quiet && !o->file.result.json && strcmp(path, "-") != 0) print_summary(j, path);
    *result = summary(j, path, gn_now() - started);
    return GN_OK;
}

typedef struct run {
    const options *options;
    const char *program;
    gn_codec codec;
} run;

static gn_status compress_file(void *context, gn_each_file *each, size_t index, json_t **summary_of, gn_error *error)
{
    const run *r = context;
    const gn_file_options *file = &r->options->file;
    const char *output;
    const gn_values_choice choice = gn_file_choice(file, index);
    job j = {.program = r->program, .input = file->arguments[index], .codec = r->codec};
    gn_status wrong = gn_values_open_choice(&j.values, file->paths[index], &choice, error);
    if (wrong) return wrong;
    char *path = default_output(file->paths[index], file->tensors[index]);
    wrong = path ? gn_each_file_output(each, path, &output, error) : gn_fail_memory(error);
    free(path);
    if (!wrong) wrong = compress_values(r->options, &j, output, summary_of, error);
    gn_values_close(j.values);
    return wrong;
}

/// Usage that can be judged before any file is opened.
static const char *wrong_usage(const gn_file_options *file)
{
    const char *output = file->output;
    if (!file->result.json || file->count > 1) return NULL;
    if (output ? strcmp(output, "-") != 0 : strcmp(file->paths[0], "-") != 0) return NULL;
    return "--json and the .gn file would both go to standard output; give -o OUT";
}

static int compress_files(const options *o, const char *program)
{
    if (o->file.list) return gn_file_list(&o->file, program);
    const char *wrong = wrong_usage(&o->file);
    if (wrong) {
        gn_cli_error(program, "%s", wrong);
        return GN_EXIT_USAGE;
    }
    run r = {.options = o, .program = program};
    const gn_status status = gn_codec_init_kernel(&r.codec, o->profile, o->bound_exp, o->file.kernel);
    if (!status) return gn_each_file_run(&o->file, program, compress_file, &r);
    gn_cli_error(program, "kernel '%s': %s", o->file.kernel ? o->file.kernel : "auto", gn_status_string(status));
    return GN_EXIT_FAILED;
}

int gn_command_compress(int argc, char **argv)
{
    options o = {.profile = GN_DENSE, .bound_exp = 10};
    const struct argp parser = {option_table, parse_option, "FILE...", doc, NULL, NULL, NULL};
    gn_argp_parse(&parser, argc, argv, &o);
    const int status = compress_files(&o, argv[0]);
    gn_file_arguments_free(&o.file);
    return status;
}
