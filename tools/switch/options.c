// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/admission.h>

#include "net/resolve.h"
#include "net/secret.h"
#include "switch.h"
#include "tools/kit/fault_options.h"
#include "tools/kit/old_names.h"
#include "tools/kit/option_values.h"
#include "tools/kit/result_options.h"
#include "tools/kit/service_options.h"
#include "tools/kit/units.h"

enum {
    KEY_UDP = 256,
    KEY_SHARDS,
    KEY_CHANNELS,
    KEY_SLOTS,
    KEY_VALUES,
    KEY_QUOTA,
    KEY_JOB_CHANNELS,
    KEY_ADDRESS_CHANNELS,
    KEY_ADDRESS_SLOTS,
    KEY_ADDRESS_JOBS,
    KEY_RESERVE,
    KEY_JOIN_TIMEOUT,
    KEY_PARENT,
    KEY_PLACE,
    KEY_BUFFER,
    KEY_NO_OFFLOAD,
    KEY_MODE,
    KEY_WINDOWS,
    KEY_PS,
    KEY_ROLE,
    KEY_ENGINE,
    KEY_SECRET,
    OLD_STREAMS,
    OLD_DROP,
};

#define NOT_GIVEN UINT_MAX

static const struct argp_option options[] = {
    {0, 0, 0, 0, "Where:", 1},
    {"listen", 'l', "ADDRESS[:PORT]", 0,
     "where this switch listens: the TCP endpoint where workers ask for their jobs; [::]:7777 is any address "
     "of IPv4 and IPv6. Packets go to UDP ports at the same address (default any IPv4 address, port 7777)",
     1},
    {"udp", KEY_UDP, "PORT", 0, "first of the UDP ports, one for each channel (default any free ports)", 1},
    {"parent", KEY_PARENT, "HOST:PORT", 0, "the switch above this one; it adds the sums of its children", 1},
    {"place", KEY_PLACE, "BIT/CHILDREN", 0,
     "this switch's place at the parent, for all jobs (default as its children say)", 1},
    {0, 0, 0, 0, "Memory and threads:", 2},
    {"mode", KEY_MODE, "MODE", 0,
     "how jobs get slots: partitioned (each job its own), shared (one array, first come first served), preemptive "
     "(the chunk of higher priority stays); shared and preemptive need --ps, or a --parent in one of these modes "
     "(default partitioned)",
     2},
    {"ps", KEY_PS, "HOST:PORT", 0, "the parameter server; it adds chunks that find no slot", 2},
    {"role", KEY_ROLE, "ROLE", 0, "switch, or ps: a parameter server for switches (default switch)", 2},
    {"engine", KEY_ENGINE, "NAME", 0,
     "what transforms packets: model (C), rtl (the Verilog aggregator in a simulator; int32, mode partitioned, at "
     "most 8 children, 1024 slots in each shard, no --parent), lockstep (both side by side, compared bit for bit) "
     "(default model)",
     2},
    {"windows", KEY_WINDOWS, "NUMBER", 0,
     "with shared slots: most chunks of all jobs under way (default four times the slots)", 2},
    {"shards", KEY_SHARDS, "NUMBER", 0, "threads, each with slots of its own (default 1)", 2},
    {"channels", KEY_CHANNELS, "NUMBER", 0, "most channels in each shard, 1 to 64 (default 16)", 2},
    GN_OLD_NAME("streams", OLD_STREAMS, "NUMBER"),
    {"slots", KEY_SLOTS, "NUMBER", 0,
     "slots of the switch, of all shards together; parameter server: chunks under way (default 8192; with "
     "an engine of hardware at most 1024 for each shard)",
     2},
    {"values", KEY_VALUES, "NUMBER", 0, "most values of a packet, and of a slot (default 2048)", 2},
    {"buffer", KEY_BUFFER, "SIZE", 0, "receive buffer of each channel's UDP socket (default 8M)", 2},
    {"no-offload", KEY_NO_OFFLOAD, 0, 0, "one packet at a time between kernel and switch", 2},
    {"join-timeout", KEY_JOIN_TIMEOUT, "TIME", 0, "how long a job waits for all its workers (default 60s)", 2},
    {0, 0, 0, 0, "Limits. A job counts at each address that one of its children comes from:", 3},
    {"quota", KEY_QUOTA, "SLOTS", 0,
     "most slots of one job; with shared slots, most chunks under way (default a quarter of all)", 3},
    {"job-channels", KEY_JOB_CHANNELS, "NUMBER", 0, "most channels of one job (default all but the reserve)", 3},
    {"address-channels", KEY_ADDRESS_CHANNELS, "NUMBER", 0,
     "most channels of all jobs of one address (default all but the reserve)", 3},
    {"address-slots", KEY_ADDRESS_SLOTS, "NUMBER", 0,
     "most slots of all jobs of one address; with shared slots, most chunks under way (default all but the reserve)",
     3},
    {"address-jobs", KEY_ADDRESS_JOBS, "NUMBER", 0, "most jobs of one address that still wait for workers (default 64)",
     3},
    {"reserve", KEY_RESERVE, "PERCENT", 0,
     "part of the channels and of the slots that is kept for addresses without any; 0: none (default 12; parameter "
     "server: 0)",
     3},
    {0, 0, 0, 0,
     "Bad links. Each may be given for one direction, in:1% (from the workers) or out:1% (to them), or for both, 1%:",
     4},
    GN_FAULT_OPTIONS(4),
    GN_OLD_NAME("drop", OLD_DROP, "P"),
    {0, 0, 0, 0, "Around it:", 5},
    {"secret", KEY_SECRET, "FILE", 0,
     "file with the secret that this switch shares with its workers and other switches; who does not have it is "
     "refused (default $GRADNIC_SECRET_FILE, or no secret)",
     5},
    {"control", 'c', "PATH", 0, "control socket; none: no socket (default " GN_SWITCH_CONTROL ")", 5},
    GN_SERVICE_OPTIONS(5),
    {0, 0, 0, 0, "Configuration and log:", 6},
    GN_SETTINGS_OPTIONS(6),
    GN_QUIET_OPTION(6),
    GN_LOG_OPTIONS(6),
    {0},
};

