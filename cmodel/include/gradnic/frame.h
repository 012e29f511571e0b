// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_FRAME_H
#define GRADNIC_FRAME_H
/// @file frame.h
/// What the NIC does to one packet, in both directions: same packet in, same packet out, byte for byte,
/// in C, in the userspace NIC and in the Verilog NIC. docs/wire.md is the format's own document.
///
/// Transmit (host to wire): an eligible packet (rule, IPv4/IPv6, TCP/UDP, no fragment, payload) leaves
/// with an 8-byte shim header, compressed or stored. Receive (wire to host): the reverse. All other
/// packets pass untouched.
///
/// Packets are IP packets (no Ethernet header; gn_frame_ethernet_offset() finds the IP packet in a frame).
/// Objects are not thread-safe; transmit and receive are separate objects, so that two threads need no lock.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_SHIM_BYTES = 8,         ///< the shim header; a packet never grows by more
    GN_TOS_GRADIENT = 0x28,    ///< the default rule's ToS (the paper's)
    GN_TOS_MASK = 0xfc,        ///< DSCP: the ECN bits never take part in a match
    GN_RULES_MAX = 16,         ///< rules of one NIC
    GN_PACKET_MAX = 65535      ///< bytes of the largest IP packet
};

/// Which packets are compressed, and how. The first rule that matches wins.
typedef struct gn_rule {
    uint8_t tos;        ///< compared under GN_TOS_MASK with ToS or traffic class
    uint8_t protocol;   ///< 0 any, 6 TCP, 17 UDP
    uint16_t port_low;  ///< destination ports, inclusive; 0 and 65535 for any
    uint16_t port_high;
    uint8_t head;       ///< bytes left verbatim at the start of every UDP payload (an application header);
                        ///< a TCP segment's head comes from its phase instead
    gn_codec codec;
} gn_rule;

/// The default rule: ToS 0x28, any protocol and port, lattice 2^-10.
GN_API gn_rule gn_rule_default(void);

/// What happened to a packet.
typedef enum gn_verdict {
    GN_VERDICT_PASS,   ///< send the packet as it came; nothing was written to `out`
    GN_VERDICT_WRITE,  ///< send what is in `out`
    GN_VERDICT_DROP    ///< malformed; send nothing (a sender of TCP will retransmit)
} gn_verdict;

/// Transmit counters of one rule. Bytes are L4 payload.
typedef struct gn_tx_rule_counters {
    uint64_t compressed;     ///< packets
    uint64_t stored;         ///< packets, for any reason below
    uint64_t values;         ///< values compressed
    uint64_t payload_bytes;  ///< before: payload of compressed and stored packets
    uint64_t wire_bytes;     ///< after: shim and all
} gn_tx_rule_counters;

typedef struct gn_tx_counters {
    uint64_t packets, bytes;     ///< all packets offered, whole IP packets
    uint64_t passed;             ///< untouched, for any reason:
    uint64_t pass_bypass;        ///<   NIC set to bypass
    uint64_t pass_no_rule;       ///<   no rule matches
    uint64_t pass_not_ip;        ///<   neither IPv4 nor IPv6, or not a whole IP packet
    uint64_t pass_fragment;      ///<   IPv4 fragment
    uint64_t pass_extension;     ///<   IPv6 extension header (fragments included)
    uint64_t pass_protocol;      ///<   neither TCP nor UDP
    uint64_t pass_empty;         ///<   no payload
    uint64_t pass_too_big;       ///<   no room for the shim (would exceed 65535 bytes)
    uint64_t stored_no_gain;     ///< stored because compression would not make it shorter
    uint64_t stored_no_syn;      ///< stored because the flow's SYN was not seen
    uint64_t stored_syn;         ///< stored because the segment itself carries SYN
    uint64_t flows_added, flows_evicted, flows_closed, flows_now;
    gn_tx_rule_counters rule[GN_RULES_MAX];
} gn_tx_counters;

typedef struct gn_rx_counters {
    uint64_t packets, bytes;   ///< all packets offered
    uint64_t passed;           ///< untouched: not marked, or foreign
    uint64_t foreign;          ///< marked, but magic or check wrong: passed
    uint64_t restored[16];     ///< by kind (0 stored, 1 paper, 2 lattice, 3 dense)
    uint64_t wire_bytes;       ///< L4 payload of restored packets as it came
    uint64_t payload_bytes;    ///< L4 payload of restored packets as handed over
    uint64_t malformed;        ///< dropped, for any reason:
    uint64_t bad_version, bad_kind, bad_bound, bad_head, bad_length, bad_stream, bad_checksum;
} gn_rx_counters;

typedef struct gn_tx gn_tx;
typedef struct gn_rx gn_rx;

