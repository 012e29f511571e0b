// SPDX-License-Identifier: Apache-2.0
// Which of four lanes has a TCP segment's flow, as rtl/wrap/gn_flow_lane.v says: for models of
// gn_nic_lanes in C and C++, which have a table of flows for each lane.
#ifndef GRADNIC_TESTS_FLOW_LANE_H
#define GRADNIC_TESTS_FLOW_LANE_H

#include <gradnic/packet.h>

/// Of two lanes the lowest bit counts. -1: no table of flows is asked about this packet.
static inline int flow_lane(const uint8_t *packet, size_t length)
{
    gn_headers h;
    if (gn_packet_parse(packet, length, &h) != GN_PARSE_OK) return -1;
    if (h.protocol != GN_PROTOCOL_TCP || gn_packet_has_options(&h)) return -1;
    const size_t from = h.version == 4 ? 12 : 8, bytes = h.version == 4 ? 8 : 32;
    unsigned parity = 0;
    for (size_t i = 0; i < bytes; i++) parity ^= packet[from + i];
    for (size_t i = 0; i < 4; i++) parity ^= packet[h.l4 + i];
    return (int)(parity & 3);
}

#endif
