// SPDX-License-Identifier: Apache-2.0
// Wire to host: takes a batch of datagrams of one peer, checks each packet's source address, lets
// the engine restore it and hands neighbours over together.
#include <errno.h>

#include "driver/inner.h"
#include "driver/nic_state.h"
#include "driver/pmtu.h"
#include "net/yield.h"

// Most packets of a batch have one source, so the last one is kept.
static bool is_source_of(gn_nic *nic, const gn_ip *source, const gn_peer *peer)
{
    gn_in *in = nic->in;
    if (peer == in->source_peer && !gn_ip_compare(source, &in->source)) return true;
    if (gn_peers_route(nic->config.peers, source) != peer) return false;
    in->source = *source;
    in->source_peer = peer;
    return true;
}

// `used` bytes of `restored` are in use. @return how many are afterwards
static size_t handle_packet(gn_nic *nic, gn_peer *peer, uint8_t *datagram, size_t length, size_t used)
{
    gn_in *in = nic->in;
    gn_inner inner;
    size_t bytes = 0;
    if (!gn_inner_read(datagram, length, &inner)) {
        peer->counters.rx_bad_packet++;
        return used;
    }
    if (!is_source_of(nic, &inner.source, peer)) {
        peer->counters.rx_bad_source++;
        return used;
    }
    peer->counters.rx_packets++;
    peer->counters.rx_bytes += inner.length;
    gn_capture_packet(nic->pcap_wire, datagram, inner.length, NULL, 0);
    if (sizeof in->restored - used < GN_PACKET_MAX) {
        gn_coalescer_flush(&in->coalescer);
        used = 0;
    }
    uint8_t *restored = in->restored + used;
    const gn_verdict verdict =
        gn_datapath_receive(nic->datapath, datagram, inner.length, restored, sizeof in->restored - used, &bytes);
    if (verdict == GN_VERDICT_DROP) {
        (void)gn_nic_stop_if_failed(nic);
        return used;
    }
    const bool written = verdict == GN_VERDICT_WRITE;
    uint8_t *packet = written ? restored : datagram;
    if (!written) bytes = inner.length;
    gn_capture_packet(nic->pcap_host, packet, bytes, NULL, 0);
    const gn_restored wire = {written ? datagram : NULL, inner.length};
    gn_coalescer_add(&in->coalescer, packet, bytes, wire, written && nic->partial);
    return written ? used + bytes : used;
}

// A host may have several addresses, and a socket on all of them sends from the one that the kernel
// chooses. A peer hears only the one that it knows, and sends to.
static void note_asked(gn_in *in, gn_peer *peer, const gn_ip *to)
{
    if (!to->version || (!gn_ip_compare(to, &peer->asked) && !atomic_load(&peer->forgot))) return;
    if (gn_ip_is_link_local(to) && !peer->endpoint.scope) return;  // it has to name the link, too
    peer->asked = *to;
    in->answered = peer;
}

static void answer_from_there(gn_nic *nic)
{
    gn_peer *peer = nic->in->answered;
    if (!peer) return;
    nic->in->answered = NULL;
    pthread_mutex_lock(&nic->out->lock);
    peer->from = peer->asked;
    atomic_store(&peer->forgot, false);
    pthread_mutex_unlock(&nic->out->lock);
}

void gn_in_batch(gn_nic *nic, const gn_wire_batch *batch)
{
    gn_in *in = nic->in;
    const size_t count = batch->size ? (batch->bytes + batch->size - 1) / batch->size : 1;
    gn_peer *peer = gn_peers_find(nic->config.peers, &batch->from);
    in->batches++;
    in->datagrams += count;
    in->bytes += batch->bytes + count * ((batch->from.ip.version == 4 ? 28u : 48u) + GN_WIRE_ETHERNET);
    if (!peer) {
        in->unknown_sender += count;
        return;
    }
    size_t used = 0;
    const uint64_t before = peer->counters.rx_packets;
    if (!batch->bytes) peer->counters.rx_bad_packet++;
    for (size_t at = 0; at < batch->bytes; at += batch->size) {
        const size_t rest = batch->bytes - at;
        used = handle_packet(nic, peer, in->batch + at, rest < batch->size ? rest : batch->size, used);
    }
    gn_coalescer_flush(&in->coalescer);
    if (peer->counters.rx_packets > before) note_asked(in, peer, &batch->to);
}

void *gn_in_thread(void *argument)
{
    gn_nic *nic = argument;
    gn_in *in = nic->in;
    unsigned looked = 0;
    while (!atomic_load_explicit(&nic->stop, memory_order_relaxed)) {
        gn_wire_batch batch;
        pthread_mutex_lock(&in->lock);
        const bool over = atomic_load(&nic->stop);  // it did not come to start
        const int got = over ? 0 : gn_wire_receive(&nic->wire, in->batch, sizeof in->batch, &batch);
        const int reason = errno;
        if (got > 0) gn_in_batch(nic, &batch);
        if (got < 0 || (!got && looked >= GN_PATIENCE)) gn_pmtu_hear(nic, gn_now());
        pthread_mutex_unlock(&in->lock);
        answer_from_there(nic);
        if (got)
            looked = 0;
        else if (looked < GN_PATIENCE)
            looked = gn_yield() ? looked + 1 : GN_PATIENCE;
        else
            gn_nic_wait(nic, nic->wire.fd, UINT64_MAX);
        // Any other error is news of the network, such as an ICMP error: no reason to stop
        // listening.
        if (got < 0 && (reason == EBADF || reason == ENOTSOCK || reason == EFAULT || reason == EINVAL))
            gn_nic_stop(nic, reason);
    }
    return NULL;
}
