// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_DATAPATH_H
#define GRADNIC_DRIVER_DATAPATH_H
/// The way of packets through an engine (engine.h), both directions. An engine that takes whole
/// segments gets them as they are. For any other engine the datapath does what software does in
/// front of a NIC with TSO: it cuts segments to the MTU, completes checksums and asks the flow
/// table for each packet's head. (An engine with a table of its own does not need the head. The
/// guard asks all the same.)
///
/// The first failure of the engine is kept. From then on nothing is transmitted and every packet
/// that comes in is dropped.
///
/// Threads: as with gn_engine. The transmit calls and the receive calls may run at the same time.

#include "driver/engine.h"

typedef struct gn_datapath gn_datapath;

gn_status gn_datapath_open(gn_datapath **datapath, const gn_engine *engine, const gn_engine_config *config,
                           gn_error *error);
void gn_datapath_close(gn_datapath *datapath);  ///< NULL allowed

/// Sets all rules, or changes nothing.
gn_status gn_datapath_set_rules(gn_datapath *datapath, const gn_rule *rules, size_t count, gn_error *error);
void gn_datapath_set_bypass(gn_datapath *datapath, bool bypass);

/// As gn_tx_segment_headers(). GN_UNSUPPORTED also when the engine takes only packets: then
/// gn_datapath_transmit() is to be called.
gn_status gn_datapath_transmit_headers(gn_datapath *datapath, const gn_segment *segment, size_t wire_mtu,
                                       gn_burst *burst, gn_headers_cut *cut);
/// As gn_tx_segment(). Also GN_UNSUPPORTED for a `cut` that the engine does not take, and GN_DEAD
/// when the engine has failed. On failure the burst is empty.
gn_status gn_datapath_transmit(gn_datapath *datapath, const gn_segment *segment, gn_cut cut, size_t wire_mtu,
                               gn_burst *burst);
/// As gn_tx_head(), for a packet before it is transmitted. It forgets a flow that the packet ends.
int gn_datapath_head(gn_datapath *datapath, const uint8_t *packet, size_t length);
/// As gn_rx_packet().
gn_verdict gn_datapath_receive(gn_datapath *datapath, const uint8_t *packet, size_t length, uint8_t *out,
                               size_t capacity, size_t *out_length);

/// Valid until the next call of the same function. Where the datapath cuts, packets are counted
/// behind the cut.
const gn_tx_counters *gn_datapath_tx_counters(gn_datapath *datapath);
const gn_rx_counters *gn_datapath_rx_counters(gn_datapath *datapath);

/// Whether the engine still works. `error` may be NULL. @return GN_OK, or the first failure
gn_status gn_datapath_check(const gn_datapath *datapath, gn_error *error);
/// What the engine has compared. @return false for an engine that compares nothing
bool gn_datapath_comparison(const gn_datapath *datapath, gn_comparison *comparison);

#endif
