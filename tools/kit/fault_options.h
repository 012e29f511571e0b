// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_FAULT_OPTIONS_H
#define GRADNIC_TOOLS_KIT_FAULT_OPTIONS_H
/// The options that make a good link bad. `gradnic nic` takes them when it starts, `gradnic nic
/// set` later. Each command has its own help texts, with these keys in its argp table.

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

/// Reads one option. False: `key` is another's. Exits with GN_EXIT_USAGE when the value is wrong.
bool gn_fault_option_parse(int key, const char *text, struct argp_state *state, gn_fault_config *fault);

/// The same, for a request to a running NIC. The member has the name that the control socket
/// knows.
bool gn_fault_option_request(int key, const char *text, struct argp_state *state, json_t *request);

#endif
