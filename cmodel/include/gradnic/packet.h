// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_PACKET_H
#define GRADNIC_PACKET_H
/// @file packet.h
/// What an IP packet's headers say: the one place of gradnic where IP, TCP and UDP headers are read from
/// untrusted bytes. Also the Internet checksum. Pure functions, thread-safe, no allocation.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_PACKET_MAX = 65535,  ///< bytes of the largest IP packet
    GN_HEADERS_MAX = 120,   ///< bytes of the longest headers that are transformed: IPv4 60 + TCP 60
    GN_PROTOCOL_TCP = 6,
    GN_PROTOCOL_UDP = 17
};

/// Bits of gn_headers.tcp_flags (RFC 9293 3.1, RFC 3168 6.1).
enum {
    GN_TCP_FIN = 0x01,
    GN_TCP_SYN = 0x02,
    GN_TCP_RST = 0x04,
    GN_TCP_PSH = 0x08,
    GN_TCP_ACK = 0x10,
    GN_TCP_URG = 0x20,
    GN_TCP_ECE = 0x40,
    GN_TCP_CWR = 0x80
};

/// Whether a packet is one that gradnic can look into.
typedef enum gn_parse {
    GN_PARSE_OK,         ///< a whole TCP or UDP packet over IPv4 or IPv6; gn_headers is filled
    GN_PARSE_NOT_IP,     ///< neither IPv4 nor IPv6, or cut short, or with lengths that contradict each other
    GN_PARSE_FRAGMENT,   ///< an IPv4 fragment
    GN_PARSE_EXTENSION,  ///< an IPv6 extension header (a fragment header is one)
    GN_PARSE_PROTOCOL    ///< neither TCP nor UDP
} gn_parse;

/// Offsets are from the first byte of the IP header; numbers are in host order.
typedef struct gn_headers {
    uint8_t version;    ///< 4 or 6
    uint8_t protocol;   ///< GN_PROTOCOL_TCP or GN_PROTOCOL_UDP
    uint8_t tos;        ///< IPv4 ToS or IPv6 traffic class, ECN bits included
    uint8_t tcp_flags;  ///< 0 for UDP
    uint16_t source_port;
    uint16_t destination_port;
    uint16_t l4;       ///< offset of the TCP or UDP header
    uint16_t payload;  ///< offset of the L4 payload; payload == end when there is none
    uint16_t end;      ///< bytes of the IP packet; what follows in the buffer is padding
    uint32_t seq;      ///< TCP sequence number; 0 for UDP
} gn_headers;

/// Reads the headers of the IP packet that `packet` starts with. Bytes behind the IP packet are allowed.
/// `*headers` is written completely when the answer is GN_PARSE_OK, and is unspecified otherwise.
/// A UDP length must cover the IP payload exactly (RFC 768; no jumbograms).
GN_API gn_parse gn_packet_parse(const uint8_t *packet, size_t length, gn_headers *headers);

/// Whether the L4 checksum holds (RFC 9293 3.1, RFC 768). A UDP checksum of 0, "none", does not hold.
/// `headers` as gn_packet_parse() gave them for `packet`.
GN_API bool gn_packet_checksum_ok(const uint8_t *packet, const gn_headers *headers);

/// Sum of the pseudo header: what a host that leaves the checksum to its NIC puts (folded, not
/// complemented) into the checksum field. To be continued with gn_checksum_add().
GN_API uint32_t gn_packet_pseudo_sum(const uint8_t *packet, const gn_headers *headers);

/// Offset of the checksum field within the IP packet.
static inline size_t gn_packet_checksum_at(const gn_headers *headers)
{
    return headers->l4 + (headers->protocol == GN_PROTOCOL_TCP ? 16u : 6u);
}

/// RFC 1071: sum of 16-bit big-endian words, to be continued with the next even-length piece. An odd last
/// byte counts as if a zero followed. Any alignment.
GN_API uint32_t gn_checksum_add(uint32_t sum, const void *bytes, size_t length);
/// Folds and complements: the value of a checksum field, host order.
GN_API uint16_t gn_checksum_finish(uint32_t sum);

#ifdef __cplusplus
}
#endif
#endif
