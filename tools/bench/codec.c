// SPDX-License-Identifier: Apache-2.0
// gradnic bench codec: the options, the cases and the output.
#include "codec.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "net/clock.h"
#include "results.h"
#include "tools/files/file_options.h"
#include "tools/kit/cli.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/command.h"
#include "tools/kit/json.h"
#include "tools/kit/old_names.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/units.h"

enum {
    BOUNDS_MAX = 16,
    KERNELS_MAX = 8,
    SUBJECTS_MAX = GN_PROFILE_COUNT * KERNELS_MAX + GN_RIVALS_MAX,
    CACHED = 65536,
    PACKET = 362
};

typedef enum value_layout { LAYOUT_CACHE, LAYOUT_PACKET, LAYOUT_MEMORY, LAYOUTS } value_layout;

static const char *const layout_names[LAYOUTS] = {"cache", "packet", "memory"};

typedef struct options {
    gn_profile profiles[GN_PROFILE_COUNT];
    size_t profile_count;
    int bounds[BOUNDS_MAX];
    size_t bound_count;
    const char *kernels[KERNELS_MAX];
    size_t kernel_count;
    bool made[GN_BENCH_FILES];
    bool layouts[LAYOUTS];
    gn_rival_choice rivals[GN_RIVALS_MAX];
    size_t rival_count;
    uint64_t memory, rounds, time_ns;
    bool made_given;
    gn_file_options file;
    char **files;
    size_t file_count;
} options;

enum { OPTION_KERNEL = 256, OPTION_MADE, OPTION_LAYOUT, OPTION_MEMORY, OPTION_AGAINST };
enum { OLD_DATA = 0x180, OLD_SIZE, OLD_SECONDS, OLD_REPETITIONS };

static const struct argp_option option_table[] = {
    {"profile", 'p', "LIST", 0, "profiles, as dense,lattice: dense, lattice, paper, or all (default all)", 0},
    {"bound", 'k', "LIST", 0, "error bounds 2^-K, as 6,8,10 (default 10)", 0},
    {"kernel", OPTION_KERNEL, "LIST", 0,
     "codec kernels (" GN_KERNEL_NAMES "), or all; auto is the fastest (default auto)", 0},
    {"made", OPTION_MADE, "LIST", 0,
     "made values: zero; tiny (below the bound); mixed (0, 8 and 16 bits at random); raw (mixed, with 32 bits too); "
     "16bit; 32bit; all; none (default all, with FILEs none)",
     0},
    {"layout", OPTION_LAYOUT, "LIST", 0,
     "how values lie: cache (256 KiB in one piece), packet (256 KiB in pieces of 1448 bytes), memory (see --memory), "
     "or all (default all)",
     0},
    {"memory", OPTION_MEMORY, "SIZE", 0, "bytes of values in the layout memory (default 256M)", 0},
    {"against", OPTION_AGAINST, "LIST", 0,
     "other compressors to compare with, as zstd:1,lz4,zfp; all; none (default none)", 0},
    {"rounds", 'r', "N", 0, "results are medians of N rounds (default 15)", 0},
    {"time", 't', "TIME", 0,
     "a compressor that has taken this long gets at most 3 rounds; a plain number is seconds (default 5s)", 0},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    GN_OLD_NAME("data", OLD_DATA, "NAMES"),
    GN_OLD_NAME("size", OLD_SIZE, "NAMES"),
    GN_OLD_NAME("seconds", OLD_SECONDS, "N"),
    GN_OLD_NAME("repetitions", OLD_REPETITIONS, "N"),
    GN_OLD_NAME("output", 'o', "FILE"),
    {0},
};

static const gn_old_name old_names[] = {{OLD_DATA, OPTION_MADE, "--data", NULL},
                                        {OLD_SIZE, OPTION_LAYOUT, "--size", NULL},
                                        {OLD_SECONDS, 't', "--seconds", NULL},
                                        {OLD_REPETITIONS, 'r', "--repetitions", NULL},
                                        {'o', GN_OPTION_JSON, "--output FILE", "--json=FILE"},
                                        {0}};

static void parse_kernels(struct argp_state *state, int key, options *o, const char *text)
{
    gn_error error;
    gn_codec codec;
    char item[32];
    o->kernel_count = 0;
    if (!strcmp(text, "all")) {
        while (o->kernel_count < KERNELS_MAX && gn_kernel_name((unsigned)o->kernel_count))
            o->kernels[o->kernel_count] = gn_kernel_name((unsigned)o->kernel_count), o->kernel_count++;
        return;
    }
    for (const char *at = text;; at++) {
        at = gn_list_item(at, item, sizeof item);
        if (o->kernel_count == KERNELS_MAX) gn_option_wrong(state, key, "more than %d kernels", KERNELS_MAX);
        const char *name;
        gn_option_check(state, key, gn_parse_kernel(item, &name, &error), &error);
        gn_codec_init_kernel(&codec, GN_DENSE, 10, name);
        o->kernels[o->kernel_count++] = gn_codec_kernel_name(&codec);
        if (!*at) return;
    }
}