static const gn_settings_key keys[] = {{KEY_QUOTA, false, true},
                                       {KEY_JOB_CHANNELS, false, true},
                                       {KEY_ADDRESS_CHANNELS, false, true},
                                       {KEY_ADDRESS_SLOTS, false, true},
                                       {KEY_ADDRESS_JOBS, false, true},
                                       {KEY_RESERVE, false, true},
                                       {KEY_JOIN_TIMEOUT, false, true},
                                       GN_FAULT_KEYS(true),
                                       GN_LOG_KEYS,
                                       {0}};

// An account that is not root's any more may be unable to read it again, and does not have to.
static void check_secret(struct argp_state *state, const char *path)
{
    gn_error error;
    if (gn_secret_check(path, &error)) gn_option_refuse(state, "%s", error.text);
}

static const gn_old_name old_names[] = {
    {OLD_STREAMS, KEY_CHANNELS, "--streams", NULL}, {OLD_DROP, GN_OPTION_FAULT_LOSS, "--drop", NULL}, {0}};

static void parse_place(struct argp_state *state, const char *text, gn_switchd_config *config)
{
    char *end;
    const unsigned long bit = strtoul(text, &end, 10);
    const unsigned long children = *end == '/' ? strtoul(end + 1, &end, 10) : 0;
    if (*text == '-' || *end || !children || children > GN_AGG_WORKERS_MAX || bit >= children)
        gn_option_refuse(
            state, "--place %s: BIT/CHILDREN is needed, as in 0/2: at most 64 children, the first is bit 0", text);
    config->place_bit = (uint8_t)bit;
    config->place_fanin = (uint8_t)children;
}

