// SPDX-License-Identifier: Apache-2.0
// Which packets are transformed, under which rule, in which form; and the counter of each.
#include <string.h>

#include <gradnic/frame.h>

#include "packets.h"
#include "suite.h"

enum { ROOM = 66000 };

static uint8_t in[ROOM], out[ROOM];
static float small[400], noise[400];
static gn_tx *tx;
static gn_rule rule;
static size_t out_length;

static void use_rules(const gn_rule *rules, size_t count)
{
    gn_tx_free(tx);
    ck_assert_int_eq(gn_tx_new(&tx, &(gn_tx_config){.rules = rules, .rule_count = count}), GN_OK);
}

static void setup(void)
{
    uint32_t seed = 3;
    random_values(&seed, small, 400, 0.01f);
    random_values(&seed, noise, 400, 0);
    rule = gn_rule_default();
    use_rules(&rule, 1);
}

static void teardown(void)
{
    gn_tx_free(tx);
    tx = NULL;
}

static const gn_tx_counters *counters(void)
{
    return gn_tx_get_counters(tx);
}

static gn_verdict send_bytes(size_t length)
{
    out_length = 0;
    return gn_tx_packet(tx, in, length, out, sizeof out, &out_length);
}

static gn_verdict send(packet p, const void *payload, size_t bytes)
{
    return send_bytes(packet_build(&p, payload, bytes, in));
}

/// Sends the SYN of p's flow, so that p.seq is at a value boundary.
static void open_flow(packet p)
{
    p.flags = 0x02;
    p.seq--;
    ck_assert_int_eq(send(p, "", 0), GN_VERDICT_PASS);
}

static unsigned kind(void)
{
    return out[packet_headers(out) + 2] & 15;
}
static unsigned head(void)
{
    return out[packet_headers(out) + 6];
}
static int bound(void)
{
    return (int8_t)out[packet_headers(out) + 3];
}

/// The packet in `in` passes, and exactly this counter says why.
static void expect_pass(size_t length, const uint64_t *reason)
{
    gn_tx_counters before = *counters();
    uint64_t was = *reason;
    memset(out, 0xee, 200);
    ck_assert_int_eq(send_bytes(length), GN_VERDICT_PASS);
    ck_assert_uint_eq(*reason, was + 1);
    ck_assert_uint_eq(counters()->packets, before.packets + 1);
    ck_assert_uint_eq(counters()->bytes, before.bytes + length);
    ck_assert_uint_eq(counters()->passed, before.passed + 1);
    const gn_tx_counters *c = counters();
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
                                      {.ip_options = 40, .tcp_options = 40},
                                      {.ip_options = 4, .protocol = 17}};
    for (size_t i = 0; i < sizeof eligible / sizeof *eligible; i++) {
        open_flow(eligible[i]);
        ck_assert_int_eq(send(eligible[i], small, 1400), GN_VERDICT_WRITE);
        ck_assert(packet_valid(out, out_length));
        ck_assert_uint_eq(kind(), 2);
        ck_assert_int_eq(bound(), 10);
        ck_assert_uint_lt(out_length, 800);
    }
}
END_TEST

START_TEST(ecn_bits_never_break_a_match)
{
    for (int tos = 1; tos < 256; tos++) {
        packet p = {.tos = tos, .protocol = 17, .version = tos % 2 ? 4 : 6};
        ck_assert_int_eq(send(p, small, 1400), (tos & 0xfc) == 0x28 ? GN_VERDICT_WRITE : GN_VERDICT_PASS);
        if ((tos & 0xfc) != 0x28) continue;
        int left = p.version == 6 ? (out[0] << 4 | out[1] >> 4) & 0xff : out[1];
        ck_assert_int_eq(left, tos);  // and leave as they came
    }
}
END_TEST

START_TEST(what_passes_and_why)
{
    const gn_tx_counters *c = counters();
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
    ck_assert_int_eq(send((packet){.protocol = 17}, small, 1400), GN_VERDICT_WRITE);
}
END_TEST

