// SPDX-License-Identifier: Apache-2.0
// The datapath around an engine that takes only packets: segments cut in software give what the
// model makes of whole segments.
// Lockstep of two engines: two that agree go on. An engine that differs in a bit is stopped, and
// the packet is captured.
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "driver/nic_state.h"
#include "engine_pair.h"
#include "net/error.h"
#include "suite.h"

// A model that breaks on purpose, at the broken_at-th packet of a direction.
typedef enum { NOTHING, TX_BIT, TX_LENGTH, RX_BIT, RX_DROP, TX_COUNTER, RX_COUNTER, RULES, SILENT } fault;
static fault broken;
static uint64_t broken_at;
static uint64_t seen;

static gn_status broken_open(const gn_engine *engine, void **state, const gn_engine_config *config, gn_error *error)
{
    seen = 0;
    return gn_engine_model.open(engine, state, config, error);
}

static gn_status broken_set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error)
{
    if (broken == RULES && count > 2) return gn_fail(error, GN_INVALID, "there is room for 2 rules");
    return gn_engine_model.set_rules(state, rules, count, error);
}

static gn_status broken_transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error)
{
    if (gn_engine_model.transmit(state, in, heads, out, error)) return error->status;
    for (unsigned i = 0; i < out->count; i++) {
        if (broken > TX_LENGTH && broken != SILENT) break;
        if (++seen != broken_at) continue;
        if (broken == TX_BIT) out->data[out->offset[i] + 11] ^= 0x10;
        if (broken == TX_LENGTH) out->offset[i + 1]--;
        if (broken == SILENT) return gn_fail(error, GN_INVALID, "it does not answer");
    }
    return GN_OK;
}

static gn_status broken_receive(void *state, const uint8_t *bytes, size_t length, uint8_t *out, size_t capacity,
                                size_t *out_length, gn_verdict *verdict, gn_error *error)
{
    const gn_status status = gn_engine_model.receive(state, bytes, length, out, capacity, out_length, verdict, error);
    if ((broken != RX_BIT && broken != RX_DROP) || ++seen != broken_at) return status;
    if (broken == RX_DROP)
        *verdict = GN_VERDICT_DROP;
    else
        out[*out_length - 1] ^= 0x80;
    return status;
}

static gn_status broken_tx_counters(void *state, gn_tx_counters *counters, gn_error *error)
{
    const gn_status failed = gn_engine_model.tx_counters(state, counters, error);
    counters->rule[0].wire_bytes += broken == TX_COUNTER;
    return failed;
}

static gn_status broken_rx_counters(void *state, gn_rx_counters *counters, gn_error *error)
{
    const gn_status failed = gn_engine_model.rx_counters(state, counters, error);
    counters->bad_checksum += broken == RX_COUNTER;
    return failed;
}

static gn_engine broken_model, lockstep;  // lockstep: the model, and the one that breaks

static void make_engines(void)
{
    broken_model = gn_engine_model;
    broken_model.name = "other";
    broken_model.open = broken_open;
    broken_model.set_rules = broken_set_rules;
    broken_model.transmit = broken_transmit;
    broken_model.receive = broken_receive;
    broken_model.tx_counters = broken_tx_counters;
    broken_model.rx_counters = broken_rx_counters;
    lockstep = gn_engine_lockstep;
    lockstep.other = &broken_model;
}

static engine_pair pair;
static char folder[] = "/tmp/gradnic-test-XXXXXX";

static void setup(void)
{
    broken = NOTHING;
    make_engines();
    pair_open(&pair, &lockstep);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
}