/// "in:1%", "out:1%", "1%".
static bool parse_fault(int key, char *text, struct argp_state *state, gn_switch_options *o)
{
    if (!text || key < GN_OPTION_FAULT_LOSS || key > GN_OPTION_FAULT_SEED) return false;
    const bool in_only = !strncmp(text, "in:", 3), out_only = !strncmp(text, "out:", 4);
    if (!in_only && !out_only && strchr(text, ':'))
        gn_option_refuse(state, "--%s %s: write in (from the workers) or out (to them) before the colon",
                         gn_option_name(state, key), text);
    const char *value = text + (in_only ? 3 : out_only ? 4 : 0);
    if (value != text && !*value)
        gn_option_refuse(state, "--%s: '%s' has no value after the colon", gn_option_name(state, key), text);
    if (!out_only) (void)gn_fault_option_parse(key, value, state, &o->config.in);
    if (!in_only) (void)gn_fault_option_parse(key, value, state, &o->config.out);
    const unsigned directions = (out_only ? 0 : 1u) | (in_only ? 0 : 2u);
    if (key == GN_OPTION_FAULT_REORDER) o->reorder |= directions;
    if (key == GN_OPTION_FAULT_REORDER_DELAY) o->reorder_delay |= directions;
    return true;
}

static bool parse_amount(int key, char *arg, struct argp_state *state, gn_switch_options *o)
{
    gn_switchd_config *config = &o->config;
    switch (key) {
    case KEY_SHARDS:
        config->shards = gn_option_unsigned(state, key, arg, 1, GN_SWITCHD_SHARDS_MAX);
        return true;
    case KEY_CHANNELS:
        config->channels = gn_option_unsigned(state, key, arg, 1, GN_SWITCH_JOBS_MAX);
        return true;
    case KEY_SLOTS:
        o->has_slots = true;
        config->slots = gn_option_unsigned(state, key, arg, 1, 16u * GN_AGG_SLOTS_MAX);
        return true;
    case KEY_VALUES:
        config->slot_values = (uint16_t)gn_option_unsigned(state, key, arg, 1, GN_AGG_VALUES_MAX);
        return true;
    case KEY_BUFFER:
        config->buffer_bytes = gn_option_size(state, key, arg, 64 << 10, 1 << 30);
        return true;
    case KEY_NO_OFFLOAD:
        config->no_offload = true;
        return true;
    case KEY_JOIN_TIMEOUT:
        config->join_timeout_ns = gn_option_duration(state, key, arg);
        if (!config->join_timeout_ns) gn_option_refuse(state, "--join-timeout %s: more than 0 is needed", arg);
        return true;
    default:
        return false;
    }
}

static bool parse_limit(int key, char *arg, struct argp_state *state, gn_switchd_config *config)
{
    switch (key) {
    case KEY_QUOTA:
        config->quota = gn_option_unsigned(state, key, arg, 1, 16u * GN_AGG_SLOTS_MAX);
        return true;
    case KEY_JOB_CHANNELS:
        config->job_channels = gn_option_unsigned(state, key, arg, 1, GN_ADMISSION_CHANNELS_MAX);
        return true;
    case KEY_ADDRESS_CHANNELS:
        config->address_channels = gn_option_unsigned(state, key, arg, 1, GN_SWITCHD_SHARDS_MAX * GN_SWITCH_JOBS_MAX);
        return true;
    case KEY_ADDRESS_SLOTS:
        config->address_slots = gn_option_unsigned(state, key, arg, 1, 64u * GN_AGG_SLOTS_MAX);
        return true;
    case KEY_ADDRESS_JOBS:
        config->address_jobs = gn_option_unsigned(state, key, arg, 1, 65535);
        return true;
    case KEY_RESERVE:
        config->reserve = gn_option_unsigned(state, key, arg, 0, 50);
        return true;
    default:
        return false;
    }
}

