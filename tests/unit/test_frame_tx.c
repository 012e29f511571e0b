// SPDX-License-Identifier: Apache-2.0
// Which packets are transformed, which pass, and the counter that says why.
#include <string.h>

#include "packets.h"
#include "suite.h"
#include "tx_fixture.h"

/// The packet in `in` passes, and exactly this counter says why.
static void expect_pass(size_t length, const uint64_t *reason)
{
    gn_tx_counters before = *tx_counters();
    uint64_t was = *reason;
    memset(out, 0xee, 200);
    ck_assert_int_eq(tx_send_bytes(length), GN_VERDICT_PASS);
    ck_assert_uint_eq(*reason, was + 1);
    ck_assert_uint_eq(tx_counters()->packets, before.packets + 1);
    ck_assert_uint_eq(tx_counters()->bytes, before.bytes + length);
    ck_assert_uint_eq(tx_counters()->passed, before.passed + 1);
    const gn_tx_counters *c = tx_counters();
    ck_assert_uint_eq(c->passed, c->pass_bypass + c->pass_no_rule + c->pass_not_ip + c->pass_fragment +
                                     c->pass_extension + c->pass_protocol + c->pass_empty + c->pass_too_big);
    for (int i = 0; i < 200; i++) ck_assert_uint_eq(out[i], 0xee);  // nothing is written to `out`
}

START_TEST(both_families_and_protocols_are_eligible)
{
    static const packet eligible[] = {{0},
                                      {.version = 6},
                                      {.protocol = 17},
                                      {.version = 6, .protocol = 17},
                                      {.tcp_options = 40},
                                      {.version = 6, .tcp_options = 40}};
    for (size_t i = 0; i < sizeof eligible / sizeof *eligible; i++) {
        tx_open_flow(eligible[i]);
        ck_assert_int_eq(tx_send(eligible[i], small, 1400), GN_VERDICT_WRITE);
        ck_assert(packet_valid(out, out_length));
        ck_assert_uint_eq(out_kind(), COMPRESSED);
        ck_assert_int_eq(out_bound(), 10);
        ck_assert_uint_lt(out_length, 800);
    }
}
END_TEST

START_TEST(ecn_bits_never_break_a_match)
{
    for (int tos = 1; tos < 256; tos++) {
        packet p = {.tos = tos, .protocol = 17, .version = tos % 2 ? 4 : 6};
        ck_assert_int_eq(tx_send(p, small, 1400), (tos & 0xfc) == 0x28 ? GN_VERDICT_WRITE : GN_VERDICT_PASS);
        if ((tos & 0xfc) != 0x28) continue;
        int left = p.version == 6 ? (out[0] << 4 | out[1] >> 4) & 0xff : out[1];
        ck_assert_int_eq(left, tos);  // and leave as they came
    }
}
END_TEST

// With a source route the header's address is not the one that the checksum covers. So nothing
// with IPv4 options is eligible.
START_TEST(ipv4_options_pass)
{
    const gn_tx_counters *c = tx_counters();
    for (unsigned bytes = 4; bytes <= 40; bytes += 4) {
        expect_pass(packet_build(&(packet){.ip_options = bytes}, small, 100, in), &c->pass_extension);
        expect_pass(packet_build(&(packet){.ip_options = bytes, .protocol = 17}, small, 100, in), &c->pass_extension);
    }
    static const uint8_t routes[] = {131, 137};
    for (size_t i = 0; i < sizeof routes; i++) {
        size_t n = packet_build(&(packet){.ip_options = 12, .protocol = 17}, small, 100, in);
        memcpy(in + 20, (uint8_t[]){routes[i], 7, 4, 10, 0, 9, 9, 0}, 8);
        packet_fix(in);
        expect_pass(n, &c->pass_extension);
    }
    // what else is wrong with it counts first, as in the hardware
    expect_pass(packet_build(&(packet){.ip_options = 4, .protocol = 1}, small, 100, in), &c->pass_protocol);
    expect_pass(packet_build(&(packet){.ip_options = 4}, "", 0, in), &c->pass_extension);
}
END_TEST

