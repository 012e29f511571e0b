// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_UDP_OUT_H
#define GRADNIC_NET_UDP_OUT_H
/// Datagrams that leave, many with one system call. A message is one datagram, or several to one
/// place that the kernel cuts apart (UDP_SEGMENT): all equally long, but the last may be shorter. A
/// batch is some messages for one sendmmsg().
///
/// The user brings the memory, so a batch is as large as its user likes. Datagrams are sent from
/// where they lie. The user decides what goes together, and what becomes of a message that the
/// kernel refuses:
///
///     if (!gn_udp_batch_join(batch, data, bytes)) {
///         if (!gn_udp_batch_has_room(batch)) send(batch);
///         gn_udp_batch_begin(batch, &to);
///         gn_udp_batch_add(batch, data, bytes);
///     }
///
///     int error;  // send(batch):
///     while ((error = gn_udp_batch_send(batch, fd)))
///         gn_udp_batch_skip(batch);  // or gn_udp_batch_send_singly(), or wait and try again
///     gn_udp_batch_clear(batch);

#include "net/udp.h"

enum {
    GN_UDP_SEGMENTS_MAX = 64,  ///< datagrams in a message: UDP_MAX_SEGMENTS of Linux up to 6.9
    GN_UDP_OUT_BYTES = 65487   ///< and their bytes: 65535 less the IPv6 and UDP headers
};

/// Where a message goes, and from where. The bytes at `address` are read when it is sent.
typedef struct gn_udp_to {
    const struct sockaddr_storage *address;  ///< NULL: where the socket is connected to
    socklen_t length;
    bool six;     ///< as IPv6, which has an option of its own for `tos`
    uint8_t tos;  ///< ToS of these datagrams; 0: the socket's
    /// The address that they come from; version 0: the socket's, or what the kernel chooses. It is
    /// one of this host's, and as IPv6 or IPv4 as `six` says.
    gn_ip from;
} gn_udp_to;

/// Whether datagrams to an address travel as IPv6: not to ::ffff:a.b.c.d.
static inline bool gn_udp_is_six(const struct sockaddr_storage *address)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
    return address->ss_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
}

typedef struct gn_udp_message {
    unsigned datagrams;
    size_t bytes;    ///< of all of them
    size_t segment;  ///< of each but the last; 0 where there is only one
    union {
        uint8_t bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(uint16_t))];
        struct cmsghdr align;
    } control;  ///< for the kernel: ToS, source, and the length to cut at, which comes last
} gn_udp_message;

typedef struct gn_udp_batch {
    // From the user: room, and what holds for all messages.
    gn_udp_message *message;
    struct mmsghdr *header;  ///< as many as messages
    struct iovec *piece;
    unsigned messages_max, pieces_max;
    size_t bytes_max;  ///< of a message of several datagrams; at most GN_UDP_OUT_BYTES
    int flags;         ///< of sendmmsg()
    // The rest begins as zero.
    unsigned messages, pieces;  ///< in use
    unsigned sent;              ///< messages that are done with
    unsigned calls;             ///< system calls that have sent something
} gn_udp_batch;

/// Forgets all messages.
static inline void gn_udp_batch_clear(gn_udp_batch *batch)
{
    batch->messages = batch->pieces = batch->sent = batch->calls = 0;
}

/// Whether there is room for another message.
static inline bool gn_udp_batch_has_room(const gn_udp_batch *batch)
{
    return batch->messages < batch->messages_max && batch->pieces < batch->pieces_max;
}

/// Begins a message, for which there is room. It is one datagram until something else is said.
void gn_udp_batch_begin(gn_udp_batch *batch, const gn_udp_to *to);

/// Adds bytes to the last message. There is room for a piece. Bytes that lie behind those added
/// before need no piece of their own.
void gn_udp_batch_add(gn_udp_batch *batch, const void *data, size_t bytes);

/// The last message is `datagrams` (at least two) of `segment` bytes; the last may be shorter.
void gn_udp_batch_cut(gn_udp_batch *batch, size_t segment, unsigned datagrams);

/// Adds a datagram to the last message if it fits there. @return whether it did
bool gn_udp_batch_join(gn_udp_batch *batch, const void *data, size_t bytes);

/// Sends what has not been sent. @return 0, or the errno with which the kernel refused message
/// number `sent`
int gn_udp_batch_send(gn_udp_batch *batch, int fd);

/// What a refusal means.
typedef enum gn_udp_refusal {
    GN_UDP_FULL,        ///< no room in the socket's buffer
    GN_UDP_TOO_LARGE,   ///< a datagram is longer than UDP allows, or than what travels whole
    GN_UDP_NO_OFFLOAD,  ///< the kernel or the device does not cut messages
    GN_UDP_REFUSED      ///< anything else, such as no route
} gn_udp_refusal;

/// What it means that message number `sent` was refused with `error`.
gn_udp_refusal gn_udp_batch_refusal(const gn_udp_batch *batch, int error);

/// The message that was refused, which is now done with.
const gn_udp_message *gn_udp_batch_skip(gn_udp_batch *batch);

/// What the kernel took when datagrams went one by one.
typedef struct gn_udp_taken {
    unsigned datagrams;
    size_t bytes;
    int error;  ///< errno of the last one that it refused
} gn_udp_taken;

/// Sends the datagrams of the refused message one by one. It is done with afterwards, whatever the
/// kernel took.
gn_udp_taken gn_udp_batch_send_singly(gn_udp_batch *batch, int fd);

#endif