static void teardown(void)
{
    char command[64];
    pair_close(&pair);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void breaks(fault how, uint64_t at)
{
    broken = how;
    broken_at = at;
    pair.differs = true;
}

START_TEST(agree)
{
    pair_traffic(&pair);
    // Damaged on the way: both drop it.
    ck_assert_int_eq(pair_transmit(&pair, (packet){.protocol = 17}, 0, 800, 0), GN_OK);
    pair.expected.data[40] ^= 1;
    pair_receive_all(&pair);
    const gn_tx_counters *tx = gn_datapath_tx_counters(pair.tested), *tx_model = gn_datapath_tx_counters(pair.model);
    const gn_rx_counters *rx = gn_datapath_rx_counters(pair.tested), *rx_model = gn_datapath_rx_counters(pair.model);
    gn_error error = {0};
    ck_assert_msg(!gn_datapath_check(pair.tested, &error), "%s", error.text);
    ck_assert_mem_eq(rx, rx_model, sizeof *rx);
    ck_assert_uint_eq(rx->bad_checksum, 1);
    // Behind the cut there are more packets, but what became of the payload is the same.
    ck_assert_uint_ge(tx->packets, tx_model->packets);
    ck_assert_mem_eq(tx->rule, tx_model->rule, sizeof tx->rule);
    ck_assert_uint_eq(tx->flows_closed, tx_model->flows_closed);
    gn_comparison c;
    gn_datapath_comparison(pair.tested, &c);
    ck_assert_uint_eq(c.tx_packets, tx->packets);
    ck_assert_uint_eq(c.rx_packets, rx->packets);
    ck_assert_uint_eq(c.differences, 0);
    ck_assert_uint_gt(c.tx_packets, 200);
}
END_TEST

START_TEST(only_whole_packets)
{
    gn_headers_cut cut;
    const gn_segment s = pair_build(&pair, (packet){.tos = NO_TOS}, 0, 800, 0);
    ck_assert_int_eq(gn_datapath_transmit_headers(pair.tested, &s, PAIR_MTU, &pair.burst, &cut), GN_UNSUPPORTED);
    ck_assert_int_eq(gn_datapath_transmit(pair.tested, &s, GN_CUT_FILL, PAIR_MTU, &pair.burst), GN_UNSUPPORTED);
    ck_assert_int_eq(gn_datapath_check(pair.tested, NULL), 0);
}
END_TEST

/// Reads the capture that the error names. The packets' bytes are in `bytes`.
/// @return how many packets there are
static gn_status read_capture(const gn_error *error, uint8_t bytes[3][2000], size_t length[3])
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
    ck_assert_int_ne(gn_datapath_check(pair.tested, &error), GN_OK);
    ck_assert_msg(strstr(error.text, words), "'%s' does not say '%s'", error.text, words);
    // It stays so.
    const gn_segment s = pair_build(&pair, (packet){.protocol = 17}, 0, 800, 0);
    size_t bytes;
    ck_assert_int_eq(gn_datapath_transmit(pair.tested, &s, GN_CUT_MTU, PAIR_MTU, &pair.burst), GN_DEAD);
    ck_assert_uint_eq(pair.burst.count, 0);
    ck_assert_int_eq(gn_datapath_receive(pair.tested, pair.segment, s.length, pair.restored, PAIR_ROOM, &bytes),
                     GN_VERDICT_DROP);
    return error;
}

static void expect_differences(uint64_t wanted)
{
    gn_comparison c;
    gn_datapath_comparison(pair.tested, &c);
    ck_assert_uint_eq(c.differences, wanted);
}

static const packet datagrams = {.protocol = 17, .partial = true};

START_TEST(bit_on_transmit)
{
    static uint8_t bytes[3][2000];
    size_t length[3];
    breaks(TX_BIT, 5);
    ck_assert_int_eq(pair_transmit(&pair, datagrams, 0, 4000, 1000), GN_OK);
    ck_assert_int_eq(pair_transmit(&pair, datagrams, 0, 4000, 1000), GN_DEAD);
    const gn_error error = failure_of("transmit, packet 5, head 0: byte 11 is 0x");
    ck_assert_int_eq(read_capture(&error, bytes, length), 3);
    const size_t whole = pair.expected.offset[1];
    ck_assert_uint_eq(length[0], 1028);
    ck_assert_mem_eq(bytes[0] + 28, pair.values, 1000);
    ck_assert_uint_eq(length[1], whole);
    ck_assert_mem_eq(bytes[1], pair.expected.data, whole);
    bytes[2][11] ^= 0x10;
    ck_assert_uint_eq(length[2], whole);
    ck_assert_mem_eq(bytes[2], pair.expected.data, whole);
    expect_differences(1);
}
END_TEST

