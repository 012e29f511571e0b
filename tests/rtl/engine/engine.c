// SPDX-License-Identifier: Apache-2.0
// The engines rtl and lockstep, as a NIC uses them: the Verilog NIC behind them does what the model
// does, and where something is wrong on purpose, they notice.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/rtl/rtl_nic.h"
#include "engine_pair.h"
#include "suite.h"
#include <gradnic/shim.h>

static engine_pair pair;

static void counters_equal_models(void)
{
    const gn_rx_counters *rx = gn_datapath_rx_counters(pair.tested), *rx_model = gn_datapath_rx_counters(pair.model);
    const gn_tx_counters *tx = gn_datapath_tx_counters(pair.tested), *tx_model = gn_datapath_tx_counters(pair.model);
    gn_error error = {0};
    ck_assert_msg(!gn_datapath_check(pair.tested, &error), "%s", error.text);
    ck_assert_mem_eq(rx, rx_model, sizeof *rx);
    ck_assert_mem_eq(tx->rule, tx_model->rule, sizeof tx->rule);
    ck_assert_uint_eq(tx->stored_no_syn, tx_model->stored_no_syn);
    ck_assert_uint_eq(tx->flows_closed, tx_model->flows_closed);
}

START_TEST(traffic)
{
    pair_open(&pair, gn_engine_find(_i ? "lockstep" : "rtl", NULL));
    pair_traffic(&pair);
    counters_equal_models();
    gn_comparison c;
    if (gn_datapath_comparison(pair.tested, &c)) {
        ck_assert_uint_gt(c.tx_packets, 200);
        ck_assert_uint_gt(c.rx_packets, 200);
        ck_assert_uint_eq(c.differences, 0);
    }
    pair_close(&pair);
}
END_TEST

// Changes a packet on the wire: its shim, with a right check; or any bit; or what is behind the
// shim.
static void damage(uint32_t *seed, uint8_t *payload, size_t length)
{
    gn_shim shim;
    const uint32_t how = random_next(seed);
    if (how % 4 && length >= GN_SHIM_BYTES && gn_shim_read(payload, &shim)) {
        switch (how >> 8 & 7) {
        case 0:
            shim.version = (uint8_t)(how >> 16 & 15);
            break;
        case 1:
            shim.kind = (uint8_t)(how >> 16 & 15);
            break;
        case 2:
            shim.bound_exp = (int8_t)(how >> 16);
            break;
        case 3:
            shim.head = (uint8_t)(how >> 16);
            break;
        case 4:
            shim.length = (uint16_t)(how >> 16);
            break;
        default:
            shim.length = (uint16_t)(shim.length + (how >> 16 & 7) - 4);
        }
        gn_shim_write(&shim, payload);
    } else {
        const size_t from = how >> 4 & 1 && length > GN_SHIM_BYTES ? GN_SHIM_BYTES : 0;
        const size_t range = from || length < GN_SHIM_BYTES ? length - from : GN_SHIM_BYTES;
        payload[from + (how >> 16) % range] ^= (uint8_t)(1u << (how >> 5 & 7));
    }
}

// Anything from the wire, in lockstep.
START_TEST(hostile)
{
    uint32_t seed = 77;
    unsigned dropped = 0;
    pair_open(&pair, gn_engine_find("lockstep", NULL));
    for (unsigned round = 0; round < 3000; round++) {
        packet p = {.version = random_next(&seed) & 1 ? 4 : 6, .protocol = 17, .tos = round % 2 ? 0x48 : 0x28};
        if (round % 3 == 0) random_values(&seed, pair.values, 400, round % 9 ? 0.01f : 0);
        pair_transmit(&pair, p, random_next(&seed) % 64, 1 + random_next(&seed) % 1400, 0);
        uint8_t *bytes = pair.expected.data;
        const size_t length = pair.expected.offset[1], headers = packet_headers(bytes);
        if (random_next(&seed) % 4) damage(&seed, bytes + headers, length - headers);
        if (random_next(&seed) % 8) packet_fix(bytes);
        dropped += pair_receive(&pair, bytes, length) == GN_VERDICT_DROP;
    }
    counters_equal_models();
    const gn_rx_counters *c = gn_datapath_rx_counters(pair.tested);
    ck_assert_uint_eq(c->malformed, dropped);
    const uint64_t seen[] = {c->bad_version, c->bad_kind,     c->bad_bound, c->bad_head,   c->bad_length,
                             c->bad_stream,  c->bad_checksum, c->foreign,   c->restored[0]};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        ck_assert_msg(seen[i] > 20, "case %zu: only %u", i, (unsigned)seen[i]);
    pair_close(&pair);
}
END_TEST

