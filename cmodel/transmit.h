// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CMODEL_TRANSMIT_H
#define GRADNIC_CMODEL_TRANSMIT_H
/// Internal: shared by single packets (transmit.c) and segments (segment.c).

#include <gradnic/frame.h>

#include "flow.h"
#include "payload.h"

struct gn_tx {
    gn_rule rules[GN_RULES_MAX];
    size_t rule_count;
    bool bypass;
    size_t wire_mtu;
    gn_flow_table *flows;
    gn_tx_counters counters;
};

/// How an eligible packet is to be transformed.
typedef struct gn_plan {
    const gn_rule *rule;
    gn_tx_rule_counters *count;  ///< the rule's
    int head;                    ///< verbatim bytes, or GN_HEAD_STORED
    uint64_t *stored_reason;     ///< counter of packets that go stored
} gn_plan;

/// First rule that matches, or NULL.
const gn_rule *gn_tx_match(const gn_tx *tx, const gn_headers *headers);

/// Notes SYN, FIN and RST, and finds the head of a TCP segment that a rule matches.
int gn_tx_note_flow(gn_tx *tx, const uint8_t *packet, const gn_headers *headers);

/// Counts the packet (`length` bytes) and makes the plan for it. `tcp_head`: see gn_tx_head().
/// @return false for a packet that passes; the reason has been counted
bool gn_tx_make_plan(gn_tx *tx, gn_parse parse, const gn_headers *headers, size_t length, int tcp_head, gn_plan *plan);

/// Transforms all of a payload as planned. `out` has room for `length` + GN_SHIM_BYTES.
gn_encoded gn_plan_encode(const gn_plan *plan, size_t head, const uint8_t *in, size_t length, uint8_t *out);

/// Counts one packet that leaves.
void gn_plan_count(const gn_plan *plan, const gn_encoded *encoded);

#endif
