// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_FRAME_H
#define GRADNIC_FRAME_H
/// @file frame.h
/// What the NIC does to one packet, in both directions. The same packet in gives the same packet
/// out, byte for byte: in C, in the userspace NIC and in the Verilog NIC. docs/wire.md describes
/// the format.
///
/// - Transmit (host to wire): an eligible packet leaves with an 8-byte shim header, compressed or
///   stored. A packet is eligible when a rule matches it, and it is TCP or UDP over IPv4 or IPv6,
///   no fragment, without IPv4 options, with payload.
/// - Receive (wire to host): the reverse.
/// - All other packets pass untouched.
///
/// Packets are IP packets without an Ethernet header. gn_frame_ethernet_offset() finds the IP
/// packet in a frame. Objects are not thread-safe. Transmit and receive are separate objects, so
/// that two threads need no lock. `examples/packet.c` is a whole program.

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
    GN_TOS_GRADIENT = 0x28,  ///< the ToS of the default rule and of the paper: DSCP AF11
    GN_TOS_MASK = 0xfc,      ///< DSCP; the ECN bits take no part in a match
    GN_RULES_MAX = 16        ///< most rules of one NIC
};

/// Which packets are compressed, and how. The first rule that matches wins.
typedef struct gn_rule {
    uint8_t tos;         ///< compared under GN_TOS_MASK with ToS or traffic class
    uint8_t protocol;    ///< 0 any, 6 TCP, 17 UDP
    uint16_t port_low;   ///< first destination port; 0 for any
    uint16_t port_high;  ///< last destination port; 65535 for any
    /// Bytes at the start of every UDP payload that stay verbatim: an application header. The head
    /// of a TCP segment comes from its phase instead.
    uint8_t head;
    gn_codec codec;  ///< how matching packets are compressed
} gn_rule;

/// The default rule: ToS 0x28, any protocol and port, dense 2^-10.
GN_API gn_rule gn_rule_default(void);

/// The first of `count` rules that matches a packet with these headers (TCP or UDP, as
/// gn_packet_parse() gives them); NULL: none does.
GN_API const gn_rule *gn_rule_match(const gn_rule *rules, size_t count, const gn_headers *headers);

/// What happened to a packet.
typedef enum gn_verdict {
    GN_VERDICT_PASS,   ///< send the packet as it came; `out` is not written
    GN_VERDICT_WRITE,  ///< send what is in `out`
    GN_VERDICT_DROP    ///< malformed: send nothing (a TCP sender retransmits)
} gn_verdict;

/// Transmit counters of one rule. Bytes are L4 payload.
typedef struct gn_tx_rule_counters {
    uint64_t compressed;     ///< packets
    uint64_t stored;         ///< packets, for any reason below
    uint64_t values;         ///< values compressed
    uint64_t payload_bytes;  ///< before: payload of compressed and stored packets
    uint64_t wire_bytes;     ///< after: shim and all
} gn_tx_rule_counters;

/// Transmit counters. A segment (gn_tx_segment()) counts as one packet in `packets`, `bytes` and
/// `passed`. `compressed` and `stored` count the packets that it was cut into. A packet that fails
/// several tests counts for the first one. The tests are in the order of this list, but
/// pass_no_rule is the last but one.
typedef struct gn_tx_counters {
    uint64_t packets, bytes;  ///< all packets offered, with their lengths
    uint64_t passed;          ///< untouched, for any reason:
    uint64_t pass_bypass;     ///<   NIC set to bypass
    uint64_t pass_no_rule;    ///<   no rule matches
    uint64_t pass_not_ip;     ///<   neither IPv4 nor IPv6, or headers cut short or contradictory
    uint64_t pass_fragment;   ///<   IPv4 fragment
    uint64_t pass_extension;  ///<   IPv6 extension header (fragments included), or IPv4 options
    uint64_t pass_protocol;   ///<   neither TCP nor UDP
    uint64_t pass_empty;      ///<   no payload
    uint64_t pass_too_big;    ///<   too long with the shim (wire_mtu, or the caller's buffer)
    uint64_t stored_no_gain;  ///< stored because compression does not shorten it
    uint64_t stored_no_syn;   ///< stored because the flow's SYN was not seen
    uint64_t stored_syn;      ///< stored because the segment carries SYN
    uint64_t flows_added, flows_evicted, flows_closed, flows_now;  ///< the table of TCP flows
    gn_tx_rule_counters rule[GN_RULES_MAX];                        ///< by rule
} gn_tx_counters;

