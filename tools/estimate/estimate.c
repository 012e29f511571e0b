// SPDX-License-Identifier: Apache-2.0
// gradnic estimate: what compression and a switch would gain on a given network.
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "measure.h"
#include "model.h"
#include "tools/commands.h"
#include "tools/files/input.h"
#include "tools/files/values.h"
#include "tools/kit/cli.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/json.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/result_options.h"
#include "tools/kit/table.h"

enum { RATES_MAX = 64, RANKS_MAX = 65536, RATE_LEAST = 1000 };
static const double LEAST = 0.001;  ///< of cores, speeds and ratios
enum { OPTION_RATE = 0x100, OPTION_WORLD_SIZE, OPTION_SIZE, OPTION_RATIO, OPTION_CORES, OPTION_SPEED };

typedef struct options {
    gn_setting setting;
    double rates[RATES_MAX];
    size_t rate_count;
    bool size_given, ratio_given;
    gn_profile profile;
    int bound_exp;
    const char *codec_option;  // that was given; NULL: none
    char **files;
    int file_count;
    gn_result_options result;
} options;

static const struct argp_option option_table[] = {
    {0, 0, 0, 0, "Network and hosts:", 1},
    {"rate", OPTION_RATE, "LIST", 0, "speed of every link, as 200mbit or 1gbit,10gbit,100gbit (default 1gbit)", 0},
    {"world-size", OPTION_WORLD_SIZE, "N", 0, "number of all ranks, each on a host of its own (default 4)", 0},
    {"cores", OPTION_CORES, "C", 0, "cores of each host that the exchange can have, as 2 or 0.5 (default 2)", 0},
    {"speed", OPTION_SPEED, "X", 0, "speed of a core beside the one that was measured (default 1)", 0},
    {0, 0, 0, 0, "Gradient:", 2},
    {"size", OPTION_SIZE, "SIZE", 0, "bytes of one gradient (default 100M, or the FILE's)", 0},
    {"ratio", OPTION_RATIO, "R", 0, "how well it compresses (default 11, or the FILEs')", 0},
    {"profile", 'p', "PROFILE", 0, "of the FILEs' ratios: dense, lattice or paper (default dense)", 0},
    {"bound", 'k', "K", 0, "of the FILEs' ratios: error bound 2^-K (default 10)", 0},
    {0, 0, 0, 0, "Output:", 3},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static const char doc[] =
    "Estimate what compression and a switch gain on a network: does it pay?"
    "\v"
    "It measures nothing but ratios. An allreduce takes as long as the slowest of its parts: the busiest link, the "
    "cores of a host, the busiest thread, the switch. What processors need was measured once, on the machine that the "
    "last line names. The result is a first answer, often within a third. 'gradnic bench allreduce' and 'gradnic demo' "
    "measure.\n"
    "\n"
    "FILEs are dumps of gradients, one of each rank (" GN_VALUES_FILES "). Fewer files than ranks are used in "
    "turn. Their ratios are measured on sums of 1, 2, ... ranks, which compress less well than single gradients.\n"
    "\n"
    "Columns:\n"
    "  time         of one allreduce\n"
    "  limit        link, cores (of a host), one thread, or switch\n"
    "  on a link    bytes on the busiest link in its busier direction, with headers\n"
    "  gain         time of the ring / this time\n"
    "  pays up to   rate of the links up to which it is faster than the ring\n"
    "\n"
    "Examples:\n"
    "  gradnic estimate --rate 1gbit,10gbit,25gbit --world-size 16 --size 400M\n"
    "  gradnic estimate --rate 200mbit -k 8 worker*.npy.gz\n"
    "  gradnic estimate --json | jq '.rates[0].ways[] | {way, gain}'\n";

/// A number from LEAST to `high`. With smaller ones times leave what a double can say of them.
static double option_real(const struct argp_state *state, int key, const char *text, double high)
{
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    if (end == text || *end || errno || !(value >= LEAST) || value > high)
        gn_option_wrong(state, key, "'%s' is not a number from %g to %g", text, LEAST, high);
    return value;
}

static void parse_rates(const struct argp_state *state, int key, const char *list, options *o)
{
    char item[32];
    o->rate_count = 0;
    do {
        list = gn_list_item(list, item, sizeof item);
        if (o->rate_count == RATES_MAX) gn_option_wrong(state, key, "more than %d rates", RATES_MAX);
        o->rates[o->rate_count++] = (double)gn_option_rate(state, key, item, RATE_LEAST);
    } while (*list++);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    gn_error error;
    if (gn_result_option_parse(key, arg, &o->result)) return 0;
    switch (key) {
    case OPTION_RATE:
        parse_rates(state, key, arg, o);
        return 0;
    case OPTION_WORLD_SIZE:
        o->setting.ranks = gn_option_unsigned(state, key, arg, 2, RANKS_MAX);
        return 0;
    case OPTION_CORES:
        o->setting.cores = option_real(state, key, arg, 4096);
        return 0;
    case OPTION_SPEED:
        o->setting.speed = option_real(state, key, arg, 100);
        return 0;
    case OPTION_SIZE:
        o->setting.bytes = (double)gn_option_size(state, key, arg, 4, (uint64_t)1 << 50);
        o->size_given = true;
        return 0;
    case OPTION_RATIO:
        o->setting.ring_ratio = o->setting.up_ratio = o->setting.down_ratio = option_real(state, key, arg, 1e6);
        o->ratio_given = true;
        return 0;
    case 'p':
        o->codec_option = "--profile";
        o->profile = gn_option_profile(state, key, arg);
        return 0;
    case 'k':
        o->codec_option = "--bound";
        o->bound_exp = gn_option_bound(state, key, arg);
        return 0;
    case ARGP_KEY_ARGS:
        o->files = state->argv + state->next;
        o->file_count = state->argc - state->next;
        gn_option_check(state, key, gn_input_check_list(o->files, (size_t)o->file_count, &error), &error);
        return 0;
    case ARGP_KEY_END:
        if (o->file_count && o->ratio_given) argp_error(state, "--ratio and FILEs: one of them says the ratio");
        if ((unsigned)o->file_count > o->setting.ranks)
            argp_error(state, "%d FILEs for %u ranks: one of each rank; see --world-size", o->file_count,
                       o->setting.ranks);
        if (o->codec_option && !o->file_count)
            argp_error(state, "%s needs FILEs: it is of their ratios", o->codec_option);
        gn_option_check(state, 'k', gn_check_bound(o->profile, o->bound_exp, &error), &error);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static gn_text pays_text(gn_way way, double rate)
{
    gn_text text = {"-"};
    if (way == GN_WAY_RING) return text;
    if (isinf(rate))
        strcpy(text.s, "any rate");
    else if (rate > 0)
        text = gn_human_bits(rate);
    else
        strcpy(text.s, "none");
    return text;
}

static int print_rate(const gn_setting *s)
{
    gn_table *table = gn_table_new("<way|time|<limit|on a link|gain|pays up to");
    const double ring = gn_estimate_way(GN_WAY_RING, s).seconds;
    for (gn_way way = 0; way < GN_WAYS; way++) {
        const gn_estimate e = gn_estimate_way(way, s);
        gn_table_row(table, "%s|%s|%s|%s|%.2fx|%s", gn_way_name(way), gn_human_duration(e.seconds * 1e9).s,
                     gn_limit_name(e.limit), gn_human_bytes((uint64_t)e.link_bytes).s, ring / e.seconds,
                     pays_text(way, gn_estimate_pays_to(way, s)).s);
    }
    return gn_table_print(table, stdout);
}

static gn_status print_text(const options *o, gn_error *error)
{
    gn_setting s = o->setting;
    int wrong = 0;
    printf("Allreduce of %s over %u ranks, %g cores each; ratios: ring %.1f, to a switch %.1f, from it %.1f\n",
           gn_human_bytes((uint64_t)s.bytes).s, s.ranks, s.cores, s.ring_ratio, s.up_ratio, s.down_ratio);
    for (size_t i = 0; i < o->rate_count && !wrong; i++) {
        s.rate = o->rates[i];
        printf("\nLinks of %s:\n", gn_human_bits(s.rate).s);
        wrong = print_rate(&s);
    }
    if (!o->result.quiet) {
        printf("\nProcessors as measured on %s.\n", GN_COST_ORIGIN);
        if (GN_COST_DOUBTS[0]) printf("%s\n", GN_COST_DOUBTS);
    }
    return wrong ? gn_fail(error, GN_IO, "standard output: cannot write") : GN_OK;
}

static json_t *way_json(gn_way way, const gn_setting *s, double ring)
{
    const gn_estimate e = gn_estimate_way(way, s);
    const double pays = gn_estimate_pays_to(way, s);
    return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "way", gn_way_key(way), "seconds",
                     gn_json_real(e.seconds), "limit", gn_limit_name(e.limit), "link_bytes", gn_json_real(e.link_bytes),
                     "link_seconds", gn_json_real(e.link_seconds), "core_seconds", gn_json_real(e.core_seconds),
                     "thread_seconds", gn_json_real(e.thread_seconds), "switch_seconds", gn_json_real(e.switch_seconds),
                     "gain", gn_json_real(ring / e.seconds), "pays_up_to_bits_per_s",
                     way == GN_WAY_RING ? json_null() : gn_json_real(pays), "pays_at_any_rate", isinf(pays) != 0);
}

static json_t *to_json(const options *o)
{
    gn_setting s = o->setting;
    json_t *rates = json_array();
    for (size_t i = 0; i < o->rate_count; i++) {
        s.rate = o->rates[i];
        const double ring = gn_estimate_way(GN_WAY_RING, &s).seconds;
        json_t *list = json_array();
        for (gn_way way = 0; way < GN_WAYS; way++) json_array_append_new(list, way_json(way, &s, ring));
        json_array_append_new(rates, json_pack("{s:o, s:o}", "bits_per_s", gn_json_real(s.rate), "ways", list));
    }
    return json_pack("{s:I, s:o, s:o, s:o, s:{s:o, s:o, s:o}, s:s, s:o}", "world_size", (json_int_t)s.ranks, "bytes",
                     gn_json_real(s.bytes), "cores", gn_json_real(s.cores), "speed", gn_json_real(s.speed), "ratio",
                     "ring", gn_json_real(s.ring_ratio), "to_switch", gn_json_real(s.up_ratio), "from_switch",
                     gn_json_real(s.down_ratio), "measured_on", GN_COST_ORIGIN, "rates", rates);
}

static gn_status run(options *o, gn_error *error)
{
    if (o->file_count) {
        gn_codec codec;
        gn_setting measured = o->setting;
        gn_status wrong = gn_codec_init(&codec, o->profile, o->bound_exp);
        if (wrong) return gn_fail(error, wrong, "%s", gn_status_string(wrong));
        wrong = gn_estimate_measure(&measured, &codec, o->files, o->file_count, error);
        if (wrong) return wrong;
        if (o->size_given) measured.bytes = o->setting.bytes;
        o->setting = measured;
    }
    gn_result_file file = {0};
    gn_status wrong =
        gn_result_open(&file, &o->result, NULL, (const char *const *)o->files, (size_t)o->file_count, error);
    if (!wrong && !o->result.json) wrong = print_text(o, error);
    if (!wrong && (o->result.json || o->result.json_file))
        return gn_result_write(&file, &o->result, to_json(o), stdout, error);
    gn_result_abort(&file);
    return wrong;
}

int gn_command_estimate(int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, "[FILE...]", doc, 0, 0, 0};
    options o = {.setting = {.ranks = 4,
                             .bytes = 100 << 20,
                             .cores = 2,
                             .speed = 1,
                             .ring_ratio = 11,
                             .up_ratio = 11,
                             .down_ratio = 11},
                 .rates = {1e9},
                 .rate_count = 1,
                 .profile = GN_DENSE,
                 .bound_exp = 10};
    gn_error error;
    gn_argp_parse(&argp, argc, argv, &o);
    if (run(&o, &error)) {
        gn_cli_error(argv[0], "%s", error.text);
        return GN_EXIT_FAILED;
    }
    return GN_EXIT_OK;
}
