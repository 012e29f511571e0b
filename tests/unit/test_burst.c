// SPDX-License-Identifier: Apache-2.0
// A segment becomes at most GN_BURST_PACKETS packets, and may become exactly so many.
#include <string.h>

#include <gradnic/frame.h>

#include "packets.h"
#include "suite.h"

enum { ROOM = 66000, PIECE = 31, MOST = GN_BURST_PACKETS * PIECE, MTU = 1500 };

static uint8_t segment[ROOM], payload[MOST + PIECE], back[ROOM];
static gn_tx *tx;
static gn_rx *rx;
static gn_burst burst;

static void setup(void)
{
    const gn_rule rule = gn_rule_default();
    for (size_t i = 0; i < sizeof payload; i++) payload[i] = (uint8_t)(i ^ i >> 8);
    ck_assert_int_eq(gn_tx_new(&tx, &(gn_tx_config){.rules = &rule, .rule_count = 1}), GN_OK);
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), GN_OK);
}

static void teardown(void)
{
    gn_tx_free(tx);
    gn_rx_free(rx);
}

static gn_segment segment_of(packet p, size_t bytes)
{
    const size_t length = packet_build(&p, payload, bytes, segment);
    return (gn_segment){.packet = segment, .length = length, .gso_size = PIECE, .partial_checksum = true};
}

/// Every packet is whole, has its piece of the payload, and the last one ends where the burst does.
static void check_packets(size_t last_piece, bool restored)
{
    ck_assert_uint_eq(burst.count, GN_BURST_PACKETS);
    for (unsigned i = 0; i < burst.count; i++) {
        const uint8_t *bytes = burst.data + burst.offset[i];
        size_t length = burst.offset[i + 1] - burst.offset[i];
        SUITE_CHECK(packet_valid(bytes, length), "packet %u is not valid", i);
        if (restored) {
            SUITE_CHECK(gn_rx_packet(rx, bytes, length, back, sizeof back, &length) == GN_VERDICT_WRITE,
                        "packet %u is not restored", i);
            bytes = back;
        }
        const size_t at = packet_headers(bytes), piece = i + 1 < burst.count ? PIECE : last_piece;
        SUITE_CHECK(length == at + piece, "packet %u has %zu bytes", i, length);
        SUITE_CHECK(restored || !memcmp(bytes + at, payload + (size_t)i * PIECE, piece), "packet %u is another", i);
    }
}

START_TEST(as_many_packets_as_a_burst_holds)
{
    static const int protocols[] = {6, 17}, marks[] = {NO_TOS, 0x28};
    for (unsigned i = 0; i < 4; i++) {
        const bool marked = i & 2;
        const packet p = {.protocol = protocols[i & 1], .tos = marks[marked], .partial = true};
        const size_t lasts[] = {1, PIECE};
        for (size_t j = 0; j < 2; j++) {
            const gn_segment s = segment_of(p, MOST - PIECE + lasts[j]);
            ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, MTU, &burst), GN_OK);
            check_packets(lasts[j], marked);
            ck_assert_int_eq(gn_tx_segment_cut(tx, &s, MTU, &burst), GN_OK);
            check_packets(lasts[j], false);
        }
    }
}
END_TEST

START_TEST(one_packet_more_is_refused)
{
    for (int tos = 0; tos < 2; tos++) {
        const packet p = {.tos = tos ? 0x28 : NO_TOS, .partial = true};
        const gn_segment s = segment_of(p, MOST + 1);
        ck_assert_int_eq(gn_tx_segment(tx, &s, GN_CUT_MTU, MTU, &burst), GN_INVALID);
        ck_assert_uint_eq(burst.count, 0);
        ck_assert_int_eq(gn_tx_segment_cut(tx, &s, MTU, &burst), GN_INVALID);
        ck_assert_uint_eq(burst.count, 0);
    }
}
END_TEST

START_TEST(headers_alone)
{
    gn_headers_cut cut;
    gn_segment s = segment_of((packet){.tos = NO_TOS, .partial = true}, MOST);
    ck_assert_int_eq(gn_tx_segment_headers(tx, &s, MTU, &burst, &cut), GN_OK);
    ck_assert_uint_eq(burst.count, GN_BURST_PACKETS);
    ck_assert_uint_eq(cut.piece, PIECE);
    s = segment_of((packet){.tos = NO_TOS, .partial = true}, MOST + 1);
    ck_assert_int_eq(gn_tx_segment_headers(tx, &s, MTU, &burst, &cut), GN_INVALID);
    ck_assert_uint_eq(burst.count, 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("burst", setup, teardown, as_many_packets_as_a_burst_holds, one_packet_more_is_refused,
                     headers_alone);
}
