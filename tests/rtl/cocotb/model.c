// SPDX-License-Identifier: Apache-2.0
// The C model of the NIC for benches in Python: Ethernet frames in and out, with the default rule.
// Packets may be of jumbo size; the benches tell the NIC so. Each lane has a table of TCP flows.
#include <string.h>

#include <gradnic/frame.h>

#include "tests/rtl/common/flow_lane.h"

enum { LONGEST = 9200, LANES = 4 };  // bytes of an IP packet, either way; the most lanes

static gn_tx *tx[LANES];
static gn_rx *rx;
static size_t lanes;

// Returns 0 when both directions are there. A NIC has 1, 2 or 4 lanes.
GN_API int model_begin(int of_lanes)
{
    lanes = (size_t)of_lanes;
    const gn_rule rule = gn_rule_default();
    const gn_tx_config to_wire = {
        .rules = &rule, .rule_count = 1, .wire_mtu = LONGEST, .flow_log2 = 11, .flow_seed = 0x6e6f7661};
    const gn_rx_config to_host = {.max_restored = LONGEST};
    gn_rx_free(rx);
    int status = lanes < 1 || lanes > LANES || gn_rx_new(&rx, &to_host) != GN_OK;
    for (size_t i = 0; i < LANES; i++) {
        gn_tx_free(tx[i]);
        status |= gn_tx_new(&tx[i], &to_wire) != GN_OK;
    }
    return status;
}

static long result(gn_verdict verdict, const uint8_t *frame, size_t length, size_t at, size_t written, uint8_t *out)
{
    if (verdict == GN_VERDICT_DROP) return 0;
    memcpy(out, frame, verdict == GN_VERDICT_PASS ? length : at);
    return (long)(verdict == GN_VERDICT_PASS ? length : at + written);
}

// To the wire, and to the host. `out` has room for `capacity` bytes. Returns the bytes of what
// leaves, 0 for a frame that is dropped. Frames to the wire come in order, as TCP's flows are
// remembered.
GN_API long model_tx(const uint8_t *frame, size_t length, uint8_t *out, size_t capacity)
{
    const size_t at = gn_frame_ethernet_offset(frame, length);
    size_t written = 0;
    gn_verdict verdict = GN_VERDICT_PASS;
    const int tcp = at ? flow_lane(frame + at, length - at) : -1;
    gn_tx *lane = tx[tcp < 0 ? 0 : (size_t)tcp % lanes];
    if (at) verdict = gn_tx_packet(lane, frame + at, length - at, out + at, capacity - at, &written);
    return result(verdict, frame, length, at, written, out);
}

GN_API long model_rx(const uint8_t *frame, size_t length, uint8_t *out, size_t capacity)
{
    const size_t at = gn_frame_ethernet_offset(frame, length);
    size_t written = 0;
    const gn_verdict verdict =
        at ? gn_rx_packet(rx, frame + at, length - at, out + at, capacity - at, &written) : GN_VERDICT_PASS;
    return result(verdict, frame, length, at, written, out);
}
