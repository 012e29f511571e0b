// SPDX-License-Identifier: Apache-2.0
// Neighbours joined for the host.
#include <string.h>

#include <gradnic/frame.h>

#include "packets.h"
#include "suite.h"

enum { MTU = 1500 };

static uint8_t first[70000], next[70000];
static float values[18000];  // more than one segment holds

static void setup(void)
{
    uint32_t seed = 2;
    random_values(&seed, values, 18000, 0.01f);
}

/// Whether a packet made as `b` may follow one made as `a`, each with 100 payload bytes.
static bool joins(packet a, packet b)
{
    gn_run run;
    size_t at;
    ck_assert(gn_run_begin(&run, first, packet_build(&a, values, 100, first), MTU, false));
    bool joined = gn_run_append(&run, next, packet_build(&b, values, 100, next), false, &at);
    ck_assert_uint_eq(run.packets, joined ? 2 : 1);
    ck_assert_uint_eq(run.payload_bytes, joined ? 200 : 100);
    if (joined) ck_assert_uint_eq(at, packet_headers(next));
    return joined;
}

START_TEST(what_joins)
{
    for (int version = 4; version <= 6; version += 2) {
        packet a = {.version = version, .seq = 0xffffffce, .ack = 7, .tcp_options = 12}, b = a;
        b.seq += 100;
        ck_assert(joins(a, b));
        b.id = 99;  // ids may be anything
        ck_assert(joins(a, b));
        b.flags = 0x18;  // PSH on the last
        ck_assert(joins(a, b));
        a.flags = 0x18;  // nothing behind a PSH
        ck_assert(!joins(a, b));
    }
}
END_TEST

START_TEST(what_does_not_join)
{
    for (int version = 4; version <= 6; version += 2) {
        packet a = {.version = version, .seq = 1, .ack = 7, .tcp_options = 12};
        packet b[12];
        for (int i = 0; i < 12; i++) {
            b[i] = a;
            b[i].seq = 101;
        }
        b[0].seq = 102;
        b[1].seq = 1;
        b[2].ack = 8;
        b[3].source = 1;
        b[4].destination = 1;
        b[5].host = 9;
        b[6].tos = 0x2b;  // congestion experienced
        b[7].tcp_options = 8;
        b[8].flags = 0x11;   // FIN
        b[9].flags = 0x30;   // URG
        b[10].flags = 0x50;  // ECE
        b[11].flags = 0x90;  // CWR
        for (int i = 0; i < 12; i++) ck_assert_msg(!joins(a, b[i]), "case %d, IPv%d", i, version);
        b[0].seq = 101;
        b[0].version = version == 4 ? 6 : 4;
        ck_assert(!joins(a, b[0]));
        b[0] = (packet){.version = version, .protocol = 17};
        ck_assert(!joins(a, b[0]));
    }
}
END_TEST

START_TEST(every_header_byte_counts)
{
    for (int version = 4; version <= 6; version += 2) {
        packet a = {.version = version, .seq = 1, .ack = 7, .tcp_options = 12}, b = a;
        b.seq = 101;
        size_t n = packet_build(&b, values, 100, next), l4 = packet_l4(next);
        for (size_t i = 0; i < packet_headers(next); i++) {
            gn_run run;
            size_t at;
            ck_assert(gn_run_begin(&run, first, packet_build(&a, values, 100, first), MTU, false));
            packet_build(&b, values, 100, next);
            next[i] ^= 0x08;  // of the flags: PSH
            packet_fix(next);
            bool checksum = i == l4 + 16 || i == l4 + 17 || (version == 4 && (i == 10 || i == 11));
            bool free =
                checksum || (version == 4 && (i == 4 || i == 5)) || i == l4 + 13 || i == l4 + 18 || i == l4 + 19;
            bool joined = gn_run_append(&run, next, n, false, &at);
            if (i == l4 + 18 || i == l4 + 19) continue;  // the urgent pointer means nothing without URG
            if (version == 4 ? i == 2 || i == 3 : i == 4 || i == 5) continue;  // a length: a shorter packet
            ck_assert_msg(joined == free, "byte %zu, IPv%d", i, version);
        }
    }
}
END_TEST

START_TEST(what_begins_no_run)
{
    static const packet none[] = {{.protocol = 17}, {.protocol = 1}, {.ip_options = 4}, {.flags = 0x02},
                                  {.flags = 0x11},  {.flags = 0x14}, {.flags = 0x30},   {.flags = 0x90},
                                  {.flags = 0x08},  {.flags = 0x50}};
    gn_run run;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert(!gn_run_begin(&run, first, packet_build(&none[i], values, 100, first), MTU, false));
    ck_assert(!gn_run_begin(&run, first, packet_build(&(packet){0}, "", 0, first), MTU, false));
    ck_assert(!gn_run_begin(&run, first, 0, MTU, false));
    // The accurate-ECN bit beside the data offset (RFC 7560).
    size_t n = packet_build(&(packet){0}, values, 100, first);
    first[32] |= 1;
    packet_fix(first);
    ck_assert(!gn_run_begin(&run, first, n, MTU, false));
}
END_TEST

START_TEST(checksums_are_verified_unless_vouched_for)
{
    gn_run run;
    size_t at, n = packet_build(&(packet){.seq = 1}, values, 100, first);
    size_t m = packet_build(&(packet){.seq = 101}, values, 100, next);
    next[m - 1] ^= 1;
    ck_assert(gn_run_begin(&run, first, n, MTU, false));
    ck_assert(!gn_run_append(&run, next, m, false, &at));
    ck_assert(gn_run_append(&run, next, m, true, &at));
    ck_assert(!gn_run_begin(&run, next, m, MTU, false));
    ck_assert(gn_run_begin(&run, next, m, MTU, true));
    first[8] ^= 1;  // an IPv4 header is always verified
    ck_assert(!gn_run_begin(&run, first, n, MTU, true));
}
END_TEST

