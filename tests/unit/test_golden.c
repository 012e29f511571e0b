// SPDX-License-Identifier: Apache-2.0
// The packets of tests/golden/packets.txt. A second implementation made them, so the format cannot
// drift unnoticed.
#include <stdio.h>
#include <string.h>

#include <gradnic/frame.h>

#include "driver/counters.h"
#include "driver/rules.h"
#include "suite.h"

enum { LINE = 20000, PACKETS = 64 };

typedef struct bytes {
    size_t length;
    uint8_t data[LINE / 2];
} bytes;

static struct {
    char name[100], rule[GN_RULE_TEXT], cut[40], head[16], fault[32], pass[32];
    bytes host, wire[PACKETS], back[PACKETS];
    size_t wires, backs;
} golden;

static unsigned singles, faults, segments, passes;
static gn_burst burst;

static void parse_hex(const char *text, bytes *out)
{
    for (out->length = 0; text[2 * out->length] > ' '; out->length++) {
        unsigned value;
        ck_assert_int_eq(sscanf(text + 2 * out->length, "%2x", &value), 1);
        out->data[out->length] = (uint8_t)value;
    }
}

static void parse_line(char *line)
{
    char *value = strchr(line, ' ');
    ck_assert_ptr_nonnull(value);
    *value++ = 0;
    value[strcspn(value, "\n")] = 0;
    if (!strcmp(line, "name"))
        snprintf(golden.name, sizeof golden.name, "%s", value);
    else if (!strcmp(line, "rule"))
        snprintf(golden.rule, sizeof golden.rule, "%s", value);
    else if (!strcmp(line, "cut"))
        snprintf(golden.cut, sizeof golden.cut, "%s", value);
    else if (!strcmp(line, "head"))
        snprintf(golden.head, sizeof golden.head, "%s", value);
    else if (!strcmp(line, "fault"))
        snprintf(golden.fault, sizeof golden.fault, "%s", value);
    else if (!strcmp(line, "pass"))
        snprintf(golden.pass, sizeof golden.pass, "%s", value);
    else if (!strcmp(line, "host"))
        parse_hex(value, &golden.host);
    else if (!strcmp(line, "wire"))
        parse_hex(value, &golden.wire[golden.wires++]);
    else if (!strcmp(line, "back"))
        parse_hex(value, &golden.back[golden.backs++]);
    else
        ck_abort_msg("a line of kind '%s'", line);
    ck_assert_uint_lt(golden.wires, PACKETS);
    ck_assert_uint_lt(golden.backs, PACKETS);
}

static void expect_bytes(const char *what, const uint8_t *got, size_t length, const bytes *expected)
{
    ck_assert_msg(length == expected->length && !memcmp(got, expected->data, length), "%s: %s differs", golden.name,
                  what);
}

static gn_tx *make_tx(void)
{
    gn_rule defaults = gn_rule_default(), rule;
    char text[GN_RULE_TEXT];
    gn_error error = {0};
    gn_tx *tx;
    ck_assert_msg(!gn_rule_parse(golden.rule, &defaults, &rule, &error), "%s", error.text);
    ck_assert_str_eq(gn_rule_format(&rule, text), golden.rule);
    ck_assert_int_eq(gn_tx_new(&tx, &(gn_tx_config){.rules = &rule, .rule_count = 1}), GN_OK);
    return tx;
}

/// Tells the flow table what the head is: a SYN with the sequence number that leads to it.
static void open_flow(gn_tx *tx, int head)
{
    static uint8_t syn[200], out[300];
    gn_headers h;
    size_t length;
    ck_assert_int_eq(gn_packet_parse(golden.host.data, golden.host.length, &h), GN_PARSE_OK);
    if (h.protocol != GN_PROTOCOL_TCP) return;
    memcpy(syn, golden.host.data, h.payload);
    uint32_t isn = h.seq + (uint32_t)head - 1;
    for (int i = 0; i < 4; i++) syn[h.l4 + 4 + i] = (uint8_t)(isn >> (24 - 8 * i));
    syn[h.l4 + 13] = GN_TCP_SYN;
    size_t total = h.version == 6 ? (size_t)(h.payload - h.l4) : h.payload;
    syn[h.version == 6 ? 4 : 2] = 0;
    syn[h.version == 6 ? 5 : 3] = (uint8_t)total;
    ck_assert_int_eq(gn_tx_packet(tx, syn, h.payload, out, sizeof out, &length), GN_VERDICT_PASS);
    ck_assert_uint_eq(gn_tx_get_counters(tx)->flows_now, 1);
}

static void check_back(const uint8_t *packet, size_t length, const bytes *expected)
{
    static uint8_t out[GN_PACKET_MAX];
    gn_rx *rx;
    size_t out_length;
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), GN_OK);
    ck_assert_int_eq(gn_rx_packet(rx, packet, length, out, sizeof out, &out_length), GN_VERDICT_WRITE);
    expect_bytes("what the receiver makes of it", out, out_length, expected);
    gn_rx_free(rx);
}

