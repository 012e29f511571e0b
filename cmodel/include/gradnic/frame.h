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
#include <gradnic/packet.h>
#include <gradnic/shim.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_TOS_GRADIENT = 0x28,  ///< the default rule's ToS (the paper's)
    GN_TOS_MASK = 0xfc,      ///< DSCP: the ECN bits never take part in a match
    GN_RULES_MAX = 16        ///< rules of one NIC
};

/// Which packets are compressed, and how. The first rule that matches wins.
typedef struct gn_rule {
    uint8_t tos;        ///< compared under GN_TOS_MASK with ToS or traffic class
    uint8_t protocol;   ///< 0 any, 6 TCP, 17 UDP
    uint16_t port_low;  ///< destination ports, inclusive; 0 and 65535 for any
    uint16_t port_high;
    uint8_t head;  ///< bytes left verbatim at the start of every UDP payload (an application header);
                   ///< a TCP segment's head comes from its phase instead
    gn_codec codec;
} gn_rule;

/// The default rule: ToS 0x28, any protocol and port, dense 2^-10.
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

/// A segment (gn_tx_segment()) counts as one packet in `packets`, `bytes` and `passed`; `compressed` and
/// `stored` count what it was cut into. A packet that fails several tests counts for the first one, in the order
/// of this list but for pass_no_rule, which is the last but one.
typedef struct gn_tx_counters {
    uint64_t packets, bytes;  ///< all packets offered, as long as they were
    uint64_t passed;          ///< untouched, for any reason:
    uint64_t pass_bypass;     ///<   NIC set to bypass
    uint64_t pass_no_rule;    ///<   no rule matches
    uint64_t pass_not_ip;     ///<   neither IPv4 nor IPv6, or headers cut short or contradicting each other
    uint64_t pass_fragment;   ///<   IPv4 fragment
    uint64_t pass_extension;  ///<   IPv6 extension header (fragments included)
    uint64_t pass_protocol;   ///<   neither TCP nor UDP
    uint64_t pass_empty;      ///<   no payload
    uint64_t pass_too_big;    ///<   no room for the shim (would exceed 65535 bytes, or the caller's buffer)
    uint64_t stored_no_gain;  ///< stored because compression would not make it shorter
    uint64_t stored_no_syn;   ///< stored because the flow's SYN was not seen
    uint64_t stored_syn;      ///< stored because the segment itself carries SYN
    uint64_t flows_added, flows_evicted, flows_closed, flows_now;
    gn_tx_rule_counters rule[GN_RULES_MAX];
} gn_tx_counters;

typedef struct gn_rx_counters {
    uint64_t packets, bytes;  ///< all packets offered
    uint64_t passed;          ///< untouched: not marked, or foreign
    uint64_t foreign;         ///< marked, but magic or check wrong: passed
    uint64_t restored[16];    ///< by kind (0 stored, 1 paper, 2 lattice, 3 dense)
    uint64_t wire_bytes;      ///< L4 payload of restored packets as it came
    uint64_t payload_bytes;   ///< L4 payload of restored packets as handed over
    uint64_t malformed;       ///< dropped, for any reason:
    uint64_t bad_version, bad_kind, bad_bound, bad_head, bad_length, bad_stream, bad_checksum;
} gn_rx_counters;

typedef struct gn_tx gn_tx;
typedef struct gn_rx gn_rx;

typedef struct gn_tx_config {
    const gn_rule *rules;  ///< copied
    size_t rule_count;     ///< at most GN_RULES_MAX
    size_t flow_capacity;  ///< TCP flows remembered; 0 for 4096. 60 to 64 bytes each, allocated at once
    bool bypass;           ///< pass everything
} gn_tx_config;

/// @return GN_OK, GN_INVALID (too many rules, or one with an impossible bound, port range or protocol) or
/// GN_NO_MEMORY (also when the kernel has no random bytes). The caller frees with gn_tx_free() (NULL allowed).
GN_API gn_status gn_tx_new(gn_tx **tx, const gn_tx_config *config);
GN_API void gn_tx_free(gn_tx *tx);

/// Replaces the rules; the flow table and the counters stay (a rule's counters restart when it changes).
GN_API gn_status gn_tx_set_rules(gn_tx *tx, const gn_rule *rules, size_t count);
GN_API void gn_tx_set_bypass(gn_tx *tx, bool bypass);
GN_API const gn_tx_counters *gn_tx_get_counters(const gn_tx *tx);

/// Transmits one packet with complete checksums. `out` must hold length + GN_SHIM_BYTES bytes and not
/// overlap `packet`. Bytes of `packet` behind the IP packet are dropped when it is rewritten.
/// PASS or WRITE, never DROP. `*out_length` is written with WRITE only.
GN_API gn_verdict gn_tx_packet(gn_tx *tx, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                               size_t *out_length);

