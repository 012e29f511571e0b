// SPDX-License-Identifier: Apache-2.0
// Host to wire to host. The far application reads what the codec makes of what the near one wrote.
#include <stdlib.h>
#include <string.h>

#include <gradnic/frame.h>

#include "packets.h"
#include "suite.h"

enum { ROOM = 66000, VALUES = 16000 };

static uint8_t in[ROOM], wire[ROOM], out[ROOM];
static float values[VALUES];
static gn_tx *tx;
static gn_rx *rx;
static gn_rule rule;

static void setup_with(gn_profile profile)
{
    uint32_t seed = 7;
    random_values(&seed, values, VALUES, 0.01f);
    rule = gn_rule_default();
    ck_assert_int_eq(gn_codec_init(&rule.codec, profile, 10), GN_OK);
    ck_assert_int_eq(gn_tx_new(&tx, &(gn_tx_config){.rules = &rule, .rule_count = 1}), GN_OK);
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), GN_OK);
}

static void setup_paper(void)
{
    setup_with(GN_PAPER);
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

/// What the receiver should see of `n` payload bytes with `head` verbatim ones.
static void expect(const uint8_t *payload, size_t n, size_t head, uint8_t *expected)
{
    memcpy(expected, payload, n);
    if (n < head + 4) return;
    size_t count = (n - head) / 4;
    float *copy = malloc(count * sizeof *copy);
    memcpy(copy, payload + head, count * 4);
    ck_assert_int_eq(gn_quantise(&rule.codec, copy, copy, NULL, count), GN_OK);
    memcpy(expected + head, copy, count * 4);
    free(copy);
}

static void begin_flow(packet p)
{
    size_t length;
    p.flags = 0x02;
    p.seq--;
    size_t n = packet_build(&p, "", 0, in);
    ck_assert_int_eq(gn_tx_packet(tx, in, n, wire, sizeof wire, &length), GN_VERDICT_PASS);
}

START_TEST(every_length_and_phase)
{
    static const int versions[] = {4, 6}, protocols[] = {6, 17};
    static uint8_t expected[ROOM];
    for (int c = 0; c < 4; c++) {
        packet p = {.version = versions[c / 2], .protocol = protocols[c % 2], .seq = 0xfffffff0, .id = 77};
        if (p.protocol == 6) begin_flow(p);
        for (unsigned phase = 0; phase < (p.protocol == 6 ? 4 : 1); phase++) {
            for (size_t n = 1; n < 1500; n += n < 100 ? 1 : 37) {
                packet q = p;
                q.seq += phase;
                const uint8_t *payload = (const uint8_t *)values + phase;
                size_t length = packet_build(&q, payload, n, in), wire_length, out_length;
                ck_assert_int_eq(gn_tx_packet(tx, in, length, wire, sizeof wire, &wire_length), GN_VERDICT_WRITE);
                ck_assert(packet_valid(wire, wire_length));
                ck_assert_uint_le(wire_length, length + GN_SHIM_BYTES);
                ck_assert_int_eq(gn_rx_packet(rx, wire, wire_length, out, sizeof out, &out_length), GN_VERDICT_WRITE);
                bool stored = (wire[packet_headers(wire) + 2] & 15) == 0;
                size_t headers = packet_headers(in), head = phase ? 4 - phase : 0;
                memcpy(expected + headers, in + headers, n);
                if (!stored) expect(payload, n, head, expected + headers);
                memcpy(expected, in, headers);
                packet_fix(expected);
                ck_assert_uint_eq(out_length, length);
                ck_assert(packet_valid(out, out_length));
                ck_assert_mem_eq(out, expected, length);
            }
        }
    }
    ck_assert_uint_gt(gn_tx_get_counters(tx)->rule[0].compressed, 100);
    ck_assert_uint_gt(gn_rx_get_counters(rx)->restored[rule.codec.profile + 1], 100);
    ck_assert_uint_eq(gn_rx_get_counters(rx)->malformed, 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("frame round trip, paper", setup_paper, teardown, every_length_and_phase) |
           RUN_SUITE("frame round trip, lattice", setup_lattice, teardown, every_length_and_phase) |
           RUN_SUITE("frame round trip, dense", setup_dense, teardown, every_length_and_phase);
}
