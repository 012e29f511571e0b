// SPDX-License-Identifier: Apache-2.0
// Joins neighbouring TCP packets for the host (receive side of segmentation offload). The
// conditions are those of Linux' tcp_gro_receive() and inet_gro_receive(). In addition the windows
// must be equal, so that no window update is lost.
#include <string.h>

#include <gradnic/frame.h>

#include "bytes.h"

enum { VALUE_BYTES = 4 };

static bool joinable(const uint8_t *packet, const gn_headers *h)
{
    if (h->protocol != GN_PROTOCOL_TCP || h->end == h->payload) return false;
    if (h->version == 4 && (h->l4 != 20 || gn_checksum_finish(gn_checksum_add(0, packet, 20)))) return false;
    return (h->tcp_flags & ~GN_TCP_PSH) == GN_TCP_ACK && !(packet[h->l4 + 12] & 15);
}

bool gn_run_begin(gn_run *run, const uint8_t *packet, size_t length, size_t mtu, bool verified)
{
    gn_headers *h = &run->first;
    if (gn_packet_parse(packet, length, h) != GN_PARSE_OK || !joinable(packet, h)) return false;
    if (!verified && !gn_packet_checksum_ok(packet, h)) return false;
    run->last_flags = h->tcp_flags;
    run->packets = 1;
    run->payload_bytes = (uint32_t)(h->end - h->payload);
    run->packet = packet;
    run->large = h->end > mtu;
    const size_t fits = mtu > h->payload + (size_t)VALUE_BYTES ? mtu - h->payload : VALUE_BYTES;
    run->piece = run->large ? (uint16_t)(fits - fits % VALUE_BYTES) : (uint16_t)run->payload_bytes;
    return true;
}

static bool equal(const uint8_t *a, const uint8_t *b, size_t from, size_t to)
{
    return !memcmp(a + from, b + from, to - from);
}

static bool same_ip(const uint8_t *a, const uint8_t *b, unsigned version)
{
    if (version == 6) return equal(a, b, 0, 4) && equal(a, b, 6, 40);  // all but the payload length
    // All but total length, id and checksum.
    return equal(a, b, 0, 2) && equal(a, b, 6, 10) && equal(a, b, 12, 20);
}

static bool same_tcp(const uint8_t *a, const uint8_t *b, size_t length)
{
    // All but sequence number, flags (see joinable()) and checksum. Without URG the urgent pointer
    // means nothing.
    return equal(a, b, 0, 4) && equal(a, b, 8, 13) && equal(a, b, 14, 16) && equal(a, b, 20, length);
}

bool gn_run_append(gn_run *run, const uint8_t *packet, size_t length, bool verified, size_t *payload_at)
{
    const gn_headers *first = &run->first;
    gn_headers h;
    if (run->last_flags & GN_TCP_PSH) return false;
    if (gn_packet_parse(packet, length, &h) != GN_PARSE_OK || !joinable(packet, &h)) return false;
    if (h.version != first->version || h.payload != first->payload) return false;
    if (h.seq != first->seq + run->payload_bytes) return false;
    const uint32_t payload = (uint32_t)(h.end - h.payload);
    if (run->large ? run->payload_bytes % VALUE_BYTES : run->payload_bytes % run->piece || payload > run->piece)
        return false;
    if (!same_ip(packet, run->packet, h.version)) return false;
    if (!same_tcp(packet + h.l4, run->packet + h.l4, (size_t)(h.payload - h.l4))) return false;
    if (first->payload + run->payload_bytes + payload > GN_PACKET_MAX) return false;
    if (!verified && !gn_packet_checksum_ok(packet, &h)) return false;
    run->last_flags = h.tcp_flags;
    run->packets++;
    run->payload_bytes += payload;
    *payload_at = h.payload;
    return true;
}

gn_handover gn_run_finish(const gn_run *run, uint8_t *packet)
{
    gn_headers h = run->first;
    uint16_t was = h.end;
    h.end = (uint16_t)(h.payload + run->payload_bytes);
    if (h.version == 4) {
        // RFC 1624
        uint32_t sum = (uint32_t)(uint16_t)~gn_get16(packet + 10) + (uint16_t)~was + h.end;
        gn_put16(packet + 2, h.end);
        gn_put16(packet + 10, gn_checksum_finish(sum));
    } else {
        gn_put16(packet + 4, (uint16_t)(h.end - h.l4));
    }
    packet[h.l4 + 13] = run->last_flags;
    size_t at = gn_packet_checksum_at(&h);
    gn_put16(packet + at, (uint16_t)~gn_checksum_finish(gn_packet_pseudo_sum(packet, &h)));
    return (gn_handover){.header_bytes = h.payload,
                         .checksum_start = h.l4,
                         .checksum_offset = (uint16_t)(at - h.l4),
                         .gso_size = run->payload_bytes > run->piece ? run->piece : 0,
                         .ipv6 = h.version == 6};
}