/// The side-band of hardware: how many payload bytes of a TCP segment lie ahead of the next value boundary (0..3),
/// or GN_HEAD_STORED when that is not known and the segment has to go stored.
enum { GN_HEAD_STORED = -1 };

/// The TCP side of gn_tx_packet(): looks at SYN, FIN and RST, and finds the segment's head in the flow table.
/// To be called once for every packet, in order. 0 for what is not TCP.
GN_API int gn_tx_head(gn_tx *tx, const uint8_t *packet, size_t length);

/// The rest of gn_tx_packet(): the transform alone, which depends on nothing but the packet, the rules and the head
/// given (used for TCP only), as the Verilog transmit path is. gn_tx_packet() is gn_tx_head(), then this.
GN_API gn_verdict gn_tx_packet_head(gn_tx *tx, const uint8_t *packet, size_t length, int head, uint8_t *out,
                                    size_t capacity, size_t *out_length);

/// How large segments (TSO, USO) are cut into packets.
typedef enum gn_cut {
    GN_CUT_MTU,  ///< cut to the MTU first, compress each packet: what the paper's NIC does
    GN_CUT_FILL  ///< each packet takes as many values as fill the MTU after compression: fewer packets
} gn_cut;

/// A segment as the host hands it over: possibly larger than the MTU, its checksum left to the NIC. The last two
/// fields may stay 0.
typedef struct gn_segment {
    const uint8_t *packet;  ///< one IP packet
    size_t length;
    uint16_t gso_size;      ///< payload bytes per packet that the host expects; 0: not to be cut
    bool partial_checksum;  ///< the L4 checksum field holds the pseudo-header sum only
    /// With partial_checksum, virtio's csum_start and csum_offset, from the IP header on. 0, 0 for TCP or UDP
    /// directly over IP; other values tell of packets that gradnic does not look into (a tunnel's inner
    /// header, an extension header): completed, and passed.
    uint16_t checksum_start, checksum_offset;
} gn_segment;

enum {
    GN_BURST_PACKETS = 2048,  ///< packets that one segment can become (65535 / 36, Linux' smallest MSS, rounded up)
    GN_BURST_BYTES = 65536 + GN_BURST_PACKETS * (GN_HEADERS_MAX + GN_SHIM_BYTES) + 64
};

/// Packets back to back: packet i is data[offset[i]] .. data[offset[i + 1]]. Large (330 KiB): allocate it once.
/// It is filled front to back and never cleared, so a small burst touches little memory.
typedef struct gn_burst {
    unsigned count;
    uint32_t offset[GN_BURST_PACKETS + 1];
    uint8_t data[GN_BURST_BYTES];
} gn_burst;

/// Transmits one segment: cuts, compresses, completes checksums. Every packet in `burst` is a whole IP packet
/// of at most `wire_mtu` bytes (bytes after compression), valid in itself. Segments that match no rule
/// are cut too (payload untouched), as Linux' own GSO cuts.
///
/// TCP: packets carry at most gso_size payload bytes (GN_CUT_FILL: as many as fit), and never more than fit
/// `wire_mtu`, whatever gso_size says; sequence numbers go on, IPv4 ids count up, FIN and PSH are on the last
/// packet only, CWR on the first only (RFC 3168 6.1.2). UDP: gso_size bytes make a datagram, and a datagram stays
/// one, with either cut.
/// @return GN_OK; GN_INVALID when gso_size or wire_mtu is impossible for the packet (something that cannot be
/// cut and does not fit, more than GN_BURST_PACKETS packets; counted as dropped by the caller): then the
/// burst is empty. Whether a packet fits is judged by its stored form, not by what the codec makes of it.
GN_API gn_status gn_tx_segment(gn_tx *tx, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst);

/// The cut alone, for a transmit path that takes packets (hardware): what gn_tx_segment() with GN_CUT_MTU would transform, packet
/// by packet, checksums complete, with room left for the shim where a rule matches. Counts and notes nothing: gn_tx_head(), then
/// gn_tx_packet_head(), for every packet of `burst` give gn_tx_segment()'s.
/// @return as gn_tx_segment()
GN_API gn_status gn_tx_segment_cut(const gn_tx *tx, const gn_segment *segment, size_t wire_mtu, gn_burst *burst);

/// Where the payload of packets lies whose headers gn_tx_segment_headers() made.
typedef struct gn_headers_cut {
    size_t header_bytes;    ///< of every packet, in burst->data
    size_t payload_offset;  ///< packet i's payload begins at segment->packet + payload_offset + i * piece
    size_t piece;           ///< its length; the last packet has what remains
} gn_headers_cut;

/// gn_tx_segment() without copying payload, for segments that no rule matches: `burst` gets the headers only, complete
/// with checksums, and the payload stays where it is, for sendmsg() to gather. Header i is
/// burst->data[i * header_bytes] ..; burst->offset is not used.
/// @return as gn_tx_segment(); GN_UNSUPPORTED for a segment that has to be transformed, or that is not TCP or UDP:
/// then nothing has been counted or noted, and gn_tx_segment() is to be called.
GN_API gn_status gn_tx_segment_headers(gn_tx *tx, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                                       gn_headers_cut *cut);

