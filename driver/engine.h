// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_ENGINE_H
#define GRADNIC_DRIVER_ENGINE_H
/// An engine compresses packets on their way to the wire and restores packets from it. This is the
/// one interface; there are three engines:
///
/// | name | what it is | file |
/// | --- | --- | --- |
/// | model | the reference in C (gradnic/frame.h) | engine_model.c |
/// | rtl | the Verilog NIC in Verilator | engine_rtl.c |
/// | lockstep | two engines side by side, compared bit for bit | engine_lockstep.c |
///
/// An engine takes whole IP packets, one by one, in order, as hardware does. The datapath
/// (datapath.h) is the only caller of a NIC's engine. It does what software does in front of
/// hardware: it cuts segments, looks after TCP flows for an engine that does not do so itself, and
/// remembers a failure.
///
/// Threads: one may transmit (transmit, tx_counters) while another receives (receive, rx_counters).
/// The setters need both at rest.

#include <gradnic/frame.h>

#include "net/error.h"

/// A table of TCP flows as hardware has it (docs/wire.md, "TCP").
typedef struct gn_flow_sets {
    unsigned log2;  ///< of its flows; 0: there is no table
    uint32_t seed;
} gn_flow_sets;

typedef struct gn_engine_config {
    const gn_rule *rules;
    size_t rule_count;
    size_t flow_capacity;   ///< TCP flows that are remembered, where hardware does not say how many
    gn_flow_sets flows;     ///< model: find heads with such a table, and not from `heads`
    bool bypass;            ///< nothing is compressed
    bool no_restore;        ///< packets from the wire pass as they are; for good
    bool partial_checksum;  ///< restored packets have only the pseudo header's sum for a checksum
    size_t max_restored;    ///< bytes of the longest IP packet that is restored; 0: 65535
} gn_engine_config;

/// What an engine that compares has compared so far.
typedef struct gn_comparison {
    uint64_t tx_packets, rx_packets;
    uint64_t differences;  ///< at most one, because it ends the engine
} gn_comparison;

typedef struct gn_engine gn_engine;
struct gn_engine {
    const char *name;
    bool partial_checksum;               ///< takes gn_engine_config.partial_checksum
    const gn_engine *reference, *other;  ///< of lockstep: the engines that it compares

    /// `engine` is the engine itself; `*state` is what the other calls get.
    gn_status (*open)(const gn_engine *engine, void **state, const gn_engine_config *config, gn_error *error);
    void (*close)(void *state);

    /// Sets all rules, or changes nothing.
    gn_status (*set_rules)(void *state, const gn_rule *rules, size_t count, gn_error *error);

    // A failure of one of the calls below is for good: afterwards the engine can only be closed.

    /// Of the way to the wire. What arrives is restored all the same.
    gn_status (*set_bypass)(void *state, bool bypass, gn_error *error);
    /// Host to wire. `heads[i]` is packet i's gn_tx_head(); an engine with a table of flows does
    /// not look at it. As many packets come out as go in.
    gn_status (*transmit)(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error);
    /// Wire to host. `out` has at least GN_PACKET_MAX bytes. `*verdict` and `*out_length` are as
    /// gn_rx_packet() gives them.
    gn_status (*receive)(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                         size_t *out_length, gn_verdict *verdict, gn_error *error);
    /// What it has counted. The counters of flows count only for an engine with a table of them.
    gn_status (*tx_counters)(void *state, gn_tx_counters *counters, gn_error *error);
    gn_status (*rx_counters)(void *state, gn_rx_counters *counters, gn_error *error);

    /// The engine's own table of TCP flows; NULL for an engine that never has one.
    void (*flows)(void *state, gn_flow_sets *flows);

    /// NULL for an engine that compares nothing.
    void (*comparison)(void *state, gn_comparison *comparison);
    /// The gn_tx of an engine that transforms whole segments, which is faster than packet by
    /// packet. Such an engine takes GN_CUT_FILL. NULL for an engine that takes only packets.
    gn_tx *(*whole_segments)(void *state);
};

extern const gn_engine gn_engine_model;
/// Without the Verilog NIC (GRADNIC_RTL) it has no `other` to compare with, and is not found.
extern const gn_engine gn_engine_lockstep;
#ifdef GRADNIC_RTL_NIC
extern const gn_engine gn_engine_rtl;
#define GN_ENGINE_NAMES "model, rtl, lockstep"
#else
#define GN_ENGINE_NAMES "model"
#endif

/// The engine of that name. @return NULL when this build has none: `error` says which ones it has,
/// and how to get one that it lacks
const gn_engine *gn_engine_find(const char *name, gn_error *error);

#endif
