// SPDX-License-Identifier: Apache-2.0
#include "driver/wire.h"

#include <errno.h>
#include <limits.h>
#include <sys/time.h>

#include "net/resolve.h"
#include "net/udp_in.h"

enum {
    MESSAGES = 16,                               // of one system call
    PIECES_MAX = 3,                              // of a datagram: head, body, padding
    PIECES = PIECES_MAX * GN_WIRE_SEGMENTS_MAX,  // of one system call
    SEND_TIMEOUT_US = 200000
};

gn_status gn_wire_open(gn_wire *wire, const gn_endpoint *listen, size_t buffer_bytes, bool unlearnt, gn_error *error)
{
    gn_endpoint at = *listen;
    // Never a fragment: the host-facing MTU leaves room for the encapsulation.
    const gn_udp_options options = {.join = true,
                                    .whole = true,
                                    .unlearnt = unlearnt,
                                    .read_to = gn_ip_is_any(&listen->ip),
                                    .receive_bytes = buffer_bytes,
                                    .send_bytes = buffer_bytes / 4};
    *wire = (gn_wire){.family = gn_ip_family(&listen->ip), .segmentation = true, .hears = unlearnt};
    const gn_status status = gn_udp_listen(&wire->fd, &at, &options, error);
    if (status) return status;
    const struct timeval limit = {.tv_usec = SEND_TIMEOUT_US};
    (void)setsockopt(wire->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return GN_OK;
}

void gn_wire_close(gn_wire *wire)
{
    gn_close(&wire->fd);
}

// Greedy: a packet joins while padding, which brings all to the largest one's length, stays a small
// share. A last packet that is shorter needs none.
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

static void add_packets(gn_udp_batch *batch, const gn_wire_packet *packets, size_t count, size_t size)
{
    static const uint8_t zeros[GN_WIRE_BATCH_BYTES / GN_WIRE_PAD_SHARE + 1];
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = gn_wire_packet_bytes(&packets[i]);
        gn_udp_batch_add(batch, packets[i].head, packets[i].head_bytes);
        if (packets[i].body_bytes) gn_udp_batch_add(batch, packets[i].body, packets[i].body_bytes);
        if (i + 1 < count && bytes < size) gn_udp_batch_add(batch, zeros, size - bytes);
    }
    if (count > 1) gn_udp_batch_cut(batch, size, (unsigned)count);
}

static void count_refused(gn_wire_counters *counters, int reason, size_t datagrams)
{
    if (reason == EMSGSIZE)
        counters->too_big += datagrams;
    else
        counters->errors += datagrams;
    counters->last_error = reason;
}

static void count_sent(gn_wire_counters *counters, const gn_peer *peer, size_t datagrams, size_t bytes)
{
    counters->datagrams += datagrams;
    counters->bytes += bytes + datagrams * (uint64_t)(gn_wire_encapsulation(peer) + GN_WIRE_ETHERNET);
}

/// The message that the kernel has refused is counted, or sent in another way.
static void refused(gn_wire *wire, gn_peer *peer, gn_udp_batch *batch, int error, gn_wire_counters *counters)
{
    // The address may have been taken from this host. The peer may name another. Links that are
    // down and messages that are too long have the same errors.
    const bool nowhere = error == EINVAL || error == ENETUNREACH || error == EADDRNOTAVAIL;
    const gn_endpoint from = {.ip = peer->from, .scope = peer->endpoint.scope};
    if (nowhere && from.ip.version && !gn_endpoint_is_own(&from)) {
        peer->from = (gn_ip){0};
        atomic_store(&peer->forgot, true);
    }
    const gn_udp_refusal refusal = gn_udp_batch_refusal(batch, error);
    if (refusal != GN_UDP_NO_OFFLOAD) {
        const int reason = refusal == GN_UDP_TOO_LARGE ? EMSGSIZE : error;
        count_refused(counters, reason, gn_udp_batch_skip(batch)->datagrams);
        return;
    }
    // The route's device makes no checksums, or the kernel is old: no message is cut from now on.
    wire->segmentation = false;
    const unsigned datagrams = batch->message[batch->sent].datagrams;
    const gn_udp_taken taken = gn_udp_batch_send_singly(batch, wire->fd);
    counters->calls += taken.datagrams;
    count_sent(counters, peer, taken.datagrams, taken.bytes);
    if (taken.datagrams < datagrams) count_refused(counters, taken.error, datagrams - taken.datagrams);
}

/// `padding`: of each message.
static void send_batch(gn_wire *wire, gn_peer *peer, gn_udp_batch *batch, const size_t *padding,
                       gn_wire_counters *counters)
{
    unsigned counted = 0, again = UINT_MAX;
    for (;;) {
        const int error = gn_udp_batch_send(batch, wire->fd);
        for (; counted < batch->sent; counted++) {
            count_sent(counters, peer, batch->message[counted].datagrams, batch->message[counted].bytes);
            counters->padding += padding[counted];
        }
        if (!error) break;
        if (wire->hears && error != EAGAIN && again != batch->sent) {
            again = batch->sent;  // the error may be about an earlier datagram
            continue;
        }
        refused(wire, peer, batch, error, counters);
        counted++;
    }
    counters->calls += batch->calls;
    gn_udp_batch_clear(batch);
}

void gn_wire_send(gn_wire *wire, gn_peer *peer, const gn_wire_packet *packets, size_t count, gn_wire_counters *counters)
{
    gn_udp_message message[MESSAGES];
    struct mmsghdr header[MESSAGES];
    struct iovec piece[PIECES];
    size_t padding[MESSAGES];
    gn_udp_batch batch = {.message = message,
                          .header = header,
                          .piece = piece,
                          .messages_max = MESSAGES,
                          .pieces_max = PIECES,
                          .bytes_max = GN_WIRE_BATCH_BYTES};
    const gn_udp_to to = {.address = &peer->address, .length = peer->address_length, .from = peer->from};
    while (count) {
        size_t size = 0, pad = 0;
        const size_t taken = wire->segmentation ? gn_wire_plan(packets, count, &size, &pad) : 1;
        if (!gn_udp_batch_has_room(&batch) || batch.pieces + PIECES_MAX * taken > PIECES)
            send_batch(wire, peer, &batch, padding, counters);
        padding[batch.messages] = pad;
        gn_udp_batch_begin(&batch, &to);
        add_packets(&batch, packets, taken, size);
        packets += taken, count -= taken;
    }
    send_batch(wire, peer, &batch, padding, counters);
}

void gn_wire_sink(void *context, const void *to, const gn_wire_packet *packets, size_t count)
{
    const gn_wire_end *end = context;
    gn_peer *peer = (gn_peer *)(uintptr_t)to;  // gn_fault only hands it on
    gn_wire_send(end->wire, peer, packets, count, end->counters);
}

int gn_wire_receive(const gn_wire *wire, uint8_t *buffer, size_t capacity, gn_wire_batch *batch)
{
    struct sockaddr_storage from;
    gn_udp_arrival arrival;
    const int got = gn_udp_receive(wire->fd, buffer, capacity, &from, &arrival);
    if (got <= 0) return got;
    batch->bytes = arrival.bytes;
    batch->size = arrival.segment;
    batch->from = gn_endpoint_from_sockaddr(&from);
    batch->to = arrival.to;
    return 1;
}
