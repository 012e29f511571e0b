// SPDX-License-Identifier: Apache-2.0
// gradnic nic status, stats, set: ask a running NIC, and change it.
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "nic.h"
#include "options.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/daemon_client.h"
#include "tools/kit/fault_options.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"

enum { KEY_RULE = 256, KEY_CUT, KEY_BYPASS, KEY_GUARD, KEY_RATE };

typedef struct client {
    const char *device;
    gn_daemon_options options;
    json_t *request;
} client;

static void put_rule(client *c, const char *text)
{
    json_t *rules = json_object_get(c->request, "rules");
    if (!rules) {
        rules = json_array();
        json_object_set_new(c->request, "rules", rules);
    }
    json_array_append_new(rules, json_string(text));
}

static void put_rate(struct argp_state *state, int key, client *c, const char *text)
{
    gn_error error;
    uint64_t rate = 0;
    gn_option_check(state, key, gn_nic_rate_parse(text, &rate, &error), &error);
    json_object_set_new(c->request, "rate", json_integer((json_int_t)rate));
}

/// Reads the options that every command takes. False: `key` is another's.
static bool parse_common(int key, char *arg, struct argp_state *state, client *c)
{
    if (gn_daemon_option_parse(key, arg, state, &c->options)) return true;
    if (key != 'd') return false;
    c->device = arg;
    return true;
}

static error_t parse_set(int key, char *arg, struct argp_state *state)
{
    client *c = state->input;
    if (parse_common(key, arg, state, c)) return 0;
    switch (key) {
    case 'p':
        gn_option_profile(state, key, arg);
        json_object_set_new(c->request, "profile", json_string(arg));
        return 0;
    case 'k':
        json_object_set_new(c->request, "bound", json_integer(gn_option_bound(state, key, arg)));
        return 0;
    case KEY_RULE:
        put_rule(c, arg);
        return 0;
    case KEY_CUT:
        json_object_set_new(c->request, "cut", json_string(arg));
        return 0;
    case KEY_BYPASS:
        if (strcmp(arg, "on") != 0 && strcmp(arg, "off") != 0)
            gn_option_refuse(state, "--bypass %s: on or off is needed", arg);
        json_object_set_new(c->request, "bypass", json_boolean(!strcmp(arg, "on")));
        return 0;
    case KEY_GUARD:
        json_object_set_new(c->request, "guard", json_boolean(gn_option_choice(state, key, arg, "off", "on")));
        return 0;
    case KEY_RATE:
        put_rate(state, key, c, arg);
        return 0;
    case ARGP_KEY_END:
        if (json_object_size(c->request) < 2) gn_option_refuse(state, "nothing to set");
        return 0;
    default:
        return gn_fault_option_request(key, arg, state, c->request) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

// clang-format off
#define NIC_OPTIONS \
    {"device", 'd', "NAME", 0, "TUN device of the NIC (default gn0)", 0}, \
    GN_DAEMON_CONTROL_OPTION("/run/gradnic/DEVICE.sock")
// clang-format on

static const struct argp_option status_options[] = {
    NIC_OPTIONS, GN_FORCE_OPTION(0), GN_QUIET_OPTION(0), GN_JSON_OPTION(0), {0}};
static const struct argp_option stats_options[] = {NIC_OPTIONS,        GN_DAEMON_METRICS_OPTIONS, GN_FORCE_OPTION(0),
                                                   GN_QUIET_OPTION(0), GN_JSON_OPTION(0),         {0}};
static const struct argp_option set_options[] = {
    NIC_OPTIONS,
    GN_QUIET_OPTION(0),
    {"profile", 'p', "PROFILE", 0, "dense, lattice or paper, for every rule", 0},
    {"bound", 'k', "K", 0, "error bound 2^-K of every rule", 0},
    {"rule", KEY_RULE, "RULE", 0, "which packets are compressed, and how; all these options together replace all rules",
     0},
    {"cut", KEY_CUT, "mtu|fill", 0, "how segments become packets", 0},
    {"bypass", KEY_BYPASS, "on|off", 0, "compress nothing, or what the rules say", 0},
    {"guard", KEY_GUARD, "on|off", 0, "leave flows alone that do not look like gradients, or not", 0},
    {"rate", KEY_RATE, "RATE", 0, "speed of the link, as 200mbit, 1gbit; 0 or unlimited: not limited", 0},
    {"loss", GN_OPTION_FAULT_LOSS, "P", 0, "lose packets with this probability", 0},
    {"duplicate", GN_OPTION_FAULT_DUPLICATE, "P", 0, "send packets twice with this probability", 0},
    {"reorder", GN_OPTION_FAULT_REORDER, "P", 0, "hold packets back with this probability", 0},
    {"reorder-delay", GN_OPTION_FAULT_REORDER_DELAY, "TIME", 0, "how long packets are held back", 0},
    {"delay", GN_OPTION_FAULT_DELAY, "TIME", 0, "delay of the link; times are at most 10s", 0},
    {"jitter", GN_OPTION_FAULT_JITTER, "TIME", 0, "by how much the delay varies", 0},
    {"seed", GN_OPTION_FAULT_SEED, "N", 0, "seed of the random numbers", 0},
    {0},
};

static int ask(int argc, char **argv, const char *command, const struct argp *argp, bool silent)
{
    char program[64], path[108];
    client c = {.device = "gn0", .request = json_pack("{s:s}", "command", command)};
    snprintf(program, sizeof program, "gradnic nic %s", command);
    argv[0] = program;
    gn_argp_parse(argp, argc, argv, &c);
    gn_nic_control_default(c.device, path, sizeof path);
    if (!c.options.control) c.options.control = path;
    const int status = gn_daemon_ask(&(gn_daemon_question){
        .program = program, .daemon = "NIC", .options = c.options, .request = c.request, .silent = silent});
    json_decref(c.request);
    return status;
}

static error_t parse_show(int key, char *arg, struct argp_state *state)
{
    return parse_common(key, arg, state, state->input) ? 0 : ARGP_ERR_UNKNOWN;
}

int gn_command_nic_status(int argc, char **argv)
{
    static const struct argp argp = {status_options, parse_show, 0, "Shows a running NIC and its settings.", 0, 0, 0};
    return ask(argc, argv, "status", &argp, false);
}

int gn_command_nic_stats(int argc, char **argv)
{
    static const struct argp argp = {stats_options, parse_show, 0, "Shows every counter of a running NIC.", 0, 0, 0};
    return ask(argc, argv, "stats", &argp, false);
}

int gn_command_nic_set(int argc, char **argv)
{
    static const struct argp argp = {
        set_options, parse_set, 0, "Changes a running NIC. If it refuses one change, it makes none.", 0, 0, 0};
    return ask(argc, argv, "set", &argp, true);
}
