// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_SEGMENTS_H
#define GRADNIC_TESTS_SEGMENTS_H
/// Segments that are cut to packets, and a receiver for these.

#include <gradnic/frame.h>

#include "packets.h"

enum { ROOM = 66000, FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, CWR = 128 };

extern uint8_t segment[ROOM], back[ROOM];  ///< what was cut, and what the receiver makes of a packet
extern float values[16384];                ///< they compress well
extern gn_tx *tx;
extern gn_rx *rx;
extern gn_rule rule;
extern gn_burst burst;

/// Fixtures: one rule, for all packets, with one of these profiles.
void segments_lattice(void);
void segments_dense(void);
void segments_end(void);

/// Sends the SYN of p's flow, so that p.seq is at a value boundary.
void open_flow(packet p);
/// Builds `segment` and cuts it to `burst`.
gn_status cut(packet p, const void *payload, size_t bytes, unsigned gso_size, gn_cut how, size_t mtu);
/// Packet i of `burst`.
const uint8_t *packet_at(unsigned i, size_t *length);
/// Checks the burst of a segment of `bytes` payload bytes. `transformed`: every packet goes through
/// the receiver.
/// @return payload bytes on the wire.
size_t check_burst(packet p, const uint8_t *payload, size_t bytes, size_t mtu, bool transformed);

#endif
