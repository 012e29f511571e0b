// SPDX-License-Identifier: Apache-2.0
#include "driver/join.h"

#include <string.h>

void gn_join_init(gn_join *join, const gn_tun *tun)
{
    memset(join, 0, sizeof *join);
    join->tun = tun;
}

static void write_out(gn_join *join, struct virtio_net_hdr *virtio, unsigned packets)
{
    join->vector[0] = (struct iovec){virtio, sizeof *virtio};
    join->counters.writes++;
    if (!gn_tun_write(join->tun, join->vector, (int)packets + 1)) join->counters.refused += packets;
}

static void write_alone(gn_join *join, uint8_t *packet, size_t length, bool partial)
{
    struct virtio_net_hdr virtio = {0};
    gn_headers headers;
    if (partial && gn_packet_parse(packet, length, &headers) == GN_PARSE_OK) {
        virtio.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
        virtio.hdr_len = headers.payload;
        virtio.csum_start = headers.l4;
        virtio.csum_offset = (uint16_t)(gn_packet_checksum_at(&headers) - headers.l4);
    }
    join->vector[1] = (struct iovec){packet, length};
    write_out(join, &virtio, 1);
}

void gn_join_flush(gn_join *join)
{
    if (!join->open) return;
    const unsigned head = join->run.first.payload, mtu = join->tun->mtu;
    const gn_handover how = gn_run_finish(&join->run, (uint16_t)(mtu > head ? mtu - head : 1), join->first);
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
    join->open = false;
    write_out(join, &virtio, join->run.packets);
}

void gn_join_add(gn_join *join, uint8_t *packet, size_t length, bool restored, bool partial)
{
    size_t at;
    join->counters.packets++;
    join->counters.bytes += length;
    if (join->open && join->run.packets < GN_JOIN_MAX && gn_run_append(&join->run, packet, length, restored, &at)) {
        join->vector[join->run.packets] = (struct iovec){packet + at, length - at};
        return;
    }
    gn_join_flush(join);
    join->open = gn_run_begin(&join->run, packet, length, restored);
    if (!join->open) {
        write_alone(join, packet, length, partial);
        return;
    }
    join->first = packet;
    join->vector[1] = (struct iovec){packet, length};
}