static bool parse_memory(int key, char *arg, struct argp_state *state, gn_switchd_config *config)
{
    gn_error error;
    static const char *const modes[GN_MEMORY_MODES] = {"partitioned", "shared", "preemptive"};
    switch (key) {
    case KEY_MODE:
        config->mode = (gn_memory_mode)gn_option_word(state, key, arg, modes, GN_MEMORY_MODES);
        return true;
    case KEY_PS:
        config->ps = arg;
        return true;
    case KEY_ROLE:
        config->role = gn_option_choice(state, key, arg, "switch", "ps") ? GN_SWITCHD_PS : GN_SWITCHD_SWITCH;
        return true;
    case KEY_ENGINE:
        config->engine = gn_switch_engine_find(arg, &error);
        if (!config->engine) gn_option_refuse(state, "--engine %s: %s", arg, error.text);
        return true;
    case KEY_WINDOWS:
        config->windows = gn_option_unsigned(state, key, arg, 1, 64u * GN_AGG_SLOTS_MAX);
        return true;
    default:
        return false;
    }
}

static void check_above(struct argp_state *state, const char *name, const char *text)
{
    gn_error error;
    if (text && gn_switchd_check_address(text, &error)) gn_option_refuse(state, "--%s %s", name, error.text);
}

static void check_memory(struct argp_state *state, const gn_switchd_config *config)
{
    const bool shared = config->mode != GN_PARTITIONED;
    if (config->role == GN_SWITCHD_PS && (shared || config->ps || config->parent))
        gn_option_refuse(state, "--role ps takes no --mode, --ps or --parent");
    if (shared && !config->ps && !config->parent)
        gn_option_refuse(
            state, "shared slots need --ps with the parameter server, or --parent with a switch that shares its slots");
    if (shared && config->ps && config->parent)
        gn_option_refuse(state, "--ps is for the root, not for a switch below a --parent that shares its slots");
    if (!shared && config->ps) gn_option_refuse(state, "--ps is for --mode shared and preemptive");
    if (!shared && config->windows) gn_option_refuse(state, "--windows is for --mode shared and preemptive");
    if (config->quota > gn_switchd_places(config))
        gn_option_refuse(state, "--quota %u: there are only %u (--%s)", config->quota, gn_switchd_places(config),
                         shared ? "windows" : "slots");
    check_above(state, "parent", config->parent);
    check_above(state, "ps", config->ps);
}

/// What an engine of hardware cannot do.
static void check_engine(struct argp_state *state, gn_switch_options *o)
{
    gn_switchd_config *config = &o->config;
    const gn_switch_engine_limits *limits = config->engine->limits;
    const char *name = config->engine->name;
    if (!limits) return;
    const uint32_t most = limits->slots * config->shards;
    if (!o->has_slots && config->slots > most) config->slots = most;
    if (config->role == GN_SWITCHD_PS) gn_option_refuse(state, "--engine %s is for a switch, not for --role ps", name);
    if (config->mode != GN_PARTITIONED) gn_option_refuse(state, "--engine %s takes --mode partitioned alone", name);
    if (config->parent) gn_option_refuse(state, "--engine %s is the root of its tree: it takes no --parent", name);
    if (config->slots > most)
        gn_option_refuse(state, "--slots %u: --engine %s has %u in each shard, %u in all", config->slots, name,
                         limits->slots, most);
    if (config->slot_values > limits->values)
        gn_option_refuse(state, "--values %u: --engine %s has %u", config->slot_values, name, limits->values);
    if (config->channels > limits->jobs)
        gn_option_refuse(state, "--channels %u: --engine %s has %u in each shard", config->channels, name,
                         limits->jobs);
}

