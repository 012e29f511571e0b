// SPDX-License-Identifier: Apache-2.0
// Engines around packet transforms: cut in software and transformed packet by packet gives what the model makes of whole segments;
// two transforms that agree are let be, and one that differs in a bit is stopped and caught in a capture.
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver/engine_packets.h"
#include "driver/transform_lockstep.h"
#include "packets.h"
#include "suite.h"

enum { ROOM = 66000, MTU = 1472, FIN = 1, SYN = 2, PSH = 8, ACK = 16 };

// A model that breaks on purpose, at the broken_at-th packet of a direction.
static enum { NOTHING, TX_BIT, TX_LENGTH, RX_BIT, RX_DROP, TX_COUNTER, RX_COUNTER, RULES, SILENT } broken;
static uint64_t broken_at;
static uint64_t seen;

static int broken_open(void **state, const gn_engine_config *config, gn_error *error)
{
    seen = 0;
    return gn_transform_model.open(state, config, error);
}

static int broken_set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error)
{
    if (broken == RULES && count > 2) return gn_error_set(error, "there is room for 2 rules");
    return gn_transform_model.set_rules(state, rules, count, error);
}

static int broken_transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error)
{
    if (gn_transform_model.transmit(state, in, heads, out, error)) return -1;
    for (unsigned i = 0; i < out->count; i++) {
        if (broken > TX_LENGTH && broken != SILENT) break;
        if (++seen != broken_at) continue;
        if (broken == TX_BIT) out->data[out->offset[i] + 11] ^= 0x10;
        if (broken == TX_LENGTH) out->offset[i + 1]--;
        if (broken == SILENT) return gn_error_set(error, "it does not answer");
    }
    return 0;
}

static int broken_receive(void *state, const uint8_t *bytes, size_t length, uint8_t *out, size_t capacity,
                          size_t *out_length, gn_error *error)
{
    const int got = gn_transform_model.receive(state, bytes, length, out, capacity, out_length, error);
    if ((broken != RX_BIT && broken != RX_DROP) || ++seen != broken_at) return got;
    if (broken == RX_DROP) return 0;
    out[*out_length - 1] ^= 0x80;
    return got;
}

static int broken_tx_counters(void *state, gn_tx_counters *counters, gn_error *error)
{
    const int failed = gn_transform_model.tx_counters(state, counters, error);
    counters->rule[0].wire_bytes += broken == TX_COUNTER;
    return failed;
}

static int broken_rx_counters(void *state, gn_rx_counters *counters, gn_error *error)
{
    const int failed = gn_transform_model.rx_counters(state, counters, error);
    counters->bad_checksum += broken == RX_COUNTER;
    return failed;
}

static void transform_close(void *state)
{
    gn_transform_model.close(state);
}
static int transform_set_bypass(void *state, bool bypass, gn_error *error)
{
    return gn_transform_model.set_bypass(state, bypass, error);
}

static const gn_transform broken_model = {.name = "other",
                                          .open = broken_open,
                                          .close = transform_close,
                                          .set_rules = broken_set_rules,
                                          .set_bypass = transform_set_bypass,
                                          .transmit = broken_transmit,
                                          .receive = broken_receive,
                                          .tx_counters = broken_tx_counters,
                                          .rx_counters = broken_rx_counters};

static int compared_open(void **state, const gn_engine_config *config, gn_error *error)
{
    return gn_lockstep_open(state, &gn_transform_model, &broken_model, config, error);
}
static const gn_transform compared = {.name = "lockstep", .open = compared_open, GN_TRANSFORM_LOCKSTEP};

static int engine_open(void **state, const gn_engine_config *config, gn_error *error)
{
    return gn_packets_open(state, &compared, config, error);
}
static const gn_engine lockstep = {
    .name = "lockstep", .open = engine_open, .comparison = gn_packets_comparison, GN_ENGINE_PACKETS};

