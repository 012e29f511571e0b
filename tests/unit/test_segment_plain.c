// SPDX-License-Identifier: Apache-2.0
// Segments that no rule matches, that cannot be cut, and checksums in other places.
#include <string.h>

#include "segments.h"
#include "suite.h"

START_TEST(as_linux_cuts)
{
    for (int version = 4; version <= 6; version += 2) {
        packet p = {.version = version,
                    .tos = NO_TOS,
                    .seq = 0xfffff000,
                    .id = 0xfffe,
                    .flags = ACK | PSH | FIN | CWR,
                    .tcp_options = 12,
                    .partial = true};
        ck_assert_int_eq(cut(p, values, 10000, 1448, GN_CUT_MTU, 1520), GN_OK);
        ck_assert_uint_eq(burst.count, 7);
        check_burst(p, (uint8_t *)values, 10000, 1520, false);
        size_t length;
        packet_at(0, &length);
        ck_assert_uint_eq(length, (version == 6 ? 72u : 52u) + 1448);
        packet_at(6, &length);
        ck_assert_uint_eq(length, (version == 6 ? 72u : 52u) + 10000 - 6 * 1448);
    }
    ck_assert_uint_eq(gn_tx_get_counters(tx)->packets, 2);
    ck_assert_uint_eq(gn_tx_get_counters(tx)->pass_no_rule, 2);
}
END_TEST

START_TEST(what_is_not_cut)
{
    // Fits, complete checksum, no rule: byte for byte, padding and a wrong checksum included.
    packet p = {.tos = NO_TOS};
    size_t n = packet_build(&p, values, 100, segment);
    segment[n] = 0x55;
    segment[n - 1] ^= 1;
    gn_segment s = {.packet = segment, .length = n + 1};
    ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, 1500, &burst), GN_OK);
    ck_assert_uint_eq(burst.count, 1);
    ck_assert_uint_eq(burst.offset[1], n + 1);
    ck_assert_mem_eq(burst.data, segment, n + 1);
    s.length = n, s.gso_size = 100;  // as long as the MTU lets it, and as the host says
    ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, n, &burst), GN_OK);
    ck_assert(burst.count == 1 && burst.offset[1] == n);
    ck_assert_mem_eq(burst.data, segment, n);
    s.gso_size = 0;
    // Not IP: the same.
    memset(segment, 0, 100);
    s.length = 100;
    ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, 1500, &burst), GN_OK);
    ck_assert_mem_eq(burst.data, segment, 100);
    // An acknowledgment with a partial checksum.
    p = (packet){.partial = true};
    ck_assert_int_eq(cut(p, "", 0, 0, GN_CUT_MTU, 1500), GN_OK);
    ck_assert_uint_eq(burst.count, 1);
    ck_assert(packet_valid(burst.data, burst.offset[1]));
}
END_TEST

// TCP's checksum covers the last address of a source route (RFC 9293 3.1). Only the host's partial
// checksum says it; the header has the next address.
START_TEST(a_source_route_keeps_its_checksum)
{
    enum { NEXT = 9, LAST = 2, DESTINATION = 19, CHECKSUM = 28 + 16 };
    packet p = {.flags = ACK | PSH, .ip_options = 8, .partial = true};
    size_t n = packet_build(&p, values, 5000, segment);
    ck_assert_uint_eq(segment[DESTINATION], LAST);
    memcpy(segment + 20, (uint8_t[]){131, 7, 4, 10, 0, 1, LAST, 0}, 8);
    segment[DESTINATION] = NEXT;
    gn_segment s = {.packet = segment, .length = n, .gso_size = 1400, .partial_checksum = true};
    ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, 1500, &burst), GN_OK);
    ck_assert_uint_eq(burst.count, 4);
    ck_assert_uint_eq(gn_tx_get_counters(tx)->pass_extension, 1);
    for (unsigned i = 0; i < burst.count; i++) {
        size_t length;
        const uint8_t *one = packet_at(i, &length);
        memcpy(back, one, length);
        back[DESTINATION] = LAST;
        packet_fix(back);  // a checksum over the last address
        ck_assert_mem_eq(back + CHECKSUM, one + CHECKSUM, 2);
    }
}
END_TEST