/// Receive counters. Bytes are L4 payload, but for `bytes`.
typedef struct gn_rx_counters {
    uint64_t packets, bytes;  ///< all packets offered
    uint64_t passed;          ///< untouched: not marked, or foreign
    uint64_t foreign;         ///< marked, but without a valid shim: passed
    uint64_t restored[16];    ///< by kind (0 stored, 1 paper, 2 lattice, 3 dense)
    uint64_t wire_bytes;      ///< L4 payload of restored packets as it came
    uint64_t payload_bytes;   ///< L4 payload of restored packets as handed over
    uint64_t malformed;       ///< dropped, for any reason:
    /// The reasons, as in docs/wire.md, "What the receiver does".
    uint64_t bad_version, bad_kind, bad_bound, bad_head, bad_length, bad_stream, bad_checksum;
    /// restored it would be longer than max_restored, or than the caller's buffer
    uint64_t too_large;
} gn_rx_counters;

/// The transmit side of a NIC. Opaque.
typedef struct gn_tx gn_tx;
/// The receive side of a NIC. Opaque.
typedef struct gn_rx gn_rx;

/// What gn_tx_new() needs.
typedef struct gn_tx_config {
    const gn_rule *rules;  ///< copied
    size_t rule_count;     ///< at most GN_RULES_MAX
    size_t flow_capacity;  ///< TCP flows remembered, at most 64 bytes each; 0: 4096
    bool bypass;           ///< pass everything
    /// Of gn_tx_packet() and gn_tx_packet_head(): what would be longer than this, stored, passes
    /// untouched (gn_tx_set_wire_mtu()). 0: 65535. Segments have an MTU of their own.
    size_t wire_mtu;
    /// Not 0: a table of TCP flows as the hardware has it, 2^flow_log2 of them (3 to 16) in sets of
    /// four (docs/wire.md, "TCP"). `flow_seed` chooses the sets, and flow_capacity does not count.
    unsigned flow_log2;
    uint32_t flow_seed;
} gn_tx_config;

/// Makes a transmit side. The caller frees it with gn_tx_free().
/// @return GN_OK; GN_INVALID for too many rules, a rule with an impossible bound, port range or
/// protocol, or an impossible flow_log2; GN_NO_MEMORY, also when the kernel has no random bytes.
GN_API gn_status gn_tx_new(gn_tx **tx, const gn_tx_config *config);

/// Frees a transmit side. NULL is allowed.
GN_API void gn_tx_free(gn_tx *tx);

/// Replaces the rules. The flow table and the counters stay; the counters of a rule that changes
/// restart.
/// @return GN_OK; GN_INVALID as gn_tx_new().
GN_API gn_status gn_tx_set_rules(gn_tx *tx, const gn_rule *rules, size_t count);

/// Turns bypass on or off. In bypass everything passes.
GN_API void gn_tx_set_bypass(gn_tx *tx, bool bypass);

/// Sets the longest IP packet that may leave with a shim; 0: 65535. A packet that is longer when it
/// is stored passes untouched, whatever the codec would make of it.
GN_API void gn_tx_set_wire_mtu(gn_tx *tx, size_t wire_mtu);

/// The counters so far. Owned by `tx`.
GN_API const gn_tx_counters *gn_tx_get_counters(const gn_tx *tx);

/// Transmits one packet with complete checksums. `out` must hold length + GN_SHIM_BYTES bytes and
/// must not overlap `packet`. Bytes after the IP packet are dropped when it is rewritten. The
/// verdict is PASS or WRITE, never DROP. `*out_length` is written with WRITE only.
GN_API gn_verdict gn_tx_packet(gn_tx *tx, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                               size_t *out_length);

