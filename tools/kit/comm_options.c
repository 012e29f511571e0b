// SPDX-License-Identifier: Apache-2.0
#include "comm_options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/admission.h>

#include "option_values.h"
#include "ring/rendezvous.h"

gn_comm_options gn_comm_options_default(void)
{
    return (gn_comm_options){.rank = -1, .size = -1, .timeout_ms = 30000, .profile = GN_DENSE, .bound_exp = 10};
}

static uint64_t timeout(struct argp_state *state, const char *text)
{
    uint64_t nanoseconds = 0;
    gn_option_check(state, "timeout", gn_parse_duration(text, &nanoseconds));
    const uint64_t ms = nanoseconds / 1000000;
    if (ms < 10 || ms > INT_MAX) argp_error(state, "--timeout: %s is outside 10ms to 24 days", text);
    return ms;
}

static unsigned type_of_service(struct argp_state *state, const char *text)
{
    char *end;
    const unsigned long tos = strtoul(text, &end, 0);
    if (end == text || *end || tos > 0xff || (tos & 3))
        argp_error(state, "--tos: '%s' is no type of service: 0 to 0xfc, a multiple of 4 (the low bits are ECN's)",
                   text);
    return (unsigned)tos;
}

static gn_algorithm algorithm_of(struct argp_state *state, const char *text)
{
    for (gn_algorithm a = 0; a < GN_ALGORITHMS; a++)
        if (!strcmp(text, gn_algorithm_name(a))) return a;
    argp_error(state, "--algorithm: '%s' is neither ring nor worker-aggregator nor switch", text);
    return GN_RING;
}

/// As the ranks will read it, so that what they could not use is wrong usage here.
static void check_rendezvous(struct argp_state *state, const char *text)
{
    gn_rendezvous rendezvous;
    gn_error error;
    if (gn_rendezvous_parse(text, &rendezvous, &error)) argp_error(state, "--rendezvous: %s", error.text);
}

static void check_address(struct argp_state *state, const char *name, const char *text)
{
    char host[256];
    uint16_t port;
    if (!gn_host_and_port(text, host, &port))
        argp_error(state, "--%s '%s': HOST:PORT is needed, port 1 to 65535", name, text);
}

static bool parse_rank(int key, char *arg, struct argp_state *state, gn_comm_options *o)
{
    switch (key) {
    case 'N':
        o->local_ranks = gn_option_unsigned(state, "ranks", arg, 1, 256);
        return true;
    case GN_OPTION_RANK:
        o->rank = (int)gn_option_unsigned(state, "rank", arg, 0, 255);
        return true;
    case GN_OPTION_SIZE:
        o->size = (int)gn_option_unsigned(state, "size", arg, 1, 256);
        return true;
    case GN_OPTION_RENDEZVOUS:
        check_rendezvous(state, arg);
        o->rendezvous = arg;
        return true;
    case GN_OPTION_INTERFACE:
        o->interface = arg;
        return true;
    case GN_OPTION_TIMEOUT:
        o->timeout_ms = timeout(state, arg);
        return true;
    default:
        return false;
    }
}

static bool parse_exchange(int key, char *arg, struct argp_state *state, gn_comm_options *o)
{
    switch (key) {
    case GN_OPTION_ALGORITHM:
        o->algorithm = algorithm_of(state, arg);
        return true;
    case 'p':
        o->profile_given = true;
        o->compress = strcmp(arg, "none") != 0;
        if (o->compress) gn_option_check(state, "profile", gn_parse_profile_or(arg, "none", &o->profile));
        return true;
    case 'k':
        o->asks = o->bound_given = true;
        gn_option_check(state, "bound", gn_parse_bound(arg, &o->bound_exp));
        return true;
    case GN_OPTION_SCALE:
        o->scale = gn_option_choice(state, "scale", arg, "none", "auto") ? GN_SCALE_AUTO : GN_SCALE_NONE;
        o->asks |= o->scale == GN_SCALE_AUTO;
        return true;
    case GN_OPTION_TOS:
        o->tos = type_of_service(state, arg);
        o->tos_given = true;
        return true;
    default:
        return false;
    }
}

static unsigned retry_time(struct argp_state *state, const char *text)
{
    uint64_t nanoseconds = 0;
    gn_option_check(state, "switch-rto", gn_parse_duration(text, &nanoseconds));
    if (nanoseconds < 1000 || nanoseconds > 1000000000)
        argp_error(state, "--switch-rto: %s is outside 1us to 1s", text);
    return (unsigned)(nanoseconds / 1000);
}

