// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/outbox.h"

#include <errno.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

uint8_t *gn_outbox_room(gn_outbox *box, size_t bytes)
{
    if (box->used + bytes > sizeof box->arena) gn_outbox_flush(box);
    return box->arena + box->used;
}

void gn_outbox_keep(gn_outbox *box, size_t bytes)
{
    box->used += (bytes + 15) & ~(size_t)15;  // the next datagram begins aligned
}

static gn_outbox_queue *queue_for(gn_outbox *box, int fd, gn_source *to)
{
    if (!box->queue_of[to->port]) {
        box->queue[box->active++] = (gn_outbox_queue){.to = to, .fd = fd};
        box->queue_of[to->port] = (uint16_t)box->active;
    }
    return &box->queue[box->queue_of[to->port] - 1];
}

void gn_outbox_post(gn_outbox *box, int fd, gn_source *to, const uint8_t *data, size_t bytes)
{
    if (box->items == GN_OUTBOX_ITEMS) {
        // The datagram itself may be in the arena, so the arena stays as it is.
        const size_t used = box->used;
        gn_outbox_flush(box);
        box->used = used;
    }
    gn_outbox_queue *queue = queue_for(box, fd, to);
    box->item[box->items++] = (gn_outbox_item){.data = data, .bytes = (uint32_t)bytes};
    const uint16_t number = (uint16_t)box->items;
    if (queue->last)
        box->item[queue->last - 1].next = number;
    else
        queue->first = number;
    queue->last = number;
}

static void count_sent(gn_outbox *box, const struct msghdr *message)
{
    box->counters.messages++;
    box->counters.datagrams += message->msg_iovlen;
    for (size_t i = 0; i < message->msg_iovlen; i++) box->counters.bytes += message->msg_iov[i].iov_len;
}

/// Sends one datagram a call, to a destination that takes no segmented sends.
static void send_singly(gn_outbox *box, const struct msghdr *whole)
{
    for (size_t i = 0; i < whole->msg_iovlen; i++) {
        struct msghdr one = *whole;
        one.msg_iov += i;
        one.msg_iovlen = 1;
        one.msg_controllen -= CMSG_SPACE(sizeof(uint16_t));  // UDP_SEGMENT, the last
        if (!one.msg_controllen) one.msg_control = NULL;
        ssize_t sent;
        do sent = sendmsg(box->fd, &one, MSG_DONTWAIT);
        while (sent < 0 && errno == EINTR);
        box->counters.calls++;
        if (sent >= 0)
            count_sent(box, &one);
        else
            box->counters.errors++;
    }
}

/// The kernel has refused a message.
static void refused(gn_outbox *box, unsigned index, int reason)
{
    const struct msghdr *message = &box->message[index].msg_hdr;
    if (reason == EAGAIN) {
        box->counters.full += message->msg_iovlen;
    } else if (message->msg_iovlen > 1) {
        // A datagram may be too large for the way there (EINVAL before Linux 6.13, then EMSGSIZE).
        // Otherwise there is no offload at all.
        if (reason == EINVAL || reason == EMSGSIZE)
            box->to[index]->single = true;
        else
            box->no_segmentation = true;
        send_singly(box, message);
    } else {
        box->counters.errors += message->msg_iovlen;
    }
}

/// A slow receiver or link may hold up the others of this shard for a moment, but not for longer.
static bool wait_for_room(gn_outbox *box)
{
    if (box->waited) return false;
    box->waited = true;
    return poll(&(struct pollfd){.fd = box->fd, .events = POLLOUT}, 1, GN_OUTBOX_WAIT_MS) > 0;
}

static void send_messages(gn_outbox *box)
{
    for (unsigned at = 0; at < box->messages;) {
        const int sent = sendmmsg(box->fd, box->message + at, box->messages - at, MSG_DONTWAIT);
        if (sent < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_room(box)))) continue;
        box->counters.calls++;
        if (sent <= 0) {
            refused(box, at++, errno);
            continue;
        }
        for (int i = 0; i < sent; i++) count_sent(box, &box->message[at++].msg_hdr);
    }
    box->messages = box->vectors = 0;
}