/// The head of a TCP segment: how many payload bytes lie ahead of the next value boundary (0 to 3).
/// In hardware it is side-band. GN_HEAD_STORED means that it is not known, and that the segment has
/// to go stored.
enum { GN_HEAD_STORED = -1 };

/// The TCP side of gn_tx_packet(): looks at SYN, FIN and RST, and finds the segment's head in the
/// flow table. Call it once for every packet, in order. Returns 0 when the packet is not TCP.
GN_API int gn_tx_head(gn_tx *tx, const uint8_t *packet, size_t length);

/// The rest of gn_tx_packet(): the transform alone, as in the Verilog transmit path. It depends on
/// the packet, the rules and the head (used for TCP only), and on nothing else. gn_tx_packet() is
/// gn_tx_head(), then this.
GN_API gn_verdict gn_tx_packet_head(gn_tx *tx, const uint8_t *packet, size_t length, int head, uint8_t *out,
                                    size_t capacity, size_t *out_length);

/// How large segments (TSO, USO) are cut into packets.
typedef enum gn_cut {
    GN_CUT_MTU,  ///< cut to the MTU first, then compress each packet, as the paper's NIC does
    GN_CUT_FILL  ///< each packet takes the values that fill the MTU after compression
} gn_cut;

/// A segment as the host hands it over. It may be larger than the MTU, and its checksum may be left
/// to the NIC. The last two fields may stay 0.
typedef struct gn_segment {
    const uint8_t *packet;  ///< one IP packet
    size_t length;          ///< its bytes
    uint16_t gso_size;      ///< payload bytes per packet that the host expects; 0: not to be cut
    bool partial_checksum;  ///< the L4 checksum field holds the pseudo-header sum only
    /// With partial_checksum: virtio's csum_start and csum_offset, from the IP header on. 0 and 0
    /// for TCP or UDP directly over IP. Other values mean a packet that gradnic does not look into:
    /// a tunnel's inner header, or an extension header. Its checksum is completed, and it passes.
    uint16_t checksum_start, checksum_offset;
    /// TCP that no rule matches here, but that is part of a flow of values: `head` bytes lie ahead
    /// of its first one. Then what the host does not cut is cut between values.
    bool values;
    uint8_t head;
} gn_segment;

enum {
    /// Most packets that one segment becomes: 65535 / 36 (the smallest MSS of Linux), rounded up.
    GN_BURST_PACKETS = 2048,
    /// Room for all of them.
    GN_BURST_BYTES = 65536 + GN_BURST_PACKETS * (GN_HEADERS_MAX + GN_SHIM_BYTES) + 64
};

/// Packets back to back: packet i is data[offset[i]] to data[offset[i + 1]]. It is large (330 KiB):
/// allocate it once. It is filled front to back and never cleared, so a small burst touches little
/// memory.
typedef struct gn_burst {
    unsigned count;                         ///< packets
    uint32_t offset[GN_BURST_PACKETS + 1];  ///< where packets begin, and where they end
    uint8_t data[GN_BURST_BYTES];           ///< the packets
} gn_burst;

/// Transmits one segment: cuts it, compresses, and completes checksums. Every packet in `burst` is
/// a whole IP packet of at most `wire_mtu` bytes after compression, valid in itself. A segment that
/// no rule matches is cut too, with its payload untouched, as Linux' GSO cuts.
///
/// - TCP: a packet carries at most gso_size payload bytes (GN_CUT_FILL: as many as fit, if they
///   gain by it). It never carries more than fits `wire_mtu`. Sequence numbers go on, and IPv4 ids
///   count up. FIN and PSH are on the last packet only, CWR is on the first only (RFC 3168 6.1.2).
/// - UDP: gso_size bytes make a datagram, and a datagram stays one, with either cut.
///
/// The stored form decides whether a packet fits, not what the codec makes of it.
/// @return GN_OK; GN_INVALID when gso_size or wire_mtu is impossible for the packet: it cannot be
/// cut and does not fit, or it becomes more than GN_BURST_PACKETS packets. Then the burst is empty;
/// the caller counts a drop.
GN_API gn_status gn_tx_segment(gn_tx *tx, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst);

