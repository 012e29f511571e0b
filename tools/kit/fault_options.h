// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_FAULT_OPTIONS_H
#define GRADNIC_TOOLS_KIT_FAULT_OPTIONS_H
/// The options that make a good link bad. `gradnic nic` and `gradnic switch` take them when they
/// start. `gradnic nic set` takes them later; its argp table has the same keys, and other texts.

#include <argp.h>
#include <stdbool.h>

#include <jansson.h>

#include "net/fault.h"

enum {
    GN_OPTION_FAULT_LOSS = 0x200,
    GN_OPTION_FAULT_DUPLICATE,
    GN_OPTION_FAULT_REORDER,
    GN_OPTION_FAULT_REORDER_DELAY,
    GN_OPTION_FAULT_DELAY,
    GN_OPTION_FAULT_JITTER,
    GN_OPTION_FAULT_SEED
};

// clang-format off
/// Rows of an argp table.
#define GN_FAULT_OPTIONS(group) \
    {"loss", GN_OPTION_FAULT_LOSS, "P", 0, "lose packets with this probability, as 1% or 0.01 (default 0)", group}, \
    {"duplicate", GN_OPTION_FAULT_DUPLICATE, "P", 0, "send packets twice with this probability (default 0)", group}, \
    {"reorder", GN_OPTION_FAULT_REORDER, "P", 0, \
     "hold packets back with this probability, so that later ones overtake them (default 0)", group}, \
    {"reorder-delay", GN_OPTION_FAULT_REORDER_DELAY, "TIME", 0, \
     "how long packets are held back (default 1ms)", group}, \
    {"delay", GN_OPTION_FAULT_DELAY, "TIME", 0, \
     "delay of the link, as 10ms; times are at most 10s (default 0)", group}, \
    {"jitter", GN_OPTION_FAULT_JITTER, "TIME", 0, "by how much the delay varies, up or down (default 0)", group}, \
    {"seed", GN_OPTION_FAULT_SEED, "N", 0, "seed of the random numbers (default 1)", group}

/// Rows of a table of settings (settings.h): a reload changes all of them.
#define GN_FAULT_KEYS(repeats) \
    {GN_OPTION_FAULT_LOSS, repeats, true}, \
    {GN_OPTION_FAULT_DUPLICATE, repeats, true}, \
    {GN_OPTION_FAULT_REORDER, repeats, true}, \
    {GN_OPTION_FAULT_REORDER_DELAY, repeats, true}, \
    {GN_OPTION_FAULT_DELAY, repeats, true}, \
    {GN_OPTION_FAULT_JITTER, repeats, true}, \
    {GN_OPTION_FAULT_SEED, repeats, true}
// clang-format on

/// Reads one option. False: `key` is another's. Exits with GN_EXIT_USAGE when the value is wrong.
bool gn_fault_option_parse(int key, const char *text, struct argp_state *state, gn_fault_config *fault);

/// The same, for a request to a running NIC. The member has the name that the control socket
/// knows.
bool gn_fault_option_request(int key, const char *text, struct argp_state *state, json_t *request);

#endif
