// SPDX-License-Identifier: Apache-2.0
// Segments of gradients, cut to packets: every packet stands on its own, and together they are the
// segment. What goes as it is: test_segment_plain.c.
#include "segments.h"
#include "suite.h"

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

// A link behind the receiver may carry no more than the host's own pieces. Where the host cuts
// nothing, each packet ends with a value.
START_TEST(fill_without_gain_has_the_host_s_pieces)
{
    uint32_t seed = 5;
    static float noise[4000];
    random_values(&seed, noise, 4000, 0);
    packet p = {.seq = 1, .partial = true};
    open_flow(p);
    ck_assert_int_eq(cut(p, noise, 16000, 1000, GN_CUT_FILL, 1500), GN_OK);
    check_burst(p, (uint8_t *)noise, 16000, 1500, true);
    ck_assert_uint_eq(burst.count, 16);
    for (unsigned head = 0; head < 4; head++) {
        open_flow(p);
        packet q = p;
        q.seq += 4 - head;
        ck_assert_int_eq(cut(q, (uint8_t *)noise + 4 - head, 5000 + head, 0, GN_CUT_FILL, 1401), GN_OK);
        size_t done = 0;
        for (unsigned i = 0; i < burst.count; i++) {
            size_t length, got;
            const uint8_t *one = packet_at(i, &length);
            ck_assert_int_eq(gn_rx_packet(rx, one, length, back, ROOM, &got), GN_VERDICT_WRITE);
            done += got - 40;
            ck_assert_uint_eq((done - head) % 4, 0);
        }
        ck_assert_uint_eq(done, 5000 + head);
    }
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

// Where the host cuts within a value, it may send again what ends there, and the receiver puts that
// together with what it has. So no packet may have that value whole.
START_TEST(no_packet_has_a_value_whole_that_the_host_may_cut)
{
    for (unsigned i = 0; i < 4 * 4 * 8; i++) {
        const unsigned phase = i % 4, gso = 1398 + i / 4 % 4, mtu = i / 16 ? 1400 - i / 16 : 1500;
        for (gn_cut how = GN_CUT_MTU; how <= GN_CUT_FILL; how++) {
            packet p = {.seq = 1, .partial = true};
            open_flow(p);
            p.seq += phase;
            ck_assert_int_eq(cut(p, (uint8_t *)values + phase, 60000, gso, how, mtu), GN_OK);
            if (!phase && gso == 1400 && how == GN_CUT_FILL) ck_assert_uint_lt(burst.count, 20);
            for (unsigned k = 0, from = phase; k < burst.count; k++) {
                size_t length, got;
                const uint8_t *one = packet_at(k, &length);
                ck_assert_int_eq(gn_rx_packet(rx, one, length, back, ROOM, &got), GN_VERDICT_WRITE);
                const unsigned to = from + (unsigned)got - 40;
                ck_assert(to % 4 == 0 || (to - phase) % gso == 0 || to == phase + 60000);
                for (unsigned at = phase; at < phase + 60000; at += gso)
                    ck_assert(at % 4 == 0 || at < (from + 3) / 4 * 4 || at > to / 4 * 4);
                from = to;
            }
        }
    }
}
END_TEST

// The same of what is sent again, untouched, over a path that became narrower.
START_TEST(what_is_held_is_cut_between_values)
{
    for (unsigned head = 0; head < 4; head++) {
        for (unsigned gso = 1398; gso < 1402; gso++) {
            gn_headers_cut cut;
            const packet p = {.tos = NO_TOS, .seq = 1, .partial = true};
            const gn_segment s = {.packet = segment,
                                  .length = packet_build(&p, values, 60000, segment),
                                  .gso_size = (uint16_t)gso,
                                  .partial_checksum = true,
                                  .values = true,
                                  .head = (uint8_t)head};
            ck_assert_int_eq(gn_tx_segment_headers(tx, &s, 1300, &burst, &cut), GN_UNSUPPORTED);
            ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, 1300, &burst), GN_OK);
            check_burst(p, (uint8_t *)values, 60000, 1300, false);
            for (unsigned i = 0, to = 0; i < burst.count; i++) {
                size_t length;
                packet_at(i, &length);
                to += (unsigned)length - 40;
                ck_assert(to % 4 == head || to % gso == 0 || to == 60000);
            }
        }
    }
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
        if (p.version == 4 && random_next(&seed) % 4 == 0) p.ip_options = random_next(&seed) % 11 * 4;
        bool marked = random_next(&seed) % 8;
        if (!marked) p.tos = NO_TOS;
        marked = marked && !p.ip_options;
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
    both_cuts_of_gradients, fill_leaves_no_room_for_another_group, fill_without_gain_has_the_host_s_pieces,            \
        fill_without_gain_is_no_worse_than_mtu, what_fits_stored_stays_one_packet, zeros_fill_one_packet,              \
        the_largest_segment_of_zeros, datagrams_stay_datagrams, no_packet_has_a_value_whole_that_the_host_may_cut,     \
        what_is_held_is_cut_between_values, flags_and_flows, off_phase,                                                \
        tcp_is_cut_to_what_fits_whatever_the_host_says, random_segments

int main(void)
{
    return RUN_SUITE("segment, lattice", segments_lattice, segments_end, WITH_EITHER) |
           RUN_SUITE("segment, dense", segments_dense, segments_end, WITH_EITHER);
}
