// SPDX-License-Identifier: Apache-2.0
// The C model of the NIC for benches in Python: Ethernet frames in and out, with the default rule.
// Packets may be of jumbo size; the benches tell the NIC so.
#include <string.h>

#include <gradnic/frame.h>

enum { LONGEST = 9200 };  // bytes of an IP packet, either way

static gn_tx *tx;
static gn_rx *rx;

// Returns 0 when both directions are there.
GN_API int model_begin(void)
{
    const gn_rule rule = gn_rule_default();
    const gn_tx_config to_wire = {
        .rules = &rule, .rule_count = 1, .wire_mtu = LONGEST, .flow_log2 = 11, .flow_seed = 0x6e6f7661};
    const gn_rx_config to_host = {.max_restored = LONGEST};
    return gn_tx_new(&tx, &to_wire) != GN_OK || gn_rx_new(&rx, &to_host) != GN_OK;
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
    if (at) verdict = gn_tx_packet(tx, frame + at, length - at, out + at, capacity - at, &written);
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
