// SPDX-License-Identifier: Apache-2.0
#include "net_options.h"

#include <string.h>

#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"

enum { OPT_SEED = 0x100, OPT_SWEEP, OPT_CSV, OPT_SVG, OPT_PLOT, OPT_TIMELINE, OPT_JOB, OPT_SLOT, OPT_FROM, OPT_UNTIL };

static const char doc[] =
    "Simulates jobs that sum vectors through switches, packet by packet, or in rings and by parameter servers. "
    "Switches, "
    "workers and their parameter servers are the code of 'gradnic switch'. FILE describes links, switch and jobs in "
    "JSON (docs/sim-net.md).\v"
    "Every sum is checked. Times are simulated: the same file and seed give the same output, byte for byte.\n"
    "\n"
    "A sweep's KEY is a field of FILE, as link.loss or jobs[0].workers, or seed. jobs.workers is that of every job.\n"
    "\n"
    "The pictures are Matplotlib's. Install Debian's package python3-matplotlib.\n"
    "\n"
    "Exit status: 0 done and all sums are right, 1 failed, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  gradnic sim net scenario.json\n"
    "  gradnic sim net --seed 2 --json scenario.json\n"
    "  gradnic sim net --sweep link.loss=0,0.01 --svg loss.svg scenario.json\n"
    "  gradnic sim net --timeline slot.svg --slot 0 scenario.json";

static const struct argp_option table[] = {
    {"seed", OPT_SEED, "N", 0, "seed of the random numbers (default 1)", 0},
    {"sweep", OPT_SWEEP, "KEY=A,B,C", 0,
     "a run for each value of a field; with several sweeps, for each combination of values. There is one row a run", 0},
    {0, 0, 0, 0, "Output:", 2},
    {"svg", OPT_SVG, "FILE", 0, "plot the sweep: the first KEY across, the other ones as lines, the mean over seeds",
     0},
    {"plot", OPT_PLOT, "FIELD", 0, "what --svg plots, a column of --csv (default seconds)", 0},
    {"timeline", OPT_TIMELINE, "FILE", 0,
     "the packets of one job over time: sent, in the switch, results, losses; a picture (FILE ends in .svg) or CSV "
     "(.csv); give it twice for both",
     0},
    {"job", OPT_JOB, "NAME", 0, "job of the time line (default the first)", 0},
    {"slot", OPT_SLOT, "N", 0, "time line of one slot of the job, from host to host (default all)", 0},
    {"from", OPT_FROM, "TIME", 0, "time line from this time on, as 20us (default 0)", 0},
    {"until", OPT_UNTIL, "TIME", 0, "time line before this time, as 2ms (default the end)", 0},
    {"csv", OPT_CSV, "FILE", OPTION_ARG_OPTIONAL,
     "print results as CSV, a row a run; with =FILE write them there, and print text as well", 0},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static void add_sweep(gn_sim_net_options *o, const char *text, struct argp_state *state)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) gn_option_wrong(state, OPT_SWEEP, "%s is not KEY=A,B,C", text);
    if (o->sweep_count == GN_SIM_NET_SWEEPS) argp_error(state, "more than %d sweeps", GN_SIM_NET_SWEEPS);
    const size_t key = (size_t)(equals - text) + 1;
    for (size_t i = 0; i < o->sweep_count; i++)
        if (!strncmp(o->sweeps[i], text, key))
            gn_option_wrong(state, OPT_SWEEP, "%.*s has two lists", (int)key - 1, text);
    o->sweeps[o->sweep_count++] = text;
}

static void set_timeline(gn_sim_net_options *o, const char *file, struct argp_state *state)
{
    static const char *const ends[] = {".svg", ".csv"};
    for (unsigned i = 0; i < 2; i++) {
        const size_t length = strlen(file);
        if (length <= strlen(ends[i]) || strcmp(file + length - strlen(ends[i]), ends[i]) != 0) continue;
        if (o->timeline[i]) gn_option_wrong(state, OPT_TIMELINE, "%s is the second %s", file, ends[i]);
        o->timeline[i] = file;
        return;
    }
    gn_option_wrong(state, OPT_TIMELINE, "%s ends neither in .svg nor in .csv", file);
}

static void set_csv(gn_sim_net_options *o, const char *file)
{
    if (file && strcmp(file, "-") != 0)
        o->csv_file = file;
    else
        o->csv = true;
}

static const char *field(const char *text, struct argp_state *state)
{
    static const char *const fields[] = {GN_SIM_NET_FIELDS};
    return fields[gn_option_word(state, OPT_PLOT, text, fields, sizeof fields / sizeof *fields)];
}

/// What contradicts, or lacks what it is about.
static void finish(const gn_sim_net_options *o, struct argp_state *state)
{
    const bool timeline = o->timeline[0] || o->timeline[1];
    if (!o->scenario) argp_error(state, "FILE is needed: the scenario");
    if (o->csv && o->result.json) argp_error(state, "--csv and --json contradict each other; give one a =FILE");
    if (o->svg_file && !o->sweep_count) argp_error(state, "--svg plots a sweep: --sweep is needed");
    if (o->plotted && !o->svg_file) argp_error(state, "--plot says what --svg plots: --svg is needed");
    if (timeline && o->sweep_count) argp_error(state, "--timeline is of one run, and --sweep makes several");
    if ((o->job || o->slot >= 0 || o->from_ns || o->until_ns != UINT64_MAX) && !timeline)
        argp_error(state, "--job, --slot, --from and --until are of a time line: --timeline is needed");
    if (o->from_ns >= o->until_ns) argp_error(state, "--from is not before --until");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    gn_sim_net_options *o = state->input;
    switch (key) {
    case OPT_SEED:
        o->seed = gn_option_number(state, key, arg, 0, INT64_MAX);
        return 0;
    case OPT_SWEEP:
        add_sweep(o, arg, state);
        return 0;
    case OPT_CSV:
        set_csv(o, arg);
        return 0;
    case OPT_SVG:
        o->svg_file = arg;
        return 0;
    case OPT_PLOT:
        o->plotted = field(arg, state);
        return 0;
    case OPT_TIMELINE:
        set_timeline(o, arg, state);
        return 0;
    case OPT_JOB:
        o->job = arg;
        return 0;
    case OPT_SLOT:
        o->slot = (int64_t)gn_option_number(state, key, arg, 0, INT32_MAX);
        return 0;
    case OPT_FROM:
        o->from_ns = gn_option_duration(state, key, arg);
        return 0;
    case OPT_UNTIL:
        o->until_ns = gn_option_duration(state, key, arg);
        return 0;
    case ARGP_KEY_ARG:
        if (o->scenario) argp_error(state, "unexpected argument '%s'; one FILE is simulated", arg);
        o->scenario = arg;
        return 0;
    case ARGP_KEY_END:
        finish(o, state);
        return 0;
    default:
        return gn_result_option_parse(key, arg, &o->result) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

void gn_sim_net_parse(gn_sim_net_options *options, int argc, char **argv)
{
    *options = (gn_sim_net_options){.seed = 1, .slot = -1, .until_ns = UINT64_MAX};
    const struct argp parser = {.options = table, .parser = parse, .args_doc = "FILE", .doc = doc};
    gn_argp_parse(&parser, argc, argv, options);
}
