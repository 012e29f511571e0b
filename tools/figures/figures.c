// SPDX-License-Identifier: Apache-2.0
// gradnic figures: reads the options, and becomes the script that makes the figures.
#include "tools/commands.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/kit/beside.h"
#include "tools/kit/cli.h"
#include "tools/kit/parse.h"
#include "tools/kit/result_options.h"

enum { OPT_LIST = 0x100, OPT_QUICK, OPT_FULL, OPT_CHECKED, OPT_COMPARE, OPT_KEEP, OPT_PAGES, OPT_DATA };

static const char doc[] =
    "Makes the figures and tables of INCEPTIONN, SwitchML and DSA again, with gradnic's own code: measured on this "
    "machine, simulated (gradnic sim net), or computed. The published number stands beside each. NAMEs choose figures, "
    "otherwise all are made.\v"
    "The output folder has figures.html, one page with plots, and figures.json. Figures that are not made yet are "
    "listed with the reason. Simulated and computed figures are the same on every machine.\n"
    "\n"
    "The plots are Matplotlib's. Install Debian's package python3-matplotlib.\n"
    "\n"
    "Examples:\n"
    "  gradnic figures --list\n"
    "  gradnic figures -o out dsa-fig8 dsa-fig11";

static const struct argp_option table[] = {
    {"list", OPT_LIST, 0, 0, "list the figures, and make none", 1},
    {"quick", OPT_QUICK, 0, 0,
     "one seed, short trainings: under ten minutes for all on 2 cores; this is what happens without --full", 0},
    {"full", OPT_FULL, 0, 0, "three seeds, longer trainings and vectors", 0},
    {"data", OPT_DATA, "DIR", 0,
     "folder with MNIST's four files, to train on (default the digits that come with gradnic)", 0},
    {"checked", OPT_CHECKED, 0, 0, "only those that gradnic's own tests make each time", 0},
    {0, 0, 0, 0, "Output:", 2},
    {"output", 'o', "DIR", 0, "folder for the results: figures.html and figures.json (default figures)", 0},
    {"pages", OPT_PAGES, "DIR", 0,
     "also write a document a paper there: inceptionn.md, switchml.md, dsa.md, calibration.md. Figures that are not "
     "made now keep their numbers there. A file of that name that was not written so is overwritten with --force only",
     0},
    {"compare", OPT_COMPARE, 0, 0,
     "compare with the stored bands, and say how many numbers are as before; exit status 1 when one is not", 0},
    {"keep", OPT_KEEP, 0, 0, "store bands around what came out, in bands.json beside the script", 0},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    {0},
};

typedef struct options {
    const char **words;  ///< for the script; room for all of argv twice
    unsigned count;
    bool quick, full;
} options;

static void hand_over(options *o, const char *word)
{
    o->words[o->count++] = word;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    for (unsigned i = 0; table[i].name || table[i].doc; i++) {
        if (!table[i].name || key != table[i].key) continue;
        static const char *const flags[] = {"--list", "--quick", "--full", "--checked", "--compare", "--keep"};
        o->quick |= key == OPT_QUICK;
        o->full |= key == OPT_FULL;
        if (key >= OPT_LIST && key <= OPT_KEEP)
            hand_over(o, flags[key - OPT_LIST]);
        else if (key == 'f' || key == 'q')
            hand_over(o, key == 'f' ? "--force" : "--quiet");
        else
            hand_over(o, key == 'o' ? "--output" : key == OPT_DATA ? "--data" : "--pages");
        if (arg) hand_over(o, arg);
        return 0;
    }
    if (key == ARGP_KEY_ARGS) {
        hand_over(o, "--");
        for (int i = state->next; i < state->argc; i++) hand_over(o, state->argv[i]);
        return 0;
    }
    if (key == ARGP_KEY_END && o->quick && o->full) argp_error(state, "--quick and --full contradict each other");
    return key == ARGP_KEY_END ? 0 : ARGP_ERR_UNKNOWN;
}

int gn_command_figures(int argc, char **argv)
{
    const char *words[2 * argc + 3];
    options o = {.words = words, .count = 1};
    gn_argp_parse(&(const struct argp){table, parse, "[NAME...]", doc, 0, 0, 0}, argc, argv, &o);
    words[o.count] = NULL;
    char script[PATH_MAX], self[PATH_MAX];
    gn_error error;
    if (gn_beside_self(self, &error) || gn_beside_find("paper-figures", "../share/gradnic/figures/paper-figures",
                                                       "../../../figures/paper-figures", script, &error)) {
        gn_cli_error(argv[0], "%s", error.text);
        return GN_EXIT_FAILED;
    }
    words[0] = script;
    setenv("GRADNIC", self, 1);
    execv(script, (char *const *)(uintptr_t)words);
    if (errno == ENOENT)  // the script is there; what is missing is its interpreter
        gn_cli_error(argv[0], "%s: /usr/bin/python3 is missing: install python3-matplotlib", script);
    else
        gn_cli_error(argv[0], "%s: %s", script, strerror(errno));
    return GN_EXIT_FAILED;
}
