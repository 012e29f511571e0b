// SPDX-License-Identifier: Apache-2.0
// gradnic bench switch: the options, the cases and the output.
#include "switch.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "codec.h"
#include "net/clock.h"
#include "results.h"
#include "tools/files/file_options.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/command.h"
#include "tools/kit/json.h"
#include "tools/kit/old_names.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/units.h"

enum { WORKERS_MAX = 16, PACKETS_MAX = 8, CACHED = 65536 };

typedef struct options {
    bool formats[GN_AGG_FORMATS];
    unsigned packets[PACKETS_MAX];
    size_t packet_count;
    bool cache, memory;
    uint64_t memory_bytes;
    int bound_exp;
    unsigned workers, slots, rounds;
    gn_file_options file;
    char **files;
    size_t file_count;
} options;

enum { OPTION_VALUES = 256, OPTION_WORKERS, OPTION_LAYOUT, OPTION_MEMORY, OPTION_SLOTS, OPTION_FORMATS };
enum { OLD_SIZE = 0x180 };

static const char *const format_names[GN_AGG_FORMATS] = {"int32", "lattice", "dense", "half"};

static const struct argp_option option_table[] = {
    {"formats", OPTION_FORMATS, "LIST", 0, "formats of packets: int32, lattice, dense, half, or all (default all)", 0},
    {"values", OPTION_VALUES, "LIST", 0, "values of a packet (default 64,256,352,2048)", 0},
    {"bound", 'k', "K", 0, "error bound 2^-K of lattice and dense (default 10)", 0},
    {"workers", OPTION_WORKERS, "N", 0, "number of workers (default 4)", 0},
    {"slots", OPTION_SLOTS, "N", 0, "slots of the switch, a power of two (default 64)", 0},
    {"layout", OPTION_LAYOUT, "LIST", 0,
     "how values lie: cache (256 KiB of all vectors), memory (see --memory), or all (default all)", 0},
    {"memory", OPTION_MEMORY, "SIZE", 0, "bytes of values in the layout memory (default 256M)", 0},
    GN_KERNEL_OPTION(""),
    {"rounds", 'r', "N", 0, "results are medians of N rounds (default 15)", 0},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    GN_OLD_NAME("size", OLD_SIZE, "NAME"),
    GN_OLD_LETTER('w', "N"),
    GN_OLD_NAME("output", 'o', "FILE"),
    {0},
};

static const gn_old_name old_names[] = {{OLD_SIZE, OPTION_LAYOUT, "--size", NULL},
                                        {'w', OPTION_WORKERS, "-w", NULL},
                                        {'o', GN_OPTION_JSON, "--output FILE", "--json=FILE"},
                                        {0}};

/// "both" is the old word for "all".
static void parse_layout(const struct argp_state *state, int key, const char *text, options *o)
{
    static const char *const names[] = {"cache", "memory"};
    bool chosen[2];
    gn_option_words(state, key, strcmp(text, "both") ? text : "all", names, 2, chosen);
    o->cache = chosen[0];
    o->memory = chosen[1];
}

