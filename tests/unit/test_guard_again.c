// SPDX-License-Identifier: Apache-2.0
// A host that cuts what it sends again elsewhere than before, over a link that loses packets, and
// delivers some late: each value arrives exactly, or rounded, and never in parts of both. So it
// does when the program takes the mark off and puts it on again, and when other flows push this one
// out of the guard's table. All that is new in a flow arrives in the end.
#include <string.h>

#include "driver/guard.h"
#include "net/clock.h"
#include "packets.h"
#include "suite.h"

enum {
    VALUES = 3000,
    BYTES = 4 * VALUES,
    ROOM = 70000,
    MTU = 1400,
    FLOWS = SANITIZED ? 40 : 400,
    WIRE = 64,     // packets that are on their way
    ROUNDS = 4000  // within which all has to arrive
};

typedef struct flying {
    uint32_t from, to;
    uint8_t bytes[BYTES];
} flying;

typedef struct network {
    gn_rx *rx;
    flying wire[WIRE], early[WIRE];  // early: at the receiver, ahead of what is missing
    unsigned count, early_count, lost, late;
    uint32_t arrived;  // bytes that the receiver has without a gap
    uint8_t got[BYTES];
} network;

static gn_rule rule;
static float values[VALUES];
static uint8_t host[ROOM], whole[ROOM], restored[ROOM];
static gn_burst burst;
static network net;
static uint64_t now = 1000 * GN_SECOND;

static unsigned below(uint32_t *state, unsigned limit)
{
    return random_next(state) % limit;
}

// The receiver takes a packet that joins what it has, and then what came early.
static void take(uint32_t from, uint32_t to, const uint8_t *bytes)
{
    if (from > net.arrived) {
        if (net.early_count == WIRE) return;
        flying *early = &net.early[net.early_count++];
        early->from = from, early->to = to;
        memcpy(early->bytes, bytes, to - from);
        return;
    }
    if (to <= net.arrived) return;
    memcpy(net.got + net.arrived, bytes + (net.arrived - from), to - net.arrived);
    net.arrived = to;
    for (unsigned i = 0; i < net.early_count; i++) {
        const flying early = net.early[i];
        if (early.from > net.arrived) continue;
        net.early[i] = net.early[--net.early_count];
        take(early.from, early.to, early.bytes);
        i = UINT32_MAX;  // anew
    }
}

static void land(unsigned i)
{
    static flying one;
    one = net.wire[i];
    net.wire[i] = net.wire[--net.count];
    take(one.from, one.to, one.bytes);
}

static void fly(uint32_t *state, const uint8_t *bytes, size_t length, uint32_t first)
{
    size_t got = length;
    const gn_verdict verdict = gn_rx_packet(net.rx, bytes, length, restored, sizeof restored, &got);
    SUITE_CHECK(verdict != GN_VERDICT_DROP, "a packet of %zu bytes is dropped", length);
    const uint8_t *p = verdict == GN_VERDICT_PASS ? bytes : restored;
    SUITE_CHECK(packet_valid(bytes, length) && packet_valid(p, got), "a wrong packet");
    const uint32_t headers = (uint32_t)packet_headers(p), from = packet_seq(p) - first;
    if (got == headers || below(state, 100) < net.lost) return;
    if (net.count == WIRE) land(0);
    flying *one = &net.wire[net.count++];
    one->from = from, one->to = from + (uint32_t)got - headers;
    memcpy(one->bytes, p + headers, got - headers);
    while (net.count && below(state, 100) >= net.late) land(below(state, 100) < net.late ? below(state, net.count) : 0);
}

static void send(uint32_t *state, gn_guard *guard, gn_datapath *datapath, gn_cut how, uint32_t first, uint32_t from,
                 uint32_t to, uint16_t piece, int tos)
{
    gn_headers_cut cut = {0};
    const packet p = {.seq = first + from, .tos = tos};
    const gn_segment s = {.packet = host,
                          .length = packet_build(&p, (const uint8_t *)values + from, to - from, host),
                          .gso_size = piece < to - from ? piece : 0};
    const bool left = gn_guard_leaves(guard, datapath, &rule, 1, &s, now);
    gn_status status = left ? gn_guard_cut(guard, &s, MTU, &burst, &cut)
                            : gn_datapath_transmit_headers(datapath, &s, MTU, &burst, &cut);
    if (status == GN_UNSUPPORTED) {
        cut.header_bytes = 0;
        status = gn_datapath_transmit(datapath, &s, how, MTU, &burst);
    }
    ck_assert_int_eq(status, GN_OK);
    size_t at = cut.payload_offset;
    for (unsigned i = 0; i < burst.count; i++) {
        size_t length = burst.offset[i + 1] - burst.offset[i];
        if (cut.header_bytes) {
            const size_t rest = s.length - at, bytes = rest < cut.piece ? rest : cut.piece;
            memcpy(whole, burst.data + i * cut.header_bytes, cut.header_bytes);
            memcpy(whole + cut.header_bytes, s.packet + at, bytes);
            at += bytes;
            length = cut.header_bytes + bytes;
        } else {
            memcpy(whole, burst.data + burst.offset[i], length);
        }
        fly(state, whole, length, first);
    }
}

