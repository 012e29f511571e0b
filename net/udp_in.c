// SPDX-License-Identifier: Apache-2.0
#include "net/udp_in.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/udp.h>
#include <stdlib.h>
#include <string.h>

/// Room for all that the kernel may say of a message.
typedef union notes {
    uint8_t bytes[3 * CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct in6_pktinfo))];
    struct cmsghdr align;
} notes;

struct gn_udp_inbox {
    int last;  // messages of the last call: the kernel has written to their headers
    bool senders;
    struct mmsghdr header[GN_UDP_INBOX_MESSAGES];
    struct iovec piece[GN_UDP_INBOX_MESSAGES];
    struct sockaddr_storage from[GN_UDP_INBOX_MESSAGES];
    notes said[GN_UDP_INBOX_MESSAGES];
    _Alignas(64) uint8_t buffer[];
};

static int value_of(const struct cmsghdr *header)
{
    int value = 0;  // IP_TOS comes in one byte
    const size_t bytes = header->cmsg_len - CMSG_LEN(0);
    memcpy(&value, CMSG_DATA(header), bytes < sizeof value ? bytes : sizeof value);
    return value;
}

/// The address that a message was sent to, where a header tells it.
static void read_to(const struct cmsghdr *header, gn_ip *to)
{
    struct sockaddr_storage address = {0};
    struct in_pktinfo four;
    struct in6_pktinfo six;
    if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
        memcpy(&four, CMSG_DATA(header), sizeof four);
        *(struct sockaddr_in *)&address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = four.ipi_spec_dst};
    } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
        memcpy(&six, CMSG_DATA(header), sizeof six);
        *(struct sockaddr_in6 *)&address = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = six.ipi6_addr};
    } else {
        return;
    }
    *to = gn_endpoint_from_sockaddr(&address).ip;
}

static gn_udp_arrival read_message(struct msghdr *message, size_t bytes)
{
    gn_udp_arrival a = {
        .data = message->msg_iov->iov_base, .bytes = bytes, .segment = bytes, .from = message->msg_name};
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        const int level = header->cmsg_level, type = header->cmsg_type, value = value_of(header);
        if (level == IPPROTO_UDP && type == UDP_GRO && value > 0) a.segment = (size_t)value;
        if ((level == IPPROTO_IP && type == IP_TOS) || (level == IPPROTO_IPV6 && type == IPV6_TCLASS))
            a.tos = (uint8_t)value;
        read_to(header, &a.to);
        if (level == SOL_SOCKET && type == SO_RXQ_OVFL) a.has_dropped = true, a.dropped = (uint32_t)value;
    }
    return a;
}

static bool is_nothing(int error)
{
    return error == EAGAIN || error == EINTR;
}

int gn_udp_receive(int fd, void *buffer, size_t capacity, struct sockaddr_storage *from, gn_udp_arrival *arrival)
{
    notes said;
    struct iovec piece = {buffer, capacity};
    struct msghdr message = {.msg_name = from,
                             .msg_namelen = from ? sizeof *from : 0,
                             .msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = said.bytes,
                             .msg_controllen = sizeof said.bytes};
    const ssize_t bytes = recvmsg(fd, &message, MSG_DONTWAIT);
    if (bytes < 0) return is_nothing(errno) ? 0 : -1;
    *arrival = read_message(&message, (size_t)bytes);
    return 1;
}

/// The MTU that an error tells; 0: it is about something else.
static unsigned told_by(struct msghdr *message)
{
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        struct sock_extended_err error;
        const bool four = header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_RECVERR;
        const bool six = header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_RECVERR;
        if ((!four && !six) || header->cmsg_len < CMSG_LEN(sizeof error)) continue;
        memcpy(&error, CMSG_DATA(header), sizeof error);
        const bool routers = error.ee_origin == SO_EE_ORIGIN_ICMP || error.ee_origin == SO_EE_ORIGIN_ICMP6;
        if (routers && error.ee_errno == EMSGSIZE) return error.ee_info;
    }
    return 0;
}

unsigned gn_udp_told(int fd)
{
    enum { MOST = 64 };  // a flood of them ends here
    unsigned least = 0;
    for (int i = 0; i < MOST; i++) {
        _Alignas(struct cmsghdr) uint8_t said[512];
        struct msghdr message = {.msg_control = said, .msg_controllen = sizeof said};
        if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) break;
        const unsigned told = told_by(&message);
        if (told && (!least || told < least)) least = told;
    }
    return least;
}

/// Before the kernel writes to a header (again): how much room there is.
static void offer_room(gn_udp_inbox *inbox, int messages)
{
    for (int i = 0; i < messages; i++) {
        struct msghdr *message = &inbox->header[i].msg_hdr;
        message->msg_namelen = inbox->senders ? sizeof inbox->from[i] : 0;
        message->msg_controllen = sizeof inbox->said[i].bytes;
    }
}

gn_udp_inbox *gn_udp_inbox_new(bool senders)
{
    gn_udp_inbox *inbox = aligned_alloc(64, sizeof *inbox + (size_t)GN_UDP_INBOX_MESSAGES * GN_UDP_MESSAGE_BYTES);
    if (!inbox) return NULL;
    inbox->senders = senders;
    inbox->last = 0;
    for (int i = 0; i < GN_UDP_INBOX_MESSAGES; i++) {
        inbox->piece[i] = (struct iovec){inbox->buffer + (size_t)i * GN_UDP_MESSAGE_BYTES, GN_UDP_MESSAGE_BYTES};
        inbox->header[i].msg_hdr = (struct msghdr){.msg_name = senders ? &inbox->from[i] : NULL,
                                                   .msg_iov = &inbox->piece[i],
                                                   .msg_iovlen = 1,
                                                   .msg_control = inbox->said[i].bytes};
    }
    offer_room(inbox, GN_UDP_INBOX_MESSAGES);
    return inbox;
}

void gn_udp_inbox_free(gn_udp_inbox *inbox)
{
    free(inbox);
}

int gn_udp_inbox_receive(gn_udp_inbox *inbox, int fd, unsigned most)
{
    offer_room(inbox, inbox->last);
    const int got = recvmmsg(fd, inbox->header, most, MSG_DONTWAIT, NULL);
    inbox->last = got > 0 ? got : 0;
    return got < 0 && is_nothing(errno) ? 0 : got;
}

gn_udp_arrival gn_udp_inbox_at(gn_udp_inbox *inbox, int index)
{
    return read_message(&inbox->header[index].msg_hdr, inbox->header[index].msg_len);
}