// A peer with the cut `fill` sends packets that become as long as an IP packet can be.
START_TEST(filled)
{
    pair_open(&pair, gn_engine_find("lockstep", NULL));
    packet p = {.version = 4 + 2 * _i, .flags = 2, .seq = 9};
    pair_transmit(&pair, p, 0, 0, 0);
    p.flags = 16;
    p.seq = 10;
    for (size_t i = 0; i < 16384; i++) pair.values[i] = i % 64 ? 0 : 1e-3f;
    const gn_segment s = pair_build(&pair, p, 0, _i ? 65475 : 65495, 1400);
    ck_assert_int_eq(gn_datapath_transmit(pair.model, &s, GN_CUT_FILL, PAIR_MTU, &pair.expected), GN_OK);
    ck_assert_uint_lt(pair.expected.count, 4);
    pair_receive_all(&pair);
    ck_assert_mem_eq(gn_datapath_rx_counters(pair.tested), gn_datapath_rx_counters(pair.model), sizeof(gn_rx_counters));
    // with a limit they are dropped, and counted as that
    static gn_burst before;
    before = pair.expected;
    pair_close(&pair);
    pair_open_limited(&pair, gn_engine_find("lockstep", NULL), 9000);
    for (unsigned i = 0; i < before.count; i++)
        pair_receive(&pair, before.data + before.offset[i], before.offset[i + 1] - before.offset[i]);
    const gn_rx_counters *limited = gn_datapath_rx_counters(pair.tested);
    ck_assert_mem_eq(limited, gn_datapath_rx_counters(pair.model), sizeof(gn_rx_counters));
    ck_assert(limited->too_large > 0 && limited->too_large == limited->malformed);
    pair_close(&pair);
}
END_TEST

// Rules of a running NIC, within what the hardware has; a rule's counters begin anew with it.
START_TEST(rules)
{
    gn_error error;
    gn_rule some[5] = {gn_rule_default(), gn_rule_default(), gn_rule_default(), gn_rule_default(), gn_rule_default()};
    pair_open(&pair, gn_engine_find("lockstep", NULL));
    pair_traffic(&pair);
    ck_assert_int_eq(gn_datapath_set_rules(pair.tested, some, 5, &error), GN_INVALID);
    ck_assert_str_eq(error.text, "the hardware has room for 4 rules, not 5");
    some[0].protocol = GN_PROTOCOL_UDP;
    some[0].port_high = 4999;
    some[1].protocol = GN_PROTOCOL_UDP;
    some[1].port_low = some[1].port_high = 5000;
    some[1].tos = 0x4a;
    some[1].head = 3;
    ck_assert_int_eq(gn_codec_init(&some[1].codec, GN_LATTICE, -2), GN_OK);
    some[3].tos = 0x48;
    ck_assert_int_eq(gn_codec_init(&some[3].codec, GN_DENSE, 5), GN_OK);
    for (size_t count = 0; count <= 4; count++) {
        ck_assert_int_eq(gn_datapath_set_rules(pair.tested, some, count, &error), 0);
        ck_assert_int_eq(gn_datapath_set_rules(pair.model, some, count, &error), 0);
        pair_traffic(&pair);
        counters_equal_models();
    }
    pair_close(&pair);
}
END_TEST

