// SPDX-License-Identifier: Apache-2.0
#include "net_options.h"

#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"

enum { OPT_SEED = 0x100 };

static const char doc[] =
    "Simulates jobs that sum vectors through switches, packet by packet, or in rings and by parameter servers. "
    "Switches, "
    "workers and their parameter servers are the code of 'gradnic switch'. FILE describes links, switch and jobs in "
    "JSON (docs/sim-net.md).\v"
    "Every sum is checked. Times are simulated: the same file and seed give the same output, byte for byte.\n"
    "\n"
    "Exit status: 0 done and all sums are right, 1 failed, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  gradnic sim net scenario.json\n"
    "  gradnic sim net --seed 2 --json scenario.json";

static const struct argp_option table[] = {
    {"seed", OPT_SEED, "N", 0, "seed of the random numbers (default 1)", 0},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    gn_sim_net_options *o = state->input;
    switch (key) {
    case OPT_SEED:
        o->seed = gn_option_number(state, key, arg, 0, INT64_MAX);
        return 0;
    case ARGP_KEY_ARG:
        if (o->scenario) argp_error(state, "unexpected argument '%s'; one FILE is simulated", arg);
        o->scenario = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->scenario) argp_error(state, "FILE is needed: the scenario");
        return 0;
    default:
        return gn_result_option_parse(key, arg, &o->result) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

void gn_sim_net_parse(gn_sim_net_options *options, int argc, char **argv)
{
    *options = (gn_sim_net_options){.seed = 1};
    const struct argp parser = {.options = table, .parser = parse, .args_doc = "FILE", .doc = doc};
    gn_argp_parse(&parser, argc, argv, options);
}
