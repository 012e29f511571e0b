// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_TX_FIXTURE_H
#define GRADNIC_TESTS_TX_FIXTURE_H
/// A transmitter under test, the packet that goes in and the one that comes out. Tests run one at a
/// time. So all of it is global, and tx_setup() makes it anew for each.

#include <gradnic/frame.h>

#include "packets.h"

enum {
    ROOM = 66000,
    COMPRESSED = GN_DENSE + 1  ///< the kind that the default rule gives
};

extern uint8_t in[ROOM], out[ROOM];
extern size_t out_length;
extern float small[400], noise[400];  ///< values that compress well, and values that do not at all
extern gn_tx *tx;
extern gn_rule rule;  ///< the one that `tx` begins with: the default

void tx_setup(void);
void tx_teardown(void);

/// Begins anew with other rules.
void tx_use_rules(const gn_rule *rules, size_t count);

const gn_tx_counters *tx_counters(void);

/// Transforms the first `length` bytes of `in` to `out`.
gn_verdict tx_send_bytes(size_t length);

/// Builds a packet and transforms it.
gn_verdict tx_send(packet p, const void *payload, size_t bytes);

/// Sends the SYN of p's flow, so that p.seq is at a value boundary.
void tx_open_flow(packet p);

/// Of the shim in `out`.
unsigned out_kind(void);
unsigned out_head(void);
int out_bound(void);

#endif
