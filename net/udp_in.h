// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_UDP_IN_H
#define GRADNIC_NET_UDP_IN_H
/// Datagrams that come in, many with one system call. A message is one datagram, or several of one
/// sender that the kernel has joined (UDP_GRO): all equally long, but the last may be shorter.
///
///     const int count = gn_udp_inbox_receive(inbox, fd, GN_UDP_INBOX_MESSAGES);
///     for (int i = 0; i < count; i++) {
///         const gn_udp_arrival a = gn_udp_inbox_at(inbox, i);
///         for (size_t at = 0; at < a.bytes; at += a.segment)
///             take(a.data + at, gn_udp_piece(&a, at));
///     }

#include "net/udp.h"

enum {
    GN_UDP_INBOX_MESSAGES = 32,     ///< that one call takes at most
    GN_UDP_MESSAGE_BYTES = 1 << 16  ///< of the longest message
};

/// One message, and what the kernel says of it.
typedef struct gn_udp_arrival {
    uint8_t *data;
    size_t bytes;
    size_t segment;  ///< bytes of each datagram in it; as `bytes` where it is one
    /// NULL where nobody asked.
    const struct sockaddr_storage *from;
    uint8_t tos;       ///< 0 where nobody asked (gn_udp_options.read_tos)
    gn_ip to;          ///< version 0 where nobody asked (gn_udp_options.read_to)
    bool has_dropped;  ///< `dropped` is told: gn_udp_options.overflow, and it is not 0
    uint32_t dropped;  ///< datagrams that this socket has lost so far
} gn_udp_arrival;

/// Bytes of the datagram that begins at byte `at` of the message.
static inline size_t gn_udp_piece(const gn_udp_arrival *arrival, size_t at)
{
    const size_t left = arrival->bytes - at;
    return left < arrival->segment ? left : arrival->segment;
}

/// Receives one message into `buffer` and its sender into `from`, which may be NULL. Does not wait.
/// @return 1, 0 when there is none, or -1 with errno
int gn_udp_receive(int fd, void *buffer, size_t capacity, struct sockaddr_storage *from, gn_udp_arrival *arrival);

/// Takes what routers have said of datagrams of this socket (gn_udp_options.unlearnt). As long as
/// something is there, poll() tells of it. @return the smallest MTU among it; 0: none
unsigned gn_udp_told(int fd);

/// Room for the messages of one call. One thread at a time; sockets may share it.
typedef struct gn_udp_inbox gn_udp_inbox;

/// `senders`: messages tell where they come from. @return NULL without memory
gn_udp_inbox *gn_udp_inbox_new(bool senders);
void gn_udp_inbox_free(gn_udp_inbox *inbox);  ///< NULL allowed

/// Receives what is there over what the last call received: `most` messages, 1 to
/// GN_UDP_INBOX_MESSAGES. Does not wait. @return how many; 0 when there are none, or -1 with errno
int gn_udp_inbox_receive(gn_udp_inbox *inbox, int fd, unsigned most);

/// One of the messages of the last call.
gn_udp_arrival gn_udp_inbox_at(gn_udp_inbox *inbox, int index);

#endif
