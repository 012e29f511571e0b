// SPDX-License-Identifier: Apache-2.0
// What a transformed packet looks like: compressed or stored, its head, and the headers around it.
#include <string.h>

#include "packets.h"
#include "suite.h"
#include "tx_fixture.h"

START_TEST(head_of_a_datagram)
{
    packet p = {.protocol = 17};
    rule.head = 12;
    tx_use_rules(&rule, 1);
    uint8_t payload[412];
    memset(payload, 0x5a, 12);
    memcpy(payload + 12, small, 400);
    ck_assert_int_eq(tx_send(p, payload, sizeof payload), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_kind(), COMPRESSED);
    ck_assert_uint_eq(out_head(), 12);
    ck_assert_mem_eq(out + 28 + 8, payload, 12);
    // Shorter than its head, or without a whole value behind it: stored, without a head.
    for (size_t n = 1; n < 16; n++) {
        ck_assert_int_eq(tx_send(p, payload, n), GN_VERDICT_WRITE);
        ck_assert_uint_eq(out_kind(), 0);
        ck_assert_uint_eq(out_head(), 0);
        ck_assert_uint_eq(out_length, 28 + 8 + n);
        ck_assert_mem_eq(out + 36, payload, n);
    }
    tx_open_flow((packet){0});  // of TCP the head comes from the phase alone
    ck_assert_int_eq(tx_send((packet){0}, small, 400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_head(), 0);
}
END_TEST

/// A datagram with one value leaves with a stream of so many bytes; 4: as it is.
static void expect_single(float value, size_t bytes)
{
    ck_assert_int_eq(tx_send((packet){.protocol = 17}, &value, 4), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_length, 28 + 8 + bytes);
    ck_assert_uint_eq(out_kind(), bytes < 4 ? rule.codec.profile + 1u : 0);
    ck_assert_int_eq(out_bound(), bytes < 4 ? 10 : 0);
}

START_TEST(stored_when_compression_does_not_pay)
{
    packet p = {.protocol = 17};
    expect_single(0, 3);              // a run of one quad
    expect_single(0.001953125f, 3);   // one step: a header and one plane
    expect_single(-0.001953125f, 3);  // the same, with a sign
    expect_single(0.00390625f, 4);    // two steps: two planes, 4 bytes, no gain
    ck_assert_int_eq(gn_codec_init(&rule.codec, GN_LATTICE, 10), GN_OK);
    tx_use_rules(&rule, 1);
    expect_single(0, 2);
    expect_single(0.0625f, 3);  // tag 1: 2 + 1 bytes
    expect_single(0.25f, 4);    // tag 2: 2 + 2 bytes, no gain
    const float one_group[8] = {0};
    for (size_t n = 1; n < 4; n++) {  // no whole value
        ck_assert_int_eq(tx_send(p, one_group, n), GN_VERDICT_WRITE);
        ck_assert_uint_eq(out_kind(), 0);
    }
    ck_assert_uint_eq(tx_counters()->stored_no_gain, 4);
    ck_assert_int_eq(tx_send(p, noise, 1400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_kind(), 0);
    ck_assert_uint_eq(out_length, 28 + 8 + 1400);
    ck_assert_mem_eq(out + 36, noise, 1400);
}
END_TEST

START_TEST(only_lengths_and_checksums_change)
{
    packet p = {.seq = 77, .ack = 99, .id = 0xfffe, .tcp_options = 12, .flags = 0x18};
    tx_open_flow(p);
    size_t n = packet_build(&p, small, 400, in);
    ck_assert_int_eq(tx_send_bytes(n), GN_VERDICT_WRITE);
    for (size_t i = 0; i < 52; i++) {
        bool changes = i == 2 || i == 3 || i == 10 || i == 11 || i == 36 || i == 37;
        if (!changes) ck_assert_uint_eq(out[i], in[i]);
    }
}
END_TEST

START_TEST(a_damaged_ipv4_header_stays_damaged)
{
    packet p = {.protocol = 17};
    size_t n = packet_build(&p, small, 400, in);
    in[8] ^= 1;  // TTL, without its checksum
    ck_assert_int_eq(tx_send_bytes(n), GN_VERDICT_WRITE);
    ck_assert(!packet_valid(out, out_length));
    out[8] ^= 1;
    ck_assert(packet_valid(out, out_length));
}
END_TEST

START_TEST(a_udp_checksum_of_zero_is_never_sent)
{
    // Datagrams until one of them has a sum that would give 0.
    packet p = {.protocol = 17};
    uint32_t payload[2] = {0x7f800000, 0};
    unsigned zeros = 0;
    for (uint32_t i = 0; i < 0x20000; i++) {
        payload[1] = 0x7f800000 | i;
        ck_assert_int_eq(tx_send(p, payload, 8), GN_VERDICT_WRITE);
        ck_assert(out[26] || out[27]);
        zeros += out[26] == 0xff && out[27] == 0xff;
        if (out[26] == 0xff && out[27] == 0xff) ck_assert(packet_valid(out, out_length));
    }
    ck_assert_uint_gt(zeros, 0);
}
END_TEST

START_TEST(head_from_the_side_band)
{
    // Without any SYN: the transform takes the head that it is given, as hardware does.
    size_t n = 0;
    for (int given = -1; given < 4; given++) {
        n = packet_build(&(packet){.seq = 5}, (uint8_t *)small + (-given & 3), 400, in);
        ck_assert_int_eq(gn_tx_packet_head(tx, in, n, given, out, sizeof out, &out_length), GN_VERDICT_WRITE);
        ck_assert_uint_eq(out_kind(), given < 0 ? 0 : COMPRESSED);
        ck_assert_uint_eq(out_head(), given < 0 ? 0 : (unsigned)given);
    }
    ck_assert_int_eq(gn_tx_head(tx, in, n), GN_HEAD_STORED);
    packet_build(&(packet){.seq = 4, .flags = 2}, "", 0, in);
    ck_assert_int_eq(gn_tx_head(tx, in, 40), GN_HEAD_STORED);
    n = packet_build(&(packet){.seq = 6}, small, 400, in);
    ck_assert_int_eq(gn_tx_head(tx, in, n), 3);
    ck_assert_int_eq(gn_tx_head(tx, in, 10), 0);
    n = packet_build(&(packet){.protocol = 17}, small, 400, in);
    ck_assert_int_eq(gn_tx_head(tx, in, n), 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("frame tx form", tx_setup, tx_teardown, head_of_a_datagram, stored_when_compression_does_not_pay,
                     only_lengths_and_checksums_change, a_damaged_ipv4_header_stays_damaged,
                     a_udp_checksum_of_zero_is_never_sent, head_from_the_side_band);
}
