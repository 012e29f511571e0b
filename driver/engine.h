// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_ENGINE_H
#define GRADNIC_DRIVER_ENGINE_H
/// What transforms packets. One interface, several engines chosen by name: `model`, the C reference (cmodel/frame), and, in builds
/// with GRADNIC_RTL, `rtl`, the Verilog NIC in Verilator, and `lockstep`, both side by side. The transmit calls (transmit, tx_counters) and the receive calls (receive, rx_counters) may run at the same time, each
/// side on one thread; the setters need both sides at rest.

#include <gradnic/frame.h>

#include "net/error.h"

typedef struct gn_engine_config {
    const gn_rule *rules;
    size_t rule_count;
    size_t flow_capacity;
    bool bypass;
    bool partial_checksum;  ///< restored packets have only the pseudo header's sum for a checksum
} gn_engine_config;

/// What an engine that compares has compared so far.
typedef struct gn_comparison {
    uint64_t tx_packets, rx_packets;
    uint64_t differences;  ///< at most one: it ends the engine
} gn_comparison;

typedef struct gn_engine {
    const char *name;
    bool fill;              ///< takes GN_CUT_FILL
    bool partial_checksum;  ///< takes gn_engine_config.partial_checksum
    gn_status (*open)(void **state, const gn_engine_config *config, gn_error *error);
    void (*close)(void *state);
    /// All, or nothing.
    gn_status (*set_rules)(void *state, const gn_rule *rules, size_t count, gn_error *error);
    void (*set_bypass)(void *state, bool bypass);
    /// As gn_tx_segment_headers(), gn_tx_segment() and gn_rx_packet(). An engine without a way to leave payload where it is
    /// answers GN_UNSUPPORTED to the first.
    gn_status (*transmit_headers)(void *state, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                                  gn_headers_cut *cut);
    gn_status (*transmit)(void *state, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst);
    gn_verdict (*receive)(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                          size_t *out_length);
    /// Valid until the next call of the same function.
    const gn_tx_counters *(*tx_counters)(void *state);
    const gn_rx_counters *(*rx_counters)(void *state);
    /// Whether it has failed for good: it then transmits nothing and drops everything. NULL for an engine that cannot fail.
    /// @return 0, or -1 with the reason
    gn_status (*check)(void *state, gn_error *error);
    /// NULL for an engine that compares nothing.
    void (*comparison)(void *state, gn_comparison *comparison);
} gn_engine;

extern const gn_engine gn_engine_model;

/// Engines of this build.
#ifdef GRADNIC_RTL_NIC
extern const gn_engine gn_engine_rtl, gn_engine_lockstep;
#define GN_ENGINE_NAMES "model, rtl, lockstep"
#else
#define GN_ENGINE_NAMES "model"
#endif

/// NULL when there is no engine of that name; `error` says what there is, and how to get a known one that this build lacks.
const gn_engine *gn_engine_find(const char *name, gn_error *error);

#endif
