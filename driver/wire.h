// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_WIRE_H
#define GRADNIC_DRIVER_WIRE_H
/// The wire: one UDP socket, one IP packet per datagram. Many datagrams go down in one call (UDP_SEGMENT) and come up in one
/// call (UDP_GRO), see udp(7).
///
/// Segmentation offload wants equal sizes (only the last may be shorter), so datagrams that are nearly equal are padded
/// with zeros behind the IP packet, whose own length says where it ends. Padding is counted as what it is: bytes on the wire.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/peers.h"
#include "net/fault.h"

enum {
    GN_WIRE_ETHERNET = 14,      ///< bytes a link counts per packet besides IP: the Ethernet header, as tc(8) counts it
    GN_WIRE_SEGMENTS_MAX = 64,  ///< datagrams in one call: UDP_MAX_SEGMENTS of Linux up to 6.9
    GN_WIRE_BATCH_BYTES = 65487,  ///< their bytes: 65535 less the IPv6 and UDP headers
    GN_WIRE_PAD_SHARE = 16        ///< padding may be 1/16 of a batch; more, and a batch of its own is cheaper
};

typedef struct gn_wire {
    int fd;  ///< sends block (the socket's buffer is the link's queue), receives do not
    int family;
    bool segmentation;  ///< the kernel and the route's device take UDP_SEGMENT
} gn_wire;

typedef struct gn_wire_counters {
    uint64_t datagrams,
        bytes;       ///< datagrams sent and their bytes as on the link: IP, UDP, Ethernet headers and padding included
    uint64_t calls;  ///< system calls that sent them
    uint64_t padding;  ///< bytes of padding among them
    uint64_t too_big;  ///< datagrams refused as larger than the path's MTU
    uint64_t errors;   ///< datagrams that the kernel refused otherwise
    int last_error;    ///< errno of the last refusal
} gn_wire_counters;

/// Bytes that a datagram costs besides the IP packet in it: to an IPv4 peer 20 + 8, to an IPv6 peer 40 + 8 (without Ethernet).
static inline unsigned gn_wire_encapsulation(const gn_peer *peer)
{
    return peer->endpoint.ip.version == 4 ? 28 : 48;
}

/// Binds a socket to `listen` (its address may be unspecified). `version` 6 with an unspecified address hears both versions.
gn_status gn_wire_open(gn_wire *wire, const gn_endpoint *listen, size_t buffer_bytes, gn_error *error);
void gn_wire_close(gn_wire *wire);

/// How many of the first packets go into one call, and how large its datagrams are. Pure; `*padding` is what they are padded by.
size_t gn_wire_plan(const gn_wire_packet *packets, size_t count, size_t *size, size_t *padding);

/// Sends packets in order. What the kernel refuses is counted and dropped, as a link drops.
void gn_wire_send(gn_wire *wire, const gn_peer *peer, const gn_wire_packet *packets, size_t count,
                  gn_wire_counters *counters);

/// The same as the end of a bad link: `to` is a gn_peer, `context` a gn_wire_end.
typedef struct gn_wire_end {
    gn_wire *wire;
    gn_wire_counters *counters;
} gn_wire_end;
void gn_wire_sink(void *context, const void *to, const gn_wire_packet *packets, size_t count);

/// One batch of datagrams from one sender: `bytes` in `buffer`, cut every `size` bytes.
typedef struct gn_wire_batch {
    size_t bytes, size;
    gn_endpoint from;
} gn_wire_batch;

/// @return 1; 0 when there is none now; -1 on failure (errno)
int gn_wire_receive(const gn_wire *wire, uint8_t *buffer, size_t capacity, gn_wire_batch *batch);

#endif
