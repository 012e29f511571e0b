// SPDX-License-Identifier: Apache-2.0
// The IPv4 header checksum is updated from the old one (RFC 1624, eqn. 3), never made anew. So a
// header that came here damaged still has a wrong checksum afterwards.
#include "stamp.h"

#include <string.h>

#include "addresses.h"
#include "bytes.h"

enum { TCP_SEQ = 4, TCP_FLAGS = 13, TCP_CHECKSUM = 16, UDP_LENGTH = 4, UDP_CHECKSUM = 6 };

static uint16_t complement(uint16_t word)
{
    return (uint16_t)~word;
}

// The sum of an L4 header, in which the fields that change from packet to packet count as zero.
static uint32_t constant_sum(const uint8_t *l4, size_t length, uint8_t protocol)
{
    uint8_t copy[60];
    memcpy(copy, l4, length);
    if (protocol == GN_PROTOCOL_TCP) {
        gn_put32(copy + TCP_SEQ, 0);
        copy[TCP_FLAGS] = 0;
        gn_put16(copy + TCP_CHECKSUM, 0);
    } else {
        gn_put32(copy + UDP_LENGTH, 0);  // and the checksum behind it
    }
    return gn_checksum_add(0, copy, length);
}

void gn_stamp_prepare(gn_stamp *stamp, const uint8_t *packet, const gn_headers *h)
{
    stamp->packet = packet;
    stamp->headers = *h;
    stamp->length = h->payload;
    bool ipv4 = h->version == 4;
    stamp->pseudo_sum = gn_addresses_sum(h->protocol, packet, h->version);
    stamp->l4_sum = stamp->pseudo_sum + constant_sum(packet + h->l4, (size_t)(h->payload - h->l4), h->protocol);
    stamp->id = 0;
    stamp->ip_sum = 0;
    if (!ipv4) return;
    stamp->id = gn_get16(packet + 4);
    stamp->ip_sum = (uint32_t)complement(gn_get16(packet + 10)) + complement(h->end) + complement(stamp->id);
}

void gn_stamp_trust_partial(gn_stamp *stamp)
{
    const gn_headers *h = &stamp->headers;
    const uint32_t old = stamp->pseudo_sum, l4_bytes = (uint32_t)(h->end - h->l4);
    stamp->pseudo_sum = (uint32_t)gn_get16(stamp->packet + gn_packet_checksum_at(h)) + complement((uint16_t)l4_bytes);
    stamp->l4_sum += stamp->pseudo_sum - old;
}

static void write_ip(const gn_stamp *stamp, const gn_imprint *imprint, uint8_t *out)
{
    size_t total = stamp->length + imprint->payload_bytes;
    if (stamp->headers.version == 6) {
        gn_put16(out + 4, (uint16_t)(total - stamp->headers.l4));
        return;
    }
    uint16_t id = (uint16_t)(stamp->id + imprint->id_step);
    gn_put16(out + 2, (uint16_t)total);
    gn_put16(out + 4, id);
    gn_put16(out + 10, gn_checksum_finish(stamp->ip_sum + (uint32_t)total + id));
}

void gn_stamp_write(const gn_stamp *stamp, const gn_imprint *imprint, uint8_t *out)
{
    memcpy(out, stamp->packet, stamp->length);
    write_ip(stamp, imprint, out);
    uint8_t *l4 = out + stamp->headers.l4;
    uint32_t l4_bytes = (uint32_t)(stamp->length - stamp->headers.l4 + imprint->payload_bytes);
    uint32_t sum = stamp->l4_sum + l4_bytes + imprint->payload_sum;
    bool tcp = stamp->headers.protocol == GN_PROTOCOL_TCP;
    if (tcp) {
        uint32_t seq = stamp->headers.seq + imprint->seq_step;
        uint8_t flags = (uint8_t)(stamp->headers.tcp_flags & ~imprint->clear_flags);
        gn_put32(l4 + TCP_SEQ, seq);
        l4[TCP_FLAGS] = flags;
        sum += (seq >> 16) + (seq & 0xffff) + flags;
    } else {
        gn_put16(l4 + UDP_LENGTH, (uint16_t)l4_bytes);
        sum += l4_bytes;
    }
    uint16_t checksum = gn_checksum_finish(sum);
    if (!tcp && !checksum) checksum = 0xffff;  // RFC 768: 0 would say that there is none
    if (imprint->partial) checksum = complement(gn_checksum_finish(stamp->pseudo_sum + l4_bytes));
    gn_put16(l4 + (tcp ? TCP_CHECKSUM : UDP_CHECKSUM), checksum);
}