static void finish(struct argp_state *state, options *o)
{
    gn_error error;
    for (size_t p = 0; p < o->profile_count; p++)
        for (size_t b = 0; b < o->bound_count; b++)
            gn_option_check(state, 'k', gn_check_bound(o->profiles[p], o->bounds[b], &error), &error);
    if (!o->made_given && !o->file_count) memset(o->made, 1, sizeof o->made);
    bool any = o->file_count > 0;
    for (int d = 0; d < GN_BENCH_FILES; d++) any |= o->made[d];
    if (!any) argp_error(state, "--made none needs a FILE");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    gn_error error;
    options *o = state->input;
    const char *made_names[GN_BENCH_FILES];
    for (gn_bench_data d = 0; d < GN_BENCH_FILES; d++) made_names[d] = gn_bench_data_name(d);
    key = gn_option_current(state, key, old_names);
    switch (key) {
    case 'p':
        gn_option_check(state, key, gn_parse_profiles(arg, o->profiles, &o->profile_count, &error), &error);
        break;
    case 'k':
        gn_option_check(state, key, gn_parse_bounds(arg, o->bounds, BOUNDS_MAX, &o->bound_count, &error), &error);
        break;
    case OPTION_KERNEL:
        parse_kernels(state, key, o, arg);
        break;
    case OPTION_MADE:
        gn_option_words(state, key, arg, made_names, GN_BENCH_FILES, o->made);
        o->made_given = true;
        break;
    case OPTION_LAYOUT:
        gn_option_words(state, key, arg, layout_names, LAYOUTS, o->layouts);
        break;
    case OPTION_MEMORY:
        o->memory = gn_option_size(state, key, arg, 2 << 10, UINT64_C(64) << 30);
        break;
    case OPTION_AGAINST:
        gn_option_check(state, key, gn_parse_rivals(arg, o->rivals, &o->rival_count, &error), &error);
        break;
    case 'r':
        o->rounds = gn_option_number(state, key, arg, 1, 1000);
        break;
    case 't':
        o->time_ns = gn_option_time(state, key, arg);
        break;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->file_count = (size_t)(state->argc - state->next);
        gn_option_check(state, key, gn_input_check_list(o->files, o->file_count, &error), &error);
        break;
    case ARGP_KEY_END:
        finish(state, o);
        break;
    default:
        return gn_file_option_parse(key, arg, state, &o->file) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

// ---- running

typedef struct bench {
    const options *o;
    float *file;  // all files' values, one after the other
    size_t file_count;
    float *values, *back;
    uint8_t *packed;
    size_t packed_room, *packed_bytes;
    json_t *results;
    const char *program;
    bool noted;  // said that a rival was left out
} bench;

static gn_status load_files(bench *b, gn_error *error)
{
    for (size_t i = 0; i < b->o->file_count; i++) {
        float *values, *more;
        size_t count;
        gn_status wrong = gn_values_load(b->o->files[i], GN_FORMAT_AUTO, &values, &count, error);
        if (wrong) return wrong;
        more = realloc(b->file, (b->file_count + count + 1) * sizeof *more);
        if (more) memcpy(more + b->file_count, values, count * sizeof *more);
        free(values);
        if (!more) return gn_fail_memory(error);
        b->file = more;
        b->file_count += count;
    }
    return b->o->file_count && !b->file_count ? gn_fail(error, GN_INVALID, "the files have no values") : GN_OK;
}

static void print_header(const bench *b)
{
    if (b->o->file.result.json) return;
    printf("compress, decompress: uncompressed bytes per second of CPU time; x: times memcpy's of the same pieces; "
           "C/8, D/8:\n"
           "ticks of the time stamp counter per 8 values, compressing and decompressing; medians\n\n");
    printf("%-6s %-7s %-9s %4s %-7s %7s %9s %6s %9s %6s %6s %6s %10s\n", "data", "size", "codec", "k", "kernel",
           "ratio", "comp GB/s", "x", "deco GB/s", "x", "C/8", "D/8", "max error");
}

static void report(bench *b, const char *data, value_layout layout, const gn_bench_case *c, const gn_bench_subject *s,
                   double copy)
{
    double bytes = (double)c->count * 4, groups = (double)c->count / 8;
    double ratio = bytes / (double)s->packed_bytes, compress = bytes / s->compress_seconds,
           decompress = bytes / s->decompress_seconds;
    json_array_append_new(
        b->results, json_pack("{s:s, s:s, s:s, s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i}",
                              "data", data, "size", layout_names[layout], "codec", s->name, "k",
                              s->bounded ? json_integer(s->bound_exp) : json_null(), "kernel", s->kernel, "values",
                              (json_int_t)c->count, "piece", (json_int_t)c->piece, "ratio", gn_json_real(ratio),
                              "compress_bytes_per_second", gn_json_real(compress), "decompress_bytes_per_second",
                              gn_json_real(decompress), "memcpy_bytes_per_second", gn_json_real(bytes / copy),
                              "compress_over_memcpy", gn_json_real(copy / s->compress_seconds),
                              "decompress_over_memcpy", gn_json_real(copy / s->decompress_seconds),
                              "compress_ticks_per_8", gn_json_real(s->compress_ticks / groups),
                              "decompress_ticks_per_8", gn_json_real(s->decompress_ticks / groups), "max_error",
                              gn_json_real(s->max_error), "repetitions", (int)s->repetitions));
    if (b->o->file.result.json) return;
    char k[16] = "";
    if (s->bounded) snprintf(k, sizeof k, "%d", s->bound_exp);
    printf("%-6s %-7s %-9s %4s %-7s %7.2f %9.2f %6.2f %9.2f %6.2f %6.1f %6.1f %10.3g\n", data, layout_names[layout],
           s->name, k, s->kernel, ratio, compress * 1e-9, copy / s->compress_seconds, decompress * 1e-9,
           copy / s->decompress_seconds, s->compress_ticks / groups, s->decompress_ticks / groups, s->max_error);
    fflush(stdout);
}

// The subjects of one data set and bound.
static size_t make_subjects(bench *b, const gn_profile *profiles, size_t profile_count, int k, bool lossless,
                            bool finite, gn_bench_subject *subjects)
{
    const options *o = b->o;
    size_t n = 0;
    for (size_t p = 0; p < profile_count; p++) {
        for (size_t i = 0; i < o->kernel_count; i++) {
            gn_bench_subject *s = &subjects[n];
            *s = (gn_bench_subject){.name = gn_profile_name(profiles[p]), .bound_exp = k, .bounded = true};
            if (gn_codec_init_kernel(&s->codec, profiles[p], k, o->kernels[i]))
                continue;  // a kernel need not have all profiles
            s->kernel = gn_codec_kernel_name(&s->codec);
            n++;
        }
    }
    for (size_t i = 0; i < o->rival_count; i++) {
        bool bounded = !o->rivals[i].rival->lossless;
        if (!bounded && !lossless) continue;
        if (bounded && !finite) {  // a block of zfp has one exponent
            if (!b->noted && !o->file.result.quiet)
                gn_cli_note(b->program, "%s: data not finite, left out", o->rivals[i].name);
            b->noted = true;
            continue;
        }
        gn_bench_subject s = {.name = o->rivals[i].name, .kernel = "", .bound_exp = k, .bounded = bounded};
        s.rival = gn_rival_context_new(&o->rivals[i], k);
        if (s.rival) subjects[n++] = s;
    }
    return n;
}

static gn_status run_case(bench *b, gn_bench_data data, value_layout layout, gn_bench_subject *subjects,
                          size_t subject_count, gn_error *error)
{
    gn_bench_case c = {.values = b->values, .back = b->back, .packed = b->packed, .packed_bytes = b->packed_bytes};
    c.count = layout == LAYOUT_MEMORY ? b->o->memory / 4 : CACHED;
    c.piece = layout == LAYOUT_PACKET ? PACKET : c.count;
    c.count -= c.count % c.piece;
    c.repetitions = (unsigned)b->o->rounds;
    c.seconds = gn_seconds(b->o->time_ns);
    for (size_t i = 0; i < subject_count; i++) {
        size_t bound = gn_bench_bound(&subjects[i], c.piece);
        if (bound > c.packed_stride) c.packed_stride = bound;
    }
    c.packed_stride = (c.packed_stride + 63) & ~(size_t)63;
    size_t room = c.packed_stride * (c.count / c.piece);
    if (room > b->packed_room) {
        free(b->packed);
        c.packed = b->packed = malloc(room);
        b->packed_room = b->packed ? room : 0;
        if (!b->packed) return gn_fail_memory(error);
    }
    double copy = 0;
    gn_status wrong = gn_bench_run(&c, subjects, subject_count, &copy, error);
    if (wrong) return wrong;
    for (size_t i = 0; i < subject_count; i++) report(b, gn_bench_data_name(data), layout, &c, &subjects[i], copy);
    return GN_OK;
}

static bool all_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

static gn_status run_layouts(bench *b, gn_bench_data data, const gn_profile *profiles, size_t profile_count,
                             size_t bound, gn_error *error)
{
    int k = b->o->bounds[bound];
    gn_bench_subject subjects[SUBJECTS_MAX];
    gn_status wrong = GN_OK;
    gn_codec codec;
    gn_codec_init(&codec, profiles[0], k);
    size_t most = b->o->memory / 4 > CACHED && b->o->layouts[LAYOUT_MEMORY] ? b->o->memory / 4 : CACHED;
    gn_bench_fill(data, &codec, b->file, b->file_count, b->values, most);
    // lossless rivals give the same results with every bound
    const bool lossless = bound == 0 || data != GN_BENCH_FILES;
    size_t n = make_subjects(b, profiles, profile_count, k, lossless, all_finite(b->values, most), subjects);
    for (value_layout layout = 0; layout < LAYOUTS && !wrong; layout++)
        if (b->o->layouts[layout]) wrong = run_case(b, data, layout, subjects, n, error);
    for (size_t i = 0; i < n; i++) gn_rival_context_free(subjects[i].rival);
    return wrong;
}

// Made values depend on a profile's classes. paper has its own; lattice and dense share theirs
// and are measured together. Rivals run with both.
static gn_status run_made(bench *b, gn_bench_data data, size_t bound, gn_error *error)
{
    const options *o = b->o;
    gn_status wrong = GN_OK;
    for (int paper = 1; paper >= 0 && !wrong; paper--) {
        gn_profile profiles[GN_PROFILE_COUNT];
        size_t count = 0;
        for (size_t p = 0; p < o->profile_count; p++)
            if ((o->profiles[p] == GN_PAPER) == paper) profiles[count++] = o->profiles[p];
        if (count) wrong = run_layouts(b, data, profiles, count, bound, error);
    }
    return wrong;
}

static gn_status run_all(void *context, gn_error *error)
{
    bench *b = context;
    const options *o = b->o;
    gn_status wrong = load_files(b, error);
    size_t most = o->memory / 4 > CACHED && o->layouts[LAYOUT_MEMORY] ? o->memory / 4 : CACHED;
    b->values = malloc(most * sizeof *b->values);
    b->back = malloc(most * sizeof *b->back);
    b->packed_bytes = calloc(CACHED / PACKET + 1, sizeof *b->packed_bytes);
    b->results = json_array();
    if (!wrong && (!b->values || !b->back || !b->packed_bytes || !b->results)) wrong = gn_fail_memory(error);
    if (!wrong) print_header(b);
    for (size_t k = 0; k < o->bound_count; k++) {
        if (b->file_count && !wrong) wrong = run_layouts(b, GN_BENCH_FILES, o->profiles, o->profile_count, k, error);
        for (gn_bench_data data = 0; data < GN_BENCH_FILES; data++)
            if (o->made[data] && !wrong) wrong = run_made(b, data, k, error);
    }
    return wrong;
}

static json_t *results(void *context)
{
    bench *b = context;
    return json_pack("{s:O}", "results", b->results);
}

int gn_command_bench_codec(int argc, char **argv)
{
    gn_error error;
    static const struct argp argp = {
        option_table,
        parse_option,
        "[FILE...]",
        "Measures compression and decompression in memory, on one core. The values are made, or come from FILEs "
        "(" GN_VALUES_FILES ") and are repeated as needed. memcpy and other compressors are measured in the same run. "
        "All decompressed values are compared with the input.",
        NULL,
        NULL,
        NULL};
    options o = {.bounds = {10},
                 .bound_count = 1,
                 .memory = 256 << 20,
                 .rounds = 15,
                 .time_ns = 5 * GN_SECOND,
                 .layouts = {true, true, true}};
    gn_codec fastest;
    gn_parse_profiles("all", o.profiles, &o.profile_count, &error);
    gn_codec_init(&fastest, GN_DENSE, 10);
    o.kernels[o.kernel_count++] = gn_codec_kernel_name(&fastest);
    gn_argp_parse(&argp, argc, argv, &o);

    bench b = {.o = &o, .program = argv[0]};
    const int status = gn_bench_report(&(gn_bench){.name = "codec",
                                                   .program = argv[0],
                                                   .options = &o.file.result,
                                                   .files = o.files,
                                                   .file_count = o.file_count,
                                                   .run = run_all,
                                                   .results = results,
                                                   .context = &b});
    free(b.file), free(b.values), free(b.back), free(b.packed), free(b.packed_bytes);
    json_decref(b.results);
    return status;
}
