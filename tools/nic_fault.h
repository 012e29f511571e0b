// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_NIC_FAULT_H
#define GRADNIC_TOOLS_NIC_FAULT_H
/// The options that make a bad link of a good one, as `gradnic nic` takes them at its start and `gradnic nic set` later. Each
/// has its own text in --help, and these keys in its argp table.

#include <argp.h>

#include <jansson.h>

#include "net/fault.h"

enum {
    NIC_FAULT_LOSS = 0x200,
    NIC_FAULT_DUPLICATE,
    NIC_FAULT_REORDER,
    NIC_FAULT_REORDER_DELAY,
    NIC_FAULT_DELAY,
    NIC_FAULT_JITTER,
    NIC_FAULT_SEED
};

/// Reads one option. False: `key` is none of these. Exits with GN_EXIT_USAGE and a message when the value is wrong.
bool nic_fault_parse(int key, const char *text, struct argp_state *state, gn_fault_config *fault);

/// The same into a request to a running NIC, under the name that the control socket knows.
bool nic_fault_request(int key, const char *text, struct argp_state *state, json_t *request);

#endif
