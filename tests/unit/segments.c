// SPDX-License-Identifier: Apache-2.0
#include "segments.h"

#include <string.h>

#include <check.h>

uint8_t segment[ROOM], back[ROOM];
float values[16384];
gn_tx *tx;
gn_rx *rx;
gn_rule rule;
gn_burst burst;

static void setup_with(gn_profile profile)
{
    uint32_t seed = 11;
    random_values(&seed, values, 16384, 0.01f);
    rule = gn_rule_default();
    ck_assert_int_eq(gn_codec_init(&rule.codec, profile, 10), GN_OK);
    ck_assert_int_eq(gn_tx_new(&tx, &(gn_tx_config){.rules = &rule, .rule_count = 1}), GN_OK);
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), GN_OK);
}

void segments_lattice(void)
{
    setup_with(GN_LATTICE);
}
void segments_dense(void)
{
    setup_with(GN_DENSE);
}

void segments_end(void)
{
    gn_tx_free(tx);
    gn_rx_free(rx);
}

void open_flow(packet p)
{
    uint8_t syn[128];
    size_t length;
    p.flags = SYN;
    p.seq--;
    p.partial = false;
    ck_assert_int_eq(gn_tx_packet(tx, syn, packet_build(&p, "", 0, syn), segment, ROOM, &length), GN_VERDICT_PASS);
}

gn_status cut(packet p, const void *payload, size_t bytes, unsigned gso_size, gn_cut how, size_t mtu)
{
    size_t length = packet_build(&p, payload, bytes, segment);
    gn_segment s = {.packet = segment, .length = length, .gso_size = (uint16_t)gso_size, .partial_checksum = p.partial};
    return gn_tx_segment(tx, &s, how, mtu, &burst);
}

const uint8_t *packet_at(unsigned i, size_t *length)
{
    *length = burst.offset[i + 1] - burst.offset[i];
    return burst.data + burst.offset[i];
}

/// Whole values within the bound, all other bytes as they were.
static void check_values(const uint8_t *before, const uint8_t *after, size_t n, size_t head)
{
    if (head > n) head = n;
    size_t at = head;
    for (; at + 4 <= n; at += 4) {
        float a, b;
        memcpy(&a, before + at, 4);
        memcpy(&b, after + at, 4);
        // Not ck_assert_float_le() on each of millions.
        if (memcmp(&a, &b, 4) && !((a > b ? a - b : b - a) <= 0.0009765625f)) ck_abort_msg("%a became %a", a, b);
    }
    ck_assert_mem_eq(after, before, head);
    ck_assert_mem_eq(after + at, before + at, n - at);
}

size_t check_burst(packet p, const uint8_t *payload, size_t bytes, size_t mtu, bool transformed)
{
    size_t done = 0, wire = 0;
    bool tcp = p.protocol != 17;
    int flags = p.flags ? p.flags : ACK;
    ck_assert_uint_eq(burst.offset[0], 0);
    for (unsigned i = 0; i < burst.count; i++) {
        size_t length, got;
        const uint8_t *one = packet_at(i, &length);
        ck_assert_uint_le(length, mtu);
        ck_assert(packet_valid(one, length));
        wire += length - packet_headers(one);
        if (transformed) {
            ck_assert_int_eq(gn_rx_packet(rx, one, length, back, ROOM, &got), GN_VERDICT_WRITE);
            one = back;
            length = got;
            ck_assert(packet_valid(one, length));
        }
        size_t headers = packet_headers(one), n = length - headers;
        ck_assert_uint_le(done + n, bytes);
        bool last = done + n == bytes;
        if (tcp) {
            ck_assert_uint_eq(packet_seq(one), p.seq + (uint32_t)done);
            ck_assert_int_eq(packet_flags(one), flags & ~(last ? 0 : FIN | PSH) & ~(i ? CWR : 0));
        }
        if (p.version != 6) ck_assert_int_eq(packet_id(one), (uint16_t)(p.id + i));
        ck_assert_uint_eq(headers, packet_headers(segment));
        if (!transformed)
            ck_assert_mem_eq(one + headers, payload + done, n);
        else
            check_values(payload + done, one + headers, n, tcp ? (4 - done % 4) % 4 : 0);
        done += n;
    }
    ck_assert_uint_eq(done, bytes);
    return wire;
}
