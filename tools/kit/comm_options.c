// SPDX-License-Identifier: Apache-2.0
#include "comm_options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/admission.h>

#include "cli.h"
#include "codec_options.h"
#include "net/address.h"
#include "net/clock.h"
#include "net/secret.h"
#include "option_values.h"
#include "output.h"
#include "units.h"

gn_comm_options gn_comm_options_default(void)
{
    return (gn_comm_options){
        .rank = -1, .size = -1, .timeout_ms = 30000, .profile = GN_DENSE, .bound_exp = 10, .place.by = GN_LAUNCHERS};
}

static int timeout(struct argp_state *state, int key, const char *text)
{
    const uint64_t ms = gn_option_duration(state, key, text) / GN_MILLISECOND;
    if (ms < 10 || ms > INT_MAX) gn_option_wrong(state, key, "%s is outside 10ms to 24 days", text);
    return (int)ms;
}

static gn_algorithm algorithm_of(struct argp_state *state, int key, const char *text)
{
    const char *names[GN_ALGORITHMS];
    for (gn_algorithm a = 0; a < GN_ALGORITHMS; a++) names[a] = gn_algorithm_name(a);
    return (gn_algorithm)gn_option_word(state, key, text, names, GN_ALGORITHMS);
}

static gn_offload offload_of(struct argp_state *state, int key, const char *text)
{
    const char *names[GN_OFFLOADS];
    for (gn_offload o = 0; o < GN_OFFLOADS; o++) names[o] = gn_offload_name(o);
    return (gn_offload)gn_option_word(state, key, text, names, GN_OFFLOADS);
}

/// Checks it as the ranks will read it, so that a mistake is wrong usage here.
static void check_rendezvous(struct argp_state *state, int key, const char *text)
{
    gn_comm_config config = gn_comm_config_default();
    config.rendezvous = text;
    if (gn_comm_config_check(&config)) gn_option_wrong(state, key, "%s", gn_comm_last_error(NULL));
}

/// The same for a text that says who is a group.
static void check_groups_text(struct argp_state *state, int key, const char *text)
{
    gn_comm_config config = gn_comm_config_default();
    config.rendezvous = "tcp://127.0.0.1:1";
    config.groups = text;
    if (gn_comm_config_check(&config)) gn_option_wrong(state, key, "%s", gn_comm_last_error(NULL));
}

static void check_address(struct argp_state *state, int key, const char *text)
{
    char host[GN_HOST_TEXT];
    uint16_t port;
    if (!gn_host_and_port(text, host, &port))
        argp_error(state, "--%s '%s': HOST:PORT is needed, port 1 to 65535", gn_option_name(state, key), text);
}

static bool parse_rank(int key, char *arg, struct argp_state *state, gn_comm_options *o)
{
    switch (key) {
    case 'N':
        o->local_ranks = gn_option_unsigned(state, key, arg, 1, 256);
        return true;
    case GN_OPTION_RANK:
        o->rank = (int)gn_option_unsigned(state, key, arg, 0, 255);
        return true;
    case GN_OPTION_WORLD_SIZE:
        o->size = (int)gn_option_unsigned(state, key, arg, 1, 256);
        return true;
    case GN_OPTION_RENDEZVOUS:
        check_rendezvous(state, key, arg);
        o->rendezvous = arg;
        return true;
    case GN_OPTION_INTERFACE:
        o->interface = arg;
        return true;
    case GN_OPTION_SECRET:
        o->secret_file = arg;
        return true;
    case GN_OPTION_TIMEOUT:
        o->timeout_ms = timeout(state, key, arg);
        return true;
    default:
        return false;
    }
}