START_TEST(checksums_elsewhere)
{
    // A tunnel: UDP outside, and the host left the inner TCP checksum to the NIC. The packet is
    // marked, but must not be compressed, since the payload is not final.
    uint8_t inner[200];
    size_t inner_length = packet_build(&(packet){.partial = true}, values, 100, inner);
    size_t n = packet_build(&(packet){.protocol = 17}, inner, inner_length, segment);
    gn_segment s = {
        .packet = segment, .length = n, .partial_checksum = true, .checksum_start = 28 + 20, .checksum_offset = 16};
    ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, 1500, &burst), GN_OK);
    ck_assert_uint_eq(burst.count, 1);
    ck_assert_uint_eq(burst.offset[1], n);
    ck_assert(packet_valid(burst.data + 28, inner_length));
    ck_assert_uint_eq(gn_tx_get_counters(tx)->pass_protocol, 1);
    s.checksum_start = 5000;
    ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, 1500, &burst), GN_INVALID);
    // The usual place, said out loud.
    n = packet_build(&(packet){.protocol = 17, .partial = true}, values, 400, segment);
    s = (gn_segment){
        .packet = segment, .length = n, .partial_checksum = true, .checksum_start = 20, .checksum_offset = 6};
    ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, 1500, &burst), GN_OK);
    ck_assert(packet_valid(burst.data, burst.offset[1]));
    ck_assert_uint_eq(gn_tx_get_counters(tx)->rule[0].compressed, 1);
}
END_TEST

START_TEST(a_checksum_elsewhere_is_never_zero)
{
    // Behind an extension header, UDP datagrams until one has a sum that would give 0.
    unsigned heavy = 0;
    for (uint32_t i = 0; i < 0x10000; i++) {
        uint8_t payload[2] = {(uint8_t)(i >> 8), (uint8_t)i};
        size_t n = packet_build(&(packet){.version = 6, .protocol = 17, .partial = true}, payload, 2, segment);
        segment[6] = 60;
        gn_segment s = {
            .packet = segment, .length = n, .partial_checksum = true, .checksum_start = 40, .checksum_offset = 6};
        ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, 1500, &burst), GN_OK);
        unsigned sum = burst.data[46] * 256u + burst.data[47];
        if (!sum) ck_abort_msg("a UDP checksum of 0, with %u", i);
        heavy += sum == 0xffff;
    }
    ck_assert_uint_gt(heavy, 0);
}
END_TEST

START_TEST(what_cannot_be_cut)
{
    packet tcp = {.tos = NO_TOS, .partial = true}, udp = {.tos = NO_TOS, .partial = true, .protocol = 17};
    ck_assert_int_eq(cut(udp, values, 5000, 0, GN_CUT_MTU, 1500), GN_INVALID);  // a datagram above the MTU
    ck_assert_uint_eq(burst.count, 0);
    ck_assert_int_eq(cut(udp, values, 5000, 1473, GN_CUT_MTU, 1500), GN_INVALID);  // datagrams above the MTU
    ck_assert_int_eq(cut(udp, values, 5000, 1472, GN_CUT_MTU, 1500), GN_OK);
    udp.tos = 0;
    ck_assert_int_eq(cut(udp, values, 5000, 1465, GN_CUT_MTU, 1500), GN_INVALID);  // ... when stored
    ck_assert_int_eq(cut(udp, values, 5000, 1464, GN_CUT_MTU, 1500), GN_OK);
    tcp.flags = SYN;
    ck_assert_int_eq(cut(tcp, values, 5000, 1460, GN_CUT_MTU, 1500), GN_INVALID);
    tcp.flags = RST;
    ck_assert_int_eq(cut(tcp, values, 5000, 0, GN_CUT_MTU, 1500), GN_INVALID);
    tcp.flags = 0;
    ck_assert_int_eq(cut(tcp, values, 5000, 1460, GN_CUT_MTU, 40), GN_INVALID);   // no MTU
    ck_assert_int_eq(cut(tcp, values, 65000, 30, GN_CUT_MTU, 1500), GN_INVALID);  // more than 2048 packets
    ck_assert_int_eq(cut(tcp, values, 65000, 36, GN_CUT_MTU, 1500), GN_OK);
    check_burst(tcp, (uint8_t *)values, 65000, 1500, false);
    packet other = {.protocol = 132};
    ck_assert_int_eq(cut(other, values, 5000, 1400, GN_CUT_MTU, 1500), GN_INVALID);
}
END_TEST

