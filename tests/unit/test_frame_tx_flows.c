// SPDX-License-Identifier: Apache-2.0
// TCP: a flow is known from its SYN on, and says where in a segment the values begin.
#include <string.h>

#include "packets.h"
#include "suite.h"
#include "tx_fixture.h"

START_TEST(phase_of_a_flow)
{
    for (unsigned wrap = 0; wrap < 2; wrap++) {
        uint32_t isn = wrap ? 0xfffffffe : 1000;
        tx_open_flow((packet){.seq = isn + 1, .tos = NO_TOS});  // a SYN of any ToS
        for (unsigned at = 0; at < 9; at++) {
            ck_assert_int_eq(tx_send((packet){.seq = isn + 1 + at}, (uint8_t *)small + at % 4, 400), GN_VERDICT_WRITE);
            ck_assert_uint_eq(out_kind(), COMPRESSED);
            ck_assert_uint_eq(out_head(), (4 - at % 4) % 4);
        }
        ck_assert_int_eq(tx_send((packet){.seq = isn + 1 + 0x80000001}, (uint8_t *)small + 1, 400), GN_VERDICT_WRITE);
        ck_assert_uint_eq(out_kind(), COMPRESSED);
        ck_assert_uint_eq(out_head(), 3);
    }
}
END_TEST

START_TEST(segments_that_go_stored)
{
    ck_assert_int_eq(tx_send((packet){.seq = 1}, small, 400), GN_VERDICT_WRITE);  // SYN not seen
    ck_assert_uint_eq(out_kind(), 0);
    ck_assert_uint_eq(tx_counters()->stored_no_syn, 1);
    // A SYN with data (RFC 7413): stored, and the stream begins behind it.
    ck_assert_int_eq(tx_send((packet){.seq = 100, .flags = 0x02}, small, 400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_kind(), 0);
    ck_assert_uint_eq(tx_counters()->stored_syn, 1);
    ck_assert_int_eq(tx_send((packet){.seq = 501}, small, 400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_kind(), COMPRESSED);
    ck_assert_uint_eq(out_head(), 0);
    // The other direction is a flow of its own.
    ck_assert_int_eq(tx_send((packet){.seq = 501, .source = 5000, .destination = 40000}, small, 400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(tx_counters()->stored_no_syn, 2);
}
END_TEST

START_TEST(fin_and_rst_free_a_flow)
{
    static const int flags[] = {0x11, 0x14};
    for (int i = 0; i < 2; i++) {
        tx_open_flow((packet){.seq = 1});
        ck_assert_uint_eq(tx_counters()->flows_now, 1);
        ck_assert_int_eq(tx_send((packet){.seq = 1, .flags = flags[i]}, small, 400), GN_VERDICT_WRITE);
        ck_assert_uint_eq(out_kind(), COMPRESSED);  // the segment itself is still known
        ck_assert_uint_eq(tx_counters()->flows_now, 0);
        ck_assert_int_eq(tx_send((packet){.seq = 1}, small, 400), GN_VERDICT_WRITE);
        ck_assert_uint_eq(out_kind(), 0);
    }
    ck_assert_uint_eq(tx_counters()->flows_closed, 2);
    ck_assert_uint_eq(tx_counters()->flows_added, 2);
    // Of any ToS, without payload, and in bypass, too.
    gn_tx_set_bypass(tx, true);
    tx_open_flow((packet){.seq = 1, .tos = NO_TOS});
    gn_tx_set_bypass(tx, false);
    ck_assert_uint_eq(tx_counters()->flows_now, 1);
    tx_send((packet){.tos = NO_TOS, .flags = 0x11}, "", 0);
    ck_assert_uint_eq(tx_counters()->flows_now, 0);
}
END_TEST

START_TEST(other_traffic_does_not_keep_flows_young)
{
    gn_tx_free(tx);
    ck_assert_int_eq(gn_tx_new(&tx, &(gn_tx_config){.rules = &rule, .rule_count = 1, .flow_capacity = 2}), GN_OK);
    tx_open_flow((packet){.seq = 1, .source = 1});
    tx_open_flow((packet){.seq = 1, .source = 2, .tos = NO_TOS});
    tx_send((packet){.seq = 1, .source = 1}, small, 400);
    tx_send((packet){.seq = 1, .source = 2, .tos = NO_TOS}, small, 400);
    tx_open_flow((packet){.seq = 1, .source = 3, .tos = NO_TOS});  // takes the place of 2
    ck_assert_uint_eq(tx_counters()->flows_evicted, 1);
    tx_send((packet){.seq = 1, .source = 1}, small, 400);
    ck_assert_uint_eq(out_kind(), COMPRESSED);
    tx_send((packet){.seq = 1, .source = 2}, small, 400);
    ck_assert_uint_eq(out_kind(), 0);
}
END_TEST

// A table in sets, as hardware has it, loses flows before it is full.
START_TEST(a_table_in_sets)
{
    gn_tx_config config = {.rules = &rule, .rule_count = 1};
    gn_tx *none;
    for (unsigned log2 = 1; log2 < 40; log2++) {
        config.flow_log2 = log2;
        if (log2 >= 3 && log2 <= 16) continue;
        ck_assert_int_eq(gn_tx_new(&none, &config), GN_INVALID);
        ck_assert_ptr_null(none);
    }
    config.flow_log2 = 3;
    uint64_t most = 0;
    for (uint16_t stride = 1; stride < 9; stride++) {
        gn_tx_free(tx);
        ck_assert_int_eq(gn_tx_new(&tx, &config), GN_OK);
        for (uint16_t n = 0; n < 8; n++) tx_open_flow((packet){.seq = 1, .source = (uint16_t)(100 + n * stride)});
        const uint64_t lost = tx_counters()->flows_evicted;
        ck_assert_uint_lt(lost, 5);  // two sets of four
        if (lost > most) most = lost;
        ck_assert_uint_eq(tx_counters()->flows_now, 8 - lost);
        for (uint16_t n = 0; n < 8; n++)
            tx_send((packet){.seq = 1, .source = (uint16_t)(100 + n * stride)}, small, 400);
        ck_assert_uint_eq(tx_counters()->stored_no_syn, lost);
        ck_assert_uint_eq(tx_counters()->rule[0].compressed, 8 - lost);
    }
    ck_assert_uint_gt(most, 0);
}
END_TEST

START_TEST(a_retransmission_cut_differently_decodes_the_same)
{
    gn_rx *rx;
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), GN_OK);
    tx_open_flow((packet){.seq = 1});
    static uint8_t first[1600], again[1600], back[ROOM];
    uint32_t seed = 77;
    for (int round = 0; round < 50; round++) {
        for (size_t at = 0; at < 1600;) {
            size_t n = round ? 1 + random_next(&seed) % 500 : 400;
            if (n > 1600 - at) n = 1600 - at;
            ck_assert_int_eq(tx_send((packet){.seq = 1 + (uint32_t)at}, (uint8_t *)small + at, n), GN_VERDICT_WRITE);
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

int main(void)
{
    return RUN_SUITE("frame tx flows", tx_setup, tx_teardown, phase_of_a_flow, segments_that_go_stored,
                     fin_and_rst_free_a_flow, other_traffic_does_not_keep_flows_young, a_table_in_sets,
                     a_retransmission_cut_differently_decodes_the_same);
}
