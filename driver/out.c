// SPDX-License-Identifier: Apache-2.0
// Host to wire: takes a segment, finds its peer, lets the engine cut and compress it (unless the
// guard leaves it alone), sends it and charges the rate limiter.
#include <errno.h>
#include <string.h>

#include "driver/inner.h"
#include "driver/nic_state.h"
#include "driver/pmtu.h"
#include "driver/rules.h"
#include "driver/too_big.h"
#include "driver/untouched.h"
#include "net/yield.h"

static gn_segment as_segment(const struct virtio_net_hdr *virtio, const uint8_t *packet, size_t length)
{
    const bool cut = (virtio->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) != VIRTIO_NET_HDR_GSO_NONE;
    const bool partial = virtio->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM;
    return (gn_segment){
        .packet = packet,
        .length = length,
        .gso_size = cut ? virtio->gso_size : 0,
        .partial_checksum = partial,
        .checksum_start = partial ? virtio->csum_start : 0,
        .checksum_offset = partial ? virtio->csum_offset : 0,
    };
}

// Lists packets whose headers the engine made, and whose payload is where the host put it.
static size_t gather(gn_out *out, const gn_segment *segment, const gn_headers_cut *cut)
{
    const gn_burst *burst = &out->burst;
    size_t at = cut->payload_offset;
    for (unsigned i = 0; i < burst->count; i++, at += cut->piece) {
        const size_t rest = segment->length - at, bytes = rest < cut->piece ? rest : cut->piece;
        out->outgoing[i] = (gn_wire_packet){burst->data + i * cut->header_bytes, (uint32_t)cut->header_bytes,
                                            (uint32_t)bytes, segment->packet + at};
    }
    return burst->count;
}

// Lists packets that the engine made as a whole.
static size_t list(gn_out *out)
{
    const gn_burst *burst = &out->burst;
    for (unsigned i = 0; i < burst->count; i++)
        out->outgoing[i] = (gn_wire_packet){.head = burst->data + burst->offset[i],
                                            .head_bytes = burst->offset[i + 1] - burst->offset[i]};
    return burst->count;
}

static void send_packets(gn_nic *nic, gn_peer *peer, size_t count)
{
    gn_out *out = nic->out;
    for (size_t i = 0; i < count; i++) {
        const gn_wire_packet *packet = &out->outgoing[i];
        gn_capture_packet(nic->pcap_wire, packet->head, packet->head_bytes, packet->body, packet->body_bytes);
        out->packet_bytes += gn_wire_packet_bytes(packet);
        peer->counters.tx_bytes += gn_wire_packet_bytes(packet);
    }
    out->packets += count;
    peer->counters.tx_packets += count;
    gn_wire_end end = {&nic->wire, &out->wire};
    const gn_fault_sink link = {gn_wire_sink, &end};
    const uint64_t before = out->wire.bytes, now = gn_now();
    if (gn_fault_active(out->fault))
        gn_fault_send(out->fault, &link, peer, out->outgoing, count, now);
    else
        gn_wire_send(&nic->wire, peer, out->outgoing, count, &out->wire);
    gn_rate_charge(&out->rate, out->wire.bytes - before, now);
}

// Whether the receiver looks for a shim where no engine makes one: the mark is a rule's, protocol
// or port are not, or the engine is in bypass. Beside a switch packets have its workers' shims.
static bool is_exposed(const gn_nic *nic, const gn_segment *segment)
{
    const gn_nic_config *c = &nic->config;
    gn_headers h;
    if ((c->bypass && c->no_restore) || gn_packet_parse(segment->packet, segment->length, &h) != GN_PARSE_OK)
        return false;
    return gn_rules_mark(c->rules, c->rule_count, h.tos) && (c->bypass || !gn_rule_match(c->rules, c->rule_count, &h));
}

// Whether a packet was damaged before it came here, as one that this host forwards may be. A new
// checksum would hide that from its receiver.
static bool is_damaged(const gn_segment *s)
{
    gn_headers h;
    if (s->partial_checksum || s->gso_size || gn_packet_parse(s->packet, s->length, &h) != GN_PARSE_OK) return false;
    // With a source route, the checksum is not over the address in the header.
    if (gn_packet_has_options(&h)) return false;
    const uint8_t *sum = s->packet + gn_packet_checksum_at(&h);
    const bool none = h.protocol == GN_PROTOCOL_UDP && !sum[0] && !sum[1];
    return !none && !gn_packet_checksum_ok(s->packet, &h);
}