/// The cut alone, for a transmit path that takes packets, as hardware does. It gives the packets
/// that gn_tx_segment() with GN_CUT_MTU would transform, with complete checksums. Where a rule
/// matches there is room for the shim. It counts and notes nothing. gn_tx_head(), then
/// gn_tx_packet_head(), for every packet of `burst` give what gn_tx_segment() gives.
/// @return as gn_tx_segment().
GN_API gn_status gn_tx_segment_cut(const gn_tx *tx, const gn_segment *segment, size_t wire_mtu, gn_burst *burst);

/// Where payload lies: the payload of the packets whose headers gn_tx_segment_headers() made.
typedef struct gn_headers_cut {
    size_t header_bytes;  ///< of every packet, in burst->data
    /// The payload of packet i begins at segment->packet + payload_offset + i * piece.
    size_t payload_offset;
    size_t piece;  ///< its length; the last packet has what remains
} gn_headers_cut;

/// Does what gn_tx_segment() does, without copying payload, for segments that no rule matches.
/// `burst` gets the headers only, with complete checksums. The payload stays where it is, for
/// sendmsg() to gather. Header i begins at burst->data[i * header_bytes]; burst->offset is not
/// used.
/// @return as gn_tx_segment(); GN_UNSUPPORTED for a segment that has to be transformed, or that is
/// not TCP or UDP. Then nothing was counted or noted: call gn_tx_segment().
GN_API gn_status gn_tx_segment_headers(gn_tx *tx, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                                       gn_headers_cut *cut);

/// What gn_rx_new() needs.
typedef struct gn_rx_config {
    const uint8_t *tos;  ///< ToS of marked packets (under GN_TOS_MASK); copied; NULL: 0x28
    size_t tos_count;    ///< at most GN_RULES_MAX
    bool bypass;         ///< pass everything
    const char *kernel;  ///< as for gn_codec_init_kernel(); NULL: fastest
    /// Do not verify the L4 checksum. Only where something else has vouched for these very bytes,
    /// such as an outer checksum that the kernel verified.
    bool checksum_vouched;
    /// Leave only the pseudo-header sum in the L4 checksum field of packets written, for a host
    /// that takes checksum offload (virtio's NEEDS_CSUM). The start is headers.l4, the offset is
    /// gn_packet_checksum_at() - start.
    bool partial_checksum;
    size_t max_restored;  ///< bytes of the longest IP packet that is restored; 0: 65535
} gn_rx_config;

/// Makes a receive side. The caller frees it with gn_rx_free().
/// @return GN_OK; GN_INVALID for too many ToS; GN_NO_MEMORY; GN_UNSUPPORTED when this build or
/// machine lacks the kernel.
GN_API gn_status gn_rx_new(gn_rx **rx, const gn_rx_config *config);

/// Frees a receive side. NULL is allowed.
GN_API void gn_rx_free(gn_rx *rx);

/// Replaces the ToS values that mark packets. @return GN_OK; GN_INVALID for too many.
GN_API gn_status gn_rx_set_tos(gn_rx *rx, const uint8_t *tos, size_t count);

/// Turns bypass on or off. In bypass everything passes, and the host gets packets that peers have
/// compressed as they are.
GN_API void gn_rx_set_bypass(gn_rx *rx, bool bypass);

/// Sets the longest IP packet that is restored; 0: 65535. A packet that would be longer is dropped.
/// Few bytes can stand for many, so this bounds what a sender makes this receiver write.
GN_API void gn_rx_set_max_restored(gn_rx *rx, size_t max_restored);

/// The counters so far. Owned by `rx`.
GN_API const gn_rx_counters *gn_rx_get_counters(const gn_rx *rx);