// What needs no new checksum keeps its own, right or wrong, or none at all (UDP).
START_TEST(whole_packets_stay)
{
    static const uint16_t sums[] = {0, 0x1234};
    for (int c = 0; c < 8; c++) {
        const packet p = {.version = c & 1 ? 6 : 4, .protocol = c & 2 ? 17 : 6, .tos = NO_TOS, .seq = 7};
        const size_t length = packet_build(&p, values, 700, segment), at = packet_l4(segment) + (c & 2 ? 6u : 16u);
        segment[at] = (uint8_t)(sums[c / 4] >> 8);
        segment[at + 1] = (uint8_t)sums[c / 4];
        const gn_segment s = {.packet = segment, .length = length};
        gn_headers_cut cut;
        ck_assert_int_eq(gn_tx_segment_headers(tx, &s, 1500, &burst, &cut), GN_OK);
        ck_assert_uint_eq(burst.count, 1);
        ck_assert_uint_eq(cut.header_bytes, packet_headers(segment));
        ck_assert_uint_eq(cut.payload_offset, cut.header_bytes);
        ck_assert_uint_eq(cut.piece, 700);
        ck_assert_mem_eq(burst.data, segment, cut.header_bytes);
    }
}
END_TEST

START_TEST(headers_without_payload)
{
    static gn_burst whole;
    for (int c = 0; c < 4; c++) {
        packet p = {.version = c & 1 ? 6 : 4,
                    .protocol = c & 2 ? 17 : 6,
                    .tos = NO_TOS,
                    .seq = 0xfffffc00,
                    .id = 0xffff,
                    .partial = true,
                    .flags = ACK | PSH | CWR};
        for (size_t bytes = 0; bytes < 30000; bytes += 1733) {
            size_t length = packet_build(&p, values, bytes, segment);
            gn_segment s = {.packet = segment, .length = length, .gso_size = 1400, .partial_checksum = true};
            gn_headers_cut at;
            ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, 1500, &whole), GN_OK);
            ck_assert_int_eq(gn_tx_segment_headers(tx, &s, 1500, &burst, &at), GN_OK);
            ck_assert_uint_eq(burst.count, whole.count);
            for (unsigned i = 0; i < burst.count; i++) {
                const uint8_t *expected = whole.data + whole.offset[i];
                size_t n = whole.offset[i + 1] - whole.offset[i] - at.header_bytes;
                ck_assert_mem_eq(burst.data + i * at.header_bytes, expected, at.header_bytes);
                ck_assert_mem_eq(segment + at.payload_offset + i * at.piece, expected + at.header_bytes, n);
            }
        }
    }
    gn_tx_counters before = *gn_tx_get_counters(tx);
    gn_headers_cut at;
    size_t length = packet_build(&(packet){0}, values, 5000, segment);
    gn_segment s = {.packet = segment, .length = length, .gso_size = 1400};
    ck_assert_int_eq(gn_tx_segment_headers(tx, &s, 1500, &burst, &at), GN_UNSUPPORTED);  // a rule matches
    length = packet_build(&(packet){.protocol = 1}, values, 500, segment);
    s.length = length;
    ck_assert_int_eq(gn_tx_segment_headers(tx, &s, 1500, &burst, &at), GN_UNSUPPORTED);
    ck_assert_mem_eq(&before, gn_tx_get_counters(tx), sizeof before);
}
END_TEST

int main(void)
{
    return RUN_SUITE("segment_plain", segments_dense, segments_end, as_linux_cuts, what_is_not_cut,
                     a_source_route_keeps_its_checksum, checksums_elsewhere, a_checksum_elsewhere_is_never_zero,
                     what_cannot_be_cut, whole_packets_stay, headers_without_payload);
}