static void parse_values(struct argp_state *state, int key, const char *text, options *o)
{
    char item[32];
    o->packet_count = 0;
    for (const char *at = text;; at++) {
        at = gn_list_item(at, item, sizeof item);
        if (o->packet_count == PACKETS_MAX) gn_option_wrong(state, key, "more than %d sizes of packets", PACKETS_MAX);
        o->packets[o->packet_count++] = gn_option_unsigned(state, key, item, 1, GN_AGG_VALUES_MAX);
        if (!*at) return;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    gn_error error;
    options *o = state->input;
    key = gn_option_current(state, key, old_names);
    switch (key) {
    case OPTION_FORMATS:
        gn_option_words(state, key, arg, format_names, GN_AGG_FORMATS, o->formats);
        break;
    case OPTION_VALUES:
        parse_values(state, key, arg, o);
        break;
    case 'k':
        o->bound_exp = gn_option_bound(state, key, arg);
        gn_option_check(state, key, gn_check_bound(GN_DENSE, o->bound_exp, &error), &error);
        break;
    case OPTION_WORKERS:
        o->workers = gn_option_unsigned(state, key, arg, 1, WORKERS_MAX);
        break;
    case OPTION_SLOTS:
        o->slots = gn_option_unsigned(state, key, arg, 8, GN_AGG_SLOTS_MAX);
        if (o->slots & (o->slots - 1)) gn_option_wrong(state, key, "%s is not a power of two", arg);
        break;
    case OPTION_LAYOUT:
        parse_layout(state, key, arg, o);
        break;
    case OPTION_MEMORY:
        o->memory_bytes = gn_option_size(state, key, arg, 1 << 20, UINT64_C(16) << 30);
        break;
    case 'r':
        o->rounds = gn_option_unsigned(state, key, arg, 1, 1000);
        break;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->file_count = (size_t)(state->argc - state->next);
        gn_option_check(state, key, gn_input_check_list(o->files, o->file_count, &error), &error);
        if (o->file_count > WORKERS_MAX) argp_error(state, "more than %d FILEs", WORKERS_MAX);
        break;
    default:
        return gn_file_option_parse(key, arg, state, &o->file) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

// ---- running

typedef struct bench {
    const options *o;
    float *values[WORKERS_MAX];  ///< of each worker
    json_t *results;
} bench;

static size_t most_values(const options *o)
{
    const size_t memory = o->memory ? (size_t)o->memory_bytes / 4 : 0;
    return (memory > CACHED ? memory : CACHED) / o->workers + GN_AGG_VALUES_MAX;
}

/// The workers' vectors. Worker i gets the values of file i; if there are fewer files, they are
/// used again. Or made values.
static gn_status fill(bench *b, gn_error *error)
{
    const options *o = b->o;
    const size_t count = most_values(o);
    gn_codec codec;
    gn_codec_init(&codec, GN_DENSE, o->bound_exp);
    for (unsigned w = 0; w < o->workers; w++) {
        float *file = NULL;
        size_t file_count = 0;
        b->values[w] = malloc(count * sizeof(float));
        if (!b->values[w]) return gn_fail_memory(error);
        if (o->file_count) {
            const char *name = o->files[w % o->file_count];
            gn_status wrong = gn_values_load(name, GN_FORMAT_AUTO, &file, &file_count, error);
            if (wrong) return wrong;
            if (!file_count) wrong = gn_fail(error, GN_INVALID, "%s: no values", name);
            if (wrong) free(file);
            if (wrong) return wrong;
        }
        gn_bench_fill(file ? GN_BENCH_FILES : GN_BENCH_MIXED, &codec, file, file_count, b->values[w], count);
        free(file);
    }
    return GN_OK;
}

static void print_header(const options *o)
{
    if (o->file.result.json) return;
    printf(
        "%u workers, %u slots. G/s: 10^9 values of workers added per second of CPU time, one thread; share: of a plain "
        "addition of\n"
        "integers; t/v: ticks of the time stamp counter per value; add: gn_switch_rx(); all: with gn_action_write() of "
        "results; medians\n\n",
        o->workers, o->slots);
    printf("%-8s %6s %-7s %-7s %8s %8s %9s %8s %8s %7s %8s %8s %7s %8s\n", "format", "values", "size", "kernel",
           "bytes", "result", "plain G/s", "add G/s", "share", "t/v", "all G/s", "share", "t/v", "ns/pkt");
}

static void report(bench *b, const gn_bench_load *load, const char *size, const gn_bench_switch_result *r)
{
    const double values = (double)load->count * load->values, packets = (double)load->count;
    const double bytes = (double)load->datagram_bytes / packets,
                 result = (double)r->result_bytes / (double)load->chunks;
    const char *format = format_names[load->format];
    json_array_append_new(
        b->results,
        json_pack(
            "{s:s, s:i, s:s, s:s, s:i, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "format",
            format, "packet_values", (int)load->values, "size", size, "kernel", r->kernel, "workers",
            (int)load->workers, "slots", (int)load->slots, "values", (json_int_t)values, "datagram_bytes",
            gn_json_real(bytes), "result_bytes", gn_json_real(result), "plain_values_per_second",
            gn_json_real(values / r->plain.seconds), "add_values_per_second", gn_json_real(values / r->add.seconds),
            "all_values_per_second", gn_json_real(values / r->whole.seconds), "add_share", gn_json_real(r->add_share),
            "all_share", gn_json_real(r->whole_share), "plain_ticks_per_value", gn_json_real(r->plain.ticks / values),
            "add_ticks_per_value", gn_json_real(r->add.ticks / values), "all_ticks_per_value",
            gn_json_real(r->whole.ticks / values), "add_ns_per_packet", gn_json_real(r->add.seconds / packets * 1e9)));
    if (b->o->file.result.json) return;
    printf("%-8s %6u %-7s %-7s %8.1f %8.1f %9.3f %8.3f %8.3f %7.3f %8.3f %8.3f %7.3f %8.1f\n", format, load->values,
           size, r->kernel, bytes, result, values / r->plain.seconds * 1e-9, values / r->add.seconds * 1e-9,
           r->add_share, r->add.ticks / values, values / r->whole.seconds * 1e-9, r->whole_share,
           r->whole.ticks / values, r->add.seconds / packets * 1e9);
    fflush(stdout);
}

static gn_status run_case(bench *b, gn_agg_format format, unsigned packet, bool memory, gn_error *error)
{
    const options *o = b->o;
    const size_t values = (memory ? (size_t)o->memory_bytes / 4 : CACHED) / o->workers;
    gn_bench_load load = {.format = format,
                          .bound_exp = gn_agg_in_blocks(format) ? 0 : o->bound_exp,
                          .workers = o->workers,
                          .slots = o->slots,
                          .values = (uint16_t)packet,
                          .prefetch = memory,
                          .chunks = values < packet ? 1 : values / packet,
                          .data = (const float *const *)b->values};
    gn_bench_switch_result result = {0};
    gn_status wrong = gn_bench_load_make(&load, error);
    if (!wrong) wrong = gn_bench_switch_run(&load, o->file.kernel, o->rounds, &result, error);
    if (!wrong) report(b, &load, memory ? "memory" : "cache", &result);
    gn_bench_load_free(&load);
    return wrong;
}

static gn_status run_all(void *context, gn_error *error)
{
    bench *b = context;
    const options *o = b->o;
    gn_status wrong = fill(b, error);
    b->results = json_array();
    if (!wrong && !b->results) wrong = gn_fail_memory(error);
    if (!wrong) print_header(o);
    for (gn_agg_format format = 0; format < GN_AGG_FORMATS; format++) {
        for (int memory = 0; memory <= 1 && o->formats[format]; memory++) {
            if (memory ? !o->memory : !o->cache) continue;
            for (size_t p = 0; p < o->packet_count && !wrong; p++)
                wrong = run_case(b, format, o->packets[p], memory, error);
        }
    }
    return wrong;
}

static json_t *results(void *context)
{
    bench *b = context;
    return json_pack("{s:i, s:i, s:O}", "k", b->o->bound_exp, "rounds", (int)b->o->rounds, "results", b->results);
}

int gn_command_bench_switch(int argc, char **argv)
{
    static const struct argp argp = {
        option_table,
        parse_option,
        "[FILE...]",
        "Measures the switch's core alone, in one thread and without a network. It gets the workers' datagrams from "
        "memory, and gives results. The time includes parsing, checks and the header's CRC. FILE i has the gradient of "
        "worker i (" GN_VALUES_FILES ") and is repeated as needed. With fewer FILEs than workers they are used "
        "again. Without FILEs, values of 0, 8 and 16 bits are made. Every result is checked.",
        NULL,
        NULL,
        NULL};
    options o = {.formats = {true, true, true, true},
                 .packets = {64, 256, 352, 2048},
                 .packet_count = 4,
                 .cache = true,
                 .memory = true,
                 .memory_bytes = 256 << 20,
                 .bound_exp = 10,
                 .workers = 4,
                 .slots = 64,
                 .rounds = 15,
                 .file = {.kernel = "auto"}};
    gn_argp_parse(&argp, argc, argv, &o);

    bench b = {.o = &o};
    const int status = gn_bench_report(&(gn_bench){.name = "switch",
                                                   .program = argv[0],
                                                   .options = &o.file.result,
                                                   .files = o.files,
                                                   .file_count = o.file_count,
                                                   .run = run_all,
                                                   .results = results,
                                                   .context = &b});
    for (unsigned w = 0; w < o.workers; w++) free(b.values[w]);
    json_decref(b.results);
    return status;
}