static void check_single(void)
{
    static uint8_t out[LINE];
    int head = strcmp(golden.head, "stored") ? atoi(golden.head) : GN_HEAD_STORED;
    gn_tx *tx = make_tx();
    size_t length;
    ck_assert_int_eq(gn_tx_packet_head(tx, golden.host.data, golden.host.length, head, out, sizeof out, &length),
                     GN_VERDICT_WRITE);
    expect_bytes("what is sent", out, length, &golden.wire[0]);
    check_back(out, length, &golden.back[0]);
    if (head != GN_HEAD_STORED) open_flow(tx, head);
    ck_assert_int_eq(gn_tx_packet(tx, golden.host.data, golden.host.length, out, sizeof out, &length),
                     GN_VERDICT_WRITE);
    expect_bytes("what is sent with the flow table's head", out, length, &golden.wire[0]);
    gn_tx_free(tx);
    singles++;
}

static void check_segment(void)
{
    char how[8];
    unsigned gso, mtu;
    ck_assert_int_eq(sscanf(golden.cut, "%7s %u %u", how, &gso, &mtu), 3);
    gn_tx *tx = make_tx();
    open_flow(tx, atoi(golden.head));
    gn_segment segment = {
        .packet = golden.host.data, .length = golden.host.length, .gso_size = (uint16_t)gso, .partial_checksum = true};
    ck_assert_int_eq(gn_tx_segment(tx, &segment, strcmp(how, "fill") ? GN_CUT_MTU : GN_CUT_FILL, mtu, &burst), GN_OK);
    ck_assert_msg(burst.count == golden.wires, "%s: %u packets instead of %zu", golden.name, burst.count, golden.wires);
    for (unsigned i = 0; i < burst.count; i++) {
        const uint8_t *packet = burst.data + burst.offset[i];
        size_t length = burst.offset[i + 1] - burst.offset[i];
        expect_bytes("what is sent", packet, length, &golden.wire[i]);
        check_back(packet, length, &golden.back[i]);
    }
    gn_tx_free(tx);
    segments++;
}

static bool is_counted(const gn_counter *row, const void *counters, const char *name)
{
    for (; row->name; row++)
        if (!strcmp(row->name, name) && gn_counter_value(row, counters) == 1) return true;
    return false;
}

static void check_fault(void)
{
    static uint8_t out[GN_PACKET_MAX];
    gn_rx *rx;
    size_t length;
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), GN_OK);
    gn_verdict verdict = gn_rx_packet(rx, golden.wire[0].data, golden.wire[0].length, out, sizeof out, &length);
    bool foreign = !strcmp(golden.fault, "foreign");
    ck_assert_msg(verdict == (foreign ? GN_VERDICT_PASS : GN_VERDICT_DROP), "%s: verdict %d", golden.name, verdict);
    ck_assert_msg(is_counted(gn_rx_counter_rows, gn_rx_get_counters(rx), golden.fault), "%s: %s is not counted",
                  golden.name, golden.fault);
    gn_rx_free(rx);
    faults++;
}

static void check_pass(void)
{
    static uint8_t out[LINE];
    gn_tx *tx = make_tx();
    gn_rx *rx;
    size_t length;
    ck_assert_int_eq(gn_tx_packet_head(tx, golden.host.data, golden.host.length, 0, out, sizeof out, &length),
                     GN_VERDICT_PASS);
    ck_assert_msg(is_counted(gn_tx_counter_rows, gn_tx_get_counters(tx), golden.pass), "%s: %s is not counted",
                  golden.name, golden.pass);
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), GN_OK);
    ck_assert_msg(gn_rx_packet(rx, golden.host.data, golden.host.length, out, sizeof out, &length) == GN_VERDICT_PASS &&
                      !gn_rx_get_counters(rx)->foreign,
                  "%s: the receiver does not pass it as unmarked", golden.name);
    gn_rx_free(rx);
    gn_tx_free(tx);
    passes++;
}

static void check_case(void)
{
    if (!golden.name[0]) return;
    if (golden.pass[0]) {
        check_pass();
        return;
    }
    if (golden.fault[0])
        check_fault();
    else if (golden.cut[0])
        check_segment();
    else
        check_single();
}

START_TEST(packets_as_a_second_implementation_makes_them)
{
    FILE *file = fopen(GN_TEST_DATA "/../golden/packets.txt", "r");
    ck_assert_ptr_nonnull(file);
    static char line[LINE];
    while (fgets(line, sizeof line, file)) {
        ck_assert_ptr_nonnull(strchr(line, '\n'));
        if (*line == '#') continue;
        if (*line != '\n') {
            parse_line(line);
            continue;
        }
        check_case();
        memset(&golden, 0, sizeof golden);
    }
    check_case();
    fclose(file);
    ck_assert_uint_gt(singles, 20);
    ck_assert_uint_gt(segments, 8);
    ck_assert_uint_gt(faults, 12);
    ck_assert_uint_gt(passes, 10);
}
END_TEST

int main(void)
{
    return RUN_SUITE("golden", NULL, NULL, packets_as_a_second_implementation_makes_them);
}
