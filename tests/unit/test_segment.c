// SPDX-License-Identifier: Apache-2.0
// Segments cut to packets: every packet stands on its own, and together they are the segment.
#include <string.h>

#include <gradnic/frame.h>

#include "packets.h"
#include "suite.h"

enum { ROOM = 66000, FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, CWR = 128 };

static uint8_t segment[ROOM], back[ROOM];
static float values[16384];
static gn_tx *tx;
static gn_rx *rx;
static gn_rule rule;
static gn_burst burst;

static void setup_with(gn_profile profile)
{
    uint32_t seed = 11;
    random_values(&seed, values, 16384, 0.01f);
    rule = gn_rule_default();
    ck_assert_int_eq(gn_codec_init(&rule.codec, profile, 10), GN_OK);
    ck_assert_int_eq(gn_tx_new(&tx, &(gn_tx_config){.rules = &rule, .rule_count = 1}), GN_OK);
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), GN_OK);
}

static void setup_lattice(void)
{
    setup_with(GN_LATTICE);
}
static void setup_dense(void)
{
    setup_with(GN_DENSE);
}

static void teardown(void)
{
    gn_tx_free(tx);
    gn_rx_free(rx);
}

static void open_flow(packet p)
{
    uint8_t syn[128];
    size_t length;
    p.flags = SYN;
    p.seq--;
    p.partial = false;
    ck_assert_int_eq(gn_tx_packet(tx, syn, packet_build(&p, "", 0, syn), segment, ROOM, &length), GN_VERDICT_PASS);
}

static gn_status cut(packet p, const void *payload, size_t bytes, unsigned gso_size, gn_cut how, size_t mtu)
{
    size_t length = packet_build(&p, payload, bytes, segment);
    gn_segment s = {.packet = segment, .length = length, .gso_size = (uint16_t)gso_size, .partial_checksum = p.partial};
    return gn_tx_segment(tx, &s, how, mtu, &burst);
}

static const uint8_t *packet_at(unsigned i, size_t *length)
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

/// Checks the burst of a segment of `bytes` payload bytes. `transformed`: every packet goes through
/// the receiver.
/// @return payload bytes on the wire.
static size_t check_burst(packet p, const uint8_t *payload, size_t bytes, size_t mtu, bool transformed)
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

START_TEST(both_cuts_of_gradients)
{
    for (int version = 4; version <= 6; version += 2) {
        packet p = {
            .version = version, .seq = 0xffffff00, .id = 7, .flags = ACK | PSH, .tcp_options = 12, .partial = true};
        size_t wire[2], packets[2];
        for (gn_cut how = GN_CUT_MTU; how <= GN_CUT_FILL; how++) {
            open_flow(p);
            ck_assert_int_eq(cut(p, values, 65000, 1428, how, 1508), GN_OK);
            wire[how] = check_burst(p, (uint8_t *)values, 65000, 1508, true);
            packets[how] = burst.count;
        }
        ck_assert_uint_eq(packets[GN_CUT_MTU], (65000 + 1427) / 1428);
        ck_assert_uint_lt(packets[GN_CUT_FILL] * 3, packets[GN_CUT_MTU]);
        ck_assert_uint_lt(wire[GN_CUT_FILL], wire[GN_CUT_MTU]);
    }
}
END_TEST

START_TEST(fill_leaves_no_room_for_another_group)
{
    packet p = {.seq = 1, .tcp_options = 12, .partial = true};
    open_flow(p);
    ck_assert_int_eq(cut(p, values, 64000, 1448, GN_CUT_FILL, 1500), GN_OK);
    ck_assert_uint_gt(burst.count, 2);
    size_t done = 0;
    for (unsigned i = 0; i + 1 < burst.count; i++) {
        size_t length, bytes;
        static uint8_t stream[4000];
        const uint8_t *shim = packet_at(i, &length) + 52;
        size_t count = (shim[4] * 256u + shim[5]) / 4;
        ck_assert_uint_eq(shim[2] & 15, rule.codec.profile + 1u);
        ck_assert_uint_eq(count % GN_GROUP, 0);
        ck_assert_int_eq(gn_stream_encode(&rule.codec, values + done, count + GN_GROUP, stream, sizeof stream, &bytes),
                         GN_OK);
        ck_assert_uint_gt(52 + GN_SHIM_BYTES + bytes, 1500);
        done += count;
    }
}
END_TEST