typedef struct gn_rx_config {
    const uint8_t *tos;  ///< marked packets have one of these (under GN_TOS_MASK); copied. NULL: 0x28
    size_t tos_count;    ///< at most GN_RULES_MAX
    bool bypass;
    const char *kernel;  ///< as gn_codec_init_kernel(); NULL: fastest
    /// Leave out the verification of the L4 checksum: only where something else has vouched for these very
    /// bytes (an outer checksum that the kernel verified).
    bool checksum_vouched;
    /// Leave only the pseudo-header sum in the L4 checksum field of packets written, for a host that takes
    /// checksum offload (virtio's NEEDS_CSUM: start headers.l4, offset gn_packet_checksum_at() - start).
    bool partial_checksum;
} gn_rx_config;

/// @return GN_OK; GN_INVALID (too many ToS); GN_NO_MEMORY; GN_UNSUPPORTED for a kernel that is not here.

GN_API gn_status gn_rx_new(gn_rx **rx, const gn_rx_config *config);
GN_API void gn_rx_free(gn_rx *rx);
GN_API gn_status gn_rx_set_tos(gn_rx *rx, const uint8_t *tos, size_t count);
GN_API void gn_rx_set_bypass(gn_rx *rx, bool bypass);
GN_API const gn_rx_counters *gn_rx_get_counters(const gn_rx *rx);

/// Receives one packet from the wire. `out`: at least GN_PACKET_MAX bytes, not overlapping. The input is
/// untrusted: whatever it holds, nothing is read or written past the buffers. The checksum is verified
/// before the payload is looked at, and the packet handed over carries a complete one (see gn_rx_config for
/// the exceptions). `*out_length` is written with WRITE only.
GN_API gn_verdict gn_rx_packet(gn_rx *rx, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                               size_t *out_length);

/// Offset of the IP packet in an Ethernet frame (one VLAN tag allowed); 0 when there is none.
GN_API size_t gn_frame_ethernet_offset(const uint8_t *frame, size_t length);

/// Neighbouring TCP packets on their way to the host, joined into one large segment (what the kernel's GRO
/// does; receive side of TSO). Only the bookkeeping: payload is gathered by whoever writes (writev), or copied.
///
///     if (gn_run_begin(&run, a, a_length, verified))             // a starts a run; or hand a over as it is
///         while (gn_run_append(&run, b, b_length, verified, &at))  // payload of b: b + at .. its end
///             ...;
///     gn_run_finish(&run, mss, a);                               // patches a's headers in place
typedef struct gn_run {
    gn_headers first;        ///< of the first packet
    uint8_t last_flags;      ///< TCP flags of the last packet
    unsigned packets;        ///< joined, the first one included
    uint32_t payload_bytes;  ///< of all of them
    const uint8_t *packet;   ///< the first one, not owned; must stay until gn_run_finish()
} gn_run;

/// How a host is told about a joined segment, in the terms of virtio_net_hdr.
typedef struct gn_handover {
    uint16_t header_bytes;     ///< hdr_len: IP and TCP headers
    uint16_t checksum_start;   ///< csum_start
    uint16_t checksum_offset;  ///< csum_offset
    uint16_t gso_size;         ///< 0: an ordinary packet, gso_type none
    bool ipv6;                 ///< gso_type TCPV6 instead of TCPV4
} gn_handover;

/// Begins a run. `verified`: the L4 checksum is known to hold, or is partial; otherwise it is verified here.
/// @return false for a packet that is not to be joined with anything: not TCP, no payload, IPv4 options, a flag
/// other than ACK and PSH, a wrong checksum. It is to be handed over as it is.
GN_API bool gn_run_begin(gn_run *run, const uint8_t *packet, size_t length, bool verified);

/// Joins a packet when it goes on where the run ends: same flow, next sequence number, and headers equal but for lengths,
/// IPv4 id, sequence number, checksums and PSH; equal acknowledgment, window, ToS with ECN bits, TTL, DF,
/// flow label and TCP options (as Linux' GRO asks; sizes may differ). A run ends with PSH, and below 65536 bytes.
/// `*payload_at`: offset of its payload. False, and the run unchanged, otherwise.
GN_API bool gn_run_append(gn_run *run, const uint8_t *packet, size_t length, bool verified, size_t *payload_at);

/// Makes the headers of the joined segment, in place in the first packet: total length, IPv4 header checksum, PSH, and
/// the pseudo-header sum as partial L4 checksum. `mss`: payload bytes of an ordinary packet of the host, for gso_size;
/// what is not larger is an ordinary packet (gso_size 0), still with a partial checksum.
GN_API gn_handover gn_run_finish(const gn_run *run, uint16_t mss, uint8_t *packet);

#ifdef __cplusplus
}
#endif
#endif
