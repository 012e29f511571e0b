// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "allreduce.h"

enum {
    OPT_ALGORITHM = 0x100,
    OPT_NO_QUANTISE,
    OPT_TOS,
    OPT_INTERFACE,
    OPT_SCALE,
    OPT_SCALE_TARGET,
    OPT_INPUT,
    OPT_JSON,
    OPT_RANK,
    OPT_SIZE,
    OPT_RENDEZVOUS,
    OPT_TIMEOUT,
    OPT_LINK,
    OPT_LATENCY,
    OPT_IN_PLACE,
    OPT_OP,
    OPT_SEGMENT,
    OPT_WEIGHTS,
};

static const char doc[] =
    "Measures allreduce over all ranks and checks the results, in the form of nccl-tests.\v"
    "Ranks come from -N (all on this machine), from --rank, --size and --rendezvous, or from RANK, WORLD_SIZE, "
    "MASTER_ADDR and MASTER_PORT "
    "as torchrun sets them.\n\n"
    "time is the median over the iterations, at the slowest rank; algbw = size / time; busbw = algbw * 2(N-1)/N, which "
    "for the ring is what "
    "each link carries; #wrong counts values that differ from a sum computed without the exchange (lattice: in any "
    "bit), and 'identical' "
    "says whether all ranks hold the same bits. model is what latency, link and addition alone would take: "
    "ring 2(p-1)a + 2(p-1)/p nb + (p-1)/p nc, worker-aggregator (1+log p)a + (p+log p)nb + (p-1)nc, with link and "
    "latency as given "
    "(--link, --latency) or measured.\n\n"
    "Exit status: 0 done and all results right, 1 failed, 2 wrong usage.\n\n"
    "Example:\n  gradnic bench allreduce -N 4 -b 1M -e 100M -p lattice -k 10";

static const struct argp_option table[] = {
    {0, 0, 0, 0, "What is measured:", 1},
    {"begin", 'b', "SIZE", 0, "smallest size in bytes (1M)", 0},
    {"end", 'e', "SIZE", 0, "largest size (64M)", 0},
    {"factor", 'f', "N", 0, "each size is N times the one before (2)", 0},
    {"iterations", 'n', "N", 0, "measured for each size (20)", 0},
    {"warmup", 'w', "N", 0, "before them (5)", 0},
    {"check", 'c', "0|1", 0, "check results (1)", 0},
    {"op", OPT_OP, "sum|average", 0, "(sum)", 0},
    {"in-place", OPT_IN_PLACE, 0, 0, "send and receive buffer are the same", 0},
    {"input", OPT_INPUT, "FILE", 0,
     "gradients to send, repeated to the size: .npy, .f32, .gn, also .gz; %r is the rank", 0},
    {0, 0, 0, 0, "Exchange:", 2},
    {"algorithm", OPT_ALGORITHM, "NAME", 0, "ring (default) or worker-aggregator", 0},
    {"aggregator-weights", OPT_WEIGHTS, 0, 0,
     "worker-aggregator: results go back with ToS 0, as the paper's weights do", 0},
    {"profile", 'p', "NAME", 0, "of the NICs' rule: none (default), lattice, paper", 0},
    {"bound", 'k', "K", 0, "error bound 2^-K of the NICs' rule (10)", 0},
    {"no-quantise", OPT_NO_QUANTISE, 0, 0, "leave the values as they are although there is a profile", 0},
    {"scale", OPT_SCALE, "none|auto", 0, "auto: the bound is relative to the RMS", 0},
    {"scale-target", OPT_SCALE_TARGET, "E", 0, "auto brings the RMS to 2^E (0)", 0},
    {"tos", OPT_TOS, "TOS", 0, "of the data connections (0x28; 0 without a profile)", 0},
    {"segment", OPT_SEGMENT, "SIZE", 0, "pipelining unit (256K)", 0},
    {0, 0, 0, 0, "Ranks:", 3},
    {"ranks", 'N', "RANKS", 0, "start so many ranks on this machine", 0},
    {"rank", OPT_RANK, "N", 0, "this rank (RANK)", 0},
    {"size", OPT_SIZE, "N", 0, "of all ranks (WORLD_SIZE)", 0},
    {"rendezvous", OPT_RENDEZVOUS, "WHERE", 0, "tcp://HOST:PORT, file:///PATH, or env (MASTER_ADDR, MASTER_PORT)", 0},
    {"interface", OPT_INTERFACE, "SPEC", 0, "a name (gn0), a network (10.9.0.0/24) or exclusions (^lo,docker0)", 0},
    {"timeout", OPT_TIMEOUT, "TIME", 0, "deadline of every wait (30s)", 0},
    {0, 0, 0, 0, "Model and output:", 4},
    {"link", OPT_LINK, "RATE", 0, "speed of the links (200mbit)", 0},
    {"latency", OPT_LATENCY, "TIME", 0, "of a message (100us)", 0},
    {"json", OPT_JSON, 0, 0, "print JSON", 0},
    {0},
};