// Bypass concerns what is sent. What arrives compressed is restored.
START_TEST(bypass)
{
    pair_open(&pair, gn_engine_find("lockstep", NULL));
    pair_bypass(&pair);
    counters_equal_models();
    ck_assert_uint_gt(gn_datapath_tx_counters(pair.tested)->pass_bypass, 200);
    pair_close(&pair);
    pair_no_restore(&pair, gn_engine_find("lockstep", NULL));
}
END_TEST

// Both directions at once, each on its thread, as in a NIC.
static void *receive_many(void *argument)
{
    const gn_burst *burst = argument;
    for (unsigned round = 0; round < 40; round++)
        for (unsigned i = 0; i < burst->count; i++) {
            size_t length;
            if (gn_datapath_receive(pair.tested, burst->data + burst->offset[i],
                                    burst->offset[i + 1] - burst->offset[i], pair.restored, PAIR_ROOM,
                                    &length) != GN_VERDICT_WRITE)
                return "a packet was dropped";
        }
    return NULL;
}

START_TEST(both_directions)
{
    static gn_burst burst;
    const packet p = {.protocol = 17, .partial = true};
    pthread_t thread;
    void *wrong;
    pair_open(&pair, gn_engine_find("lockstep", NULL));
    ck_assert_int_eq(pair_transmit(&pair, p, 0, 12000, 1200), GN_OK);
    burst = pair.burst;
    ck_assert_int_eq(pthread_create(&thread, NULL, receive_many, &burst), 0);
    for (unsigned round = 0; round < 40; round++) pair_transmit(&pair, p, round, 12000, 1200);
    ck_assert_int_eq(pthread_join(thread, &wrong), 0);
    gn_error error = {0};
    ck_assert_msg(!gn_datapath_check(pair.tested, &error), "%s", error.text);
    ck_assert_msg(!wrong, "%s", (const char *)wrong);
    gn_comparison c;
    gn_datapath_comparison(pair.tested, &c);
    ck_assert_uint_eq(c.tx_packets, 410);
    ck_assert_uint_eq(c.rx_packets, 400);
    pair_close(&pair);
}
END_TEST

// The hardware with one bit wrong, in the third packet of a direction.
static bool flip_rx;
static unsigned passing;

static gn_status flipping_transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error)
{
    const gn_status failed = gn_engine_rtl.transmit(state, in, heads, out, error);
    for (unsigned i = 0; i < out->count && !flip_rx; i++)
        if (++passing == 3) out->data[out->offset[i + 1] - 1] ^= 4;
    return failed;
}

static gn_status flipping_receive(void *state, const uint8_t *bytes, size_t length, uint8_t *out, size_t capacity,
                                  size_t *out_length, gn_verdict *verdict, gn_error *error)
{
    const gn_status status = gn_engine_rtl.receive(state, bytes, length, out, capacity, out_length, verdict, error);
    if (flip_rx && ++passing == 3) out[20] ^= 1;
    return status;
}

static gn_engine flipping, flipping_lockstep;  // flipping_lockstep: the model, and the one that flips

static void make_flipping_engines(void)
{
    flipping = gn_engine_rtl;
    flipping.transmit = flipping_transmit;
    flipping.receive = flipping_receive;
    passing = 0;
    flipping_lockstep = gn_engine_lockstep;
    flipping_lockstep.other = &flipping;
}

