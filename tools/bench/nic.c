// SPDX-License-Identifier: Apache-2.0
#include "nic.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "tools/files/values.h"
#include "tools/kit/cli.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/command.h"
#include "tools/kit/option_values.h"
#include "tools/kit/units.h"

enum { KEY_SERVE = 256, KEY_ONCE, KEY_TOS, KEY_ROUND_TRIP, KEY_JSON };

static const struct argp_option options[] = {
    {"serve", KEY_SERVE, 0, 0, "be the far end: receives streams, echoes round trips", 0},
    {"once", KEY_ONCE, 0, 0, "with --serve: end after one connection", 0},
    {"file", 'f', "FILE", 0, "values to send again and again (.npy, .f32, .gn, .gz); with --serve: to compare with", 0},
    {"bound", 'k', "K", 0, "with --serve and --file: the largest error allowed is 2^-K (default: none at all)", 0},
    {"tos", KEY_TOS, "TOS", 0, "ToS or traffic class of the stream (default 0)", 0},
    {"time", 't', "SECONDS", 0, "how long to send (default 5)", 0},
    {"round-trip", KEY_ROUND_TRIP, "BYTES", 0, "measure round trips of that many bytes instead of a stream", 0},
    {"count", 'n', "NUMBER", 0, "how many of them (default 2000)", 0},
    {"port", 'p', "PORT", 0, "TCP port of streams; round trips take the next one (default 7800)", 0},
    {"json", KEY_JSON, 0, 0, "as JSON", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    gn_bench_nic *b = state->input;
    switch (key) {
    case KEY_SERVE:
        b->serve = 1;
        return 0;
    case KEY_ONCE:
        b->once = 1;
        return 0;
    case KEY_JSON:
        b->json = 1;
        return 0;
    case 'f':
        b->file = arg;
        return 0;
    case 'k':
        b->bound = ldexp(1, -gn_option_bound(state, key, arg));
        return 0;
    case KEY_TOS:
        b->tos = (int)gn_option_tos(state, key, arg);
        return 0;
    case 't':
        b->seconds = strtod(arg, NULL);
        if (!(b->seconds > 0 && b->seconds <= 3600)) argp_error(state, "--time %s: more than 0, at most 3600", arg);
        return 0;
    case KEY_ROUND_TRIP:
        b->round_trip = gn_option_number(state, key, arg, 1, GN_BENCH_NIC_CHUNK);
        return 0;
    case 'n':
        b->count = gn_option_number(state, key, arg, 1, 100000000);
        return 0;
    case 'p':
        b->port = (uint16_t)gn_option_unsigned(state, key, arg, 1, 65534);
        return 0;
    case ARGP_KEY_ARG:
        if (b->host) argp_error(state, "'%s': one HOST is enough", arg);
        b->host = arg;
        return 0;
    case ARGP_KEY_END:
        if (!b->serve && !b->host)
            argp_error(state, "the address of the far end (gradnic bench nic --serve) is missing");
        if (!b->serve && !b->file && !b->round_trip) argp_error(state, "--file is missing: what to send");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int gn_command_bench_nic(int argc, char **argv)
{
    gn_error error;
    static const struct argp argp = {options,
                                     parse,
                                     "[ADDRESS]",
                                     "Sends a stream of values to a far end, or small messages there and back, and "
                                     "says how fast it was. The far end counts "
                                     "and, given the same file, checks what arrives against the bound.\v"
                                     "  b$ gradnic bench nic --serve -f grads.npy -k 10\n"
                                     "  a$ gradnic bench nic 10.77.0.2 -f grads.npy --tos 0x28\n"
                                     "  a$ gradnic bench nic 10.77.0.2 --round-trip 64",
                                     NULL,
                                     NULL,
                                     NULL};
    gn_bench_nic bench = {.program = argv[0], .port = 7800, .seconds = 5, .count = 2000};
    argp_parse(&argp, argc, argv, 0, NULL, &bench);
    if (bench.file) {
        gn_status wrong = gn_values_load(bench.file, GN_FORMAT_AUTO, &bench.values, &bench.value_count, &error);
        if (!wrong && !bench.value_count) wrong = gn_fail(&error, GN_INVALID, "%s: no values in it", bench.file);
        if (wrong) {
            gn_cli_error(argv[0], "%s", error.text);
            free(bench.values);
            return GN_EXIT_FAILED;
        }
    }
    const int status = bench.serve ? gn_bench_nic_server(&bench) : gn_bench_nic_client(&bench);
    free(bench.values);
    return status;
}
