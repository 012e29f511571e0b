// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/outbox.h"

#include <poll.h>
#include <stdlib.h>

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

/// Counts the messages from number `first` on that have left. @return the number of the next one
static unsigned count_sent(gn_outbox *box, unsigned first)
{
    for (; first < box->batch.sent; first++) {
        box->counters.messages++;
        box->counters.datagrams += box->message[first].datagrams;
        box->counters.bytes += box->message[first].bytes;
    }
    return first;
}

/// Sends one datagram a call, to a destination that takes no messages of several.
static void send_singly(gn_outbox *box)
{
    const unsigned datagrams = box->message[box->batch.sent].datagrams;
    const gn_udp_taken taken = gn_udp_batch_send_singly(&box->batch, box->fd);
    box->counters.calls += datagrams;
    box->counters.messages += taken.datagrams;
    box->counters.datagrams += taken.datagrams;
    box->counters.bytes += taken.bytes;
    box->counters.errors += datagrams - taken.datagrams;
}

/// The kernel has refused a message.
static void refused(gn_outbox *box, gn_udp_refusal refusal)
{
    const bool together = box->message[box->batch.sent].datagrams > 1;
    if (refusal == GN_UDP_FULL) {
        box->counters.full += gn_udp_batch_skip(&box->batch)->datagrams;
    } else if (together && refusal == GN_UDP_TOO_LARGE) {
        box->to[box->batch.sent]->single = true;  // the way there carries them in fragments
        send_singly(box);
    } else if (together && refusal == GN_UDP_NO_OFFLOAD) {
        box->no_segmentation = true;
        send_singly(box);
    } else {
        box->counters.errors += gn_udp_batch_skip(&box->batch)->datagrams;
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
    gn_udp_batch *batch = &box->batch;
    unsigned counted = 0;
    int error;
    while ((error = gn_udp_batch_send(batch, box->fd))) {
        const gn_udp_refusal refusal = gn_udp_batch_refusal(batch, error);
        counted = count_sent(box, counted);
        if (refusal == GN_UDP_FULL && wait_for_room(box)) continue;
        box->counters.calls++;
        refused(box, refusal);
        counted++;
    }
    (void)count_sent(box, counted);
    box->counters.calls += batch->calls;
    gn_udp_batch_clear(batch);
}

static int longer_first(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static bool goes_together(const gn_outbox *box, const gn_source *to)
{
    return !box->no_segmentation && !to->single;
}

/// Puts a destination's datagrams into the order in which most go together. @return their number
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
    if (differ && goes_together(box, queue->to)) qsort(box->order, count, sizeof *box->order, longer_first);
    return count;
}

static void begin_message(gn_outbox *box, gn_source *to)
{
    // Where values came marked for NICs, those that go back are marked too.
    const gn_udp_to where = {.address = &to->address,
                             .length = to->length,
                             .six = gn_udp_is_six(&to->address),
                             .tos = gn_ecn_capable(to->tos),
                             .from = to->here};
    if (!gn_udp_batch_has_room(&box->batch)) send_messages(box);
    box->to[box->batch.messages] = to;
    gn_udp_batch_begin(&box->batch, &where);
}

void gn_outbox_flush(gn_outbox *box)
{
    gn_udp_batch *batch = &box->batch;
    *batch = (gn_udp_batch){.message = box->message,
                            .header = box->header,
                            .piece = box->piece,
                            .messages_max = GN_OUTBOX_MESSAGES,
                            .pieces_max = sizeof box->piece / sizeof *box->piece,
                            .bytes_max = GN_OUTBOX_MESSAGE_BYTES,
                            .flags = MSG_DONTWAIT};
    for (unsigned i = 0; i < box->active; i++) {
        const gn_outbox_queue *queue = &box->queue[i];
        if (box->fd != queue->fd) send_messages(box);
        box->fd = queue->fd;
        box->queue_of[queue->to->port] = 0;
        const unsigned end = arrange(box, queue);
        for (unsigned at = 0; at < end; at++) {
            const gn_outbox_item *item = &box->item[box->order[at] & 0xffff];
            const bool begun = at && goes_together(box, queue->to);
            if (begun && gn_udp_batch_join(batch, item->data, item->bytes)) continue;
            begin_message(box, queue->to);
            gn_udp_batch_add(batch, item->data, item->bytes);
        }
    }
    send_messages(box);
    box->waited = false;
    box->active = box->items = 0;
    box->used = 0;
}