START_TEST(length_on_transmit)
{
    breaks(TX_LENGTH, 1);
    ck_assert_int_eq(pair_transmit(&pair, datagrams, 0, 1000, 0), GN_DEAD);
    char words[80];
    snprintf(words, sizeof words, "packet 1, head 0: %u bytes in model, %u in other", pair.expected.offset[1],
             pair.expected.offset[1] - 1);
    (void)failure_of(words);
    expect_differences(1);
}
END_TEST

START_TEST(bit_on_receive)
{
    static uint8_t bytes[3][2000];
    size_t length[3], at = 0;
    breaks(RX_BIT, 3);
    pair_transmit(&pair, datagrams, 0, 4000, 1000);
    for (unsigned i = 0; i < 3; i++) {
        const gn_verdict got =
            gn_datapath_receive(pair.tested, pair.expected.data + pair.expected.offset[i],
                                pair.expected.offset[i + 1] - pair.expected.offset[i], pair.restored, PAIR_ROOM, &at);
        ck_assert_int_eq(got, i < 2 ? GN_VERDICT_WRITE : GN_VERDICT_DROP);
    }
    const gn_error error = failure_of("receive, packet 3: byte 1027 is 0x");
    ck_assert_int_eq(read_capture(&error, bytes, length), 3);
    ck_assert_uint_eq(length[0], pair.expected.offset[3] - pair.expected.offset[2]);
    ck_assert_mem_eq(bytes[0], pair.expected.data + pair.expected.offset[2], length[0]);
    ck_assert_uint_eq(bytes[1][1027] ^ bytes[2][1027], 0x80);
    ck_assert_mem_eq(bytes[1], bytes[2], 1027);
}
END_TEST

START_TEST(drop_on_receive)
{
    static uint8_t bytes[3][2000];
    size_t length[3], at = 0;
    breaks(RX_DROP, 1);
    pair_transmit(&pair, datagrams, 0, 1000, 0);
    ck_assert_int_eq(
        gn_datapath_receive(pair.tested, pair.expected.data, pair.expected.offset[1], pair.restored, PAIR_ROOM, &at),
        GN_VERDICT_DROP);
    const gn_error error = failure_of("receive, packet 1: other drops it, model makes 1028 bytes of it");
    ck_assert_int_eq(read_capture(&error, bytes, length), 2);
}
END_TEST

START_TEST(counters_differ)
{
    breaks(_i ? RX_COUNTER : TX_COUNTER, 0);
    pair_transmit(&pair, datagrams, 0, 1000, 0);
    ck_assert_int_eq(gn_datapath_check(pair.tested, NULL), 0);
    if (_i)
        gn_datapath_rx_counters(pair.tested);
    else
        gn_datapath_tx_counters(pair.tested);
    (void)failure_of(_i ? "counter rx.bad_checksum is 0 in model, 1 in other" : "counter tx.rules[0].wire_bytes is ");
    expect_differences(1);
}
END_TEST

START_TEST(silence)
{
    breaks(SILENT, 2);
    ck_assert_int_eq(pair_transmit(&pair, datagrams, 0, 4000, 1000), GN_DEAD);
    (void)failure_of("it does not answer");
    expect_differences(0);
}
END_TEST

START_TEST(no_capture)
{
    setenv("TMPDIR", "/nonexistent", 1);
    breaks(TX_BIT, 1);
    ck_assert_int_eq(pair_transmit(&pair, datagrams, 0, 1000, 0), GN_DEAD);
    (void)failure_of("(no capture: /nonexistent/gradnic-lockstep-");
}
END_TEST

