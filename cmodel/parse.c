// SPDX-License-Identifier: Apache-2.0
// Reads IP, TCP and UDP headers. Every other file takes offsets from here and never parses again.
#include "addresses.h"
#include "bytes.h"

enum {
    IPV4_MIN = 20,
    IPV6_BYTES = 40,
    TCP_MIN = 20,
    UDP_BYTES = 8,
    MORE_FRAGMENTS = 0x2000,  // "don't fragment", 0x4000, makes no fragment
    FRAGMENT_OFFSET = 0x1fff,
};

static inline bool read_ipv4(const uint8_t *packet, size_t length, gn_ip_header *ip)
{
    if (length < IPV4_MIN) return false;
    unsigned header = (packet[0] & 15u) * 4, total = gn_get16(packet + 2), fragment = gn_get16(packet + 6);
    if (header < IPV4_MIN || total < header || total > length) return false;
    *ip = (gn_ip_header){.version = 4,
                         .tos = packet[1],
                         .protocol = packet[9],
                         .source = GN_IPV4_SOURCE,
                         .destination = GN_IPV4_SOURCE + 4,
                         .address_bytes = 4,
                         .more_fragments = fragment & MORE_FRAGMENTS,
                         .fragment_offset = fragment & FRAGMENT_OFFSET,
                         .payload = (uint16_t)header,
                         .end = total};
    return true;
}

static inline bool read_ipv6(const uint8_t *packet, size_t length, gn_ip_header *ip)
{
    if (length < IPV6_BYTES) return false;
    unsigned total = IPV6_BYTES + (unsigned)gn_get16(packet + 4);
    if (total > length) return false;
    *ip = (gn_ip_header){.version = 6,
                         .tos = (uint8_t)(gn_get16(packet) >> 4),
                         .protocol = packet[6],
                         .source = GN_IPV6_SOURCE,
                         .destination = GN_IPV6_SOURCE + 16,
                         .address_bytes = 16,
                         .payload = IPV6_BYTES,
                         .end = total};
    return true;
}

// Inline: gn_packet_parse() reads a header for every packet.
static inline bool read_ip(const uint8_t *packet, size_t length, gn_ip_header *ip)
{
    unsigned version = gn_packet_version(packet, length);
    return version == 4 ? read_ipv4(packet, length, ip) : version == 6 && read_ipv6(packet, length, ip);
}

bool gn_ip_header_read(const uint8_t *packet, size_t length, gn_ip_header *ip)
{
    return read_ip(packet, length, ip);
}

// The extension headers of IANA's list. Any other next header is a protocol.
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

// Copies the IP header's fields to `h`. Anything but GN_PARSE_OK says why gradnic looks no further.
static inline gn_parse take_ip(const gn_ip_header *ip, gn_headers *h)
{
    // A host may send 40 + 65535 bytes over IPv6. Such a packet has no room for a shim.
    if (ip->end > GN_PACKET_MAX) return GN_PARSE_NOT_IP;
    if (ip->more_fragments || ip->fragment_offset) return GN_PARSE_FRAGMENT;
    if (ip->version == 6 && is_ipv6_extension(ip->protocol)) return GN_PARSE_EXTENSION;
    h->version = ip->version;
    h->tos = ip->tos;
    h->protocol = ip->protocol;
    h->l4 = ip->payload;
    h->end = (uint16_t)ip->end;
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
    gn_ip_header ip;
    if (!read_ip(packet, length, &ip)) return GN_PARSE_NOT_IP;
    gn_parse known = take_ip(&ip, h);
    if (known != GN_PARSE_OK) return known;
    gn_parse l4 = h->protocol == GN_PROTOCOL_TCP   ? parse_tcp(packet, h)
                  : h->protocol == GN_PROTOCOL_UDP ? parse_udp(packet, h)
                                                   : GN_PARSE_PROTOCOL;
    if (l4 != GN_PARSE_OK) return l4;
    h->source_port = gn_get16(packet + h->l4);
    h->destination_port = gn_get16(packet + h->l4 + 2);
    return GN_PARSE_OK;
}

size_t gn_packet_tcp_option(const uint8_t *packet, const gn_headers *h, uint64_t kinds)
{
    enum { END = 0, PADDING = 1, KINDS = 64 };
    if (h->protocol != GN_PROTOCOL_TCP) return 0;
    for (size_t at = h->l4 + (size_t)TCP_MIN; at < h->payload && packet[at] != END;) {
        const size_t rest = h->payload - at, kind = packet[at];
        if (kind == PADDING) {
            at++;
            continue;
        }
        if (rest < 2 || packet[at + 1] < 2 || packet[at + 1] > rest) break;
        if (kind < KINDS && kinds >> kind & 1) return at;
        at += packet[at + 1];
    }
    return 0;
}

uint32_t gn_packet_pseudo_sum(const uint8_t *packet, const gn_headers *h)
{
    return gn_addresses_sum((uint32_t)h->protocol + (uint32_t)(h->end - h->l4), packet, h->version);
}

bool gn_packet_checksum_ok(const uint8_t *packet, const gn_headers *h)
{
    if (h->protocol == GN_PROTOCOL_UDP && !gn_get16(packet + h->l4 + 6)) return false;
    uint32_t sum = gn_checksum_add(gn_packet_pseudo_sum(packet, h), packet + h->l4, (size_t)(h->end - h->l4));
    return gn_checksum_finish(sum) == 0;
}