/// Receives one packet from the wire. `out` has at least GN_PACKET_MAX bytes and does not overlap
/// `packet`. The input is untrusted: nothing is read or written past the buffers, whatever it
/// holds. The checksum is verified before the payload is looked at. The packet written carries a
/// complete checksum (gn_rx_config has the exceptions). `*out_length` is written with WRITE only.
GN_API gn_verdict gn_rx_packet(gn_rx *rx, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                               size_t *out_length);

/// Returns the offset of the IP packet in an Ethernet frame (one VLAN tag allowed); 0 when there is
/// none, or when its version is not that of the EtherType.
GN_API size_t gn_frame_ethernet_offset(const uint8_t *frame, size_t length);

/// A run: neighbouring TCP packets on their way to the host, joined into one large segment. The
/// kernel's GRO does the same; it is the receive side of TSO. This is only the bookkeeping: the
/// caller gathers payload (writev) or copies it.
///
///     if (gn_run_begin(&run, a, a_length, mtu, verified)) {    // otherwise hand a over as it is
///         while (gn_run_append(&run, b, b_length, verified, &at))  // payload: b + at to its end
///             ...;
///         gn_run_finish(&run, a);                                  // patches a's headers in place
///     }
///
/// The host may forward a segment, and then cuts it into pieces again. Packets that fit its MTU are
/// such pieces: those of their sender. A longer one, such as GN_CUT_FILL makes, is cut between
/// values, if it begins with one. A value that left rounded must never be cut (docs/wire.md).
typedef struct gn_run {
    gn_headers first;        ///< headers of the first packet
    uint8_t last_flags;      ///< TCP flags of the last packet
    unsigned packets;        ///< number of packets joined, the first one included
    uint32_t payload_bytes;  ///< of all packets
    bool large;              ///< the first packet is longer than the host's MTU
    uint16_t piece;          ///< payload of the pieces: the first packet's, or with `large` what fits
    const uint8_t *packet;   ///< the first packet, not owned; must stay until gn_run_finish()
} gn_run;

/// What a host needs to know about a joined segment, in the terms of virtio_net_hdr.
typedef struct gn_handover {
    uint16_t header_bytes;     ///< hdr_len: IP and TCP headers
    uint16_t checksum_start;   ///< csum_start
    uint16_t checksum_offset;  ///< csum_offset
    uint16_t gso_size;         ///< 0: an ordinary packet, gso_type none
    bool ipv6;                 ///< gso_type TCPV6 instead of TCPV4
} gn_handover;

/// Begins a run. `mtu`: the host's, or that of its link onward, if that is smaller. `verified`: the
/// L4 checksum is known to hold, or is partial. Otherwise it is verified here.
/// @return false for a packet that joins with nothing: not TCP, no payload, IPv4 options, a flag
/// other than ACK and PSH, or a wrong checksum. Hand it over as it is.
GN_API bool gn_run_begin(gn_run *run, const uint8_t *packet, size_t length, size_t mtu, bool verified);

/// Joins a packet that goes on where the run ends: same flow, next sequence number. All else in the
/// headers must be equal, but for lengths, IPv4 id, checksums and PSH. So acknowledgment, window,
/// ToS with ECN bits, TTL, DF, flow label and TCP options are equal, as Linux' GRO asks. Sizes are
/// equal, too, but for a last one that is shorter. In a `large` run they may differ, up to one that
/// ends within a value. A run ends with PSH, and stays below 65536 bytes. `*payload_at` is the
/// offset of the packet's payload.
/// @return false when it does not join; the run is unchanged.
GN_API bool gn_run_append(gn_run *run, const uint8_t *packet, size_t length, bool verified, size_t *payload_at);

/// Makes the headers of the joined segment, in place in the first packet: total length, IPv4 header
/// checksum, PSH, and the pseudo-header sum as partial L4 checksum. A segment of one piece is an
/// ordinary packet: gso_size is 0, and the checksum is still partial.
GN_API gn_handover gn_run_finish(const gn_run *run, uint8_t *packet);

#ifdef __cplusplus
}
#endif
#endif