START_TEST(fill_without_gain_is_no_worse_than_mtu)
{
    uint32_t seed = 5;
    static float noise[16000];
    random_values(&seed, noise, 16000, 0);
    packet p = {.seq = 1, .tcp_options = 12, .partial = true, .id = 3};
    size_t packets[2];
    for (gn_cut how = GN_CUT_MTU; how <= GN_CUT_FILL; how++) {
        open_flow(p);
        ck_assert_int_eq(cut(p, noise, 64000, 1440, how, 1500), GN_OK);
        check_burst(p, (uint8_t *)noise, 64000, 1500, true);
        packets[how] = burst.count;
        for (unsigned i = 0; i < burst.count; i++) ck_assert_uint_eq(burst.data[burst.offset[i] + 52 + 2], 0x10);
    }
    ck_assert_uint_eq(packets[0], packets[1]);
}
END_TEST

START_TEST(what_fits_stored_stays_one_packet)
{
    uint32_t seed = 5;
    static float mixed[400];
    random_values(&seed, mixed, 200, 0.01f);
    random_values(&seed, mixed + 200, 200, 0);
    for (uint32_t phase = 0; phase < 4; phase++) {
        packet p = {.seq = 1, .partial = true};
        open_flow(p);
        p.seq += phase;
        const uint8_t *half = (uint8_t *)mixed + phase, *noise = half + 800;
        ck_assert_int_eq(cut(p, half, 1452, 0, GN_CUT_FILL, 1500), GN_OK);
        ck_assert_uint_eq(burst.count, 1);
        ck_assert_int_eq(cut(p, noise, 700, 0, GN_CUT_FILL, 748), GN_OK);
        ck_assert_uint_eq(burst.count, 1);
        ck_assert_int_eq(cut(p, noise, 701, 0, GN_CUT_FILL, 748), GN_OK);
        ck_assert_uint_eq(burst.count, 2);
    }
}
END_TEST

START_TEST(zeros_fill_one_packet)
{
    static uint8_t zeros[65000];
    packet p = {.seq = 1, .partial = true};
    open_flow(p);
    // 16225 values with lattice: 2029 groups of 2 bytes, 4058 bytes. With dense: two runs, 6 bytes.
    bool dense = rule.codec.profile == GN_DENSE;
    ck_assert_int_eq(cut(p, zeros, 64900, 1460, GN_CUT_FILL, 9000), GN_OK);
    ck_assert_uint_eq(burst.count, 1);
    ck_assert_uint_eq(check_burst(p, zeros, 64900, 9000, true), GN_SHIM_BYTES + (dense ? 6u : 4058u));
    ck_assert_int_eq(cut(p, zeros, 64900, 1460, GN_CUT_FILL, 1500), GN_OK);
    ck_assert_uint_eq(burst.count, dense ? 1 : 3);
}
END_TEST

// However well it compresses, a packet stands for no more than an IP packet holds. The segment ends
// it, not the MTU.
START_TEST(the_largest_segment_of_zeros)
{
    static uint8_t zeros[65535 - 40];
    packet p = {.seq = 1, .partial = true};
    open_flow(p);
    ck_assert_int_eq(cut(p, zeros, sizeof zeros, 1460, GN_CUT_FILL, 576), GN_OK);
    bool dense = rule.codec.profile == GN_DENSE;
    ck_assert_uint_eq(burst.count, dense ? 1 : 8);
    size_t wire = check_burst(p, zeros, sizeof zeros, 576, true);
    if (dense) ck_assert_uint_eq(wire, GN_SHIM_BYTES + 6 + 3);
}
END_TEST

START_TEST(datagrams_stay_datagrams)
{
    for (int version = 4; version <= 6; version += 2) {
        for (gn_cut how = GN_CUT_MTU; how <= GN_CUT_FILL; how++) {
            packet p = {.version = version, .protocol = 17, .id = 9, .partial = true};
            ck_assert_int_eq(cut(p, values, 10000, 1400, how, 1500), GN_OK);
            ck_assert_uint_eq(burst.count, 8);
            check_burst(p, (uint8_t *)values, 10000, 1500, true);
        }
    }
    ck_assert_uint_eq(gn_tx_get_counters(tx)->rule[0].compressed, 32);
}
END_TEST

START_TEST(flags_and_flows)
{
    packet p = {.seq = 1, .flags = ACK | FIN | PSH | CWR, .partial = true};
    open_flow(p);
    ck_assert_int_eq(cut(p, values, 5000, 1400, GN_CUT_FILL, 1500), GN_OK);
    check_burst(p, (uint8_t *)values, 5000, 1500, true);
    ck_assert_uint_eq(gn_tx_get_counters(tx)->flows_now, 0);                 // FIN
    ck_assert_int_eq(cut(p, values, 5000, 1400, GN_CUT_FILL, 1500), GN_OK);  // not known any more: stored
    ck_assert_uint_eq(burst.count, 4);
    ck_assert_uint_eq(gn_tx_get_counters(tx)->stored_no_syn, 4);
    check_burst(p, (uint8_t *)values, 5000, 1500, true);
}
END_TEST