typedef struct parsed {
    gn_allreduce_options *options;
    gn_profile profile;
    int bound_exp;
    bool no_quantise, tos_given;
} parsed;

static void check(gn_message wrong, struct argp_state *state, const char *name)
{
    if (wrong) argp_error(state, "--%s: %s", name, wrong);
}

static uint64_t number(struct argp_state *state, const char *name, const char *text, uint64_t low, uint64_t high)
{
    uint64_t n = 0;
    check(gn_parse_number(text, low, high, &n), state, name);
    return n;
}

static uint64_t size_of(struct argp_state *state, const char *name, const char *text)
{
    uint64_t n = 0;
    check(gn_parse_size(text, &n), state, name);
    if (n > UINT64_C(1) << 40) argp_error(state, "--%s: '%s' is more than 1 TiB", name, text);
    return n;
}

static bool choice(struct argp_state *state, const char *name, const char *text, const char *first, const char *second)
{
    if (strcmp(text, first) != 0 && strcmp(text, second) != 0)
        argp_error(state, "--%s: '%s' is neither %s nor %s", name, text, first, second);
    return !strcmp(text, second);
}

static int small_integer(struct argp_state *state, const char *name, const char *text, long low, long high)
{
    char *end;
    long n = strtol(text, &end, 0);
    if (end == text || *end || n < low || n > high)
        argp_error(state, "--%s: '%s' is no number from %ld to %ld", name, text, low, high);
    return (int)n;
}

static bool parse_measure(int key, char *arg, struct argp_state *state, gn_allreduce_options *o)
{
    switch (key) {
    case 'b':
        o->begin = size_of(state, "begin", arg);
        return true;
    case 'e':
        o->end = size_of(state, "end", arg);
        return true;
    case 'f':
        o->factor = number(state, "factor", arg, 2, 1024);
        return true;
    case 'n':
        o->iterations = (unsigned)number(state, "iterations", arg, 1, 100000);
        return true;
    case 'w':
        o->warmup = (unsigned)number(state, "warmup", arg, 0, 100000);
        return true;
    case 'c':
        o->check = number(state, "check", arg, 0, 1);
        return true;
    case OPT_OP:
        o->average = choice(state, "op", arg, "sum", "average");
        return true;
    case OPT_IN_PLACE:
        o->in_place = true;
        return true;
    case OPT_INPUT:
        o->input = arg;
        return true;
    case OPT_JSON:
        o->json = true;
        return true;
    case OPT_LINK:
        check(gn_parse_rate(arg, &o->link_bits), state, "link");
        return true;
    case OPT_LATENCY:
        check(gn_parse_duration(arg, &o->latency_ns), state, "latency");
        return o->latency_given = true;
    default:
        return false;
    }
}