static void finish(struct argp_state *state, gn_switch_options *o)
{
    gn_switchd_config *config = &o->config;
    if (o->reorder_delay && !(o->reorder & o->reorder_delay))
        gn_option_refuse(state, "--reorder-delay goes with --reorder%s", o->reorder ? " for the same direction" : "");
    // A parameter server often has only one switch, which asks for all jobs.
    if (config->reserve == NOT_GIVEN) config->reserve = config->role == GN_SWITCHD_PS ? 0 : GN_SWITCHD_RESERVE;
    check_engine(state, o);
    check_memory(state, config);
    if (config->slots < config->shards)
        gn_option_refuse(state, "--slots %u: fewer than shards (%u)", config->slots, config->shards);
    if (config->windows && config->windows < config->shards)
        gn_option_refuse(state, "--windows %u: fewer than shards (%u)", config->windows, config->shards);
    if (config->udp_first && config->udp_first + config->shards * config->channels > 65536)
        gn_option_refuse(state, "--udp %u: %u ports are needed from there on", config->udp_first,
                         config->shards * config->channels);
    if (config->place_fanin && !config->parent) gn_option_refuse(state, "--place needs --parent");
    if (o->starting && !config->secret) check_secret(state, NULL);  // of the environment
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    gn_switch_options *o = state->input;
    gn_switchd_config *config = &o->config;
    gn_error error;
    if (parse_amount(key, arg, state, o) || parse_memory(key, arg, state, config) ||
        parse_limit(key, arg, state, config) || parse_fault(key, arg, state, o) ||
        gn_service_option_parse(key, arg, state, &config->user, &config->metrics))
        return 0;
    switch (key) {
    case 'l':
        if (gn_resolve_own(arg, &config->listen, &error)) gn_option_refuse(state, "--listen %s", error.text);
        return 0;
    case KEY_UDP:
        config->udp_first = (uint16_t)gn_option_unsigned(state, key, arg, 1, 65535);
        return 0;
    case KEY_PARENT:
        config->parent = arg;
        return 0;
    case KEY_PLACE:
        parse_place(state, arg, config);
        return 0;
    case KEY_SECRET:
        if (o->starting) check_secret(state, arg);
        config->secret = arg;
        return 0;
    case 'c':
        config->control = gn_option_control(state, key, arg);
        return 0;
    case ARGP_KEY_ARG:
        gn_option_refuse(
            state,
            "'%s' is neither an option nor a command; the commands are status, jobs, stats and end, and come first",
            arg);
        return 0;
    case ARGP_KEY_END:
        finish(state, o);
        return 0;
    default:
        return gn_log_option_parse(key, arg, state, &o->log) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static gn_switch_options defaults(void)
{
    return (gn_switch_options){.config = {.listen.port = GN_PORT_DEFAULT,
                                          .engine = &gn_switch_engine_model,
                                          .shards = 1,
                                          .channels = GN_SWITCHD_CHANNELS,
                                          .slots = GN_SWITCHD_SLOTS,
                                          .address_jobs = GN_SWITCHD_ADDRESS_JOBS,
                                          .reserve = NOT_GIVEN,
                                          .slot_values = GN_SWITCHD_VALUES,
                                          .buffer_bytes = GN_SWITCHD_BUFFER,
                                          .join_timeout_ns = GN_SWITCHD_JOIN_TIMEOUT_S * UINT64_C(1000000000),
                                          .in.seed = 1,
                                          .out.seed = 1,
                                          .control = GN_SWITCH_CONTROL},
                               .log = gn_log_options_default()};
}

void gn_switch_options_parse(gn_switch_options *o, gn_settings *settings, int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse_option,
        NULL,
        "The switch in software. It adds the gradients that workers send to it, and sends each worker the sum.\v"
        "Commands for a running switch: gradnic switch status, gradnic switch jobs, gradnic switch stats, "
        "gradnic switch end (each with --help).\n\n"
        "Two racks, and a switch above them:\n"
        "  root#  gradnic switch -l 192.0.2.1\n"
        "  rack1# gradnic switch -l 192.0.2.11 --parent 192.0.2.1:7777\n"
        "  rack2# gradnic switch -l 192.0.2.12 --parent 192.0.2.1:7777",
        NULL,
        NULL,
        NULL};
    *o = defaults();
    o->starting = true;
    gn_settings_parse(settings, &argp, keys, old_names, argc, argv, o);
}

gn_status gn_switch_options_reread(gn_switch_options *o, gn_settings *settings)
{
    *o = defaults();
    return gn_settings_reread(settings, o);
}
