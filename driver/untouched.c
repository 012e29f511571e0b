// SPDX-License-Identifier: Apache-2.0
#include "driver/untouched.h"

#include <stdlib.h>
#include <string.h>

#include <gradnic/shim.h>

struct gn_untouched {
    gn_tx *tx;     // has no rule: it only cuts
    gn_burst cut;  // packets of a segment, some of which are to be shielded
};

void gn_untouched_free(gn_untouched *u)
{
    if (!u) return;
    gn_tx_free(u->tx);
    free(u);
}

gn_untouched *gn_untouched_new(void)
{
    gn_untouched *u = calloc(1, sizeof *u);
    if (!u) return NULL;
    if (gn_tx_new(&u->tx, &(gn_tx_config){.flow_capacity = 1}) == GN_OK) return u;
    gn_untouched_free(u);
    return NULL;
}

static unsigned get16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static void put16(uint8_t *at, size_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

// Sets the lengths, and the IPv4 header checksum from the old one (RFC 1624, equation 3).
static void set_lengths(uint8_t *packet, const gn_headers *h)
{
    if (h->version == 4) {
        const unsigned before = get16(packet + 2), sum = get16(packet + 10);
        put16(packet + 2, h->end);
        put16(packet + 10, gn_checksum_finish((~sum & 0xffff) + (~before & 0xffff) + h->end));
    } else {
        put16(packet + 4, (size_t)h->end - h->l4);
    }
    if (h->protocol == GN_PROTOCOL_UDP) put16(packet + h->l4 + 4, (size_t)h->end - h->l4);
}

void gn_untouched_renumber(uint8_t *packet, const gn_headers *h)
{
    put16(packet + h->l4 + 4, h->seq >> 16);
    put16(packet + h->l4 + 6, h->seq & 0xffff);
    set_lengths(packet, h);
}

size_t gn_untouched_shield(const uint8_t *packet, const gn_headers *headers, uint8_t *out)
{
    gn_headers h = *headers;
    const size_t bytes = (size_t)(h.end - h.payload);
    memcpy(out, packet, h.payload);
    gn_shim_write(&(gn_shim){.version = GN_SHIM_VERSION, .kind = GN_KIND_STORED, .length = (uint16_t)bytes},
                  out + h.payload);
    memcpy(out + h.payload + GN_SHIM_BYTES, packet + h.payload, bytes);
    h.end = (uint16_t)(h.end + GN_SHIM_BYTES);
    set_lengths(out, &h);
    uint8_t *checksum = out + gn_packet_checksum_at(&h);
    put16(checksum, 0);
    const uint16_t sum =
        gn_checksum_finish(gn_checksum_add(gn_packet_pseudo_sum(out, &h), out + h.l4, (size_t)(h.end - h.l4)));
    put16(checksum, !sum && h.protocol == GN_PROTOCOL_UDP ? 0xffff : sum);
    return h.end;
}

static bool begins_like_ours(const uint8_t *payload, size_t bytes)
{
    gn_shim shim;
    return bytes >= GN_SHIM_BYTES && gn_shim_read(payload, &shim);
}

static bool any_begins_like_ours(const gn_segment *segment, const gn_headers_cut *cut, size_t count)
{
    for (size_t i = 0, at = cut->payload_offset; i < count; i++, at += cut->piece)
        if (begins_like_ours(segment->packet + at, segment->length - at)) return true;
    return false;
}

bool gn_untouched_begins_like_ours(const gn_segment *segment, const gn_burst *burst, const gn_headers_cut *cut)
{
    gn_headers h;
    if (cut->header_bytes) return any_begins_like_ours(segment, cut, burst->count);
    for (unsigned i = 0; i < burst->count; i++) {
        const uint8_t *packet = burst->data + burst->offset[i];
        if (gn_packet_parse(packet, burst->offset[i + 1] - burst->offset[i], &h) == GN_PARSE_OK &&
            begins_like_ours(packet + h.payload, (size_t)(h.end - h.payload)))
            return true;
    }
    return false;
}

static bool shield(const uint8_t *packet, size_t length, uint8_t *out, size_t *bytes)
{
    gn_headers h;
    // A receiver passes packets with IPv4 options, whatever they hold.
    if (gn_packet_parse(packet, length, &h) != GN_PARSE_OK || gn_packet_has_options(&h) ||
        h.end > GN_PACKET_MAX - GN_SHIM_BYTES || !begins_like_ours(packet + h.payload, (size_t)(h.end - h.payload)))
        return false;
    *bytes = gn_untouched_shield(packet, &h, out);
    return true;
}

gn_status gn_untouched_cut(gn_untouched *u, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                           gn_headers_cut *cut, uint64_t *shielded)
{
    wire_mtu -= GN_SHIM_BYTES;
    gn_status status = gn_tx_segment_headers(u->tx, segment, wire_mtu, burst, cut);
    if (status == GN_OK && (!shielded || !any_begins_like_ours(segment, cut, burst->count))) return GN_OK;
    if (status != GN_OK && status != GN_UNSUPPORTED) return status;
    cut->header_bytes = 0;
    burst->count = 0;
    burst->offset[0] = 0;
    status = gn_tx_segment(u->tx, segment, GN_CUT_MTU, wire_mtu, &u->cut);
    for (unsigned i = 0; status == GN_OK && i < u->cut.count; i++) {
        const uint8_t *packet = u->cut.data + u->cut.offset[i];
        uint8_t *to = burst->data + burst->offset[i];
        size_t bytes = u->cut.offset[i + 1] - u->cut.offset[i];
        if (shielded && shield(packet, bytes, to, &bytes))
            ++*shielded;
        else
            memcpy(to, packet, bytes);
        burst->offset[++burst->count] = (uint32_t)(burst->offset[i] + bytes);
    }
    return status;
}
