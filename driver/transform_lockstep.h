// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_TRANSFORM_LOCKSTEP_H
#define GRADNIC_DRIVER_TRANSFORM_LOCKSTEP_H
/// Two transforms side by side: every packet goes through both, and the first that comes out differently is the last. It is then
/// written, with what each made of it, to a capture file, which the error names. Counters are compared whenever they are read.

#include "driver/transform.h"

/// gn_transform.open; the other functions are those of GN_TRANSFORM_LOCKSTEP. What `other` makes is handed on.
gn_status gn_lockstep_open(void **state, const gn_transform *reference, const gn_transform *other,
                           const gn_engine_config *config, gn_error *error);
void gn_lockstep_close(void *state);
gn_status gn_lockstep_set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error);
gn_status gn_lockstep_set_bypass(void *state, bool bypass, gn_error *error);
gn_status gn_lockstep_transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error);
gn_status gn_lockstep_receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                              size_t *out_length, gn_error *error);
gn_status gn_lockstep_tx_counters(void *state, gn_tx_counters *counters, gn_error *error);
gn_status gn_lockstep_rx_counters(void *state, gn_rx_counters *counters, gn_error *error);
void gn_lockstep_comparison(void *state, gn_comparison *comparison);

/// All members of such a gn_transform but `name` and `open`.
#define GN_TRANSFORM_LOCKSTEP                                                                                          \
    .close = gn_lockstep_close, .set_rules = gn_lockstep_set_rules, .set_bypass = gn_lockstep_set_bypass,              \
    .transmit = gn_lockstep_transmit, .receive = gn_lockstep_receive, .tx_counters = gn_lockstep_tx_counters,          \
    .rx_counters = gn_lockstep_rx_counters, .comparison = gn_lockstep_comparison

#endif
