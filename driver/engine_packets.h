// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_ENGINE_PACKETS_H
#define GRADNIC_DRIVER_ENGINE_PACKETS_H
/// An engine around a gn_transform: does what software does in front of a NIC with TSO. Segments are cut to the MTU, checksums
/// completed, the flow table asked for each packet's head; then the packets go through the transform.

#include "driver/transform.h"

/// gn_engine.open over a transform; the other functions are those of GN_ENGINE_PACKETS.
gn_status gn_packets_open(void **state, const gn_transform *transform, const gn_engine_config *config, gn_error *error);
void gn_packets_close(void *state);
gn_status gn_packets_set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error);
void gn_packets_set_bypass(void *state, bool bypass);
gn_status gn_packets_transmit_headers(void *state, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                                      gn_headers_cut *cut);
gn_status gn_packets_transmit(void *state, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst);
gn_verdict gn_packets_receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                              size_t *out_length);
const gn_tx_counters *gn_packets_tx_counters(void *state);
const gn_rx_counters *gn_packets_rx_counters(void *state);
gn_status gn_packets_check(void *state, gn_error *error);
void gn_packets_comparison(void *state, gn_comparison *comparison);

/// All members of such a gn_engine but `name`, `open` and `comparison`. Packets, bytes and passed are counted behind the cut.
#define GN_ENGINE_PACKETS                                                                                              \
    .close = gn_packets_close, .set_rules = gn_packets_set_rules, .set_bypass = gn_packets_set_bypass,                 \
    .transmit_headers = gn_packets_transmit_headers, .transmit = gn_packets_transmit, .receive = gn_packets_receive,   \
    .tx_counters = gn_packets_tx_counters, .rx_counters = gn_packets_rx_counters, .check = gn_packets_check

#endif
