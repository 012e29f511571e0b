// SPDX-License-Identifier: Apache-2.0
#include "driver/coalescer.h"

#include <string.h>

#include "driver/inner.h"
#include "net/clock.h"

void gn_coalescer_init(gn_coalescer *coalescer, const gn_tun *tun, gn_onward *onward)
{
    memset(coalescer, 0, sizeof *coalescer);
    coalescer->tun = tun;
    coalescer->onward = onward;
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

// The host may forward what is longer than its device's MTU.
static void fit_onward(gn_coalescer *coalescer, const uint8_t *packet, size_t length)
{
    gn_inner inner;
    if (!gn_inner_read(packet, length, &inner)) return;
    const unsigned mtu = gn_onward_mtu(coalescer->onward, &inner.destination, gn_now());
    if (mtu) gn_run_narrow(&coalescer->run, mtu);
}

void gn_coalescer_add(gn_coalescer *coalescer, uint8_t *packet, size_t length, bool restored, bool partial)
{
    size_t at;
    coalescer->counters.packets++;
    coalescer->counters.bytes += length;
    if (coalescer->open && coalescer->run.packets < GN_COALESCER_MAX &&
        gn_run_append(&coalescer->run, packet, length, restored, &at)) {
        coalescer->vector[coalescer->run.packets] = (struct iovec){packet + at, length - at};
        return;
    }
    gn_coalescer_flush(coalescer);
    coalescer->open = gn_run_begin(&coalescer->run, packet, length, coalescer->tun->mtu, restored);
    if (!coalescer->open) {
        write_alone(coalescer, packet, length, partial);
        return;
    }
    if (coalescer->run.large) fit_onward(coalescer, packet, length);
    coalescer->first = packet;
    coalescer->vector[1] = (struct iovec){packet, length};
}
