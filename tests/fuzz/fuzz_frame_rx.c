// SPDX-License-Identifier: Apache-2.0
// Any bytes as a packet from the wire, with exact buffers. A packet that is written parses again
// with the same addresses and ports, and its checksum holds. Any other is left to pass or to drop.
//
// Input: flags, packet. Flags: bit 0: checksum vouched for, so that the payload is reached; bit 1:
// partial checksum out; bit 2: little room.
#include <stdlib.h>
#include <string.h>

#include <gradnic/frame.h>

#include "fuzz.h"

static void check_written(const uint8_t *packet, size_t length, const uint8_t *out, size_t out_length, bool partial)
{
    gn_headers before, after;
    check(gn_packet_parse(packet, length, &before) == GN_PARSE_OK);
    check(gn_packet_parse(out, out_length, &after) == GN_PARSE_OK);
    check(after.end == out_length && after.payload == before.payload && after.end > after.payload);
    check(after.tos == before.tos && after.seq == before.seq && after.tcp_flags == before.tcp_flags);
    check(after.source_port == before.source_port && after.destination_port == before.destination_port);
    check(partial || gn_packet_checksum_ok(out, &after));
}

/// What the NIC does next with packets from the wire: it joins neighbours. Here a packet meets
/// itself, which must never fit twice.
static void check_run(uint8_t *packet, size_t length)
{
    gn_run run;
    size_t at;
    if (!gn_run_begin(&run, packet, length, 1488, true)) return;
    check(!gn_run_append(&run, packet, length, true, &at) || run.payload_bytes == 0);
    gn_handover handover = gn_run_finish(&run, packet);
    check(handover.header_bytes < length &&
          handover.checksum_start + handover.checksum_offset + 2 <= handover.header_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    bool partial = data[0] & 2;
    size_t length = size - 1, capacity = data[0] & 4 ? 600 : GN_PACKET_MAX, out_length = SIZE_MAX;
    uint8_t *packet = exact(length), *out = exact(capacity);
    memcpy(packet, data + 1, length);
    gn_rx *rx;
    check(gn_rx_new(&rx, &(gn_rx_config){.checksum_vouched = data[0] & 1, .partial_checksum = partial}) == GN_OK);
    gn_verdict verdict = gn_rx_packet(rx, packet, length, out, capacity, &out_length);
    check(!memcmp(packet, data + 1, length));
    const gn_rx_counters *c = gn_rx_get_counters(rx);
    check(c->packets == 1 && c->bytes == length && c->passed == (verdict == GN_VERDICT_PASS));
    check(c->malformed == (verdict == GN_VERDICT_DROP));
    if (verdict == GN_VERDICT_WRITE) {
        check(out_length <= capacity);
        check_written(packet, length, out, out_length, partial);
        uint8_t *written = exact(out_length);
        memcpy(written, out, out_length);
        check_run(written, out_length);
        free(written);
    }
    if (verdict == GN_VERDICT_PASS) check_run(packet, length);
    gn_rx_free(rx);
    free(packet);
    free(out);
    return 0;
}