static gn_status copy(gn_nic *nic, const gn_segment *segment, size_t *count)
{
    gn_out *out = nic->out;
    if (segment->length > nic->packet_mtu) return GN_INVALID;
    memcpy(out->burst.data, segment->packet, segment->length);
    out->outgoing[0] = (gn_wire_packet){.head = out->burst.data, .head_bytes = (uint32_t)segment->length};
    out->bad_checksum++;
    *count = 1;
    return GN_OK;
}

// Makes the packets of a segment and lists them. @return GN_OK with their number
static gn_status transmit(gn_nic *nic, const gn_segment *segment, uint64_t now, size_t *count)
{
    gn_out *out = nic->out;
    gn_headers_cut cut;
    if (is_damaged(segment)) return copy(nic, segment, count);
    const bool guarded = nic->config.guard && !nic->config.bypass;
    const bool left =
        guarded && gn_guard_leaves(out->guard, nic->datapath, nic->config.rules, nic->config.rule_count, segment, now);
    gn_status status = left ? gn_guard_cut(out->guard, segment, nic->packet_mtu, &out->burst, &cut)
                            : gn_datapath_transmit_headers(nic->datapath, segment, nic->packet_mtu, &out->burst, &cut);
    if (status == GN_UNSUPPORTED) {
        cut.header_bytes = 0;
        status = gn_datapath_transmit(nic->datapath, segment, out->cut, nic->packet_mtu, &out->burst);
    }
    if (status == GN_OK && !left && is_exposed(nic, segment) &&
        gn_untouched_begins_like_ours(segment, &out->burst, &cut))
        status = gn_guard_cut(out->guard, segment, nic->packet_mtu, &out->burst, &cut);
    if (status == GN_OK) *count = cut.header_bytes ? gather(out, segment, &cut) : list(out);
    return status;
}

static void handle_segment(gn_nic *nic, const struct virtio_net_hdr *virtio, size_t length, uint64_t now)
{
    gn_out *out = nic->out;
    gn_inner inner;
    out->segments++;
    out->bytes += length;
    gn_capture_packet(nic->pcap_host, out->segment, length, NULL, 0);
    if (!gn_inner_read(out->segment, length, &inner)) {
        out->not_ip++;
        return;
    }
    gn_peer *peer = gn_peers_route(nic->config.peers, &inner.destination);
    if (!peer) {
        out->no_peer++;
        return;
    }
    gn_ip narrow;
    const unsigned onward = gn_too_big_read(out->segment, inner.length, &narrow);
    if (onward) gn_onward_note(&nic->onward, &narrow, onward, now);
    const gn_segment segment = as_segment(virtio, out->segment, inner.length);
    size_t count = 0;
    const gn_status status = transmit(nic, &segment, now, &count);
    if (status == GN_OK) {
        send_packets(nic, peer, count);
        return;
    }
    if (gn_nic_stop_if_failed(nic)) return;
    out->uncuttable++;
    gn_pmtu_tell_host(nic, out->segment, inner.length, gn_now());
}

// One step, under the lock. @return nanoseconds to wait before the next one. With `*readable`, a
// readable device ends the wait.
static uint64_t step(gn_nic *nic, bool *readable)
{
    gn_out *out = nic->out;
    struct virtio_net_hdr virtio;
    size_t length;
    const uint64_t now = gn_now();
    gn_wire_end end = {&nic->wire, &out->wire};
    const gn_fault_sink link = {gn_wire_sink, &end};
    const uint64_t before = out->wire.bytes, fault = gn_fault_release(out->fault, &link, now),
                   told = gn_guard_tell_rest(out->guard, now), due = fault < told ? fault : told;
    gn_rate_charge(&out->rate, out->wire.bytes - before, now);
    gn_pmtu_follow(nic, now);
    const uint64_t busy = gn_rate_wait(&out->rate, now);
    *readable = false;
    if (busy) return busy < due ? busy : due;
    const int got = gn_tun_read(&nic->tun, &virtio, out->segment, GN_BATCH_BYTES, &length);
    if (got > 0) {
        handle_segment(nic, &virtio, length, now);
        return 0;
    }
    if (got < 0) gn_nic_stop(nic, errno);
    *readable = true;
    return due;
}

void *gn_out_thread(void *argument)
{
    gn_nic *nic = argument;
    unsigned looked = 0;
    while (!atomic_load_explicit(&nic->stop, memory_order_relaxed)) {
        bool readable = false;
        pthread_mutex_lock(&nic->out->lock);
        const uint64_t wait = atomic_load(&nic->stop) ? 0 : step(nic, &readable);
        pthread_mutex_unlock(&nic->out->lock);
        if (!wait)
            looked = 0;
        else if (readable && looked < GN_PATIENCE)
            looked = gn_yield() ? looked + 1 : GN_PATIENCE;
        else
            gn_nic_wait(nic, readable ? nic->tun.fd : -1, wait);
    }
    return NULL;
}