// So many connections begin that each set of the guard's table is full of them.
static void push_out(gn_guard *guard, gn_datapath *datapath)
{
    now++;
    for (unsigned i = 0; i < 5 * GN_GUARD_FLOWS; i++) {
        const packet p = {.host = 9, .source = (uint16_t)i, .flags = 2};
        const gn_segment syn = {.packet = host, .length = packet_build(&p, NULL, 0, host)};
        ck_assert(!gn_guard_leaves(guard, datapath, &rule, 1, &syn, now));
    }
}

static void expect_whole(int flow)
{
    for (unsigned i = 0; i < VALUES; i++) {
        float rounded, got;
        uint8_t stream[64];
        size_t bytes;
        ck_assert_int_eq(gn_stream_encode(&rule.codec, &values[i], 1, stream, sizeof stream, &bytes), GN_OK);
        ck_assert_int_eq(gn_stream_decode(&rule.codec, stream, bytes, &rounded, 1, NULL), GN_OK);
        memcpy(&got, net.got + 4 * (size_t)i, sizeof got);
        SUITE_CHECK(!memcmp(&got, &values[i], 4) || !memcmp(&got, &rounded, 4),
                    "flow %d: value %u is %a, and came as %a", flow, i, (double)values[i], (double)got);
    }
}

static void run(int flow)
{
    uint32_t state = 77 + (uint32_t)flow;
    gn_error error;
    gn_datapath *datapath;
    gn_headers_cut cut;
    gn_guard *guard = gn_guard_new("gn0");
    const gn_engine_config config = {.rules = &rule, .rule_count = 1};
    ck_assert_int_eq(gn_datapath_open(&datapath, &gn_engine_model, &config, &error), 0);
    memset(&net, 0, sizeof net);
    ck_assert_int_eq(gn_rx_new(&net.rx, &(gn_rx_config){0}), 0);
    random_values(&state, values, VALUES, 0.3F);
    const uint32_t first = random_next(&state);
    const gn_segment syn = {.packet = host,
                            .length = packet_build(&(packet){.seq = first - 1, .flags = 2}, NULL, 0, host)};
    ck_assert(!gn_guard_leaves(guard, datapath, &rule, 1, &syn, now));
    ck_assert_int_eq(gn_datapath_transmit_headers(datapath, &syn, MTU, &burst, &cut), 0);

    net.lost = below(&state, 30), net.late = below(&state, 60);
    const gn_cut how = below(&state, 2) ? GN_CUT_FILL : GN_CUT_MTU;
    const bool odd_writes = below(&state, 2), marks_change = flow % 2, is_pushed_out = flow % 3 == 2;
    int tos = 0;
    uint32_t sent = 0, acknowledged = 0, again = 0, piece = 1340;
    unsigned rounds = 0;
    while (net.arrived < BYTES) {
        SUITE_CHECK(++rounds < ROUNDS, "flow %d stands still at %u", flow, net.arrived);
        if (!below(&state, 4)) acknowledged = net.arrived;
        if (!below(&state, 20)) piece = 500 + below(&state, 1000);  // the path's MTU changes
        if (is_pushed_out && !below(&state, 40)) push_out(guard, datapath);
        if (marks_change && !below(&state, 8)) tos = tos ? 0 : NO_TOS;
        // What comes again begins with what the receiver lacks, and leaves out what it has.
        if (again < acknowledged || again >= sent || !below(&state, 4)) again = acknowledged;
        const uint32_t from = below(&state, 2) ? again : sent;
        uint32_t bytes = below(&state, 3) ? below(&state, 5000) : below(&state, 12);
        if (!odd_writes && from == sent) bytes &= ~3U;
        if (from < sent && from > acknowledged) bytes = (bytes / piece + 1) * piece;
        if (sent == BYTES && from == acknowledged) bytes = BYTES;
        const uint32_t most = (from < sent ? sent : BYTES) - from;
        if (bytes > most) bytes = most;
        if (!bytes) continue;
        send(&state, guard, datapath, how, first, from, from + bytes, (uint16_t)piece, tos);
        if (from == again) again += bytes + piece * below(&state, 3);
        if (from + bytes > sent) sent = from + bytes;
    }
    expect_whole(flow);
    gn_rx_free(net.rx);
    gn_guard_free(guard);
    gn_datapath_close(datapath);
}

START_TEST(cut_elsewhere)
{
    rule = gn_rule_default();
    for (int flow = 0; flow < FLOWS; flow++) run(flow);
}
END_TEST

int main(void)
{
    return RUN_TESTS("guard_again", cut_elsewhere);
}
