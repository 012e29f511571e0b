// SPDX-License-Identifier: Apache-2.0
#include "driver/wire.h"

#include <errno.h>
#include <linux/udp.h>
#include <string.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIECES = 3 * GN_WIRE_SEGMENTS_MAX, SEND_TIMEOUT_US = 200000 };

static void set_buffer(int fd, int forced, int plain, size_t bytes)
{
    const int value = (int)bytes;
    // Beyond net.core.[rw]mem_max needs CAP_NET_ADMIN; without it the kernel gives as much as it allows.
    if (setsockopt(fd, SOL_SOCKET, forced, &value, sizeof value))
        (void)setsockopt(fd, SOL_SOCKET, plain, &value, sizeof value);
}

gn_status gn_wire_open(gn_wire *wire, const gn_endpoint *listen, size_t buffer_bytes, gn_error *error)
{
    char text[GN_ENDPOINT_TEXT];
    const int on = 1, off = 0, discover = IP_PMTUDISC_DO;
    *wire = (gn_wire){.family = listen->ip.version == 4 ? AF_INET : AF_INET6, .segmentation = true};
    wire->fd = socket(wire->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (wire->fd < 0) return gn_fail(error, GN_IO, "UDP socket: %s", strerror(errno));
    if (wire->family == AF_INET6) {
        (void)setsockopt(wire->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        (void)setsockopt(wire->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &discover, sizeof discover);
    }
    // Never a fragment: the host-facing MTU leaves room for the encapsulation.
    (void)setsockopt(wire->fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover);
    (void)setsockopt(wire->fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
    set_buffer(wire->fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
    set_buffer(wire->fd, SO_SNDBUFFORCE, SO_SNDBUF, buffer_bytes / 4);
    const struct timeval limit = {.tv_usec = SEND_TIMEOUT_US};
    (void)setsockopt(wire->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);

    struct sockaddr_storage address;
    const socklen_t length = gn_endpoint_to_sockaddr(listen, wire->family, &address);
    if (!bind(wire->fd, (struct sockaddr *)&address, length)) return GN_OK;
    gn_fail(error, GN_IO, "cannot listen on UDP %s: %s", gn_endpoint_format(listen, text), strerror(errno));
    gn_wire_close(wire);
    return error->status;
}

void gn_wire_close(gn_wire *wire)
{
    if (wire->fd >= 0) close(wire->fd);
    wire->fd = -1;
}

// Greedy: a packet joins while the padding, with everything brought to the largest, stays a small share. Only a last packet
// that is shorter needs none.
size_t gn_wire_plan(const gn_wire_packet *packets, size_t count, size_t *size, size_t *padding)
{
    size_t taken = 1, largest = gn_wire_packet_bytes(&packets[0]), sum = largest;
    *padding = 0;
    while (taken < count && taken < GN_WIRE_SEGMENTS_MAX) {
        const size_t bytes = gn_wire_packet_bytes(&packets[taken]);
        const size_t top = bytes > largest ? bytes : largest;
        if (top * (taken + 1) > GN_WIRE_BATCH_BYTES) break;
        const size_t pad = top * taken - sum;  // of all but the new, last one
        if (pad * GN_WIRE_PAD_SHARE > sum + bytes) break;
        largest = top, sum += bytes, *padding = pad, taken++;
    }
    *size = largest;
    return taken;
}

static size_t gather(const gn_wire_packet *packets, size_t count, size_t size, struct iovec *vector)
{
    static const uint8_t zeros[GN_WIRE_BATCH_BYTES / GN_WIRE_PAD_SHARE + 1];
    size_t pieces = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = gn_wire_packet_bytes(&packets[i]);
        vector[pieces++] = (struct iovec){(void *)(uintptr_t)packets[i].head, packets[i].head_bytes};
        if (packets[i].body_bytes)
            vector[pieces++] = (struct iovec){(void *)(uintptr_t)packets[i].body, packets[i].body_bytes};
        if (i + 1 < count && bytes < size) vector[pieces++] = (struct iovec){(void *)(uintptr_t)zeros, size - bytes};
    }
    return pieces;
}

static int send_message(const gn_wire *wire, const gn_peer *peer, struct iovec *vector, size_t pieces, size_t segment)
{
    union {
        char bytes[CMSG_SPACE(sizeof(uint16_t))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_name = (void *)(uintptr_t)&peer->address,
                             .msg_namelen = peer->address_length,
                             .msg_iov = vector,
                             .msg_iovlen = pieces};
    if (segment) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = IPPROTO_UDP;
        header->cmsg_type = UDP_SEGMENT;
        header->cmsg_len = CMSG_LEN(sizeof(uint16_t));
        const uint16_t size = (uint16_t)segment;
        memcpy(CMSG_DATA(header), &size, sizeof size);
    }
    ssize_t sent;
    do sent = sendmsg(wire->fd, &message, 0);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
}

static void count_refusal(gn_wire_counters *counters, int reason, size_t datagrams)
{
    if (reason == EMSGSIZE)
        counters->too_big += datagrams;
    else
        counters->errors += datagrams;
    counters->last_error = reason;
}

static void count_sent(gn_wire_counters *counters, const gn_peer *peer, size_t datagrams, size_t packet_bytes,
                       size_t padding)
{
    counters->calls++;
    counters->datagrams += datagrams;
    counters->padding += padding;
    counters->bytes += packet_bytes + padding + datagrams * (uint64_t)(gn_wire_encapsulation(peer) + GN_WIRE_ETHERNET);
}

static void send_single(gn_wire *wire, const gn_peer *peer, const gn_wire_packet *packet, gn_wire_counters *counters)
{
    struct iovec vector[PIECES];
    const size_t bytes = gn_wire_packet_bytes(packet);
    const int reason = send_message(wire, peer, vector, gather(packet, 1, bytes, vector), 0);
    if (reason)
        count_refusal(counters, reason, 1);
    else
        count_sent(counters, peer, 1, bytes, 0);
}

void gn_wire_send(gn_wire *wire, const gn_peer *peer, const gn_wire_packet *packets, size_t count,
                  gn_wire_counters *counters)
{
    struct iovec vector[PIECES];
    while (count) {
        size_t size, padding, bytes = 0;
        const size_t taken = wire->segmentation ? gn_wire_plan(packets, count, &size, &padding) : 1;
        if (taken == 1) {
            send_single(wire, peer, packets, counters);
            packets++, count--;
            continue;
        }
        const int reason = send_message(wire, peer, vector, gather(packets, taken, size, vector), size);
        // The route's device cannot checksum, or the kernel is old: one call per datagram from now on.
        if (reason == EIO || reason == EOPNOTSUPP || reason == ENOPROTOOPT) {
            wire->segmentation = false;
            continue;
        }
        for (size_t i = 0; i < taken; i++) bytes += gn_wire_packet_bytes(&packets[i]);
        // Linux before 6.13 says EINVAL where it means EMSGSIZE (udp_send_skb).
        if (reason)
            count_refusal(counters, reason == EINVAL ? EMSGSIZE : reason, taken);
        else
            count_sent(counters, peer, taken, bytes, padding);
        packets += taken, count -= taken;
    }
}

void gn_wire_sink(void *context, const void *to, const gn_wire_packet *packets, size_t count)
{
    const gn_wire_end *end = context;
    gn_wire_send(end->wire, to, packets, count, end->counters);
}

int gn_wire_receive(const gn_wire *wire, uint8_t *buffer, size_t capacity, gn_wire_batch *batch)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct sockaddr_storage from;
    struct iovec vector = {buffer, capacity};
    struct msghdr message = {.msg_name = &from,
                             .msg_namelen = sizeof from,
                             .msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    const ssize_t bytes = recvmsg(wire->fd, &message, MSG_DONTWAIT);
    if (bytes < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    batch->bytes = batch->size = (size_t)bytes;
    batch->from = gn_endpoint_from_sockaddr(&from);
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        int size;
        if (header->cmsg_level != IPPROTO_UDP || header->cmsg_type != UDP_GRO) continue;
        memcpy(&size, CMSG_DATA(header), sizeof size);
        if (size > 0) batch->size = (size_t)size;
    }
    return 1;
}