// A NIC whose engine finds a difference stops, and hands nothing of that packet to its host.
START_TEST(nic_stops)
{
    gn_nic nic = {.config = {.peers = gn_peers_new()}, .tun = {.mtu = 1464}};
    gn_wire_batch batch;
    breaks(RX_BIT, 2);
    nic.datapath = pair.tested;
    nic.stop_event = eventfd(0, EFD_NONBLOCK);
    nic.tun.fd = open("/dev/null", O_WRONLY);
    nic.in = calloc(1, sizeof *nic.in);
    ck_assert(nic.in && nic.stop_event >= 0 && nic.tun.fd >= 0);
    ck_assert_int_eq(gn_peers_add(nic.config.peers, "10.0.0.0/8=192.0.2.2", NULL), 0);
    ck_assert_int_eq(gn_peers_seal(nic.config.peers, AF_INET, NULL), 0);
    ck_assert_int_eq(gn_endpoint_parse("192.0.2.2:7777", &batch.from, NULL), 0);
    gn_onward_init(&nic.onward);
    ck_assert(!gn_coalescer_open(&nic.in->coalescer, &nic.tun, &nic.onward));
    pair_transmit(&pair, datagrams, 0, 1000, 0);
    batch.bytes = batch.size = pair.expected.offset[1];
    for (unsigned i = 1; i <= 3; i++) {
        memcpy(nic.in->batch, pair.expected.data, batch.bytes);
        gn_in_batch(&nic, &batch);
        ck_assert_int_eq(atomic_load(&nic.stop), i > 1);
        ck_assert_uint_eq(nic.in->coalescer.counters.packets, 1);
    }
    ck_assert_int_eq(atomic_load(&nic.failure), EPROTO);
    uint64_t told;
    ck_assert_int_eq(read(nic.stop_event, &told, sizeof told), sizeof told);
    gn_peers_free(nic.config.peers);
    close(nic.stop_event);
    close(nic.tun.fd);
    gn_coalescer_close(&nic.in->coalescer);
    free(nic.in);
}
END_TEST

// Rules that one side refuses change nothing anywhere.
START_TEST(rules_refused)
{
    gn_rule rules[3] = {gn_rule_default(), gn_rule_default(), gn_rule_default()};
    rules[0].tos = rules[1].tos = rules[2].tos = 0x10;
    gn_error error;
    broken = RULES;
    ck_assert_int_eq(gn_datapath_set_rules(pair.tested, rules, 3, &error), GN_INVALID);
    ck_assert_str_eq(error.text, "there is room for 2 rules");
    broken = NOTHING;
    pair_traffic(&pair);
    rules[0].port_low = 9;
    rules[0].port_high = 8;
    ck_assert_int_eq(gn_datapath_set_rules(pair.tested, rules, 1, &error), GN_INVALID);
    pair_traffic(&pair);
    rules[0] = rules[1];
    ck_assert_int_eq(gn_datapath_set_rules(pair.tested, rules, 2, &error), 0);
    ck_assert_int_eq(gn_datapath_set_rules(pair.model, rules, 2, &error), 0);
    pair_traffic(&pair);
    gn_datapath_tx_counters(pair.tested);
    gn_datapath_rx_counters(pair.tested);
    ck_assert_int_eq(gn_datapath_check(pair.tested, &error), 0);
}
END_TEST

// Bypass concerns what is sent. What arrives compressed is restored.
START_TEST(bypass)
{
    pair_bypass(&pair);
    pair_close(&pair);
    pair_no_restore(&pair, &lockstep);
    pair_open(&pair, &lockstep);
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
    tcase_add_test(tcase, nic_stops);
    tcase_add_test(tcase, rules_refused);
    tcase_add_test(tcase, bypass);
    tcase_add_loop_test(tcase, counters_differ, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
