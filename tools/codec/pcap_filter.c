// SPDX-License-Identifier: Apache-2.0
#include "pcap_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/host_mtu.h"

/// One captured frame on its way through.
typedef struct frame {
    const struct pcap_pkthdr *header;
    const uint8_t *bytes;
    size_t offset;  // of the IP packet
    pcap_dumper_t *out;
} frame;

static void write_frame(gn_pcap_filter *f, const frame *in, const uint8_t *packet, size_t length)
{
    memcpy(f->frame, in->bytes, in->offset);
    memcpy(f->frame + in->offset, packet, length);
    bpf_u_int32 total = (bpf_u_int32)(in->offset + length);
    struct pcap_pkthdr header = {.ts = in->header->ts, .caplen = total, .len = total};
    pcap_dump((u_char *)in->out, &header, f->frame);
    f->written++;
}

static void pass_frame(gn_pcap_filter *f, const frame *in)
{
    pcap_dump((u_char *)in->out, in->header, in->bytes);
    f->written++;
}

/// Whether the checksum field has only the pseudo-header's sum: the host leaves checksums to its
/// NIC.
static bool is_partial(const uint8_t *packet, const gn_headers *h)
{
    const uint8_t *field = packet + gn_packet_checksum_at(h);
    uint16_t partial = (uint16_t)~gn_checksum_finish(gn_packet_pseudo_sum(packet, h));
    return field[0] == partial >> 8 && field[1] == (partial & 0xff);
}

static void transmit_frame(gn_pcap_filter *f, const frame *in)
{
    const uint8_t *packet = in->bytes + in->offset;
    size_t length = in->header->caplen - in->offset;
    gn_headers h;
    gn_segment segment = {.packet = packet, .length = length};
    bool parsed = gn_packet_parse(packet, length, &h) == GN_PARSE_OK;
    size_t host_mtu = gn_host_mtu((unsigned)f->wire_mtu);
    bool large = parsed && h.end > host_mtu;
    if (parsed) segment.partial_checksum = is_partial(packet, &h);
    if (large && h.protocol == GN_PROTOCOL_TCP && host_mtu > h.payload)
        segment.gso_size = (uint16_t)(host_mtu - h.payload);

    if (!large && !segment.partial_checksum) {
        uint8_t *out = f->burst->data;
        size_t out_length;
        if (gn_tx_packet(f->tx, packet, length, out, GN_BURST_BYTES, &out_length) == GN_VERDICT_WRITE)
            write_frame(f, in, out, out_length);
        else
            pass_frame(f, in);
        return;
    }
    if (gn_tx_segment(f->tx, &segment, f->cut, f->wire_mtu, f->burst) != GN_OK) {
        f->too_large++;
        pass_frame(f, in);
        return;
    }
    f->cut_packets += large;
    for (unsigned i = 0; i < f->burst->count; i++)
        write_frame(f, in, f->burst->data + f->burst->offset[i], f->burst->offset[i + 1] - f->burst->offset[i]);
}

static void receive_frame(gn_pcap_filter *f, const frame *in)
{
    uint8_t *out = f->burst->data;
    size_t out_length;
    switch (gn_rx_packet(f->rx, in->bytes + in->offset, in->header->caplen - in->offset, out, GN_BURST_BYTES,
                         &out_length)) {
    case GN_VERDICT_WRITE:
        write_frame(f, in, out, out_length);
        break;
    case GN_VERDICT_PASS:
        pass_frame(f, in);
        break;
    case GN_VERDICT_DROP:
        break;
    }
}

static void filter_frame(gn_pcap_filter *f, int link_type, frame *in)
{
    size_t captured = in->header->caplen;
    bool ethernet = link_type == DLT_EN10MB;
    in->offset = ethernet ? gn_frame_ethernet_offset(in->bytes, captured) : 0;
    if (captured < in->header->len) f->truncated++;
    if (ethernet && !in->offset) {
        f->no_ip++;
        pass_frame(f, in);
        return;
    }
    if (f->receive)
        receive_frame(f, in);
    else
        transmit_frame(f, in);
}

static gn_status prepare(gn_pcap_filter *f, gn_error *error)
{
    gn_status status;
    if (f->receive) {
        uint8_t tos[GN_RULES_MAX];
        for (size_t i = 0; i < f->rule_count; i++) tos[i] = f->rules[i].tos;
        status = gn_rx_new(&f->rx, &(gn_rx_config){.tos = tos, .tos_count = f->rule_count});
    } else {
        status = gn_tx_new(&f->tx, &(gn_tx_config){.rules = f->rules, .rule_count = f->rule_count});
    }
    if (status != GN_OK) return gn_fail(error, status, "the rules: %s", gn_status_string(status));
    f->burst = calloc(1, sizeof *f->burst);
    f->frame = malloc(GN_PCAP_FRAME_MAX + GN_PACKET_MAX);
    if (f->burst && f->frame) return GN_OK;
    gn_fail_memory(error);
    return GN_NO_MEMORY;
}

gn_status gn_pcap_filter_run(gn_pcap_filter *f, pcap_t *in, pcap_dumper_t *out, void (*progress)(void *),
                             void *progress_context, gn_error *error)
{
    gn_status wrong = prepare(f, error);
    if (wrong) return wrong;
    int link_type = pcap_datalink(in), got;
    frame one = {.out = out};
    struct pcap_pkthdr *header;
    uint64_t n = 1;
    for (; (got = pcap_next_ex(in, &header, &one.bytes)) == 1; n++) {
        if (header->caplen > GN_PCAP_FRAME_MAX)
            return gn_fail(error, GN_CORRUPT, "packet %llu is too long", (unsigned long long)n);
        one.header = header;
        errno = 0;
        filter_frame(f, link_type, &one);
        if (ferror(pcap_dump_file(out))) {  // libpcap itself does not look
            f->write_failure = errno ? errno : EIO;
            return GN_OK;
        }
        progress(progress_context);
    }
    if (got != PCAP_ERROR) return GN_OK;
    f->file_truncated = feof(pcap_file(in));
    if (!f->file_truncated) return gn_fail(error, GN_IO, "packet %llu: %s", (unsigned long long)n, pcap_geterr(in));
    if (f->file_truncated_allowed) return GN_OK;
    return gn_fail(error, GN_TRUNCATED,
                   "the capture ends within packet %llu; --truncated takes the whole packets before it",
                   (unsigned long long)n);
}

void gn_pcap_filter_free(gn_pcap_filter *f)
{
    gn_tx_free(f->tx);
    gn_rx_free(f->rx);
    free(f->burst);
    free(f->frame);
}