static bool parse_exchange(int key, char *arg, struct argp_state *state, parsed *p)
{
    gn_allreduce_options *o = p->options;
    switch (key) {
    case OPT_ALGORITHM:
        o->algorithm = choice(state, "algorithm", arg, "ring", "worker-aggregator") ? GN_WORKER_AGGREGATOR : GN_RING;
        return true;
    case OPT_WEIGHTS:
        return o->weights = true;
    case 'p':
        o->coded = strcmp(arg, "none") != 0;
        if (o->coded) check(gn_parse_profile_or(arg, "none", &p->profile), state, "profile");
        return true;
    case 'k':
        check(gn_parse_bound(arg, &p->bound_exp), state, "bound");
        return true;
    case OPT_NO_QUANTISE:
        return p->no_quantise = true;
    case OPT_SCALE:
        o->scale = choice(state, "scale", arg, "none", "auto") ? GN_SCALE_AUTO : GN_SCALE_NONE;
        return true;
    case OPT_SCALE_TARGET:
        o->scale_target = small_integer(state, "scale-target", arg, -30, 30);
        return true;
    case OPT_TOS:
        o->tos = (unsigned)small_integer(state, "tos", arg, 0, 0xFC);
        if (o->tos & 3) argp_error(state, "--tos: 0x%02x: the low two bits are ECN's", o->tos);
        return p->tos_given = true;
    case OPT_SEGMENT:
        o->segment = size_of(state, "segment", arg);
        return true;
    default:
        return false;
    }
}

static bool parse_ranks(int key, char *arg, struct argp_state *state, gn_allreduce_options *o)
{
    switch (key) {
    case 'N':
        o->local_ranks = (unsigned)number(state, "ranks", arg, 1, 256);
        return true;
    case OPT_RANK:
        o->rank = (int)number(state, "rank", arg, 0, 255);
        return true;
    case OPT_SIZE:
        o->size = (int)number(state, "size", arg, 1, 256);
        return true;
    case OPT_RENDEZVOUS:
        o->rendezvous = arg;
        return true;
    case OPT_INTERFACE:
        o->interface = arg;
        return true;
    case OPT_TIMEOUT:
        check(gn_parse_duration(arg, &o->timeout_ms), state, "timeout");
        o->timeout_ms /= 1000000;
        if (o->timeout_ms < 10 || o->timeout_ms > INT_MAX)
            argp_error(state, "--timeout: %s is outside 10ms to 24 days", arg);
        return true;
    default:
        return false;
    }
}

static void finish(struct argp_state *state, parsed *p)
{
    gn_allreduce_options *o = p->options;
    if (o->begin > o->end) argp_error(state, "--begin is larger than --end");
    if (!o->local_ranks && o->size < 0 && !getenv("WORLD_SIZE"))
        argp_error(state, "how many ranks? -N 4 starts four here; else set RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT "
                          "or give --rank, --size "
                          "and --rendezvous");
    if (o->local_ranks && (o->rank >= 0 || o->size >= 0))
        argp_error(state, "-N starts the ranks itself: no --rank or --size with it");
    if (o->coded) check(gn_check_bound(p->profile, p->bound_exp), state, "bound");
    if (o->coded && gn_codec_init(&o->codec, p->profile, p->bound_exp))
        argp_error(state, "profile and bound do not go together");
    if (!p->tos_given) o->tos = o->coded ? 0x28 : 0;
    o->quantise = o->coded && !p->no_quantise;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    parsed *p = state->input;
    if (parse_measure(key, arg, state, p->options) || parse_exchange(key, arg, state, p) ||
        parse_ranks(key, arg, state, p->options))
        return 0;
    if (key == ARGP_KEY_ARG) argp_error(state, "'%s': no argument is wanted", arg);
    if (key == ARGP_KEY_END) finish(state, p);
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
                                      .rank = -1,
                                      .size = -1,
                                      .timeout_ms = 30000};
    parsed p = {.options = options, .bound_exp = 10};
    const struct argp parser = {.options = table, .parser = parse, .doc = doc};
    argp_parse(&parser, argc, argv, 0, NULL, &p);
}
