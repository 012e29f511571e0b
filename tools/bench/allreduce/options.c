// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "allreduce.h"
#include "tools/files/values.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/units.h"

enum {
    OPT_NO_QUANTISE = 0x100,
    OPT_SCALE_TARGET,
    OPT_RATE,
    OPT_DELAY,
    OPT_IN_PLACE,
    OPT_OP,
    OPT_TYPE,
    OPT_SEGMENT,
    OPT_WEIGHTS,
    OLD_LINK,
    OLD_LATENCY,
};

static const char doc[] =
    "Measures allreduce over all ranks and checks the results, in the form of nccl-tests.\v"
    "Ranks come from -N (all on this machine), from --rank, --world-size and --rendezvous, or from RANK, WORLD_SIZE, "
    "MASTER_ADDR and MASTER_PORT as torchrun sets them. The variables of mpirun (Open MPI, MPICH) and srun are read as "
    "well.\n\n"
    "The letters -b, -e, -f, -n, -w and -c are those of nccl-tests.\n\n"
    "Columns:\n"
    "  time       median over the iterations, at the slowest rank\n"
    "  algbw      size / time\n"
    "  busbw      algbw * 2(N-1)/N; with the ring each link carries that\n"
    "  #wrong     values that differ from a sum computed without the exchange;\n"
    "             dense, lattice: in any bit\n"
    "  identical  whether all ranks hold the same bits\n"
    "  model      time of delay a, rate 1/b and addition c alone:\n"
    "             ring 2(p-1)a + 2(p-1)/p nb + (p-1)/p nc,\n"
    "             worker-aggregator (1+log p)a + (p+log p)nb + (p-1)nc,\n"
    "             switch 2a + nb,\n"
    "             direct 2a + 2(p-1)/p nb + (p-1)/p nc;\n"
    "             algorithms with groups have none\n\n"
    "Exit status: 0 done and all results right, 1 failed, 2 wrong usage.\n\n"
    "Example:\n  gradnic bench allreduce -N 4 -b 1M -e 100M -p dense -k 10";