START_TEST(what_passes_and_why)
{
    const gn_tx_counters *c = tx_counters();
    expect_pass(packet_build(&(packet){.tos = NO_TOS}, small, 100, in), &c->pass_no_rule);
    expect_pass(packet_build(&(packet){.tos = 0x2c, .version = 6}, small, 100, in), &c->pass_no_rule);
    expect_pass(packet_build(&(packet){0}, "", 0, in), &c->pass_empty);
    expect_pass(packet_build(&(packet){.version = 6, .protocol = 17}, "", 0, in), &c->pass_empty);
    expect_pass(packet_build(&(packet){.protocol = 1}, small, 100, in), &c->pass_protocol);
    expect_pass(packet_build(&(packet){.protocol = 58, .version = 6}, small, 100, in), &c->pass_protocol);
    expect_pass(packet_build(&(packet){.protocol = 132}, small, 100, in), &c->pass_protocol);
    static const int extensions[] = {0, 43, 44, 50, 51, 60, 135, 139, 140, 253, 254};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        size_t n = packet_build(&(packet){.version = 6, .protocol = 17}, small, 100, in);
        in[6] = (uint8_t)extensions[i];
        expect_pass(n, &c->pass_extension);
    }
    for (int bits = 0; bits < 3; bits++) {
        size_t n = packet_build(&(packet){0}, small, 100, in);
        in[6] = (uint8_t[]){0x20, 0x00, 0x3f}[bits];  // more fragments; offset 1; offset 0x1fff
        in[7] = (uint8_t[]){0x00, 0x01, 0xff}[bits];
        packet_fix(in);
        expect_pass(n, &c->pass_fragment);
    }
    gn_tx_set_bypass(tx, true);
    expect_pass(packet_build(&(packet){0}, small, 100, in), &c->pass_bypass);
    gn_tx_set_bypass(tx, false);
    ck_assert_int_eq(tx_send((packet){.protocol = 17}, small, 1400), GN_VERDICT_WRITE);
}
END_TEST

/// Applies `change` (offset, value) to a good packet and expects it to be taken for no IP packet.
static void expect_not_ip(packet p, size_t offset, int value, size_t shorter)
{
    size_t n = packet_build(&p, small, 100, in) - shorter;
    if (value >= 0) in[offset] = (uint8_t)value;
    expect_pass(n, &tx_counters()->pass_not_ip);
}

START_TEST(headers_that_contradict_themselves)
{
    const packet four = {0}, six = {.version = 6}, udp = {.protocol = 17}, udp6 = {.protocol = 17, .version = 6};
    expect_not_ip(four, 0, 0x55, 0);   // version 5
    expect_not_ip(four, 0, 0x44, 0);   // header of 16 bytes
    expect_not_ip(four, 3, 141, 0);    // total length 1 beyond the buffer
    expect_not_ip(four, 3, 19, 0);     // total length below the header
    expect_not_ip(four, 2, 0xff, 0);   // far beyond
    expect_not_ip(four, 3, 39, 0);     // no room for the TCP header
    expect_not_ip(four, 32, 0x40, 0);  // TCP header of 16 bytes
    expect_not_ip(six, 5, 121, 0);     // payload length 1 beyond the buffer
    expect_not_ip(six, 5, 19, 0);      // no room for the TCP header
    expect_not_ip(six, 4, 0xff, 0);
    expect_not_ip((packet){.protocol = 1}, 3, 19, 0);  // the same of a protocol that is not looked into
    expect_not_ip((packet){.protocol = 58, .version = 6}, 4, 0xff, 0);
    expect_not_ip(udp, 25, 109, 0);  // UDP length 1 beyond
    expect_not_ip(udp, 25, 107, 0);  // 1 short
    expect_not_ip(udp, 25, 0, 0);
    expect_not_ip(udp6, 45, 0, 0);  // a jumbogram's
    expect_not_ip(udp, 3, 27, 0);   // no room for the UDP header
    for (size_t cut = 1; cut <= 100; cut += 9) {
        expect_not_ip(four, 0, -1, cut);
        expect_not_ip(six, 0, -1, cut);
    }
    size_t whole = packet_build(&four, small, 20, in);
    in[0] = 0x4f;  // an IP header of 60 bytes in a packet of 60: no room for TCP
    expect_pass(whole, &tx_counters()->pass_not_ip);
    in[3] = 59;  // ... of 59
    expect_pass(whole, &tx_counters()->pass_not_ip);
    expect_pass(0, &tx_counters()->pass_not_ip);
    for (size_t n = 1; n < 20; n++) {
        packet_build(&four, small, 100, in);
        expect_pass(n, &tx_counters()->pass_not_ip);
    }
}
END_TEST

START_TEST(a_tcp_header_longer_than_the_packet)
{
    size_t n = packet_build(&(packet){0}, small, 20, in);
    in[32] = 0xf0;  // 60 bytes, and there are 40
    expect_pass(n, &tx_counters()->pass_not_ip);
    in[32] = 0xb0;  // 44 bytes
    expect_pass(n, &tx_counters()->pass_not_ip);
    in[32] = 0xa0;  // 40 bytes: all of it is header
    expect_pass(n, &tx_counters()->pass_empty);
}
END_TEST