static void *model, *engine;
static gn_burst expected, burst;
static uint8_t segment[ROOM], restored[ROOM];
static float values[16384];
static char folder[] = "/tmp/gradnic-test-XXXXXX";

static void setup(void)
{
    uint32_t seed = 3;
    random_values(&seed, values, 16384, 0.01f);
    gn_rule rules[2] = {gn_rule_default(), gn_rule_default()};
    rules[1].tos = 0x48;
    rules[1].head = 12;
    ck_assert_int_eq(gn_codec_init(&rules[1].codec, GN_PAPER, 7), GN_OK);
    const gn_engine_config config = {.rules = rules, .rule_count = 2};
    broken = NOTHING;
    gn_error error = {""};
    ck_assert_msg(!gn_engine_model.open(&model, &config, &error) && !lockstep.open(&engine, &config, &error), "%s",
                  error.text);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
}

static void teardown(void)
{
    char command[64];
    gn_engine_model.close(model);
    lockstep.close(engine);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static gn_segment build(packet p, size_t at, size_t bytes, unsigned gso_size)
{
    const size_t length = packet_build(&p, (const uint8_t *)values + at, bytes, segment);
    return (gn_segment){
        .packet = segment, .length = length, .gso_size = (uint16_t)gso_size, .partial_checksum = p.partial};
}

/// Through the model, whole, and through the engine under test, cut before.
static gn_status transmit(packet p, size_t at, size_t bytes, unsigned gso_size, size_t mtu)
{
    const gn_segment s = build(p, at, bytes, gso_size);
    const gn_status status = gn_engine_model.transmit(model, &s, GN_CUT_MTU, mtu, &expected);
    const gn_status got = lockstep.transmit(engine, &s, GN_CUT_MTU, mtu, &burst);
    if (broken != NOTHING) return got;
    ck_assert_int_eq(got, status);
    ck_assert_uint_eq(burst.count, expected.count);
    if (status != GN_OK) return got;
    ck_assert_mem_eq(burst.offset, expected.offset, (burst.count + 1) * sizeof *burst.offset);
    ck_assert_mem_eq(burst.data, expected.data, burst.offset[burst.count]);
    return got;
}

static void receive_all(void)
{
    for (unsigned i = 0; i < expected.count; i++) {
        const uint8_t *one = expected.data + expected.offset[i];
        const size_t length = expected.offset[i + 1] - expected.offset[i];
        size_t bytes = 0, wanted = 0;
        static uint8_t by_model[ROOM];
        const gn_verdict verdict = gn_engine_model.receive(model, one, length, by_model, ROOM, &wanted);
        const gn_verdict got = lockstep.receive(engine, one, length, restored, ROOM, &bytes);
        ck_assert_int_eq(got == GN_VERDICT_DROP, verdict == GN_VERDICT_DROP);
        if (got == GN_VERDICT_DROP) continue;
        ck_assert_uint_eq(bytes, verdict == GN_VERDICT_PASS ? length : wanted);
        ck_assert_mem_eq(restored, verdict == GN_VERDICT_PASS ? one : by_model, bytes);
    }
}

/// Whatever a host hands to its NIC: both IP versions, TCP in and out of phase, with and without options, UDP, what no rule matches.
static void all_traffic(void)
{
    for (int version = 4; version <= 6; version += 2) {
        const unsigned headers = version == 4 ? 20 : 40;
        for (unsigned options = 0; options <= 12; options += 12) {
            packet p = {.version = version, .partial = true, .tcp_options = options, .seq = 1000, .source = 41000};
            p.source = (uint16_t)(41000 + options);
            const unsigned mss = MTU - GN_SHIM_BYTES - headers - 20 - options;
            packet syn = p;
            syn.flags = SYN;
            syn.seq--;
            transmit(syn, 0, 0, 0, MTU);
            receive_all();
            for (size_t at = 0; at < 60000; at += 9001, p.seq += 9001) {
                p.flags = at > 50000 ? ACK | PSH | FIN : ACK | PSH;
                ck_assert_int_eq(transmit(p, at, 9001, mss, MTU), GN_OK);
                receive_all();
            }
            transmit(p, 0, 100, 0, MTU);  // behind the FIN: stored
            receive_all();
            p.tos = NO_TOS;
            ck_assert_int_eq(transmit(p, 0, 40000, mss, MTU), GN_OK);
            receive_all();
            p.partial = false;
            ck_assert_int_eq(transmit(p, 0, 900, 0, MTU), GN_OK);
            ck_assert_int_eq(transmit(p, 0, MTU - headers - 20 - options, 0, MTU), GN_OK);  // fits as it is
            receive_all();
            p.tos = 0x28;
            ck_assert_int_eq(transmit(p, 0, MTU - headers - 20 - options, 0, MTU), GN_OK);  // fits, but for the shim
            receive_all();
        }
        packet u = {.version = version, .protocol = 17, .partial = true, .tos = 0x48};
        ck_assert_int_eq(transmit(u, 0, 30000, 1212, MTU), GN_OK);
        receive_all();
        ck_assert_int_eq(transmit(u, 0, 1300, 0, MTU), GN_OK);
        receive_all();
        ck_assert_int_eq(transmit(u, 0, 1465, 0, MTU), GN_INVALID);
        u.protocol = 89;
        u.partial = false;
        ck_assert_int_eq(transmit(u, 0, 600, 0, MTU), GN_OK);
        receive_all();
    }
}

START_TEST(agree)
{
    all_traffic();
    // Damaged on the way: both drop it.
    ck_assert_int_eq(transmit((packet){.protocol = 17}, 0, 800, 0, MTU), GN_OK);
    expected.data[40] ^= 1;
    receive_all();
    const gn_tx_counters *tx = lockstep.tx_counters(engine), *tx_model = gn_engine_model.tx_counters(model);
    const gn_rx_counters *rx = lockstep.rx_counters(engine), *rx_model = gn_engine_model.rx_counters(model);
    gn_error error = {""};
    ck_assert_msg(!lockstep.check(engine, &error), "%s", error.text);
    ck_assert_mem_eq(rx, rx_model, sizeof *rx);
    ck_assert_uint_eq(rx->bad_checksum, 1);
    // Behind the cut there are more packets, but what became of the payload is the same.
    ck_assert_uint_ge(tx->packets, tx_model->packets);
    ck_assert_mem_eq(&tx->rule[0], &tx_model->rule[0], sizeof tx->rule[0]);
    ck_assert_mem_eq(&tx->rule[1], &tx_model->rule[1], sizeof tx->rule[1]);
    ck_assert_uint_eq(tx->flows_closed, tx_model->flows_closed);
    gn_comparison c;
    lockstep.comparison(engine, &c);
    ck_assert_uint_eq(c.tx_packets, tx->packets);
    ck_assert_uint_eq(c.rx_packets, rx->packets);
    ck_assert_uint_eq(c.differences, 0);
    ck_assert_uint_gt(c.tx_packets, 200);
}
END_TEST

START_TEST(only_whole_packets)
{
    gn_headers_cut cut;
    const gn_segment s = build((packet){.tos = NO_TOS}, 0, 800, 0);
    ck_assert_int_eq(lockstep.transmit_headers(engine, &s, MTU, &burst, &cut), GN_UNSUPPORTED);
    ck_assert_int_eq(lockstep.transmit(engine, &s, GN_CUT_FILL, MTU, &burst), GN_UNSUPPORTED);
    ck_assert_int_eq(lockstep.check(engine, NULL), 0);
}
END_TEST

/// Reads the capture that the error names. @return how many packets there are; their bytes in `bytes`
static int read_capture(const gn_error *error, uint8_t bytes[3][2000], size_t length[3])
{
    char path[128], why[PCAP_ERRBUF_SIZE];
    const char *name = strstr(error->text, folder);
    ck_assert_msg(name, "no file is named: %s", error->text);
    snprintf(path, sizeof path, "%s", name);
    ck_assert_str_eq(path + strlen(path) - 5, ".pcap");
    pcap_t *capture = pcap_open_offline(path, why);
    ck_assert_msg(capture, "%s: %s", path, why);
    ck_assert_int_eq(pcap_datalink(capture), DLT_RAW);
    struct pcap_pkthdr *header;
    const u_char *data;
    int count = 0;
    for (; count < 3 && pcap_next_ex(capture, &header, &data) == 1; count++) {
        ck_assert_uint_le(header->caplen, 2000);
        memcpy(bytes[count], data, length[count] = header->caplen);
    }
    ck_assert_int_ne(pcap_next_ex(capture, &header, &data), 1);
    pcap_close(capture);
    return count;
}

static gn_error failure_of(const char *words)
{
    gn_error error;
    ck_assert_int_eq(lockstep.check(engine, &error), -1);
    ck_assert_msg(strstr(error.text, words), "'%s' does not say '%s'", error.text, words);
    // It stays so.
    const gn_segment s = build((packet){.protocol = 17}, 0, 800, 0);
    size_t bytes;
    ck_assert_int_eq(lockstep.transmit(engine, &s, GN_CUT_MTU, MTU, &burst), GN_DEAD);
    ck_assert_uint_eq(burst.count, 0);
    ck_assert_int_eq(lockstep.receive(engine, segment, s.length, restored, ROOM, &bytes), GN_VERDICT_DROP);
    return error;
}

static void expect_differences(uint64_t wanted)
{
    gn_comparison c;
    lockstep.comparison(engine, &c);
    ck_assert_uint_eq(c.differences, wanted);
}

static const packet datagrams = {.protocol = 17, .partial = true};

START_TEST(bit_on_transmit)
{
    static uint8_t bytes[3][2000];
    size_t length[3];
    broken = TX_BIT;
    broken_at = 5;
    ck_assert_int_eq(transmit(datagrams, 0, 4000, 1000, MTU), GN_OK);
    receive_all();
    ck_assert_int_eq(transmit(datagrams, 0, 4000, 1000, MTU), GN_DEAD);
    const gn_error error = failure_of("transmit, packet 5, head 0: byte 11 is 0x");
    ck_assert_int_eq(read_capture(&error, bytes, length), 3);
    const size_t whole = expected.offset[1];
    ck_assert_uint_eq(length[0], 1028);
    ck_assert_mem_eq(bytes[0] + 28, values, 1000);
    ck_assert_uint_eq(length[1], whole);
    ck_assert_mem_eq(bytes[1], expected.data, whole);
    bytes[2][11] ^= 0x10;
    ck_assert_uint_eq(length[2], whole);
    ck_assert_mem_eq(bytes[2], expected.data, whole);
    expect_differences(1);
}
END_TEST

START_TEST(length_on_transmit)
{
    broken = TX_LENGTH;
    broken_at = 1;
    ck_assert_int_eq(transmit(datagrams, 0, 1000, 0, MTU), GN_DEAD);
    char words[80];
    snprintf(words, sizeof words, "packet 1, head 0: %u bytes in model, %u in other", expected.offset[1],
             expected.offset[1] - 1);
    (void)failure_of(words);
    expect_differences(1);
}
END_TEST

START_TEST(bit_on_receive)
{
    static uint8_t bytes[3][2000];
    size_t length[3], at = 0;
    broken = RX_BIT;
    broken_at = 3;
    transmit(datagrams, 0, 4000, 1000, MTU);
    for (unsigned i = 0; i < 3; i++) {
        const gn_verdict got = lockstep.receive(engine, expected.data + expected.offset[i],
                                                expected.offset[i + 1] - expected.offset[i], restored, ROOM, &at);
        ck_assert_int_eq(got, i < 2 ? GN_VERDICT_WRITE : GN_VERDICT_DROP);
    }
    const gn_error error = failure_of("receive, packet 3: byte 1027 is 0x");
    ck_assert_int_eq(read_capture(&error, bytes, length), 3);
    ck_assert_uint_eq(length[0], expected.offset[3] - expected.offset[2]);
    ck_assert_mem_eq(bytes[0], expected.data + expected.offset[2], length[0]);
    ck_assert_uint_eq(bytes[1][1027] ^ bytes[2][1027], 0x80);
    ck_assert_mem_eq(bytes[1], bytes[2], 1027);
}
END_TEST

START_TEST(drop_on_receive)
{
    static uint8_t bytes[3][2000];
    size_t length[3], at = 0;
    broken = RX_DROP;
    broken_at = 1;
    transmit(datagrams, 0, 1000, 0, MTU);
    ck_assert_int_eq(lockstep.receive(engine, expected.data, expected.offset[1], restored, ROOM, &at), GN_VERDICT_DROP);
    const gn_error error = failure_of("receive, packet 1: other drops it, model makes 1028 bytes of it");
    ck_assert_int_eq(read_capture(&error, bytes, length), 2);
}
END_TEST

START_TEST(counters_differ)
{
    broken = _i ? RX_COUNTER : TX_COUNTER;
    transmit(datagrams, 0, 1000, 0, MTU);
    ck_assert_int_eq(lockstep.check(engine, NULL), 0);
    if (_i)
        lockstep.rx_counters(engine);
    else
        lockstep.tx_counters(engine);
    (void)failure_of(_i ? "counter rx.bad_checksum is 0 in model, 1 in other" : "counter tx.rules[0].wire_bytes is ");
    expect_differences(1);
}
END_TEST

START_TEST(silence)
{
    broken = SILENT;
    broken_at = 2;
    ck_assert_int_eq(transmit(datagrams, 0, 4000, 1000, MTU), GN_DEAD);
    (void)failure_of("it does not answer");
    expect_differences(0);
}
END_TEST

START_TEST(no_capture)
{
    setenv("TMPDIR", "/nonexistent", 1);
    broken = TX_BIT;
    broken_at = 1;
    ck_assert_int_eq(transmit(datagrams, 0, 1000, 0, MTU), GN_DEAD);
    (void)failure_of("(no capture: /nonexistent/gradnic-lockstep-");
}
END_TEST

// Rules that one side refuses change nothing anywhere.
START_TEST(rules_refused)
{
    gn_rule rules[3] = {gn_rule_default(), gn_rule_default(), gn_rule_default()};
    rules[0].tos = rules[1].tos = rules[2].tos = 0x10;
    gn_error error;
    broken = RULES;
    ck_assert_int_eq(lockstep.set_rules(engine, rules, 3, &error), -1);
    ck_assert_str_eq(error.text, "there is room for 2 rules");
    broken = NOTHING;
    all_traffic();
    rules[0].port_low = 9;
    rules[0].port_high = 8;
    ck_assert_int_eq(lockstep.set_rules(engine, rules, 1, &error), -1);
    all_traffic();
    rules[0] = rules[1];
    ck_assert_int_eq(lockstep.set_rules(engine, rules, 2, &error), 0);
    ck_assert_int_eq(gn_engine_model.set_rules(model, rules, 2, &error), 0);
    all_traffic();
    lockstep.set_bypass(engine, true);
    gn_engine_model.set_bypass(model, true);
    all_traffic();
    lockstep.tx_counters(engine);
    lockstep.rx_counters(engine);
    ck_assert_int_eq(lockstep.check(engine, &error), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lockstep");
    TCase *tcase = tcase_create("lockstep");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, agree);
    tcase_add_test(tcase, only_whole_packets);
    tcase_add_test(tcase, bit_on_transmit);
    tcase_add_test(tcase, length_on_transmit);
    tcase_add_test(tcase, bit_on_receive);
    tcase_add_test(tcase, drop_on_receive);
    tcase_add_test(tcase, silence);
    tcase_add_test(tcase, no_capture);
    tcase_add_test(tcase, rules_refused);
    tcase_add_loop_test(tcase, counters_differ, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
