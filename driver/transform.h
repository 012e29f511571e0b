// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_TRANSFORM_H
#define GRADNIC_DRIVER_TRANSFORM_H
/// What a NIC's hardware does: whole IP packets, each on its own, in order. Cutting segments and looking after TCP flows is
/// software's business, ahead of it (engine_packets.h). Threads as with gn_engine: one may transmit while another receives.

#include "driver/engine.h"

typedef struct gn_transform {
    const char *name;
    /// Of `config` only rules and bypass count.
    gn_status (*open)(void **state, const gn_engine_config *config, gn_error *error);
    void (*close)(void *state);
    /// All, or nothing.
    gn_status (*set_rules)(void *state, const gn_rule *rules, size_t count, gn_error *error);
    gn_status (*set_bypass)(void *state, bool bypass, gn_error *error);
    /// Host to wire. `heads[i]` is packet i's gn_tx_head(). As many packets come out as go in. @return not GN_OK: it is broken
    gn_status (*transmit)(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error);
    /// Wire to host. `out` is of GN_PACKET_MAX bytes at least. `*out_length` is 0 when the packet is malformed and dropped.
    /// @return not GN_OK: it is broken
    gn_status (*receive)(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                         size_t *out_length, gn_error *error);
    /// What it has counted, packet by packet; nothing of flows. To be called by the side's own thread.
    gn_status (*tx_counters)(void *state, gn_tx_counters *counters, gn_error *error);
    gn_status (*rx_counters)(void *state, gn_rx_counters *counters, gn_error *error);
    /// NULL for one that compares nothing.
    void (*comparison)(void *state, gn_comparison *comparison);
} gn_transform;

/// The reference in C.
extern const gn_transform gn_transform_model;

#endif