/// Adds a control message to the message that is being made.
static void tell_kernel(gn_outbox *box, struct msghdr *message, int level, int type, const void *value, size_t bytes)
{
    char *const control = box->control[box->messages].bytes;
    struct cmsghdr *header = (struct cmsghdr *)(void *)(control + message->msg_controllen);
    message->msg_control = control;
    header->cmsg_level = level;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(header), value, bytes);
    message->msg_controllen += CMSG_SPACE(bytes);
}

/// Marks a message so that NICs restore what they compress.
static void mark_for_nics(gn_outbox *box, struct msghdr *message, const gn_source *to)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)&to->address;
    const bool is_six = to->address.ss_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&six->sin6_addr);
    const int tos = to->tos | 2;  // capable of ECN, like everything that leaves
    tell_kernel(box, message, is_six ? IPPROTO_IPV6 : IPPROTO_IP, is_six ? IPV6_TCLASS : IP_TOS, &tos, sizeof tos);
}

static int longer_first(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/// Puts a destination's datagrams into the order in which they fit together best. @return their
/// number
static unsigned arrange(gn_outbox *box, const gn_outbox_queue *queue)
{
    unsigned count = 0;
    bool differ = false;
    for (uint16_t at = queue->first; at; at = box->item[at - 1].next) {
        const uint32_t bytes = box->item[at - 1].bytes;
        box->order[count] = bytes << 16 | (uint32_t)(at - 1);
        differ |= bytes != box->order[0] >> 16;
        count++;
    }
    if (differ && !box->no_segmentation && !queue->to->single)
        qsort(box->order, count, sizeof *box->order, longer_first);
    return count;
}

/// Makes the next message to a destination, from place `at` of its order on, of as many datagrams
/// as can go together. All but the last are equally long, and the last is not longer. @return the
/// place behind
static unsigned add_message(gn_outbox *box, const gn_outbox_queue *queue, unsigned at, unsigned end)
{
    const bool together = !box->no_segmentation && !queue->to->single;
    const size_t size = box->order[at] >> 16;
    struct iovec *const first = &box->vector[box->vectors];
    size_t bytes = 0, count = 0;
    bool ended = false;
    for (; at < end && !ended && count < GN_OUTBOX_SEGMENTS; at++) {
        const gn_outbox_item *item = &box->item[box->order[at] & 0xffff];
        if (count && (!together || item->bytes > size || bytes + item->bytes > GN_OUTBOX_SEGMENTED_BYTES)) break;
        first[count++] = (struct iovec){(void *)(uintptr_t)item->data, item->bytes};
        bytes += item->bytes;
        ended = item->bytes < size;
    }
    struct msghdr *message = &box->message[box->messages].msg_hdr;
    *message = (struct msghdr){
        .msg_name = &queue->to->address, .msg_namelen = queue->to->length, .msg_iov = first, .msg_iovlen = count};
    const uint16_t segment = (uint16_t)size;
    if (queue->to->tos) mark_for_nics(box, message, queue->to);
    if (count > 1) tell_kernel(box, message, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment);
    box->to[box->messages++] = queue->to;
    box->vectors += (unsigned)count;
    return at;
}

void gn_outbox_flush(gn_outbox *box)
{
    for (unsigned i = 0; i < box->active; i++) {
        const gn_outbox_queue *queue = &box->queue[i];
        if (box->messages && box->fd != queue->fd) send_messages(box);
        box->fd = queue->fd;
        box->queue_of[queue->to->port] = 0;
        const unsigned end = arrange(box, queue);
        for (unsigned at = 0; at < end;) {
            if (box->messages == GN_OUTBOX_MESSAGES) send_messages(box);
            at = add_message(box, queue, at, end);
        }
    }
    if (box->messages) send_messages(box);
    box->waited = false;
    box->active = box->items = 0;
    box->used = 0;
}