START_TEST(off_phase)
{
    for (unsigned phase = 0; phase < 4; phase++) {
        for (gn_cut how = GN_CUT_MTU; how <= GN_CUT_FILL; how++) {
            packet p = {.seq = 1, .partial = true};
            open_flow(p);
            p.seq += phase;
            const uint8_t *payload = (uint8_t *)values + phase;
            ck_assert_int_eq(cut(p, payload, 20003, 1399, how, 1500), GN_OK);
            size_t done = 0;
            for (unsigned i = 0; i < burst.count; i++) {
                size_t length, got;
                const uint8_t *one = packet_at(i, &length);
                ck_assert_uint_eq(one[40 + 6], (4 - (phase + done) % 4) % 4);
                ck_assert_int_eq(gn_rx_packet(rx, one, length, back, ROOM, &got), GN_VERDICT_WRITE);
                done += got - 40;
            }
            ck_assert_uint_eq(done, 20003);
        }
    }
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

START_TEST(tcp_is_cut_to_what_fits_whatever_the_host_says)
{
    for (int marked = 0; marked < 2; marked++) {
        packet p = {.tos = marked ? 0 : NO_TOS, .seq = 1, .partial = true};
        open_flow(p);
        ck_assert_int_eq(cut(p, values, 5000, 0, GN_CUT_MTU, 1500), GN_OK);
        check_burst(p, (uint8_t *)values, 5000, 1500, marked);
        ck_assert_int_eq(cut(p, values, 5000, 4000, GN_CUT_MTU, 1500), GN_OK);
        check_burst(p, (uint8_t *)values, 5000, 1500, marked);
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

START_TEST(random_segments)
{
    uint32_t seed = 99;
    for (int round = 0; round < 600; round++) {
        packet p = {.version = random_next(&seed) % 2 ? 6 : 4,
                    .protocol = random_next(&seed) % 4 ? 6 : 17,
                    .seq = random_next(&seed),
                    .id = (uint16_t)random_next(&seed),
                    .partial = random_next(&seed) % 2,
                    .flags = (int)(ACK | (random_next(&seed) & (FIN | PSH | CWR))),
                    .tcp_options = random_next(&seed) % 11 * 4};
        if (p.version == 4) p.ip_options = random_next(&seed) % 11 * 4;
        bool marked = random_next(&seed) % 8;
        if (!marked) p.tos = NO_TOS;
        static float some[16300];
        uint32_t kind = random_next(&seed) % 4;
        static const float scales[] = {0, 0.002f, 0.05f, 3};
        random_values(&seed, some, 16300, scales[kind]);
        size_t bytes = 1 + random_next(&seed) % 65000;
        size_t mtu = 300 + random_next(&seed) % 1300;
        unsigned gso = 100 + random_next(&seed) % (unsigned)(mtu - 200);
        gn_cut how = random_next(&seed) % 2 ? GN_CUT_FILL : GN_CUT_MTU;
        if (random_next(&seed) % 8 == 0) p.source = 1234;  // a flow whose SYN was never seen
        if (p.protocol == 6 && !p.source) open_flow(p);
        size_t headers = p.protocol == 17 ? 8 : 20 + p.tcp_options;
        headers += p.version == 6 ? 40 : 20 + p.ip_options;
        if (headers + bytes > 65535) bytes = 65535 - headers;
        if (p.protocol == 17 && gso + headers + 8 > mtu) gso = (unsigned)(mtu - headers - 8);
        ck_assert_int_eq(cut(p, some, bytes, gso, how, mtu), GN_OK);
        check_burst(p, (uint8_t *)some, bytes, mtu, marked);
        if (p.protocol == 17) ck_assert_uint_eq(burst.count, (bytes + gso - 1) / gso);
    }
}
END_TEST

#define WITH_EITHER                                                                                                    \
    both_cuts_of_gradients, fill_leaves_no_room_for_another_group, fill_without_gain_is_no_worse_than_mtu,             \
        what_fits_stored_stays_one_packet, zeros_fill_one_packet, the_largest_segment_of_zeros,                        \
        datagrams_stay_datagrams, flags_and_flows, off_phase, tcp_is_cut_to_what_fits_whatever_the_host_says,          \
        random_segments

int main(void)
{
    return RUN_SUITE("segment", setup_dense, teardown, as_linux_cuts, what_is_not_cut, checksums_elsewhere,
                     a_checksum_elsewhere_is_never_zero, what_cannot_be_cut, headers_without_payload) |
           RUN_SUITE("segment, lattice", setup_lattice, teardown, WITH_EITHER) |
           RUN_SUITE("segment, dense", setup_dense, teardown, WITH_EITHER);
}