static bool parse_exchange(int key, char *arg, struct argp_state *state, gn_comm_options *o)
{
    gn_error error;
    switch (key) {
    case GN_OPTION_ALGORITHM:
        o->algorithm = algorithm_of(state, key, arg);
        return true;
    case 'p':
        o->profile_given = true;
        o->compress = strcmp(arg, "none") != 0;
        if (o->compress) gn_option_check(state, key, gn_parse_profile_or(arg, "none", &o->profile, &error), &error);
        return true;
    case 'k':
        o->asks = o->bound_given = true;
        o->bound_exp = gn_option_bound(state, key, arg);
        return true;
    case GN_OPTION_SCALE:
        o->scale = gn_option_choice(state, key, arg, "none", "auto") ? GN_SCALE_AUTO : GN_SCALE_NONE;
        o->asks |= o->scale == GN_SCALE_AUTO;
        return true;
    case GN_OPTION_OFFLOAD:
        o->offload = offload_of(state, key, arg);
        return true;
    case GN_OPTION_NO_SHARED_MEMORY:
        return o->no_shared_memory = true;
    case GN_OPTION_GROUPS:
        check_groups_text(state, key, arg);
        o->groups = arg;
        return true;
    case GN_OPTION_GROUP_OFFLOAD:
        o->group_offload = gn_option_choice(state, key, arg, "none", "library") ? GN_OFFLOAD_LIBRARY : GN_OFFLOAD_NONE;
        return true;
    case GN_OPTION_TOS:
        o->tos = gn_option_tos(state, key, arg);
        o->tos_given = true;
        return true;
    default:
        return false;
    }
}

static unsigned retry_time(struct argp_state *state, int key, const char *text)
{
    const uint64_t nanoseconds = gn_option_duration(state, key, text);
    if (nanoseconds < 1000 || nanoseconds > GN_SECOND) gn_option_wrong(state, key, "%s is outside 1us to 1s", text);
    return (unsigned)(nanoseconds / 1000);
}

static gn_half half_of(struct argp_state *state, int key, const char *text)
{
    const char *names[GN_HALVES];
    for (gn_half half = GN_HALF_NONE; half < GN_HALVES; half++) names[half] = gn_half_name(half);
    return (gn_half)gn_option_word(state, key, text, names, GN_HALVES);
}

static bool parse_switch(int key, char *arg, struct argp_state *state, gn_comm_options *o)
{
    switch (key) {
    case GN_OPTION_SWITCH:
        check_address(state, key, arg);
        o->switch_address = arg;
        return true;
    case GN_OPTION_SWITCH_CHANNELS:
        o->switch_channels = gn_option_unsigned(state, key, arg, 1, GN_ADMISSION_STREAMS_MAX);
        return true;
    case GN_OPTION_SWITCH_SLOTS:
        o->switch_slots = gn_option_unsigned(state, key, arg, 1, GN_AGG_SLOTS_MAX);
        if (o->switch_slots & (o->switch_slots - 1)) gn_option_wrong(state, key, "%s is not a power of two", arg);
        return true;
    case GN_OPTION_SWITCH_VALUES:
        o->switch_values = gn_option_unsigned(state, key, arg, 1, GN_AGG_VALUES_MAX);
        return true;
    case GN_OPTION_SWITCH_RTO:
        o->switch_rto_us = retry_time(state, key, arg);
        return true;
    case GN_OPTION_SWITCH_HALF:
        o->switch_half = half_of(state, key, arg);
        return true;
    case GN_OPTION_SWITCH_NIC:
        return o->switch_nic = true;
    default:
        return false;
    }
}

bool gn_comm_option_parse(int key, char *arg, struct argp_state *state, gn_comm_options *options)
{
    static const gn_old_name old_names[] = {
        {GN_OPTION_OLD_SIZE, GN_OPTION_WORLD_SIZE, "--size", NULL},
        {GN_OPTION_OLD_SWITCH_STREAMS, GN_OPTION_SWITCH_CHANNELS, "--switch-streams", NULL},
        {0}};
    key = gn_option_current(state, key, old_names);
    return parse_rank(key, arg, state, options) || parse_exchange(key, arg, state, options) ||
           parse_switch(key, arg, state, options);
}

/// Where -N does not start the ranks, options, environment or a launcher name this one. What is
/// wrong there ends the program as an option's value does.
static void find_place(struct argp_state *state, gn_comm_options *o)
{
    gn_error error;
    if (gn_place_find(o->rank, o->size, &o->place, &error) == GN_OK) {
        o->rank = o->place.rank;
        o->size = o->place.size;
    } else if (o->place.by == GN_LAUNCHERS) {
        argp_error(state, "no ranks: -N 4 starts four here; else --rank and --world-size, or RANK and WORLD_SIZE in "
                          "the environment, or a launcher (mpirun, srun, torchrun)");
    } else {
        argp_error(state, "%s", error.text);
    }
}

