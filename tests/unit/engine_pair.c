// SPDX-License-Identifier: Apache-2.0
#include "engine_pair.h"
#include "net/error.h"

#include <string.h>

#include <check.h>

enum { FIN = 1, SYN = 2, PSH = 8, ACK = 16 };

static void open_pair(engine_pair *pair, const gn_engine *engine, bool no_restore, size_t max_restored)
{
    uint32_t seed = 3;
    gn_rule rules[2] = {gn_rule_default(), gn_rule_default()};
    gn_error error = {0};
    memset(pair, 0, sizeof *pair);
    random_values(&seed, pair->values, 16384, 0.01f);
    rules[1].tos = 0x48;
    rules[1].head = 12;
    ck_assert_int_eq(gn_codec_init(&rules[1].codec, GN_PAPER, 7), GN_OK);
    const gn_engine_config config = {
        .rules = rules, .rule_count = 2, .bypass = no_restore, .no_restore = no_restore, .max_restored = max_restored};
    ck_assert_msg(!gn_datapath_open(&pair->model, &gn_engine_model, &config, &error) &&
                      !gn_datapath_open(&pair->tested, engine, &config, &error),
                  "%s", error.text);
}

void pair_open(engine_pair *pair, const gn_engine *engine)
{
    open_pair(pair, engine, false, 0);
}

void pair_open_limited(engine_pair *pair, const gn_engine *engine, size_t max_restored)
{
    open_pair(pair, engine, false, max_restored);
}

void pair_close(engine_pair *pair)
{
    gn_datapath_close(pair->model);
    gn_datapath_close(pair->tested);
}

gn_segment pair_build(engine_pair *pair, packet p, size_t at, size_t bytes, unsigned gso_size)
{
    const size_t length = packet_build(&p, (const uint8_t *)pair->values + at, bytes, pair->segment);
    return (gn_segment){
        .packet = pair->segment, .length = length, .gso_size = (uint16_t)gso_size, .partial_checksum = p.partial};
}

gn_status pair_transmit(engine_pair *pair, packet p, size_t at, size_t bytes, unsigned gso_size)
{
    const gn_segment s = pair_build(pair, p, at, bytes, gso_size);
    const gn_status status = gn_datapath_transmit(pair->model, &s, GN_CUT_MTU, PAIR_MTU, &pair->expected);
    const gn_status got = gn_datapath_transmit(pair->tested, &s, GN_CUT_MTU, PAIR_MTU, &pair->burst);
    if (pair->differs) return got;
    gn_error error = {0};
    ck_assert_msg(!gn_datapath_check(pair->tested, &error), "%s", error.text);
    ck_assert_int_eq(got, status);
    ck_assert_uint_eq(pair->burst.count, pair->expected.count);
    if (status != GN_OK) return got;
    const gn_burst *a = &pair->burst, *b = &pair->expected;
    ck_assert_mem_eq(a->offset, b->offset, (b->count + 1) * sizeof *b->offset);
    ck_assert_mem_eq(a->data, b->data, b->offset[b->count]);
    return got;
}

gn_verdict pair_receive(engine_pair *pair, const uint8_t *bytes, size_t length)
{
    static uint8_t by_model[PAIR_ROOM];
    size_t got_length = 0, wanted = length;
    const gn_verdict verdict = gn_datapath_receive(pair->model, bytes, length, by_model, sizeof by_model, &wanted);
    const gn_verdict got = gn_datapath_receive(pair->tested, bytes, length, pair->restored, PAIR_ROOM, &got_length);
    if (pair->differs) return got;
    gn_error error = {0};
    ck_assert_msg(!gn_datapath_check(pair->tested, &error), "%s", error.text);
    ck_assert_int_eq(got == GN_VERDICT_DROP, verdict == GN_VERDICT_DROP);
    if (got == GN_VERDICT_DROP) return got;
    ck_assert_uint_eq(got == GN_VERDICT_PASS ? length : got_length, wanted);
    ck_assert_mem_eq(got == GN_VERDICT_PASS ? bytes : pair->restored, verdict == GN_VERDICT_PASS ? bytes : by_model,
                     wanted);
    return got;
}

void pair_receive_all(engine_pair *pair)
{
    const gn_burst *b = &pair->expected;
    for (unsigned i = 0; i < b->count; i++) pair_receive(pair, b->data + b->offset[i], b->offset[i + 1] - b->offset[i]);
}