START_TEST(padding_is_dropped_or_kept)
{
    packet p = {.protocol = 17};
    size_t n = packet_build(&p, small, 100, in);
    memset(in + n, 0xaa, 46);
    ck_assert_int_eq(tx_send_bytes(n + 46), GN_VERDICT_WRITE);
    ck_assert(packet_valid(out, out_length));
    size_t padded = out_length;
    ck_assert_int_eq(tx_send_bytes(n), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_length, padded);
    p.tos = NO_TOS;
    n = packet_build(&p, small, 100, in);
    expect_pass(n + 46, &tx_counters()->pass_no_rule);
}
END_TEST

// What a router might have to cut with the shim goes without one, however well it compresses.
START_TEST(longer_than_the_wire_takes)
{
    packet p = {.protocol = 17};
    size_t n = packet_build(&p, small, 1400, in);
    gn_tx_set_wire_mtu(tx, n + GN_SHIM_BYTES);
    ck_assert_int_eq(tx_send_bytes(n), GN_VERDICT_WRITE);
    ck_assert_uint_lt(out_length, 800);
    gn_tx_set_wire_mtu(tx, n + GN_SHIM_BYTES - 1);
    expect_pass(n, &tx_counters()->pass_too_big);
    gn_tx_set_wire_mtu(tx, 1);
    expect_pass(packet_build(&p, small, 4, in), &tx_counters()->pass_too_big);
    gn_tx_set_wire_mtu(tx, 0);
    ck_assert_int_eq(tx_send_bytes(packet_build(&p, small, 1400, in)), GN_VERDICT_WRITE);
}
END_TEST

START_TEST(no_room_for_the_shim)
{
    static uint8_t zeros[65535];
    packet p = {.protocol = 17};
    expect_pass(packet_build(&p, zeros, 65535 - 28, in), &tx_counters()->pass_too_big);
    expect_pass(packet_build(&p, zeros, 65535 - 28 - 7, in), &tx_counters()->pass_too_big);
    ck_assert_int_eq(tx_send(p, zeros, 65535 - 28 - 8), GN_VERDICT_WRITE);
    p.version = 6;
    expect_pass(packet_build(&p, zeros, 65535 - 48, in), &tx_counters()->pass_too_big);
    // IPv6 may have 40 bytes more than fit our lengths.
    size_t n = packet_build(&p, zeros, 65535 - 48, in);
    memcpy(in + 4, "\xff\xff", 2);
    memcpy(in + 44, "\xff\xff", 2);
    expect_pass(n + 40, &tx_counters()->pass_not_ip);
    in[6] = 58;
    expect_pass(n + 40, &tx_counters()->pass_not_ip);
    // The caller's buffer counts too.
    n = packet_build(&p, small, 100, in);
    ck_assert_int_eq(gn_tx_packet(tx, in, n, out, n + GN_SHIM_BYTES - 1, &out_length), GN_VERDICT_PASS);
    ck_assert_int_eq(gn_tx_packet(tx, in, n, out, n + GN_SHIM_BYTES, &out_length), GN_VERDICT_WRITE);
}
END_TEST

START_TEST(ethernet_frames)
{
    uint8_t frame[64] = {0};
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 0);
    memcpy(frame + 12, "\x08\x00\x45", 3);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 14);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 15), 14);
    for (size_t n = 0; n < 15; n++) ck_assert_uint_eq(gn_frame_ethernet_offset(frame, n), 0);
    memcpy(frame + 12, "\x86\xdd\x60", 3);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 14);
    // the EtherType has to agree with the packet
    memcpy(frame + 12, "\x86\xdd\x45", 3);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 0);
    memcpy(frame + 12, "\x08\x00\x60", 3);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 0);
    memcpy(frame + 12, "\x08\x00\x55", 3);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 0);
    memcpy(frame + 12, "\x08\x06", 2);  // ARP
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 0);
    memcpy(frame + 12, "\x81\x00\x00\x05\x08\x00\x45", 7);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 18);
    for (size_t n = 14; n < 19; n++) ck_assert_uint_eq(gn_frame_ethernet_offset(frame, n), 0);
    memcpy(frame + 12, "\x81\x00\x00\x05\x86\xdd\x60", 7);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 18);
    memcpy(frame + 12, "\x81\x00\x00\x05\x86\xdd\x45", 7);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 0);
    memcpy(frame + 12, "\x81\x00\x00\x05\x81\x00\x00\x05\x08\x00", 10);  // two tags
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("frame tx", tx_setup, tx_teardown, both_families_and_protocols_are_eligible,
                     ecn_bits_never_break_a_match, ipv4_options_pass, what_passes_and_why,
                     headers_that_contradict_themselves, a_tcp_header_longer_than_the_packet,
                     padding_is_dropped_or_kept, longer_than_the_wire_takes, no_room_for_the_shim, ethernet_frames);
}
