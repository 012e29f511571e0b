// SPDX-License-Identifier: Apache-2.0
#include "nic.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "net/address.h"
#include "net/clock.h"
#include "tools/files/values.h"
#include "tools/kit/cli.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/command.h"
#include "tools/kit/old_names.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/units.h"

enum { KEY_SERVE = 256, KEY_ONCE, KEY_TOS, KEY_ROUND_TRIP, KEY_PORT, OLD_FILE };

static const struct argp_option options[] = {
    {"serve", KEY_SERVE, 0, 0, "be the far end: receive flows, echo round trips", 0},
    {"once", KEY_ONCE, 0, 0, "with --serve: end after one connection", 0},
    {"input", 'i', "FILE", 0, "gradients to send again and again: " GN_VALUES_FILES "; with --serve: to compare with",
     0},
    {"bound", 'k', "K", 0, "error bound 2^-K of received values, with --serve and --input (default no error)", 0},
    {"tos", KEY_TOS, "TOS", 0, "type of service of the gradients' packets (default 0)", 0},
    {"time", 't', "TIME", 0, "how long to send; a plain number is seconds (default 5s)", 0},
    {"round-trip", KEY_ROUND_TRIP, "BYTES", 0, "measure round trips of that many bytes instead of a flow", 0},
    {"count", 'n', "N", 0, "how many round trips (default 2000)", 0},
    {"port", KEY_PORT, "PORT", 0, "TCP port of flows; round trips take the next one (default 7800)", 0},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    GN_OLD_NAME("file", OLD_FILE, "FILE"),
    GN_OLD_LETTER('p', "PORT"),
    {0},
};

static const gn_old_name old_names[] = {{OLD_FILE, 'i', "--file", NULL}, {'p', KEY_PORT, "-p", NULL}, {0}};

/// The old "-f FILE". A word behind -f is a FILE unless it is the far end's address, which is
/// numeric.
static char *old_input(int key, struct argp_state *state)
{
    gn_ip ip;
    char *word = state->next < state->argc ? state->argv[state->next] : NULL;
    if (key != 'f' || !word || *word == '-' || gn_ip_parse(word, &ip)) return NULL;
    gn_option_renamed(state, "-f FILE", "-i FILE");
    state->next++;
    return word;
}

static void finish(struct argp_state *state, const gn_bench_nic *b)
{
    if (!b->serve && !b->host) argp_error(state, "ADDRESS is needed: that of the far end (gradnic bench nic --serve)");
    if (!b->serve && !b->input && !b->round_trip) argp_error(state, "--input FILE is needed: the gradients to send");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    gn_bench_nic *b = state->input;
    key = gn_option_current(state, key, old_names);
    char *input = old_input(key, state);
    if (input) {
        key = 'i';
        arg = input;
    }
    switch (key) {
    case KEY_SERVE:
        b->serve = true;
        return 0;
    case KEY_ONCE:
        b->once = true;
        return 0;
    case 'i':
        b->input = arg;
        return 0;
    case 'k':
        b->bound = ldexp(1, -gn_option_bound(state, key, arg));
        return 0;
    case KEY_TOS:
        b->tos = (int)gn_option_tos(state, key, arg);
        return 0;
    case 't':
        b->time_ns = gn_option_time(state, key, arg);
        if (!b->time_ns) gn_option_wrong(state, key, "%s: more than 0 is needed", arg);
        return 0;
    case KEY_ROUND_TRIP:
        b->round_trip = gn_option_number(state, key, arg, 1, GN_BENCH_NIC_CHUNK);
        return 0;
    case 'n':
        b->count = gn_option_number(state, key, arg, 1, 100000000);
        return 0;
    case KEY_PORT:
        b->port = (uint16_t)gn_option_unsigned(state, key, arg, 1, 65534);
        return 0;
    case ARGP_KEY_ARG:
        if (b->host) argp_error(state, "'%s': only one ADDRESS is possible", arg);
        b->host = arg;
        return 0;
    case ARGP_KEY_END:
        finish(state, b);
        return 0;
    default:
        return gn_result_option_parse(key, arg, &b->result) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static gn_status run(gn_bench_nic *b, int *status, gn_error *error)
{
    const char *const inputs[] = {b->input ? b->input : ""};
    if (b->input) {
        const gn_status wrong = gn_values_load(b->input, GN_FORMAT_AUTO, &b->values, &b->value_count, error);
        if (wrong) return wrong;
        if (!b->value_count) return gn_fail(error, GN_INVALID, "%s: no values", b->input);
    }
    if (!b->serve) {
        const gn_status wrong = gn_result_open(&b->file, &b->result, NULL, inputs, b->input ? 1 : 0, error);
        if (wrong) return wrong;
    }
    *status = b->serve ? gn_bench_nic_server(b) : gn_bench_nic_client(b);
    return GN_OK;
}

int gn_command_bench_nic(int argc, char **argv)
{
    gn_error error;
    static const struct argp argp = {
        options,
        parse,
        "[ADDRESS]",
        "Sends a flow of gradients to the far end, or small messages there and back, and measures the speed. The far "
        "end counts the bytes. With the same file it also checks the values against the bound.\v"
        "  b$ gradnic bench nic --serve -i grads.npy -k 10\n"
        "  a$ gradnic bench nic 10.77.0.2 -i grads.npy --tos 0x28\n"
        "  a$ gradnic bench nic 10.77.0.2 --round-trip 64",
        NULL,
        NULL,
        NULL};
    gn_bench_nic bench = {.program = argv[0], .port = 7800, .time_ns = 5 * GN_SECOND, .count = 2000};
    int status = GN_EXIT_FAILED;
    gn_argp_parse(&argp, argc, argv, &bench);
    if (run(&bench, &status, &error)) gn_cli_error(argv[0], "%s", error.text);
    gn_result_abort(&bench.file);
    free(bench.values);
    return status;
}