START_TEST(flipped_bit)
{
    char folder[] = "/tmp/gradnic-test-XXXXXX", command[64];
    gn_error error = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
    flip_rx = _i;
    make_flipping_engines();
    pair_open(&pair, &flipping_lockstep);
    const packet p = {.protocol = 17, .partial = true};
    pair.differs = true;
    const gn_status status = pair_transmit(&pair, p, 0, 5000, 1000);
    ck_assert_int_eq(status, flip_rx ? GN_OK : GN_DEAD);
    pair_receive_all(&pair);
    ck_assert_int_eq(gn_datapath_check(pair.tested, &error), GN_CORRUPT);
    ck_assert_msg(
        strstr(error.text, flip_rx ? "receive, packet 3: byte 20 is 0x" : "transmit, packet 3, head 0: byte "), "%s",
        error.text);
    ck_assert_msg(strstr(error.text, folder), "%s", error.text);
    pair_close(&pair);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

// More TCP flows than the hardware's table holds. Lockstep compares each packet, and at the end the
// counters: the model's table gives way as the hardware's does.
START_TEST(many_flows)
{
    enum { FLOWS = 3000, ROOM_FOR = 2048, SYN = 2, ACK = 16, FIN = 1 };
    pair_open(&pair, gn_engine_find("lockstep", NULL));
    for (unsigned round = 0; round < 3; round++)
        for (unsigned n = 0; n < FLOWS; n++) {
            packet p = {.version = n % 2 ? 4 : 6, .source = (uint16_t)(1000 + n), .seq = 77 * n, .flags = SYN};
            if (round) p.flags = ACK, p.seq += 1 + n % 5;
            if (round == 2) p.flags |= FIN;
            const gn_segment s = pair_build(&pair, p, round ? n % 5 : 0, round ? 600 : 0, 0);
            ck_assert_int_eq(gn_datapath_transmit(pair.tested, &s, GN_CUT_MTU, PAIR_MTU, &pair.burst), GN_OK);
            ck_assert_uint_eq(pair.burst.count, 1);
        }
    const gn_tx_counters *c = gn_datapath_tx_counters(pair.tested);
    gn_error error = {0};
    ck_assert_msg(!gn_datapath_check(pair.tested, &error), "%s", error.text);
    ck_assert_uint_eq(c->flows_added, FLOWS);
    ck_assert_uint_ge(c->flows_evicted, FLOWS - ROOM_FOR);
    ck_assert_uint_eq(c->stored_no_syn, 2 * c->flows_evicted);
    ck_assert_uint_eq(c->flows_closed, FLOWS - c->flows_evicted);
    ck_assert_uint_eq(c->flows_now, 0);
    ck_assert_uint_eq(c->rule[0].compressed, 2 * (FLOWS - c->flows_evicted));
    pair_close(&pair);
}
END_TEST

// A frame that the hardware swallows is an error after some time, and no frame of another one's.
START_TEST(no_answer)
{
    static gn_burst in, out;
    void *state;
    gn_error error = {0};
    const gn_rule rule = gn_rule_default();
    const gn_engine_config config = {.rules = &rule, .rule_count = 1};
    ck_assert_msg(!gn_engine_rtl.open(&gn_engine_rtl, &state, &config, &error), "%s", error.text);
    in.count = 1;
    in.offset[1] = (uint32_t)packet_build(&(packet){.protocol = 17}, pair.values, 400, in.data);
    const int bad = 8, good = 0;  // tuser's bit of a frame that the DMA could not read
    ck_assert_int_eq(gn_engine_rtl.transmit(state, &in, &bad, &out, &error), GN_TIMEOUT);
    ck_assert_msg(strstr(error.text, "transmit: the hardware does not answer: 1 frame(s)"), "%s", error.text);
    ck_assert_int_eq(gn_engine_rtl.transmit(state, &in, &good, &out, &error), 0);
    ck_assert_uint_eq(out.count, 1);
    gn_engine_rtl.close(state);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine");
    TCase *tcase = tcase_create("engine");
    tcase_add_loop_test(tcase, traffic, 0, 2);
    tcase_add_test(tcase, hostile);
    tcase_add_loop_test(tcase, filled, 0, 2);
    tcase_add_test(tcase, rules);
    tcase_add_test(tcase, bypass);
    tcase_add_test(tcase, both_directions);
    tcase_add_loop_test(tcase, flipped_bit, 0, 2);
    tcase_add_test(tcase, many_flows);
    tcase_add_test(tcase, no_answer);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
