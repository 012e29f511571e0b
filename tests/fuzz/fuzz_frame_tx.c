// SPDX-License-Identifier: Apache-2.0
// Any bytes as a segment of the host, cut in any way. Then every packet goes through the receiver.
// All packets fit the MTU, and none is malformed. Together they carry as many payload bytes as the
// segment, unchanged where nothing was compressed.
//
// Input: flags, k, head of datagrams, phase, gso_size (16 bits, little-endian), MTU (16 bits),
// packet. Flags: bit 0: fill; bit 1: partial checksum; bits 2 and 3: profile; bit 4: SYN seen.
#include <stdlib.h>
#include <string.h>

#include <gradnic/frame.h>

#include "fuzz.h"

enum { HEAD = 8 };

static gn_burst burst;

static gn_tx *make_tx(const uint8_t *data)
{
    gn_rule rule = gn_rule_default();
    static const gn_profile profiles[] = {GN_DENSE, GN_PAPER, GN_LATTICE, GN_DENSE};
    gn_profile profile = profiles[data[0] >> 2 & 3];
    int low, high;
    check(gn_profile_range(profile, &low, &high) == GN_OK);
    check(gn_codec_init(&rule.codec, profile, low + data[1] % (high - low + 1)) == GN_OK);
    rule.head = data[2];
    gn_tx *tx;
    check(gn_tx_new(&tx, &(gn_tx_config){.rules = &rule, .rule_count = 1, .flow_capacity = 2}) == GN_OK);
    return tx;
}

/// Shows the SYN of the packet's flow, so that the packet is `phase` bytes into a value.
static void show_syn(gn_tx *tx, const uint8_t *packet, const gn_headers *h, uint8_t phase)
{
    uint8_t *syn = exact(h->payload), *out = exact(h->payload + GN_SHIM_BYTES);
    memcpy(syn, packet, h->payload);
    uint32_t isn = h->seq - 1 - phase;
    for (int i = 0; i < 4; i++) syn[h->l4 + 4 + i] = (uint8_t)(isn >> (24 - 8 * i));
    syn[h->l4 + 13] = GN_TCP_SYN;
    unsigned total = h->version == 6 ? h->payload - 40u : h->payload;
    syn[h->version == 6 ? 4 : 2] = (uint8_t)(total >> 8);
    syn[h->version == 6 ? 5 : 3] = (uint8_t)total;
    size_t length;
    check(gn_tx_packet(tx, syn, h->payload, out, h->payload + GN_SHIM_BYTES, &length) == GN_VERDICT_PASS);
    free(syn);
    free(out);
}

/// Receives one packet of the segment. @return its payload bytes.
static size_t receive(gn_rx *rx, const uint8_t *packet, size_t length, const uint8_t *payload, size_t left, bool rule)
{
    static uint8_t out[GN_PACKET_MAX];
    uint8_t *wire = exact(length);
    size_t out_length = length;
    memcpy(wire, packet, length);
    gn_verdict verdict = gn_rx_packet(rx, wire, length, out, sizeof out, &out_length);
    check(verdict == (rule ? GN_VERDICT_WRITE : GN_VERDICT_PASS));
    if (!rule) memcpy(out, wire, length);
    gn_headers sent, h;
    check(gn_packet_parse(wire, length, &sent) == GN_PARSE_OK && gn_packet_parse(out, out_length, &h) == GN_PARSE_OK);
    check(gn_packet_checksum_ok(wire, &sent) && gn_packet_checksum_ok(out, &h));
    size_t bytes = (size_t)(h.end - h.payload);
    check(bytes <= left);
    bool stored = !rule || !(wire[sent.payload + 2] & 15);
    check(!stored || !memcmp(out + h.payload, payload, bytes));
    free(wire);
    return bytes;
}

