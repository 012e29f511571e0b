// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_WIRE_H
#define GRADNIC_DRIVER_WIRE_H
/// The wire: one UDP socket, one IP packet per datagram. Many datagrams leave and come in with one
/// call (net/udp_out.h, net/udp_in.h).
///
/// The kernel cuts only messages of equally long datagrams (the last may be shorter). So datagrams
/// that are nearly equal are padded with zeros behind the IP packet, whose own length says where it
/// ends. Padding counts as bytes of the wire.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/peers.h"
#include "net/fault.h"
#include "net/udp_out.h"

enum {
    /// Bytes that a link counts for each packet besides IP: the Ethernet header, as in tc(8).
    GN_WIRE_ETHERNET = 14,
    GN_WIRE_SEGMENTS_MAX = GN_UDP_SEGMENTS_MAX,  ///< datagrams in one message
    GN_WIRE_BATCH_BYTES = GN_UDP_OUT_BYTES,      ///< their bytes
    /// Padding may be 1/16 of a message. Beyond that, another message is cheaper.
    GN_WIRE_PAD_SHARE = 16
};

typedef struct gn_wire {
    int fd;  ///< sends block (the socket's buffer is the link's queue), receives do not
    int family;
    bool segmentation;  ///< the kernel and the route's device take UDP_SEGMENT
    bool hears;         ///< what routers say (gn_udp_told())
} gn_wire;

typedef struct gn_wire_counters {
    uint64_t datagrams;  ///< sent
    uint64_t bytes;      ///< of them, as on the link: with padding and IP, UDP and Ethernet headers
    uint64_t calls;      ///< system calls that sent them
    uint64_t padding;    ///< bytes of padding among them
    uint64_t too_big;    ///< datagrams refused as larger than the path's MTU
    uint64_t errors;     ///< datagrams that the kernel refused otherwise
    int last_error;      ///< errno of the last refusal
} gn_wire_counters;

/// Bytes that a datagram costs besides the IP packet in it, without Ethernet: 20 + 8 to an IPv4
/// peer, 40 + 8 to an IPv6 peer.
static inline unsigned gn_wire_encapsulation(const gn_peer *peer)
{
    return gn_udp_headers(&peer->endpoint.ip);
}

/// Binds a socket to `listen`, whose address may be unspecified: for IPv6, such a one hears both
/// versions. `unlearnt`: what the kernel has learnt of a path's MTU refuses no datagram.
gn_status gn_wire_open(gn_wire *wire, const gn_endpoint *listen, size_t buffer_bytes, bool unlearnt, gn_error *error);
void gn_wire_close(gn_wire *wire);

/// How many of the first packets go into one message. `*size` is the length of its datagrams,
/// `*padding` what they are padded by. Pure.
size_t gn_wire_plan(const gn_wire_packet *packets, size_t count, size_t *size, size_t *padding);

/// Sends packets in order. Those that the kernel refuses are counted and dropped, as a link drops.
/// A source that this host has no more is forgotten (gn_peer.from).
void gn_wire_send(gn_wire *wire, gn_peer *peer, const gn_wire_packet *packets, size_t count,
                  gn_wire_counters *counters);

/// The same behind a bad link: `to` is a gn_peer, `context` a gn_wire_end.
typedef struct gn_wire_end {
    gn_wire *wire;
    gn_wire_counters *counters;
} gn_wire_end;
void gn_wire_sink(void *context, const void *to, const gn_wire_packet *packets, size_t count);

/// Datagrams from one sender: `bytes` in `buffer`, of `size` bytes each; the last may be shorter.
typedef struct gn_wire_batch {
    size_t bytes, size;
    gn_endpoint from;
    gn_ip to;  ///< of this host; version 0: the wire has one address
} gn_wire_batch;

/// @return 1; 0 when there is none now; -1 on failure (errno)
int gn_wire_receive(const gn_wire *wire, uint8_t *buffer, size_t capacity, gn_wire_batch *batch);

#endif