/// Applies `change` (offset, value) to a good packet and expects it to be taken for no IP packet.
static void expect_not_ip(packet p, size_t offset, int value, size_t shorter)
{
    size_t n = packet_build(&p, small, 100, in) - shorter;
    if (value >= 0) in[offset] = (uint8_t)value;
    expect_pass(n, &counters()->pass_not_ip);
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
    expect_pass(whole, &counters()->pass_not_ip);
    in[3] = 59;  // ... of 59
    expect_pass(whole, &counters()->pass_not_ip);
    expect_pass(0, &counters()->pass_not_ip);
    for (size_t n = 1; n < 20; n++) {
        packet_build(&four, small, 100, in);
        expect_pass(n, &counters()->pass_not_ip);
    }
}
END_TEST

START_TEST(a_tcp_header_longer_than_the_packet)
{
    size_t n = packet_build(&(packet){0}, small, 20, in);
    in[32] = 0xf0;  // 60 bytes, and there are 40
    expect_pass(n, &counters()->pass_not_ip);
    in[32] = 0xb0;  // 44 bytes
    expect_pass(n, &counters()->pass_not_ip);
    in[32] = 0xa0;  // 40 bytes: all of it is header
    expect_pass(n, &counters()->pass_empty);
}
END_TEST

START_TEST(padding_is_dropped_or_kept)
{
    packet p = {.protocol = 17};
    size_t n = packet_build(&p, small, 100, in);
    memset(in + n, 0xaa, 46);
    ck_assert_int_eq(send_bytes(n + 46), GN_VERDICT_WRITE);
    ck_assert(packet_valid(out, out_length));
    size_t padded = out_length;
    ck_assert_int_eq(send_bytes(n), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_length, padded);
    p.tos = NO_TOS;
    n = packet_build(&p, small, 100, in);
    expect_pass(n + 46, &counters()->pass_no_rule);
}
END_TEST

START_TEST(no_room_for_the_shim)
{
    static uint8_t zeros[65535];
    packet p = {.protocol = 17};
    expect_pass(packet_build(&p, zeros, 65535 - 28, in), &counters()->pass_too_big);
    expect_pass(packet_build(&p, zeros, 65535 - 28 - 7, in), &counters()->pass_too_big);
    ck_assert_int_eq(send(p, zeros, 65535 - 28 - 8), GN_VERDICT_WRITE);
    p.version = 6;
    expect_pass(packet_build(&p, zeros, 65535 - 48, in), &counters()->pass_too_big);
    // IPv6 may have 40 bytes more than fit our lengths.
    size_t n = packet_build(&p, zeros, 65535 - 48, in);
    memcpy(in + 4, "\xff\xff", 2);
    memcpy(in + 44, "\xff\xff", 2);
    expect_pass(n + 40, &counters()->pass_not_ip);
    in[6] = 58;
    expect_pass(n + 40, &counters()->pass_not_ip);
    // The caller's buffer counts too.
    n = packet_build(&p, small, 100, in);
    ck_assert_int_eq(gn_tx_packet(tx, in, n, out, n + GN_SHIM_BYTES - 1, &out_length), GN_VERDICT_PASS);
    ck_assert_int_eq(gn_tx_packet(tx, in, n, out, n + GN_SHIM_BYTES, &out_length), GN_VERDICT_WRITE);
}
END_TEST