static void there_and_back(engine_pair *pair, packet p, size_t at, size_t bytes, unsigned gso_size)
{
    ck_assert_int_eq(pair_transmit(pair, p, at, bytes, gso_size), GN_OK);
    pair_receive_all(pair);
}

static void tcp(engine_pair *pair, int version, unsigned options)
{
    const unsigned headers = (version == 4 ? 20u : 40u) + 20 + options, mss = PAIR_MTU - GN_SHIM_BYTES - headers;
    packet p = {.version = version, .partial = true, .tcp_options = options, .seq = 1000};
    p.source = (uint16_t)(41000 + options);
    packet syn = p;
    syn.flags = SYN;
    syn.seq--;
    there_and_back(pair, syn, 0, 0, 0);
    for (size_t at = 0; at < 60000; at += 9001, p.seq += 9001) {
        p.flags = at > 50000 ? ACK | PSH | FIN : ACK | PSH;
        there_and_back(pair, p, at, 9001, mss);
    }
    there_and_back(pair, p, 0, 100, 0);  // behind the FIN: stored
    p.tos = NO_TOS;
    there_and_back(pair, p, 0, 40000, mss);
    p.partial = false;
    there_and_back(pair, p, 0, 900, 0);
    there_and_back(pair, p, 0, PAIR_MTU - headers, 0);  // fits as it is
    p.tos = 0x28;
    there_and_back(pair, p, 0, PAIR_MTU - headers, 0);  // fits, but for the shim
}

void pair_traffic(engine_pair *pair)
{
    for (int version = 4; version <= 6; version += 2) {
        tcp(pair, version, 0);
        tcp(pair, version, 12);
        packet u = {.version = version, .protocol = 17, .partial = true, .tos = 0x48};
        there_and_back(pair, u, 0, 30000, 1212);
        there_and_back(pair, u, 0, 1300, 0);
        ck_assert_int_eq(pair_transmit(pair, u, 0, 1465, 0), GN_INVALID);
        u.protocol = 89;
        u.partial = false;
        there_and_back(pair, u, 0, 600, 0);
    }
}

void pair_bypass(engine_pair *pair)
{
    const packet p = {.protocol = 17, .partial = true, .tos = 0x48};
    static gn_burst compressed;
    ck_assert_int_eq(pair_transmit(pair, p, 0, 30000, 1212), GN_OK);
    compressed = pair->expected;
    const uint64_t restored = gn_datapath_rx_counters(pair->model)->restored[1 + GN_PAPER];
    gn_datapath_set_bypass(pair->tested, true);
    gn_datapath_set_bypass(pair->model, true);
    for (unsigned i = 0; i < compressed.count; i++) {
        const uint32_t at = compressed.offset[i], length = compressed.offset[i + 1] - at;
        ck_assert_int_eq(pair_receive(pair, compressed.data + at, length), GN_VERDICT_WRITE);
    }
    ck_assert_uint_eq(gn_datapath_rx_counters(pair->model)->restored[1 + GN_PAPER], restored + compressed.count);
    const uint64_t passed = gn_datapath_tx_counters(pair->model)->pass_bypass;
    pair_traffic(pair);
    ck_assert_uint_gt(gn_datapath_tx_counters(pair->model)->pass_bypass, passed + 50);
}

void pair_no_restore(engine_pair *pair, const gn_engine *engine)
{
    const packet p = {.protocol = 17, .partial = true, .tos = 0x48};
    static gn_burst compressed;
    pair_open(pair, engine);
    ck_assert_int_eq(pair_transmit(pair, p, 0, 30000, 1212), GN_OK);
    compressed = pair->expected;
    pair_close(pair);
    open_pair(pair, engine, true, 0);
    for (int bypass = 1; bypass >= 0; bypass--) {
        gn_datapath_set_bypass(pair->tested, bypass);
        gn_datapath_set_bypass(pair->model, bypass);
        for (unsigned i = 0; i < compressed.count; i++) {
            const uint32_t at = compressed.offset[i], length = compressed.offset[i + 1] - at;
            pair_receive(pair, compressed.data + at, length);
        }
        ck_assert_uint_eq(gn_datapath_rx_counters(pair->model)->passed, (2u - (unsigned)bypass) * compressed.count);
    }
    pair_close(pair);
}