static void check_ranks(struct argp_state *state, gn_comm_options *o)
{
    if (o->local_ranks && (o->rank >= 0 || o->size >= 0 || o->rendezvous))
        argp_error(state, "-N starts all ranks itself: it excludes --rank, --world-size and --rendezvous");
    if (o->rank >= 0 && o->size >= 0 && o->rank >= o->size)
        argp_error(state, "--rank %d is not below --world-size %d", o->rank, o->size);
    if (!o->local_ranks) find_place(state, o);
}

/// A launcher has started several processes, and each of them starts ranks of its own.
static void say_not_taken(const gn_comm_options *options, const char *program)
{
    gn_place place;
    gn_error ignored;
    if (gn_place_find(-1, -1, &place, &ignored) || place.size < 2 || place.rank) return;
    gn_cli_note(program, "-N starts %u ranks in each process; not taken: %s", options->local_ranks, place.text);
}

void gn_comm_options_say(const gn_comm_options *options, const char *program, bool quiet)
{
    const gn_place *place = &options->place;
    const bool launched = place->by != GN_BY_ENVIRONMENT && place->by != GN_LAUNCHERS;
    if (!quiet && options->local_ranks) say_not_taken(options, program);
    if (!quiet && !options->rank && (launched || place->disputed)) gn_cli_note(program, "%s", place->text);
}

static void check_switch(struct argp_state *state, const gn_comm_options *o)
{
    const bool chosen = o->algorithm == GN_SWITCH;
    if (chosen && !o->switch_address) argp_error(state, "--algorithm switch needs --switch HOST:PORT");
    if (!chosen && (o->switch_address || o->switch_channels || o->switch_slots || o->switch_values ||
                    o->switch_rto_us || o->switch_nic || o->switch_half))
        argp_error(state, "--switch and --switch-... need --algorithm switch");
    if (chosen && o->compress && o->profile == GN_PAPER)
        argp_error(state, "--algorithm switch: paper has no integers that a switch could add; choose dense or lattice");
    if (o->switch_half && o->compress)
        argp_error(state, "--switch-half is for values without a profile: leave it off, or take -p none");
    if (o->switch_nic && !o->compress) argp_error(state, "--switch-nic needs the profile of the NIC's rule (-p)");
}

bool gn_comm_options_grouped(const gn_comm_options *o)
{
    return o->algorithm == GN_GROUP_RING || o->algorithm == GN_GROUP_AGGREGATOR || o->algorithm == GN_AGGREGATORS;
}

static void check_groups(struct argp_state *state, gn_comm_options *o)
{
    if (o->groups && o->algorithm == GN_RING) o->algorithm = GN_GROUP_RING;
    const char *needless = o->groups ? "groups" : o->group_offload != GN_OFFLOAD_AUTO ? "group-offload" : NULL;
    if (needless && !gn_comm_options_grouped(o))
        argp_error(state, "--%s goes with --algorithm group-ring, group-aggregator and aggregators", needless);
    if (o->group_offload != GN_OFFLOAD_AUTO && !o->compress) argp_error(state, "--group-offload needs a profile (-p)");
}

static void choose_codec(struct argp_state *state, gn_comm_options *o)
{
    gn_error error;
    if (!o->profile_given) o->compress = o->asks;
    if (!o->compress && o->scale != GN_SCALE_NONE) argp_error(state, "--scale needs a profile (-p)");
    if (!o->compress && o->bound_given) argp_error(state, "--bound needs a profile (-p)");
    if (!o->compress) return;
    gn_option_check(state, 'k', gn_check_bound(o->profile, o->bound_exp, &error), &error);
    gn_codec_init(&o->codec, o->profile, o->bound_exp);  // in range: it was checked
}

