// SPDX-License-Identifier: Apache-2.0
// Reads IP, TCP and UDP headers. Every other file takes offsets from here and never parses again.
#include <gradnic/packet.h>

#include "bytes.h"

enum {
    IPV4_MIN = 20,
    IPV6_BYTES = 40,
    TCP_MIN = 20,
    UDP_BYTES = 8,
    IPV4_FRAGMENT = 0x3fff,  // more-fragments flag and offset; "don't fragment" is not among them
};

static gn_parse parse_ipv4(const uint8_t *packet, size_t length, gn_headers *h)
{
    if (length < IPV4_MIN) return GN_PARSE_NOT_IP;
    unsigned header = (packet[0] & 15u) * 4;
    unsigned total = gn_get16(packet + 2);
    if (header < IPV4_MIN || total < header || total > length) return GN_PARSE_NOT_IP;
    if (gn_get16(packet + 6) & IPV4_FRAGMENT) return GN_PARSE_FRAGMENT;
    h->tos = packet[1];
    h->protocol = packet[9];
    h->l4 = (uint16_t)header;
    h->end = (uint16_t)total;
    return GN_PARSE_OK;
}

/// The extension headers of IANA's list; everything else in the next-header field is a protocol.
static bool is_ipv6_extension(uint8_t next)
{
    switch (next) {
    case 0:    // hop-by-hop options
    case 43:   // routing
    case 44:   // fragment
    case 50:   // encapsulating security payload
    case 51:   // authentication
    case 60:   // destination options
    case 135:  // mobility
    case 139:  // host identity protocol
    case 140:  // shim6
    case 253:  // experiments
    case 254:
        return true;
    default:
        return false;
    }
}

static gn_parse parse_ipv6(const uint8_t *packet, size_t length, gn_headers *h)
{
    if (length < IPV6_BYTES) return GN_PARSE_NOT_IP;
    size_t total = IPV6_BYTES + (size_t)gn_get16(packet + 4);
    // A host may send 40 + 65535 bytes; such a packet has no room for a shim and is none of ours.
    if (total > length || total > GN_PACKET_MAX) return GN_PARSE_NOT_IP;
    if (is_ipv6_extension(packet[6])) return GN_PARSE_EXTENSION;
    h->tos = (uint8_t)(gn_get16(packet) >> 4);
    h->protocol = packet[6];
    h->l4 = IPV6_BYTES;
    h->end = (uint16_t)total;
    return GN_PARSE_OK;
}

static gn_parse parse_tcp(const uint8_t *packet, gn_headers *h)
{
    if (h->end - h->l4 < TCP_MIN) return GN_PARSE_NOT_IP;
    const uint8_t *tcp = packet + h->l4;
    unsigned header = (tcp[12] >> 4) * 4u;
    if (header < TCP_MIN || h->l4 + header > h->end) return GN_PARSE_NOT_IP;
    h->tcp_flags = tcp[13];
    h->seq = gn_get32(tcp + 4);
    h->payload = (uint16_t)(h->l4 + header);
    return GN_PARSE_OK;
}

static gn_parse parse_udp(const uint8_t *packet, gn_headers *h)
{
    if (h->end - h->l4 < UDP_BYTES) return GN_PARSE_NOT_IP;
    if (gn_get16(packet + h->l4 + 4) != h->end - h->l4) return GN_PARSE_NOT_IP;
    h->tcp_flags = 0;
    h->seq = 0;
    h->payload = (uint16_t)(h->l4 + UDP_BYTES);
    return GN_PARSE_OK;
}

gn_parse gn_packet_parse(const uint8_t *packet, size_t length, gn_headers *h)
{
    if (!length) return GN_PARSE_NOT_IP;
    h->version = packet[0] >> 4;
    gn_parse ip = h->version == 4   ? parse_ipv4(packet, length, h)
                  : h->version == 6 ? parse_ipv6(packet, length, h)
                                    : GN_PARSE_NOT_IP;
    if (ip != GN_PARSE_OK) return ip;
    gn_parse l4 = h->protocol == GN_PROTOCOL_TCP   ? parse_tcp(packet, h)
                  : h->protocol == GN_PROTOCOL_UDP ? parse_udp(packet, h)
                                                   : GN_PARSE_PROTOCOL;
    if (l4 != GN_PARSE_OK) return l4;
    h->source_port = gn_get16(packet + h->l4);
    h->destination_port = gn_get16(packet + h->l4 + 2);
    return GN_PARSE_OK;
}

uint32_t gn_packet_pseudo_sum(const uint8_t *packet, const gn_headers *h)
{
    uint32_t sum = (uint32_t)h->protocol + (uint32_t)(h->end - h->l4);
    return h->version == 4 ? gn_checksum_add(sum, packet + 12, 8) : gn_checksum_add(sum, packet + 8, 32);
}

bool gn_packet_checksum_ok(const uint8_t *packet, const gn_headers *h)
{
    if (h->protocol == GN_PROTOCOL_UDP && !gn_get16(packet + h->l4 + 6)) return false;
    uint32_t sum = gn_checksum_add(gn_packet_pseudo_sum(packet, h), packet + h->l4, (size_t)(h->end - h->l4));
    return gn_checksum_finish(sum) == 0;
}
