// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_PACKET_H
#define GRADNIC_PACKET_H
/// @file packet.h
/// What the headers of an IP packet say, and the Internet checksum. This is the one place of
/// gradnic that reads IP, TCP and UDP headers from untrusted bytes. Pure functions, thread-safe, no
/// allocation.

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
    GN_PROTOCOL_TCP = 6,    ///< IP protocol number of TCP
    GN_PROTOCOL_UDP = 17    ///< IP protocol number of UDP
};

/// Bits of gn_headers.tcp_flags (RFC 9293 3.1, RFC 3168 6.1).
enum {
    GN_TCP_FIN = 0x01,  ///< the sender has no more data
    GN_TCP_SYN = 0x02,  ///< a connection begins
    GN_TCP_RST = 0x04,  ///< the connection is reset
    GN_TCP_PSH = 0x08,  ///< push
    GN_TCP_ACK = 0x10,  ///< the acknowledgment number counts
    GN_TCP_URG = 0x20,  ///< the urgent pointer counts
    GN_TCP_ECE = 0x40,  ///< ECN echo
    GN_TCP_CWR = 0x80   ///< congestion window reduced
};

/// What an IP header says, whatever the packet carries: fragments, extension headers and ICMP too.
/// Offsets are from the first byte of the header; numbers are in host order.
typedef struct gn_ip_header {
    uint8_t version;           ///< 4 or 6
    uint8_t tos;               ///< IPv4 ToS or IPv6 traffic class, ECN bits included
    uint8_t protocol;          ///< IPv4 protocol, or IPv6 next header
    uint8_t source;            ///< offset of the source address
    uint8_t destination;       ///< offset of the destination address
    uint8_t address_bytes;     ///< of each address: 4 or 16
    bool more_fragments;       ///< IPv4 flag; false for IPv6
    uint16_t fragment_offset;  ///< IPv4, in units of 8 bytes; 0 for IPv6
    uint16_t payload;          ///< offset of what follows the header
    uint32_t end;              ///< bytes of the IP packet, at most 40 + 65535; padding may follow
} gn_ip_header;

/// Reads the header of the IP packet that `packet` starts with. Bytes behind the packet are
/// allowed.
/// @return false when there is no whole IPv4 or IPv6 packet: then `*ip` is unspecified
GN_API bool gn_ip_header_read(const uint8_t *packet, size_t length, gn_ip_header *ip);

/// The IP version that the first byte announces, whatever follows; 0 when there is no byte.
static inline unsigned gn_packet_version(const uint8_t *bytes, size_t length)
{
    return length ? bytes[0] >> 4 : 0;
}

/// Whether gradnic can look into a packet.
typedef enum gn_parse {
    GN_PARSE_OK,         ///< a whole TCP or UDP packet over IPv4 or IPv6; gn_headers is filled
    GN_PARSE_NOT_IP,     ///< neither IPv4 nor IPv6, cut short, or with contradictory lengths
    GN_PARSE_FRAGMENT,   ///< an IPv4 fragment
    GN_PARSE_EXTENSION,  ///< an IPv6 extension header (a fragment header is one)
    GN_PARSE_PROTOCOL    ///< neither TCP nor UDP
} gn_parse;

/// The headers of one packet. Offsets count from the first byte of the IP header. Numbers are in
/// host order.
typedef struct gn_headers {
    uint8_t version;            ///< 4 or 6
    uint8_t protocol;           ///< GN_PROTOCOL_TCP or GN_PROTOCOL_UDP
    uint8_t tos;                ///< IPv4 ToS or IPv6 traffic class, ECN bits included
    uint8_t tcp_flags;          ///< GN_TCP_ bits; 0 for UDP
    uint16_t source_port;       ///< TCP or UDP
    uint16_t destination_port;  ///< TCP or UDP
    uint16_t l4;                ///< offset of the TCP or UDP header
    uint16_t payload;           ///< offset of the L4 payload; payload == end when there is none
    uint16_t end;               ///< bytes of the IP packet; what follows in the buffer is padding
    uint32_t seq;               ///< TCP sequence number; 0 for UDP
} gn_headers;

/// Reads the headers of the IP packet at the start of `packet`. Bytes after the IP packet are
/// allowed. `*headers` is written completely with GN_PARSE_OK, and is unspecified otherwise. A UDP
/// length must cover the IP payload exactly (RFC 768; no jumbograms).
GN_API gn_parse gn_packet_parse(const uint8_t *packet, size_t length, gn_headers *headers);

/// Whether the IPv4 header carries options. gradnic leaves such packets alone: with a source route
/// the address in the header is not the one that the L4 checksum covers (RFC 9293 3.1).
static inline bool gn_packet_has_options(const gn_headers *headers)
{
    return headers->version == 4 && headers->l4 > 20;
}

/// Whether the L4 checksum holds (RFC 9293 3.1, RFC 768). A UDP checksum of 0, "none", does not
/// hold. `headers` are those that gn_packet_parse() gave for `packet`.
GN_API bool gn_packet_checksum_ok(const uint8_t *packet, const gn_headers *headers);

/// Returns the sum of the pseudo header, folded and not complemented. A host that leaves the
/// checksum to its NIC puts it into the checksum field. Continue it with gn_checksum_add().
GN_API uint32_t gn_packet_pseudo_sum(const uint8_t *packet, const gn_headers *headers);

/// Kinds of TCP options under which payload must arrive as it was sent.
enum {
    GN_TCP_OPTION_MD5 = 19,   ///< a signature of the segment (RFC 2385)
    GN_TCP_OPTION_AO = 29,    ///< the same, newer (RFC 5925)
    GN_TCP_OPTION_MPTCP = 30  ///< one stream over several connections, with a checksum (RFC 8684)
};

/// Returns the offset of the first TCP option whose kind is in the set `kinds`, or 0. Bit k stands
/// for kind k, from 2 to 63. Only whole options count. `headers` are those that gn_packet_parse()
/// gave for `packet`. 0 for UDP.
GN_API size_t gn_packet_tcp_option(const uint8_t *packet, const gn_headers *headers, uint64_t kinds);

/// Returns the offset of the checksum field within the IP packet.
static inline size_t gn_packet_checksum_at(const gn_headers *headers)
{
    return headers->l4 + (headers->protocol == GN_PROTOCOL_TCP ? 16u : 6u);
}

/// Adds 16-bit big-endian words to a sum (RFC 1071). Continue it with the next piece; all pieces
/// but the last have an even length. An odd last byte counts as if a zero followed. Any alignment.
GN_API uint32_t gn_checksum_add(uint32_t sum, const void *bytes, size_t length);

/// Folds and complements a sum: the value of a checksum field, in host order.
GN_API uint16_t gn_checksum_finish(uint32_t sum);

#ifdef __cplusplus
}
#endif
#endif