START_TEST(the_first_rule_that_matches_wins)
{
    gn_rule rules[4];
    for (int i = 0; i < 4; i++) rules[i] = gn_rule_default();
    rules[0].protocol = 17;
    rules[0].port_low = 5000, rules[0].port_high = 5010;
    ck_assert_int_eq(gn_codec_init(&rules[0].codec, GN_LATTICE, 4), GN_OK);
    rules[1].protocol = 6;
    ck_assert_int_eq(gn_codec_init(&rules[1].codec, GN_PAPER, 5), GN_OK);
    rules[2].tos = 0x48;
    ck_assert_int_eq(gn_codec_init(&rules[2].codec, GN_LATTICE, 6), GN_OK);
    use_rules(rules, 4);

    static const struct {
        packet p;
        int bound;
        size_t rule;
    } cases[] = {
        {{.protocol = 17, .destination = 5000}, 4, 0},
        {{.protocol = 17, .destination = 5010}, 4, 0},
        {{.protocol = 17, .destination = 4999}, 10, 3},
        {{.protocol = 17, .destination = 5011}, 10, 3},
        {{.protocol = 17, .destination = 65535, .source = 5005}, 10, 3},
        {{.destination = 5005}, 5, 1},
        {{.tos = 0x48, .protocol = 17}, 6, 2},
        {{.tos = 0x4b, .source = 7}, 6, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        packet p = cases[i].p;
        if (p.protocol != 17) open_flow(p);
        uint64_t was = counters()->rule[cases[i].rule].compressed;
        ck_assert_int_eq(send(p, small, 1400), GN_VERDICT_WRITE);
        ck_assert_int_eq(bound(), cases[i].bound);
        ck_assert_uint_eq(counters()->rule[cases[i].rule].compressed, was + 1);
    }
    ck_assert_int_eq(send((packet){.tos = 0x50}, small, 1400), GN_VERDICT_PASS);
}
END_TEST

START_TEST(a_rule_s_counters)
{
    packet p = {.protocol = 17};
    ck_assert_int_eq(send(p, small, 1401), GN_VERDICT_WRITE);
    const gn_tx_rule_counters *c = &counters()->rule[0];
    ck_assert_uint_eq(c->compressed, 1);
    ck_assert_uint_eq(c->values, 350);
    ck_assert_uint_eq(c->payload_bytes, 1401);
    ck_assert_uint_eq(c->wire_bytes, out_length - 28);
    uint64_t wire = c->wire_bytes;
    ck_assert_int_eq(send(p, noise, 1000), GN_VERDICT_WRITE);
    ck_assert_uint_eq(c->stored, 1);
    ck_assert_uint_eq(c->values, 350);
    ck_assert_uint_eq(c->payload_bytes, 2401);
    ck_assert_uint_eq(c->wire_bytes, wire + 1008);
    ck_assert_uint_eq(counters()->stored_no_gain, 1);
}
END_TEST

START_TEST(rules_can_be_replaced)
{
    packet p = {.protocol = 17};
    gn_rule rules[2] = {rule, rule};
    rules[1].tos = 0x30;
    send(p, small, 400);
    ck_assert_int_eq(gn_tx_set_rules(tx, rules, 2), GN_OK);
    ck_assert_uint_eq(counters()->rule[0].compressed, 1);  // unchanged rule: goes on counting
    ck_assert_int_eq(gn_codec_init(&rules[0].codec, GN_LATTICE, 3), GN_OK);
    ck_assert_int_eq(gn_tx_set_rules(tx, rules, 2), GN_OK);
    ck_assert_uint_eq(counters()->rule[0].compressed, 0);  // changed: begins anew
    ck_assert_int_eq(send(p, small, 400), GN_VERDICT_WRITE);
    ck_assert_int_eq(bound(), 3);
    ck_assert_int_eq(gn_tx_set_rules(tx, NULL, 0), GN_OK);
    ck_assert_int_eq(send(p, small, 400), GN_VERDICT_PASS);

    gn_rule bad[] = {rule, rule, rule, rule};
    bad[0].port_low = 2, bad[0].port_high = 1;
    bad[1].protocol = 1;
    bad[2].codec.bound_exp = 99;
    bad[3].codec.kernel = NULL;
    for (int i = 0; i < 4; i++) {
        gn_tx *none;
        ck_assert_int_eq(gn_tx_set_rules(tx, &bad[i], 1), GN_INVALID);
        ck_assert_int_eq(gn_tx_new(&none, &(gn_tx_config){.rules = &bad[i], .rule_count = 1}), GN_INVALID);
        ck_assert_ptr_null(none);
    }
    gn_rule many[GN_RULES_MAX + 1];
    for (int i = 0; i <= GN_RULES_MAX; i++) many[i] = rule;
    ck_assert_int_eq(gn_tx_set_rules(tx, many, GN_RULES_MAX), GN_OK);
    ck_assert_int_eq(gn_tx_set_rules(tx, many, GN_RULES_MAX + 1), GN_INVALID);
    ck_assert_int_eq(send(p, small, 400), GN_VERDICT_WRITE);  // the good ones are still there
}
END_TEST

START_TEST(head_of_a_datagram)
{
    packet p = {.protocol = 17};
    rule.head = 12;
    use_rules(&rule, 1);
    uint8_t payload[412];
    memset(payload, 0x5a, 12);
    memcpy(payload + 12, small, 400);
    ck_assert_int_eq(send(p, payload, sizeof payload), GN_VERDICT_WRITE);
    ck_assert_uint_eq(kind(), 2);
    ck_assert_uint_eq(head(), 12);
    ck_assert_mem_eq(out + 28 + 8, payload, 12);
    // Shorter than its head, or without a whole value behind it: stored, without a head.
    for (size_t n = 1; n < 16; n++) {
        ck_assert_int_eq(send(p, payload, n), GN_VERDICT_WRITE);
        ck_assert_uint_eq(kind(), 0);
        ck_assert_uint_eq(head(), 0);
        ck_assert_uint_eq(out_length, 28 + 8 + n);
        ck_assert_mem_eq(out + 36, payload, n);
    }
    open_flow((packet){0});  // of TCP the head comes from the phase alone
    ck_assert_int_eq(send((packet){0}, small, 400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(head(), 0);
}
END_TEST

START_TEST(stored_when_compression_does_not_pay)
{
    packet p = {.protocol = 17};
    float one_group[8] = {0};
    ck_assert_int_eq(send(p, one_group, 4), GN_VERDICT_WRITE);  // a zero in 2 bytes: shorter
    ck_assert_uint_eq(kind(), 2);
    ck_assert_uint_eq(out_length, 28 + 8 + 2);
    one_group[0] = 0.25f;  // tag 2: 2 + 2 bytes, not shorter
    ck_assert_int_eq(send(p, one_group, 4), GN_VERDICT_WRITE);
    ck_assert_uint_eq(kind(), 0);
    ck_assert_int_eq(bound(), 0);
    ck_assert_uint_eq(out_length, 28 + 8 + 4);
    one_group[0] = 0.0625f;  // tag 1: 2 + 1 bytes
    ck_assert_int_eq(send(p, one_group, 4), GN_VERDICT_WRITE);
    ck_assert_uint_eq(kind(), 2);
    for (size_t n = 1; n < 4; n++) {  // no whole value
        ck_assert_int_eq(send(p, one_group, n), GN_VERDICT_WRITE);
        ck_assert_uint_eq(kind(), 0);
    }
    ck_assert_uint_eq(counters()->stored_no_gain, 4);
    ck_assert_int_eq(send(p, noise, 1400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(kind(), 0);
    ck_assert_uint_eq(out_length, 28 + 8 + 1400);
    ck_assert_mem_eq(out + 36, noise, 1400);
}
END_TEST

START_TEST(phase_of_a_flow)
{
    for (unsigned wrap = 0; wrap < 2; wrap++) {
        uint32_t isn = wrap ? 0xfffffffe : 1000;
        open_flow((packet){.seq = isn + 1, .tos = NO_TOS});  // a SYN of any ToS
        for (unsigned at = 0; at < 9; at++) {
            ck_assert_int_eq(send((packet){.seq = isn + 1 + at}, small, 400), GN_VERDICT_WRITE);
            ck_assert_uint_eq(kind(), 2);
            ck_assert_uint_eq(head(), (4 - at % 4) % 4);
        }
        ck_assert_int_eq(send((packet){.seq = isn + 1 + 0x80000001}, small, 400), GN_VERDICT_WRITE);
        ck_assert_uint_eq(head(), 3);
    }
}
END_TEST

START_TEST(segments_that_go_stored)
{
    ck_assert_int_eq(send((packet){.seq = 1}, small, 400), GN_VERDICT_WRITE);  // SYN not seen
    ck_assert_uint_eq(kind(), 0);
    ck_assert_uint_eq(counters()->stored_no_syn, 1);
    // A SYN with data (RFC 7413): stored, and the stream begins behind it.
    ck_assert_int_eq(send((packet){.seq = 100, .flags = 0x02}, small, 400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(kind(), 0);
    ck_assert_uint_eq(counters()->stored_syn, 1);
    ck_assert_int_eq(send((packet){.seq = 501}, small, 400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(kind(), 2);
    ck_assert_uint_eq(head(), 0);
    // The other direction is a flow of its own.
    ck_assert_int_eq(send((packet){.seq = 501, .source = 5000, .destination = 40000}, small, 400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(counters()->stored_no_syn, 2);
}
END_TEST

START_TEST(fin_and_rst_free_a_flow)
{
    static const int flags[] = {0x11, 0x14};
    for (int i = 0; i < 2; i++) {
        open_flow((packet){.seq = 1});
        ck_assert_uint_eq(counters()->flows_now, 1);
        ck_assert_int_eq(send((packet){.seq = 1, .flags = flags[i]}, small, 400), GN_VERDICT_WRITE);
        ck_assert_uint_eq(kind(), 2);  // the segment itself is still known
        ck_assert_uint_eq(counters()->flows_now, 0);
        ck_assert_int_eq(send((packet){.seq = 1}, small, 400), GN_VERDICT_WRITE);
        ck_assert_uint_eq(kind(), 0);
    }
    ck_assert_uint_eq(counters()->flows_closed, 2);
    ck_assert_uint_eq(counters()->flows_added, 2);
    // Of any ToS, without payload, and in bypass, too.
    gn_tx_set_bypass(tx, true);
    open_flow((packet){.seq = 1, .tos = NO_TOS});
    gn_tx_set_bypass(tx, false);
    ck_assert_uint_eq(counters()->flows_now, 1);
    send((packet){.tos = NO_TOS, .flags = 0x11}, "", 0);
    ck_assert_uint_eq(counters()->flows_now, 0);
}
END_TEST

START_TEST(other_traffic_does_not_keep_flows_young)
{
    gn_tx_free(tx);
    ck_assert_int_eq(gn_tx_new(&tx, &(gn_tx_config){.rules = &rule, .rule_count = 1, .flow_capacity = 2}), GN_OK);
    open_flow((packet){.seq = 1, .source = 1});
    open_flow((packet){.seq = 1, .source = 2, .tos = NO_TOS});
    send((packet){.seq = 1, .source = 1}, small, 400);
    send((packet){.seq = 1, .source = 2, .tos = NO_TOS}, small, 400);
    open_flow((packet){.seq = 1, .source = 3, .tos = NO_TOS});  // takes the place of 2
    ck_assert_uint_eq(counters()->flows_evicted, 1);
    send((packet){.seq = 1, .source = 1}, small, 400);
    ck_assert_uint_eq(kind(), 2);
    send((packet){.seq = 1, .source = 2}, small, 400);
    ck_assert_uint_eq(kind(), 0);
}
END_TEST

START_TEST(a_retransmission_cut_differently_decodes_the_same)
{
    gn_rx *rx;
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), GN_OK);
    open_flow((packet){.seq = 1});
    static uint8_t first[1600], again[1600], back[ROOM];
    uint32_t seed = 77;
    for (int round = 0; round < 50; round++) {
        for (size_t at = 0; at < 1600;) {
            size_t n = round ? 1 + random_next(&seed) % 500 : 400;
            if (n > 1600 - at) n = 1600 - at;
            ck_assert_int_eq(send((packet){.seq = 1 + (uint32_t)at}, (uint8_t *)small + at, n), GN_VERDICT_WRITE);
            size_t length;
            ck_assert_int_eq(gn_rx_packet(rx, out, out_length, back, sizeof back, &length), GN_VERDICT_WRITE);
            memcpy((round ? again : first) + at, back + 40, n);
            at += n;
        }
        if (!round) continue;
        // Whole values are the same unless a cut or a stored packet left them as they were.
        for (size_t v = 0; v < 400; v++)
            if (memcmp(again + 4 * v, first + 4 * v, 4)) ck_assert_mem_eq(again + 4 * v, (uint8_t *)small + 4 * v, 4);
    }
    gn_rx_free(rx);
}
END_TEST

START_TEST(only_lengths_and_checksums_change)
{
    packet p = {.seq = 77, .ack = 99, .id = 0xfffe, .ip_options = 8, .tcp_options = 12, .flags = 0x18};
    open_flow(p);
    size_t n = packet_build(&p, small, 400, in);
    ck_assert_int_eq(send_bytes(n), GN_VERDICT_WRITE);
    for (size_t i = 0; i < 60; i++) {
        bool changes = i == 2 || i == 3 || i == 10 || i == 11 || i == 44 || i == 45;
        if (!changes) ck_assert_uint_eq(out[i], in[i]);
    }
}
END_TEST

START_TEST(a_damaged_ipv4_header_stays_damaged)
{
    packet p = {.protocol = 17};
    size_t n = packet_build(&p, small, 400, in);
    in[8] ^= 1;  // TTL, without its checksum
    ck_assert_int_eq(send_bytes(n), GN_VERDICT_WRITE);
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
        ck_assert_int_eq(send(p, payload, 8), GN_VERDICT_WRITE);
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
    size_t n = packet_build(&(packet){.seq = 5}, small, 400, in);
    for (int given = -1; given < 4; given++) {
        ck_assert_int_eq(gn_tx_packet_head(tx, in, n, given, out, sizeof out, &out_length), GN_VERDICT_WRITE);
        ck_assert_uint_eq(kind(), given < 0 ? 0 : 2);
        ck_assert_uint_eq(head(), given < 0 ? 0 : (unsigned)given);
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

START_TEST(ethernet_frames)
{
    uint8_t frame[64] = {0};
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 0);
    memcpy(frame + 12, "\x08\x00", 2);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 14);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 14), 14);
    for (size_t n = 0; n < 14; n++) ck_assert_uint_eq(gn_frame_ethernet_offset(frame, n), 0);
    memcpy(frame + 12, "\x86\xdd", 2);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 14);
    memcpy(frame + 12, "\x08\x06", 2);  // ARP
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 0);
    memcpy(frame + 12, "\x81\x00\x00\x05\x08\x00", 6);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 18);
    for (size_t n = 14; n < 18; n++) ck_assert_uint_eq(gn_frame_ethernet_offset(frame, n), 0);
    memcpy(frame + 12, "\x81\x00\x00\x05\x86\xdd", 6);
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 18);
    memcpy(frame + 12, "\x81\x00\x00\x05\x81\x00\x00\x05\x08\x00", 10);  // two tags
    ck_assert_uint_eq(gn_frame_ethernet_offset(frame, 64), 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("frame tx", setup, teardown, both_families_and_protocols_are_eligible,
                     ecn_bits_never_break_a_match, what_passes_and_why, headers_that_contradict_themselves,
                     a_tcp_header_longer_than_the_packet, padding_is_dropped_or_kept, no_room_for_the_shim,
                     the_first_rule_that_matches_wins, a_rule_s_counters, rules_can_be_replaced, head_of_a_datagram,
                     stored_when_compression_does_not_pay, phase_of_a_flow, segments_that_go_stored,
                     fin_and_rst_free_a_flow, other_traffic_does_not_keep_flows_young,
                     a_retransmission_cut_differently_decodes_the_same, only_lengths_and_checksums_change,
                     a_damaged_ipv4_header_stays_damaged, a_udp_checksum_of_zero_is_never_sent, head_from_the_side_band,
                     ethernet_frames);
}
