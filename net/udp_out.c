// SPDX-License-Identifier: Apache-2.0
#include "net/udp_out.h"

#include <errno.h>
#include <linux/udp.h>
#include <string.h>

static gn_udp_message *last_message(gn_udp_batch *batch)
{
    return &batch->message[batch->messages - 1];
}

static struct msghdr *last_header(gn_udp_batch *batch)
{
    return &batch->header[batch->messages - 1].msg_hdr;
}

static void tell_kernel(gn_udp_batch *batch, int level, int type, const void *value, size_t bytes)
{
    struct msghdr *header = last_header(batch);
    uint8_t *const at = last_message(batch)->control.bytes;
    struct cmsghdr *control = (struct cmsghdr *)(void *)(at + header->msg_controllen);
    header->msg_control = at;
    control->cmsg_level = level;
    control->cmsg_type = type;
    control->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(control), value, bytes);
    header->msg_controllen += CMSG_SPACE(bytes);
}

/// The source address of the last message.
static void tell_source(gn_udp_batch *batch, const gn_ip *from)
{
    if (from->version == 6) {
        struct in6_pktinfo info = {.ipi6_ifindex = 0};
        memcpy(&info.ipi6_addr, from->bytes, sizeof info.ipi6_addr);
        tell_kernel(batch, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof info);
    } else if (from->version == 4) {
        struct in_pktinfo info = {.ipi_ifindex = 0};
        memcpy(&info.ipi_spec_dst, from->bytes, sizeof info.ipi_spec_dst);
        tell_kernel(batch, IPPROTO_IP, IP_PKTINFO, &info, sizeof info);
    }
}

void gn_udp_batch_begin(gn_udp_batch *batch, const gn_udp_to *to)
{
    gn_udp_message *message = &batch->message[batch->messages++];
    message->datagrams = 1;
    message->bytes = message->segment = 0;
    *last_header(batch) = (struct msghdr){
        .msg_name = (void *)(uintptr_t)to->address, .msg_namelen = to->length, .msg_iov = &batch->piece[batch->pieces]};
    const int tos = to->tos;
    if (to->tos)
        tell_kernel(batch, to->six ? IPPROTO_IPV6 : IPPROTO_IP, to->six ? IPV6_TCLASS : IP_TOS, &tos, sizeof tos);
    tell_source(batch, &to->from);
}

static bool lies_behind(const struct msghdr *header, const void *data)
{
    if (!header->msg_iovlen) return false;
    const struct iovec *piece = &header->msg_iov[header->msg_iovlen - 1];
    return (const uint8_t *)piece->iov_base + piece->iov_len == data;
}

void gn_udp_batch_add(gn_udp_batch *batch, const void *data, size_t bytes)
{
    struct msghdr *header = last_header(batch);
    last_message(batch)->bytes += bytes;
    if (lies_behind(header, data)) {
        header->msg_iov[header->msg_iovlen - 1].iov_len += bytes;
    } else {
        batch->piece[batch->pieces++] = (struct iovec){(void *)(uintptr_t)data, bytes};
        header->msg_iovlen++;
    }
}

void gn_udp_batch_cut(gn_udp_batch *batch, size_t segment, unsigned datagrams)
{
    gn_udp_message *message = last_message(batch);
    const uint16_t length = (uint16_t)segment;
    message->segment = segment;
    message->datagrams = datagrams;
    tell_kernel(batch, IPPROTO_UDP, UDP_SEGMENT, &length, sizeof length);
}

bool gn_udp_batch_join(gn_udp_batch *batch, const void *data, size_t bytes)
{
    if (!batch->messages || batch->pieces == batch->pieces_max) return false;
    gn_udp_message *message = last_message(batch);
    const size_t segment = message->segment ? message->segment : message->bytes;
    const bool open = message->bytes == segment * message->datagrams;  // no shorter one ended it
    if (!open || !bytes || bytes > segment || message->datagrams == GN_UDP_SEGMENTS_MAX ||
        message->bytes + bytes > batch->bytes_max)
        return false;
    if (message->datagrams == 1)
        gn_udp_batch_cut(batch, segment, 2);
    else
        message->datagrams++;
    gn_udp_batch_add(batch, data, bytes);
    return true;
}

int gn_udp_batch_send(gn_udp_batch *batch, int fd)
{
    while (batch->sent < batch->messages) {
        const int sent = sendmmsg(fd, batch->header + batch->sent, batch->messages - batch->sent, batch->flags);
        if (sent < 0 && errno != EINTR) return errno;
        if (sent <= 0) continue;
        batch->sent += (unsigned)sent;
        batch->calls++;
    }
    return 0;
}

gn_udp_refusal gn_udp_batch_refusal(const gn_udp_batch *batch, int error)
{
    const bool cut = batch->message[batch->sent].datagrams > 1;
    if (error == EAGAIN) return GN_UDP_FULL;
    // Linux before 6.13 says EINVAL of a message that is cut where it means EMSGSIZE.
    if (error == EMSGSIZE || (cut && error == EINVAL)) return GN_UDP_TOO_LARGE;
    // EIO: what leaves the route's device is changed on the way (xfrm), or it makes no checksums.
    if (cut && (error == EIO || error == EOPNOTSUPP || error == ENOPROTOOPT)) return GN_UDP_NO_OFFLOAD;
    return GN_UDP_REFUSED;
}

const gn_udp_message *gn_udp_batch_skip(gn_udp_batch *batch)
{
    return &batch->message[batch->sent++];
}

/// Ends `*pieces` of them after `bytes` bytes. @return what is left of the last one
static struct iovec cut_pieces(struct iovec *piece, size_t bytes, size_t *pieces)
{
    size_t count = 0;
    for (; bytes > piece[count].iov_len; count++) bytes -= piece[count].iov_len;
    const struct iovec rest = {(uint8_t *)piece[count].iov_base + bytes, piece[count].iov_len - bytes};
    piece[count].iov_len = bytes;
    *pieces = count + 1;
    return rest;
}

static int send_one(int fd, const struct msghdr *message, int flags)
{
    ssize_t sent;
    do sent = sendmsg(fd, message, flags);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
}

gn_udp_taken gn_udp_batch_send_singly(gn_udp_batch *batch, int fd)
{
    gn_udp_taken taken = {0};
    struct msghdr one = batch->header[batch->sent].msg_hdr;
    const gn_udp_message *message = gn_udp_batch_skip(batch);
    // The length to cut at comes last.
    if (message->datagrams > 1) one.msg_controllen -= CMSG_SPACE(sizeof(uint16_t));
    if (!one.msg_controllen) one.msg_control = NULL;
    size_t left = message->bytes;
    for (unsigned i = 0; i < message->datagrams; i++) {
        const size_t bytes = message->segment && message->segment < left ? message->segment : left;
        const struct iovec rest = cut_pieces(one.msg_iov, bytes, &one.msg_iovlen);
        const int error = send_one(fd, &one, batch->flags);
        if (error) {
            taken.error = error;
        } else {
            taken.datagrams++;
            taken.bytes += bytes;
        }
        one.msg_iov += one.msg_iovlen;
        if (rest.iov_len) *--one.msg_iov = rest;
        left -= bytes;
    }
    return taken;
}