START_TEST(a_joined_segment_is_whole)
{
    for (int version = 4; version <= 6; version += 2) {
        packet p = {.version = version, .seq = 0xfffffff0, .ack = 5, .tcp_options = 12, .id = 4};
        gn_run run;
        size_t length = packet_build(&p, values, 3000, first), done = 3000, headers = packet_headers(first);
        ck_assert(gn_run_begin(&run, first, length, MTU, false));
        uint32_t seed = 5;
        int last_flags = 0x10;
        for (;;) {  // different sizes, as GN_CUT_FILL makes them
            size_t n = 4 + random_next(&seed) % 1500 * 4, at;
            packet q = p;
            q.seq = p.seq + (uint32_t)done;
            q.flags = done > 60000 ? 0x18 : 0x10;
            size_t m = packet_build(&q, (uint8_t *)values + done, n, next);
            if (!gn_run_append(&run, next, m, false, &at)) {
                ck_assert(last_flags == 0x18 || headers + done + n > 65535);
                break;
            }
            memcpy(first + headers + done, next + at, n);
            done += n;
            last_flags = q.flags;
        }
        gn_handover h = gn_run_finish(&run, first);
        ck_assert_uint_eq(h.header_bytes, headers);
        ck_assert_uint_eq(h.checksum_start, packet_l4(first));
        ck_assert_uint_eq(h.checksum_offset, 16);
        ck_assert_uint_eq(h.gso_size, MTU - headers);
        ck_assert(h.ipv6 == (version == 6));
        p.partial = true;
        p.flags = last_flags;
        ck_assert_uint_eq(packet_build(&p, values, done, next), headers + done);
        ck_assert_mem_eq(first, next, headers + done);
    }
}
END_TEST

START_TEST(a_segment_is_at_most_an_ip_packet)
{
    for (size_t second = 5535; second <= 5536; second++) {
        gn_run run;
        size_t at;
        size_t n = packet_build(&(packet){.seq = 1}, values, 60000 - 40, first);
        ck_assert(gn_run_begin(&run, first, n, MTU, false));
        n = packet_build(&(packet){.seq = 1 + 59960}, values, second, next);
        ck_assert(gn_run_append(&run, next, n, false, &at) == (second == 5535));
    }
}
END_TEST

START_TEST(a_lone_packet_is_an_ordinary_one)
{
    gn_run run;
    packet p = {.seq = 5};
    ck_assert(gn_run_begin(&run, first, packet_build(&p, values, 1400, first), MTU, false));
    gn_handover h = gn_run_finish(&run, first);
    ck_assert_uint_eq(h.gso_size, 0);
    p.partial = true;
    packet_build(&p, values, 1400, next);
    ck_assert_mem_eq(first, next, 1440);
    ck_assert(gn_run_begin(&run, first, packet_build(&p, values, 5000, first), MTU, true));  // large
    ck_assert_uint_eq(gn_run_finish(&run, first).gso_size, 1460);
}
END_TEST

/// Joins packets of these sizes. @return how many make one segment; `*piece` is its gso_size
static unsigned join(const size_t *sizes, size_t mtu, uint16_t *piece)
{
    packet p = {.seq = 7};
    gn_run run;
    size_t at;
    ck_assert(gn_run_begin(&run, first, packet_build(&p, values, sizes[0], first), mtu, false));
    for (unsigned i = 1; sizes[i]; i++) {
        p.seq += (uint32_t)sizes[i - 1];
        if (!gn_run_append(&run, next, packet_build(&p, values, sizes[i], next), false, &at)) break;
    }
    *piece = gn_run_finish(&run, first).gso_size;
    return run.packets;
}

// A host that forwards them cuts them as they came, or between values.
START_TEST(the_pieces_are_those_of_the_sender)
{
    static const struct {
        size_t sizes[6], mtu;
        unsigned joined;
        uint16_t piece;
    } runs[] = {
        {{1001, 1001, 1001}, MTU, 3, 1001},
        {{1001, 1001, 5, 1}, MTU, 3, 1001},  // nothing behind a shorter one
        {{1001, 1002}, MTU, 1, 0},           // a larger one
        {{1460, 1460}, MTU, 2, 1460},
        {{1460, 1464}, MTU, 1, 0},
        {{1464, 1460, 8, 3000}, MTU, 4, 1460},  // of GN_CUT_FILL
        {{4000, 2001, 1}, MTU, 2, 1460},        // up to one that ends within a value
        {{4001, 4}, MTU, 1, 1460},
        {{4000, 8}, 1401, 2, 1360},
        {{1000, 1001}, 900, 2, 860},
        {{4000}, 41, 1, 4},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        uint16_t piece;
        ck_assert_uint_eq(join(runs[i].sizes, runs[i].mtu, &piece), runs[i].joined);
        ck_assert_uint_eq(piece, runs[i].piece);
    }
}
END_TEST

int main(void)
{
    return RUN_SUITE("coalesce", setup, NULL, the_pieces_are_those_of_the_sender, what_joins, what_does_not_join,
                     every_header_byte_counts, what_begins_no_run, checksums_are_verified_unless_vouched_for,
                     a_joined_segment_is_whole, a_segment_is_at_most_an_ip_packet, a_lone_packet_is_an_ordinary_one);
}
