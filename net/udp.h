// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_UDP_H
#define GRADNIC_NET_UDP_H
/// UDP sockets: their options, and the MTU on their way. Datagrams come in through net/udp_in.h and
/// leave through net/udp_out.h.

#include <stddef.h>

#include "net/socket.h"

/// The two ECN bits of the ToS byte (RFC 3168). The other six are the DSCP.
enum {
    GN_ECN_CAPABLE = 2,  ///< ECT(0): a queue may mark this datagram instead of dropping it
    GN_ECN_MARKED = 3,   ///< CE: a queue has marked it
    GN_ECN_MASK = 3
};

/// The ToS of datagrams that a queue may mark. 0, the socket's own, stays 0.
static inline uint8_t gn_ecn_capable(uint8_t tos)
{
    return tos ? tos | GN_ECN_CAPABLE : 0;
}

/// Bytes that a datagram costs on the way: its IP and UDP headers.
static inline unsigned gn_udp_headers(const gn_ip *to)
{
    return (to->version == 6 ? 40 : 20) + 8;
}

/// What a socket is opened with. Zero in a field leaves the kernel's default.
typedef struct gn_udp_options {
    bool nonblocking;
    bool join;   ///< datagrams of one sender and length come up together (UDP_GRO)
    bool whole;  ///< no datagram travels in fragments; one that is too large is refused
    /// ... for the device alone: what the kernel has learnt of the way refuses none. What routers
    /// say is for gn_udp_told(). An error of a call may then be about an earlier datagram.
    bool unlearnt;
    bool read_tos;  ///< each message that comes in tells its ToS
    bool read_to;   ///< ... and which of this host's addresses it was sent to
    bool overflow;  ///< ... and how many datagrams were lost because the buffer was full
    uint8_t tos;    ///< of what is sent
    // Bytes of the socket's buffers.
    size_t receive_bytes, send_bytes;
} gn_udp_options;

/// A socket of `family`. An IPv6 socket also hears IPv4. Buffers beyond the system's limits need
/// CAP_NET_ADMIN; without it the kernel gives what it allows. @return it, or -1 with errno
int gn_udp_open(int family, const gn_udp_options *options);

/// Opens a socket and binds it to `at`; port 0 is any, and the port is written back.
/// @return GN_OK, or GN_IO with `*fd` -1
gn_status gn_udp_listen(int *fd, gn_endpoint *at, const gn_udp_options *options, gn_error *error);

/// The MTU on the way of a connected socket; 0 where it is not known.
unsigned gn_udp_mtu(int fd);
/// Bytes of the longest datagram that travels whole from a connected socket; 0 where they are not
/// known.
size_t gn_udp_payload(int fd);

#endif