typedef struct gn_tx_config {
    const gn_rule *rules;  ///< copied
    size_t rule_count;     ///< at most GN_RULES_MAX
    size_t flow_capacity;  ///< TCP flows remembered; 0 for 4096. About 64 bytes each, allocated at once
    bool bypass;           ///< pass everything
} gn_tx_config;

/// @return GN_OK, GN_INVALID or GN_NO_MEMORY. The caller frees with gn_tx_free() (NULL allowed).
GN_API gn_status gn_tx_new(gn_tx **tx, const gn_tx_config *config);
GN_API void gn_tx_free(gn_tx *tx);

/// Replaces the rules; the flow table and the counters stay (a rule's counters restart when it changes).
GN_API gn_status gn_tx_set_rules(gn_tx *tx, const gn_rule *rules, size_t count);
GN_API void gn_tx_set_bypass(gn_tx *tx, bool bypass);
GN_API const gn_tx_counters *gn_tx_get_counters(const gn_tx *tx);

/// Transmits one packet with complete checksums. `out` must hold length + GN_SHIM_BYTES bytes and not
/// overlap `packet`. Bytes of `packet` behind the IP packet are dropped when it is rewritten.
GN_API gn_verdict gn_tx_packet(gn_tx *tx, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                               size_t *out_length);

/// How large segments (TSO, USO) are cut into packets.
typedef enum gn_cut {
    GN_CUT_MTU,  ///< cut to the MTU first, compress each packet: what the paper's NIC does
    GN_CUT_FILL  ///< each packet takes as many values as fill the MTU after compression: fewer packets
} gn_cut;

/// A segment as the host hands it over: possibly larger than the MTU, its checksum left to the NIC.
typedef struct gn_segment {
    const uint8_t *packet;  ///< one IP packet
    size_t length;
    uint16_t gso_size;      ///< payload bytes per packet that the host expects; 0: not to be cut
    bool partial_checksum;  ///< the L4 checksum field holds the pseudo-header sum only
} gn_segment;

enum {
    GN_BURST_PACKETS = 256,  ///< packets that one segment can become
    GN_BURST_BYTES = 65536 + GN_BURST_PACKETS * 96 + 64
};

/// Packets back to back: packet i is data[offset[i]] .. data[offset[i + 1]]. Large: allocate it once.
typedef struct gn_burst {
    unsigned count;
    uint32_t offset[GN_BURST_PACKETS + 1];
    uint8_t data[GN_BURST_BYTES];
} gn_burst;

/// Transmits one segment: cuts, compresses, completes checksums. Every packet in `burst` is a whole IP packet
/// of at most `wire_mtu` bytes (bytes after compression), valid in itself. Segments that match no rule
/// are cut too (payload untouched).
/// @return GN_OK; GN_INVALID when gso_size or wire_mtu is impossible for the packet (counted as dropped
/// by the caller): then the burst is empty.
GN_API gn_status gn_tx_segment(gn_tx *tx, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst);

typedef struct gn_rx_config {
    const uint8_t *tos;  ///< marked packets have one of these (under GN_TOS_MASK); copied. NULL: 0x28
    size_t tos_count;    ///< at most GN_RULES_MAX
    bool bypass;
    const char *kernel;  ///< as gn_codec_init_kernel(); NULL: fastest
} gn_rx_config;

GN_API gn_status gn_rx_new(gn_rx **rx, const gn_rx_config *config);
GN_API void gn_rx_free(gn_rx *rx);
GN_API gn_status gn_rx_set_tos(gn_rx *rx, const uint8_t *tos, size_t count);
GN_API void gn_rx_set_bypass(gn_rx *rx, bool bypass);
GN_API const gn_rx_counters *gn_rx_get_counters(const gn_rx *rx);

/// Receives one packet from the wire. `out`: at least GN_PACKET_MAX bytes, not overlapping. The input is
/// untrusted: whatever it holds, nothing is read or written past the buffers. The checksum is verified
/// before the payload is looked at, and the packet handed over carries a complete one.
GN_API gn_verdict gn_rx_packet(gn_rx *rx, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                               size_t *out_length);

/// Offset of the IP packet in an Ethernet frame (one VLAN tag allowed); 0 when there is none.
GN_API size_t gn_frame_ethernet_offset(const uint8_t *frame, size_t length);

/// RFC 1071: sum of 16-bit big-endian words, to be continued with the next even-length piece.
GN_API uint32_t gn_checksum_add(uint32_t sum, const void *bytes, size_t length);
/// Folds and complements: the value of a checksum field, host order.
GN_API uint16_t gn_checksum_finish(uint32_t sum);

#ifdef __cplusplus
}
#endif
#endif
