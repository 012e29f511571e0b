// SPDX-License-Identifier: Apache-2.0
// gradnic demo: reads the options, and becomes the script that makes namespaces, NICs and
// workers.
#include "commands.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/engine.h"
#include "tools/kit/beside.h"
#include "tools/kit/cli.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/result_options.h"
#include "tools/kit/units.h"

enum { OPT_RATE = 0x100, OPT_STEPS, OPT_WORKERS, OPT_DATA, OPT_IN_PROCESS, OPT_QUICK, OPT_PORT, OPT_ENGINE };

static const char doc[] =
    "Trains a network on handwritten digits with four workers. Each worker has a link of a limited rate, with a "
    "gradnic "
    "NIC at each end. The training runs eleven times, each time with another exchange of the gradients. One table at "
    "the "
    "end puts them side by side.\v"
    "The exchanges are:\n"
    "\n  ring without compression"
    "\n  ring with the paper's codec at 2^-10, without and with error feedback"
    "\n  ring with lattice and with dense at 2^-10 and error feedback"
    "\n  ring and direct with the same dense, compressed by the workers, without NICs"
    "\n  a gradnic switch, without compression and with dense"
    "\n  worker-aggregator with dense on the way up, and without compression\n"
    "\nThe paper compares with the last two.\n\n"
    "It makes network namespaces, links and TUN devices, as root. Where they cannot be made it says so. Then the "
    "workers "
    "do the NICs' packet transform themselves, without those two rows and the two of the switch. It removes all of "
    "that "
    "again, also "
    "after Ctrl-C or a failure. What stays is the output folder. There the results of an earlier run are replaced, and "
    "nothing else is touched:\n"
    "\n  demo.html    the report with plots, one file (needs python3-matplotlib)"
    "\n  demo.json    every figure"
    "\n  ratio.txt    what gradnic ratio says about the gradients"
    "\n  gradients/   those gradients, .npy, one file a tensor\n";

static const struct argp_option table[] = {
    {"rate", OPT_RATE, "RATE", 0, "speed of every link, both directions, as 200mbit, 1gbit (default 1gbit)", 0},
    {"steps", OPT_STEPS, "N", 0, "steps of each training (default 450)", 0},
    {"workers", OPT_WORKERS, "N", 0, "number of workers (default 4)", 0},
    {"output", 'o', "DIR", 0, "folder for the results (default out)", 0},
    {"data", OPT_DATA, "DIR", 0, "folder with MNIST's four files (default the digits that come with gradnic)", 0},
    {"in-process", OPT_IN_PROCESS, 0, 0,
     "no namespaces and no TUN devices: the packet transform inside of the workers, modelled links", 0},
    {"quick", OPT_QUICK, 0, 0,
     "20 steps unless --steps says otherwise: shows that all works; what is learned in them means little", 0},
    {"port", OPT_PORT, "PORT", 0, "TCP port where the workers meet (default 29500)", 0},
    {"engine", OPT_ENGINE, "NAME", 0,
     "what transforms packets in the NICs: model, rtl or lockstep. rtl and lockstep take all packets through the "
     "Verilog NIC in a simulator; lockstep also through the model, and it stops at the first difference. They are "
     "slow: they train a smaller network with two workers over 20mbit for 10 steps (--quick: 2), unless other options "
     "say otherwise (default model)",
     0},
    GN_QUIET_OPTION(0),
    {0},
};

typedef struct demo {
    const gn_engine *engine;
    bool quick, in_process, rate, steps, workers;  ///< given
} demo;

/// Options reach the script as DEMO_... in its environment.
static void hand_over(const char *name, const char *value)
{
    setenv(name, value, 1);
}

static void hand_over_number(struct argp_state *state, int key, const char *name, const char *text, uint64_t low,
                             uint64_t high)
{
    gn_option_number(state, key, text, low, high);
    hand_over(name, text);
}

static void hand_over_rate(struct argp_state *state, const char *text)
{
    char number[24];
    const uint64_t bits = gn_option_rate(state, OPT_RATE, text, 1000000);
    snprintf(number, sizeof number, "%" PRIu64, bits);
    hand_over("DEMO_RATE", text);
    hand_over("DEMO_RATE_BITS", number);
}

static void take_engine(struct argp_state *state, demo *d, const char *name)
{
    gn_error error;
    d->engine = gn_engine_find(name, &error);
    if (!d->engine) argp_error(state, "--engine %s: %s", name, error.text);
    hand_over("DEMO_ENGINE", name);
}

/// Sets the defaults that depend on other options.
static void finish(struct argp_state *state, const demo *d)
{
    const bool slow = d->engine != &gn_engine_model;
    if (slow && d->in_process)
        argp_error(state, "--in-process has no NICs that could use the engine %s", d->engine->name);
    if (!d->rate) hand_over_rate(state, slow ? "20mbit" : "1gbit");
    if (!d->steps) hand_over("DEMO_STEPS", slow ? (d->quick ? "2" : "10") : d->quick ? "20" : "450");
    if (!d->workers) hand_over("DEMO_WORKERS", slow ? "2" : "4");
    hand_over("DEMO_NETWORK", slow ? "--layers 3 --hidden 64" : "");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    demo *d = state->input;
    switch (key) {
    case OPT_RATE:
        d->rate = true;
        hand_over_rate(state, arg);
        return 0;
    case OPT_STEPS:
        d->steps = true;
        hand_over_number(state, key, "DEMO_STEPS", arg, 1, 1000000);
        return 0;
    case OPT_WORKERS:
        d->workers = true;
        hand_over_number(state, key, "DEMO_WORKERS", arg, 2, 100);
        return 0;
    case OPT_ENGINE:
        take_engine(state, d, arg);
        return 0;
    case OPT_PORT:
        hand_over_number(state, key, "DEMO_PORT", arg, 1, 65535);
        return 0;
    case 'o':
        if (!*arg) gn_option_wrong(state, key, "the path is empty");
        hand_over("DEMO_OUT", arg);
        return 0;
    case OPT_DATA:
        hand_over("DEMO_DATA", arg);
        return 0;
    case OPT_IN_PROCESS:
        d->in_process = true;
        hand_over("DEMO_MODE", "in-process");
        return 0;
    case OPT_QUICK:
        d->quick = true;
        return 0;
    case 'q':
        hand_over("DEMO_QUIET", "-q");
        return 0;
    case ARGP_KEY_INIT:
        take_engine(state, d, "model");
        hand_over("DEMO_PORT", "29500");
        hand_over("DEMO_OUT", "out");
        hand_over("DEMO_DATA", "");
        hand_over("DEMO_MODE", "");
        hand_over("DEMO_QUIET", "");
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", arg);
        return 0;
    case ARGP_KEY_END:
        finish(state, d);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int gn_command_demo(int argc, char **argv)
{
    gn_error error;
    const char *program = argv[0];
    demo d = {0};
    gn_argp_parse(&(const struct argp){table, parse, 0, doc, 0, 0, 0}, argc, argv, &d);
    char self[PATH_MAX], script[PATH_MAX];
    gn_status wrong = gn_beside_self(self, &error);
    if (!wrong)
        wrong = gn_beside_find("demo-run", "../share/gradnic/demo-run", "../../../scripts/demo-run", script, &error);
    if (wrong) {
        gn_cli_error(program, "%s", error.text);
        return GN_EXIT_FAILED;
    }
    setenv("GRADNIC", self, 1);
    execl(script, script, (char *)NULL);
    gn_cli_error(program, "%s: %s", script, strerror(errno));
    return GN_EXIT_FAILED;
}
