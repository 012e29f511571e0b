// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_ENGINE_H
#define GRADNIC_DRIVER_ENGINE_H
/// What transforms packets. One interface, several engines chosen by name; today `model`, the C reference (cmodel/frame).
/// The transmit calls (transmit, tx_counters) and the receive calls (receive, rx_counters) may run at the same time, each
/// side on one thread; the setters need both sides at rest.

#include <gradnic/frame.h>

typedef struct gn_engine_config {
    const gn_rule *rules;
    size_t rule_count;
    size_t flow_capacity;
    bool bypass;
    bool partial_checksum;  ///< restored packets have only the pseudo header's sum for a checksum
} gn_engine_config;

typedef struct gn_engine {
    const char *name;
    gn_status (*open)(void **state, const gn_engine_config *config);
    void (*close)(void *state);
    gn_status (*set_rules)(void *state, const gn_rule *rules, size_t count);
    void (*set_bypass)(void *state, bool bypass);
    /// As gn_tx_segment_headers(), gn_tx_segment() and gn_rx_packet(). An engine without a way to leave payload where it is
    /// answers GN_UNSUPPORTED to the first.
    gn_status (*transmit_headers)(void *state, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                                  gn_headers_cut *cut);
    gn_status (*transmit)(void *state, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst);
    gn_verdict (*receive)(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                          size_t *out_length);
    const gn_tx_counters *(*tx_counters)(const void *state);
    const gn_rx_counters *(*rx_counters)(const void *state);
} gn_engine;

extern const gn_engine gn_engine_model;

/// NULL when there is no engine of that name.
const gn_engine *gn_engine_find(const char *name);

#endif