/// The packets of a burst are those of a segment that parses as `h`.
static void check_burst(const uint8_t *segment, const gn_headers *h, size_t mtu, bool rule)
{
    gn_rx *rx;
    check(gn_rx_new(&rx, &(gn_rx_config){0}) == GN_OK);
    size_t done = 0, all = (size_t)(h->end - h->payload);
    for (unsigned i = 0; i < burst.count; i++) {
        const uint8_t *packet = burst.data + burst.offset[i];
        size_t length = burst.offset[i + 1] - burst.offset[i];
        gn_headers one;
        check(gn_packet_parse(packet, length, &one) == GN_PARSE_OK);
        check(length <= mtu && length == one.end);
        check(h->protocol == GN_PROTOCOL_UDP || one.seq == h->seq + (uint32_t)done);
        done += receive(rx, packet, length, segment + h->payload + done, all - done, rule);
    }
    check(done == all);
    check(gn_rx_get_counters(rx)->malformed == 0);
    gn_rx_free(rx);
}

static void check_single(gn_tx *tx, const uint8_t *packet, size_t length)
{
    size_t out_length;
    uint8_t *out = exact(length + GN_SHIM_BYTES), *back = exact(GN_PACKET_MAX);
    if (gn_tx_packet(tx, packet, length, out, length + GN_SHIM_BYTES, &out_length) == GN_VERDICT_WRITE) {
        check(out_length <= length + GN_SHIM_BYTES);
        uint8_t *wire = exact(out_length);
        memcpy(wire, out, out_length);
        gn_rx *rx;
        gn_headers before, after;
        check(gn_rx_new(&rx, &(gn_rx_config){0}) == GN_OK);
        check(gn_rx_packet(rx, wire, out_length, back, GN_PACKET_MAX, &out_length) == GN_VERDICT_WRITE);
        check(gn_packet_parse(packet, length, &before) == GN_PARSE_OK && out_length == before.end);
        check(gn_packet_parse(back, out_length, &after) == GN_PARSE_OK && after.payload == before.payload);
        gn_rx_free(rx);
        free(wire);
    }
    free(out);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) return 0;
    size_t length = size - HEAD, mtu = data[6] | (size_t)data[7] << 8;
    uint8_t *packet = exact(length);
    memcpy(packet, data + HEAD, length);
    gn_tx *tx = make_tx(data);
    gn_headers h = {0};
    bool parsed = gn_packet_parse(packet, length, &h) == GN_PARSE_OK;
    if (parsed && h.protocol == GN_PROTOCOL_TCP && data[0] & 16) show_syn(tx, packet, &h, data[3]);

    gn_segment segment = {.packet = packet,
                          .length = length,
                          .gso_size = (uint16_t)(data[4] | data[5] << 8),
                          .partial_checksum = data[0] & 2};
    bool options = parsed && gn_packet_has_options(&h);
    bool rule = parsed && !options && (h.tos & GN_TOS_MASK) == GN_TOS_GRADIENT && h.end > h.payload;
    gn_status status = gn_tx_segment(tx, &segment, data[0] & 1 ? GN_CUT_FILL : GN_CUT_MTU, mtu, &burst);
    check(status == GN_OK ? burst.count > 0 : burst.count == 0 && status == GN_INVALID);
    // A wrong checksum in a packet that passes as it is stays wrong.
    bool whole = !rule && burst.count == 1 && burst.offset[1] == length && !memcmp(burst.data, packet, length);
    // With options the addresses are the host's affair: a wrong sum of them stays wrong.
    bool trusted = options && segment.partial_checksum;
    if (status == GN_OK && parsed && !whole && !trusted) check_burst(packet, &h, mtu, rule);

    gn_headers_cut cut;
    status = gn_tx_segment_headers(tx, &segment, mtu, &burst, &cut);
    check(!rule || status == GN_UNSUPPORTED);
    check_single(tx, packet, length);
    check(!memcmp(packet, data + HEAD, length));
    gn_tx_free(tx);
    free(packet);
    return 0;
}