/// Who compresses, and what the packets' ToS is.
static void choose_offload(struct argp_state *state, gn_comm_options *o)
{
    const bool in_process = o->nic_in_process && o->compress;
    if (in_process && o->offload == GN_OFFLOAD_AUTO) o->offload = GN_OFFLOAD_NIC;
    if (in_process && o->offload != GN_OFFLOAD_NIC)
        argp_error(state, "--offload %s: the NICs in-process compress (--nic in-process)", gn_offload_name(o->offload));
    if (o->switch_nic && o->offload != GN_OFFLOAD_AUTO && o->offload != GN_OFFLOAD_NIC)
        argp_error(state, "--switch-nic means --offload nic");
    if (o->offload == GN_OFFLOAD_NIC && o->tos_given && !o->tos && !in_process)
        argp_error(state, "--offload nic: NICs know the packets by their ToS, and --tos is 0");
    if (!o->compress && o->offload != GN_OFFLOAD_AUTO && o->offload != GN_OFFLOAD_NONE)
        argp_error(state, "--offload %s needs a profile (-p)", gn_offload_name(o->offload));
    gn_comm_config config = gn_comm_options_config(o, 0, 1, NULL);
    config.data_tos = o->tos_given ? (int)o->tos : GN_TOS_AUTO;
    config.rendezvous = "tcp://127.0.0.1:1";  // that is checked elsewhere
    if (o->compress && gn_comm_config_check(&config)) argp_error(state, "%s", gn_comm_last_error(NULL));
    o->offload = gn_comm_config_offload(&config);
    if (!o->tos_given) o->tos = o->offload == GN_OFFLOAD_NIC ? 0x28 : 0;
    if (o->no_shared_memory && (o->algorithm == GN_SWITCH || o->offload == GN_OFFLOAD_NIC || o->tos))
        argp_error(state, "--no-shared-memory: values for a %s share no memory anyway",
                   o->algorithm == GN_SWITCH ? "switch" : "NIC");
}

/// Reads it as the ranks will, so that a mistake is wrong usage here.
static void check_secret(struct argp_state *state, const gn_comm_options *o)
{
    gn_secret secret;
    gn_error error;
    if (gn_secret_read(&secret, o->secret_file, &error)) argp_error(state, "%s", error.text);
    gn_secret_wipe(&secret);
    const char *path = o->secret_file ? o->secret_file : getenv(GN_SECRET_ENVIRONMENT);
    if (path) gn_output_spare_path(path);
}

void gn_comm_options_finish(struct argp_state *state, gn_comm_options *options)
{
    check_secret(state, options);
    choose_codec(state, options);
    check_switch(state, options);
    check_groups(state, options);
    choose_offload(state, options);
    check_ranks(state, options);
}

/// Of all that the library says: which groups it has found, what `auto` has chosen, and who shares
/// no memory.
static void tell(void *context, gn_log_level level, const char *text)
{
    const gn_comm_options *o = context;
    const char *algorithm = gn_comm_options_algorithm(o);
    const bool chosen = !strncmp(text, algorithm, strlen(algorithm)) && text[strlen(algorithm)] == ':';
    if (level == GN_LOG_INFO && (chosen || strstr(text, "shares no memory"))) gn_cli_note(o->teller, "%s", text);
}

gn_comm_config gn_comm_options_config(const gn_comm_options *options, int rank, int size, const char *rendezvous)
{
    gn_comm_config config = gn_comm_config_default();
    config.rank = rank;
    config.size = size;
    config.rendezvous = rendezvous;
    config.interface = options->interface;
    config.timeout_ms = options->timeout_ms;
    config.secret_file = options->secret_file;
    config.algorithm = options->algorithm;
    config.offload = options->offload;
    config.no_shared_memory = options->no_shared_memory;
    config.data_tos = (int)options->tos;
    config.quantise = options->compress;
    config.codec = options->codec;
    config.scale = options->scale;
    config.switch_address = options->switch_address;
    config.switch_streams = options->switch_channels;
    config.switch_slots = options->switch_slots;
    config.switch_values = options->switch_values;
    config.switch_rto_us = options->switch_rto_us;
    config.switch_nic = options->switch_nic;
    config.switch_half = options->switch_half;
    config.groups = options->groups;
    config.group_offload = options->group_offload;
    if (options->teller && !rank) {
        config.log = tell;
        config.log_context = (void *)(uintptr_t)options;  // it is only read
    }
    return config;
}

const char *gn_comm_options_algorithm(const gn_comm_options *options)
{
    return gn_algorithm_name(options->algorithm);
}

const char *gn_comm_options_profile(const gn_comm_options *options)
{
    return options->compress ? gn_profile_name(options->codec.profile) : "none";
}