static const struct argp_option table[] = {
    {0, 0, 0, 0, "What is measured:", 1},
    {"begin", 'b', "SIZE", 0, "smallest size in bytes (default 1M)", 0},
    {"end", 'e', "SIZE", 0, "largest size (default 64M)", 0},
    {"factor", 'f', "N", 0, "each size is N times the previous one (default 2)", 0},
    {"iterations", 'n', "N", 0, "measure each size N times (default 20)", 0},
    {"warmup", 'w', "N", 0, "iterations before the measured ones (default 5)", 0},
    {"check", 'c', "0|1", 0, "check results (default 1)", 0},
    {"op", OPT_OP, "sum|average|min|max", 0, "the result to compute (default sum)", 0},
    {"type", OPT_TYPE, "TYPE", 0, "of the values: f32, bf16, f16, f64, i32, i64 or u8 (default f32)", 0},
    {"in-place", OPT_IN_PLACE, 0, 0, "send and receive buffer are the same", 0},
    {"input", 'i', "FILE", 0,
     "gradients to send, repeated to the size: " GN_VALUES_FILES "; %r is the rank (default made values)", 0},
    {0, 0, 0, 0, "Exchange:", 2},
    GN_EXCHANGE_OPTIONS("-k or --scale auto", "the"),
    {"aggregator-weights", OPT_WEIGHTS, 0, 0,
     "worker-aggregator: results go back with ToS 0, as the paper's weights do", 0},
    {"no-quantise", OPT_NO_QUANTISE, 0, 0, "do not quantise, even with a profile", 0},
    {"scale-target", OPT_SCALE_TARGET, "E", 0, "--scale auto brings the RMS to 2^E (default 0)", 0},
    {"segment", OPT_SEGMENT, "SIZE", 0, "pipelining unit, 4K to 2M (default 256K)", 0},
    {0, 0, 0, 0, "Ranks:", 3},
    GN_RANK_OPTIONS,
    {0, 0, 0, 0, "Model:", 4},
    {"rate", OPT_RATE, "RATE", 0, "speed of the links, as 200mbit, 1gbit (default measured)", 0},
    {"delay", OPT_DELAY, "TIME", 0, "delay of the links, as 100us (default measured)", 0},
    GN_OLD_NAME("link", OLD_LINK, "RATE"),
    GN_OLD_NAME("latency", OLD_LATENCY, "TIME"),
    {0, 0, 0, 0, "Output:", 5},
    GN_FORCE_LONG_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static const gn_old_name old_names[] = {
    {OLD_LINK, OPT_RATE, "--link", NULL}, {OLD_LATENCY, OPT_DELAY, "--latency", NULL}, {0}};

static uint64_t size_of(struct argp_state *state, int key, const char *text)
{
    return gn_option_size(state, key, text, 0, UINT64_C(1) << 40);
}

static int small_integer(struct argp_state *state, int key, const char *text, long low, long high)
{
    char *end;
    const long n = strtol(text, &end, strncasecmp(text, "0x", 2) != 0 ? 10 : 16);  // no octal
    if (end == text || *end || n < low || n > high)
        gn_option_wrong(state, key, "'%s' is not a number from %ld to %ld", text, low, high);
    return (int)n;
}

static const char *const ops[GN_OPS] = {[GN_SUM] = "sum", [GN_AVERAGE] = "average", [GN_MIN] = "min", [GN_MAX] = "max"};
static const char *const types[GN_TYPES] = {[GN_F32] = "f32", [GN_BF16] = "bf16", [GN_F16] = "f16", [GN_F64] = "f64",
                                            [GN_I32] = "i32", [GN_I64] = "i64",   [GN_U8] = "u8"};

static bool parse_measure(int key, char *arg, struct argp_state *state, gn_allreduce_options *o)
{
    switch (key) {
    case 'b':
        o->begin = size_of(state, key, arg);
        return true;
    case 'e':
        o->end = size_of(state, key, arg);
        return true;
    case 'f':
        o->factor = gn_option_number(state, key, arg, 2, 1024);
        return true;
    case 'n':
        o->iterations = gn_option_unsigned(state, key, arg, 1, 100000);
        return true;
    case 'w':
        o->warmup = gn_option_unsigned(state, key, arg, 0, 100000);
        return true;
    case 'c':
        o->check = gn_option_number(state, key, arg, 0, 1);
        return true;
    case OPT_OP:
        o->op = (gn_op)gn_option_word(state, key, arg, ops, GN_OPS);
        return true;
    case OPT_TYPE:
        o->type = (gn_type)gn_option_word(state, key, arg, types, GN_TYPES);
        return true;
    case OPT_IN_PLACE:
        o->in_place = true;
        return true;
    case 'i':
        o->input = arg;
        return true;
    case OPT_RATE:
        o->rate_bits = gn_option_rate(state, key, arg, 1);
        return true;
    case OPT_DELAY:
        o->delay_ns = gn_option_duration(state, key, arg);
        return o->delay_given = true;
    default:
        return gn_result_option_parse(key, arg, &o->result);
    }
}

static bool parse_exchange(int key, char *arg, struct argp_state *state, gn_allreduce_options *o)
{
    switch (key) {
    case OPT_WEIGHTS:
        return o->weights = true;
    case OPT_NO_QUANTISE:
        o->quantise = false;
        return true;
    case OPT_SCALE_TARGET:
        o->scale_target = small_integer(state, key, arg, -30, 30);
        return o->scale_target_given = true;
    case OPT_SEGMENT:
        // The library would clamp it silently, and the figures would be for another value.
        o->segment = gn_option_size(state, key, arg, GN_SEGMENT_MIN, GN_SEGMENT_MAX);
        return true;
    default:
        return false;
    }
}

/// Refuses options without effect. Otherwise the user would believe that the figures are for
/// them.
static void check_needless(struct argp_state *state, const gn_allreduce_options *o)
{
    if (o->weights && o->comm.algorithm != GN_WORKER_AGGREGATOR)
        argp_error(state, "--aggregator-weights goes with --algorithm worker-aggregator");
    if (o->segment && o->comm.algorithm == GN_SWITCH)
        argp_error(state, "--segment goes with --algorithm ring, direct and worker-aggregator, not with switch");
    if (!o->quantise && o->comm.compress && o->comm.algorithm == GN_SWITCH)
        argp_error(state, "with --algorithm switch, --no-quantise is the same as -p none");
    if (o->scale_target_given && o->comm.scale != GN_SCALE_AUTO)
        argp_error(state, "--scale-target goes with --scale auto");
}

/// Refuses what the library would refuse in each rank.
static void check_type(struct argp_state *state, const gn_allreduce_options *o)
{
    const bool exact = o->op == GN_MIN || o->op == GN_MAX || o->type >= GN_F64;
    if (o->op == GN_AVERAGE && o->type >= GN_I32)
        argp_error(state, "--op average goes with floats, not with --type %s", types[o->type]);
    if (exact && o->comm.compress)
        argp_error(state, "only sums and averages of f32, bf16 and f16 are compressed: -p goes with them");
}

static void finish(struct argp_state *state, gn_allreduce_options *o)
{
    if (o->begin > o->end) argp_error(state, "--begin is larger than --end");
    const gn_offload asked = o->comm.offload;
    if (!o->quantise && (asked == GN_OFFLOAD_LIBRARY || asked == GN_OFFLOAD_NONE))
        argp_error(state, "--offload %s: with --no-quantise only a NIC can compress", gn_offload_name(asked));
    if (!o->quantise && o->comm.group_offload == GN_OFFLOAD_LIBRARY)
        argp_error(state, "--group-offload library: with --no-quantise only a NIC can compress");
    gn_comm_options_finish(state, &o->comm);
    check_needless(state, o);
    check_type(state, o);
    if (!o->comm.compress) o->quantise = false;
    // What is not quantised can only be compressed by a NIC, with loss.
    if (!o->quantise && o->comm.compress) {
        o->comm.offload = GN_OFFLOAD_NIC;
        if (!o->comm.tos_given) o->comm.tos = 0x28;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    gn_allreduce_options *o = state->input;
    key = gn_option_current(state, key, old_names);
    if (parse_measure(key, arg, state, o) || parse_exchange(key, arg, state, o) ||
        gn_comm_option_parse(key, arg, state, &o->comm))
        return 0;
    if (key == ARGP_KEY_ARG) argp_error(state, "unexpected argument '%s'", arg);
    if (key == ARGP_KEY_END) finish(state, o);
    return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

void gn_allreduce_parse(gn_allreduce_options *options, int argc, char **argv)
{
    *options = (gn_allreduce_options){.program = argv[0],
                                      .begin = 1 << 20,
                                      .end = 64 << 20,
                                      .factor = 2,
                                      .iterations = 20,
                                      .warmup = 5,
                                      .check = true,
                                      .quantise = true,
                                      .comm = gn_comm_options_default()};
    const struct argp parser = {.options = table, .parser = parse, .doc = doc};
    gn_argp_parse(&parser, argc, argv, options);
}