static bool parse_switch(int key, char *arg, struct argp_state *state, gn_comm_options *o)
{
    switch (key) {
    case GN_OPTION_SWITCH:
        check_address(state, "switch", arg);
        o->switch_address = arg;
        return true;
    case GN_OPTION_SWITCH_STREAMS:
        o->switch_streams = gn_option_unsigned(state, "switch-streams", arg, 1, GN_ADMISSION_STREAMS_MAX);
        return true;
    case GN_OPTION_SWITCH_SLOTS:
        o->switch_slots = gn_option_unsigned(state, "switch-slots", arg, 1, GN_AGG_SLOTS_MAX);
        if (o->switch_slots & (o->switch_slots - 1)) argp_error(state, "--switch-slots: %s is no power of two", arg);
        return true;
    case GN_OPTION_SWITCH_VALUES:
        o->switch_values = gn_option_unsigned(state, "switch-values", arg, 1, GN_AGG_VALUES_MAX);
        return true;
    case GN_OPTION_SWITCH_RTO:
        o->switch_rto_us = retry_time(state, arg);
        return true;
    case GN_OPTION_SWITCH_NIC:
        return o->switch_nic = true;
    default:
        return false;
    }
}

bool gn_comm_option_parse(int key, char *arg, struct argp_state *state, gn_comm_options *options)
{
    return parse_rank(key, arg, state, options) || parse_exchange(key, arg, state, options) ||
           parse_switch(key, arg, state, options);
}

static void check_ranks(struct argp_state *state, const gn_comm_options *o)
{
    if (o->local_ranks && (o->rank >= 0 || o->size >= 0 || o->rendezvous))
        argp_error(state, "-N starts all ranks itself: it excludes --rank, --size and --rendezvous");
    if (o->rank >= 0 && o->size >= 0 && o->rank >= o->size)
        argp_error(state, "--rank %d is not below --size %d", o->rank, o->size);
    const bool known = o->local_ranks || ((o->rank >= 0 || getenv("RANK")) && (o->size >= 0 || getenv("WORLD_SIZE")));
    if (!known)
        argp_error(state, "no ranks: -N 4 starts four here; else --rank and --size, or RANK and WORLD_SIZE in the "
                          "environment");
}

static void check_switch(struct argp_state *state, const gn_comm_options *o)
{
    const bool chosen = o->algorithm == GN_SWITCH;
    if (chosen && !o->switch_address) argp_error(state, "--algorithm switch needs --switch HOST:PORT");
    if (!chosen && (o->switch_address || o->switch_streams || o->switch_slots || o->switch_values || o->switch_rto_us ||
                    o->switch_nic))
        argp_error(state, "--switch and its kind go with --algorithm switch");
    if (chosen && o->compress && o->profile == GN_PAPER)
        argp_error(state, "--algorithm switch: paper has no integers that a switch could add; take dense or lattice");
    if (o->switch_nic && !o->compress) argp_error(state, "--switch-nic needs the profile of the NIC's rule (-p)");
}

static void choose_codec(struct argp_state *state, gn_comm_options *o)
{
    if (!o->profile_given) o->compress = o->asks;
    if (!o->tos_given) o->tos = (o->algorithm == GN_SWITCH ? o->switch_nic : o->compress) ? 0x28 : 0;
    if (!o->compress && o->scale != GN_SCALE_NONE) argp_error(state, "--scale needs a profile (-p)");
    if (!o->compress && o->bound_given) argp_error(state, "--bound needs another --profile than none");
    if (!o->compress) return;
    gn_option_check(state, "bound", gn_check_bound(o->profile, o->bound_exp));
    gn_codec_init(&o->codec, o->profile, o->bound_exp);  // in range, as was checked
}

void gn_comm_options_finish(struct argp_state *state, gn_comm_options *options)
{
    choose_codec(state, options);
    check_switch(state, options);
    check_ranks(state, options);
}

gn_comm_config gn_comm_options_config(const gn_comm_options *options, int rank, int size, const char *rendezvous)
{
    gn_comm_config config = gn_comm_config_default();
    config.rank = rank;
    config.size = size;
    config.rendezvous = rendezvous;
    config.interface = options->interface;
    config.timeout_ms = (int)options->timeout_ms;
    config.algorithm = options->algorithm;
    config.data_tos = (int)options->tos;
    config.quantise = options->compress;
    config.codec = options->codec;
    config.scale = options->scale;
    config.switch_address = options->switch_address;
    config.switch_streams = options->switch_streams;
    config.switch_slots = options->switch_slots;
    config.switch_values = options->switch_values;
    config.switch_rto_us = options->switch_rto_us;
    config.switch_nic = options->switch_nic;
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
