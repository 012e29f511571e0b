// SPDX-License-Identifier: Apache-2.0
#include "driver/coalescer.h"

#include <stdlib.h>
#include <string.h>

#include <gradnic/shim.h>

#include "driver/inner.h"
#include "net/clock.h"

gn_status gn_coalescer_open(gn_coalescer *coalescer, const gn_tun *tun, gn_onward *onward)
{
    memset(coalescer, 0, sizeof *coalescer);
    coalescer->tun = tun;
    coalescer->onward = onward;
    coalescer->burst = malloc(sizeof *coalescer->burst);
    return coalescer->burst ? gn_tx_new(&coalescer->cutter, &(gn_tx_config){.flow_capacity = 1}) : GN_NO_MEMORY;
}

void gn_coalescer_close(gn_coalescer *coalescer)
{
    gn_tx_free(coalescer->cutter);
    free(coalescer->burst);
}

static void write_out(gn_coalescer *coalescer, struct virtio_net_hdr *virtio, unsigned packets)
{
    coalescer->vector[0] = (struct iovec){virtio, sizeof *virtio};
    coalescer->counters.writes++;
    if (!gn_tun_write(coalescer->tun, coalescer->vector, (int)packets + 1)) coalescer->counters.refused += packets;
}

static void write_alone(gn_coalescer *coalescer, uint8_t *packet, size_t length, bool partial)
{
    struct virtio_net_hdr virtio = {0};
    gn_headers headers;
    if (partial && gn_packet_parse(packet, length, &headers) == GN_PARSE_OK) {
        virtio.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
        virtio.hdr_len = headers.payload;
        virtio.csum_start = headers.l4;
        virtio.csum_offset = (uint16_t)(gn_packet_checksum_at(&headers) - headers.l4);
    }
    coalescer->vector[1] = (struct iovec){packet, length};
    write_out(coalescer, &virtio, 1);
}

void gn_coalescer_flush(gn_coalescer *coalescer)
{
    if (!coalescer->open) return;
    const gn_handover how = gn_run_finish(&coalescer->run, coalescer->first);
    struct virtio_net_hdr virtio = {
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .gso_type = !how.gso_size ? VIRTIO_NET_HDR_GSO_NONE
                    : how.ipv6    ? VIRTIO_NET_HDR_GSO_TCPV6
                                  : VIRTIO_NET_HDR_GSO_TCPV4,
        .hdr_len = how.header_bytes,
        .gso_size = how.gso_size,
        .csum_start = how.checksum_start,
        .csum_offset = how.checksum_offset,
    };
    coalescer->open = false;
    write_out(coalescer, &virtio, coalescer->run.packets);
}

/// The longest packet that goes on from the host, as far as it is known.
static size_t mtu_for(const gn_coalescer *coalescer, const uint8_t *packet, size_t length)
{
    gn_inner inner;
    const unsigned mtu = coalescer->tun->mtu;
    if (!gn_onward_knows(coalescer->onward) || !gn_inner_read(packet, length, &inner)) return mtu;
    const unsigned onward = gn_onward_mtu(coalescer->onward, &inner.destination, gn_now());
    return onward && onward < mtu ? onward : mtu;
}

/// Whether it is known where values lie in a packet. `*head`: bytes ahead of the first one. What
/// came untouched or stored does not say it. That is no longer than what its sender has cut.
static bool knows_values(gn_restored wire, uint8_t *head)
{
    gn_headers h;
    gn_shim shim;
    if (!wire.packet || gn_packet_parse(wire.packet, wire.length, &h) != GN_PARSE_OK ||
        h.end - h.payload < GN_SHIM_BYTES || !gn_shim_read(wire.packet + h.payload, &shim))
        return false;
    *head = shim.head & 3;
    return shim.kind != GN_KIND_STORED;
}

/// Hands over a packet in pieces that end with values. @return false when it cannot be cut
static bool write_apart(gn_coalescer *coalescer, const uint8_t *packet, size_t length, size_t mtu, uint8_t head,
                        bool partial)
{
    gn_headers h;
    if (gn_packet_parse(packet, length, &h) != GN_PARSE_OK || h.protocol != GN_PROTOCOL_TCP) return false;
    if (h.tcp_flags & GN_TCP_URG) return false;  // its pointer counts from the packet's beginning
    const gn_segment segment = {.packet = packet,
                                .length = length,
                                .partial_checksum = partial,
                                .checksum_start = h.l4,
                                .checksum_offset = (uint16_t)(gn_packet_checksum_at(&h) - h.l4),
                                .values = true,
                                .head = head};
    gn_burst *burst = coalescer->burst;
    if (gn_tx_segment(coalescer->cutter, &segment, GN_CUT_MTU, mtu, burst)) return false;
    for (unsigned i = 0; i < burst->count; i++)
        write_alone(coalescer, burst->data + burst->offset[i], burst->offset[i + 1] - burst->offset[i], false);
    return true;
}

void gn_coalescer_add(gn_coalescer *coalescer, uint8_t *packet, size_t length, gn_restored wire, bool partial)
{
    const bool restored = wire.packet;
    gn_run *run = &coalescer->run;
    uint8_t head = 0;
    size_t at, mtu = GN_PACKET_MAX;
    coalescer->counters.packets++;
    coalescer->counters.bytes += length;
    if (coalescer->open && run->packets < GN_COALESCER_MAX && (!run->large || knows_values(wire, &head)) &&
        gn_run_append(run, packet, length, restored, &at)) {
        coalescer->vector[run->packets] = (struct iovec){packet + at, length - at};
        return;
    }
    gn_coalescer_flush(coalescer);
    if (restored && length > (mtu = mtu_for(coalescer, packet, length)) && !knows_values(wire, &head))
        mtu = GN_PACKET_MAX;
    coalescer->open = !head && gn_run_begin(run, packet, length, mtu, restored);
    if (!coalescer->open) {
        if (length <= mtu || !write_apart(coalescer, packet, length, mtu, head, partial))
            write_alone(coalescer, packet, length, partial);
        return;
    }
    coalescer->first = packet;
    coalescer->vector[1] = (struct iovec){packet, length};
}
