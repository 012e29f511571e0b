// SPDX-License-Identifier: Apache-2.0
// The guard's policy: which packets go round the engine, when a flow is judged anew, and whether
// what goes round arrives as it was.
#include <stdio.h>
#include <string.h>

#include <gradnic/shim.h>

#include "driver/guard.h"
#include "net/clock.h"
#include "packets.h"
#include "suite.h"

enum { ROOM = 70000, MTU = 1472, FIN = 1, SYN = 2, ACK = 16 };

static gn_guard *guard;
static gn_datapath *datapath;
static gn_rule rules[2];
static uint64_t now;
static float gradients[360], zeros[360];
static char text[1440];
static uint8_t bytes[ROOM], restored[ROOM];
static gn_burst burst;

static void setup(void)
{
    gn_error error;
    uint32_t state = 5;
    rules[0] = rules[1] = gn_rule_default();
    const gn_engine_config config = {.rules = rules, .rule_count = 1};
    ck_assert_int_eq(gn_datapath_open(&datapath, &gn_engine_model, &config, &error), 0);
    guard = gn_guard_new("gn0");
    ck_assert_ptr_nonnull(guard);
    now = 1000 * GN_SECOND;
    random_values(&state, gradients, 360, 0.01F);
    for (size_t i = 0; i < sizeof text; i += 16) memcpy(text + i, "no gradients...\n", 16);
}

static void teardown(void)
{
    gn_guard_free(guard);
    gn_datapath_close(datapath);
}

static bool leaves(packet p, const void *payload, size_t length, uint16_t gso_size)
{
    const gn_segment segment = {
        .packet = bytes, .length = packet_build(&p, payload, length, bytes), .gso_size = gso_size};
    return gn_guard_leaves(guard, datapath, rules, 1, &segment, now);
}

// A SYN as the NIC handles it: guard, then datapath.
static void open_flow(packet p)
{
    gn_headers_cut cut;
    p.flags = SYN;
    p.seq--;
    const gn_segment segment = {.packet = bytes, .length = packet_build(&p, NULL, 0, bytes)};
    ck_assert(!gn_guard_leaves(guard, datapath, rules, 1, &segment, now));
    ck_assert_int_eq(gn_datapath_transmit_headers(datapath, &segment, MTU, &burst, &cut), 0);
}

static void expect_counted(uint64_t gradient_flows, uint64_t other_flows, uint64_t left, uint64_t undecided)
{
    const gn_guard_counters *c = gn_guard_count(guard);
    ck_assert_uint_eq(c->gradient_flows, gradient_flows);
    ck_assert_uint_eq(c->other_flows, other_flows);
    ck_assert_uint_eq(c->left, left);
    ck_assert_uint_eq(c->undecided, undecided);
}

START_TEST(tcp)
{
    const packet p = {.seq = 1000};
    open_flow(p);
    ck_assert(!leaves(p, gradients, 1440, 0));
    ck_assert(!leaves(p, text, 1440, 0));  // a good flow stays good
    expect_counted(1, 0, 0, 0);
    open_flow(p);  // another program has the port
    ck_assert(leaves(p, text, 1440, 0));
    ck_assert(leaves(p, gradients, 1440, 0));
    expect_counted(1, 1, 2, 0);
    open_flow(p);
    ck_assert(!leaves(p, gradients, 1440, 0));
    expect_counted(2, 1, 2, 0);
}
END_TEST

// A signature or a checksum of another layer covers these bytes, and MPTCP deals them out.
START_TEST(bytes_that_must_stay)
{
    static const struct {
        uint8_t option[12];
        bool syn, answer, data;  // which packets have it
        bool stays;
    } ways[] = {
        {{19, 12}, true, true, true, true},         // MD5
        {{1, 1, 29, 8}, true, true, true, true},    // AO
        {{30, 12}, true, false, false, false},      // MPTCP is offered, and not taken
        {{30, 12}, true, true, false, true},        // and taken
        {{30, 12, 16}, true, false, false, true},   // one more connection of one (MP_JOIN)
        {{30, 12, 32}, false, false, true, true},   // its data (DSS)
        {{30, 12, 32}, false, true, false, true},   // an acknowledgment alone has it
        {{8, 10}, true, true, true, false},         // a time stamp
        {{0, 30, 12}, true, true, true, false},     // behind the end
        {{8, 10, 30, 4}, true, true, true, false},  // within another
        {{30, 1, 30}, true, true, true, false},     // no option
        {{30, 13, 32}, true, true, true, false},    // longer than all
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const uint64_t others = gn_guard_count(guard)->other_flows, left = gn_guard_count(guard)->left;
        packet with = {.seq = 1000, .source = (uint16_t)(100 + i), .tcp_options = 12};
        memcpy(with.option, ways[i].option, sizeof with.option);
        packet without = {.seq = 1000, .source = with.source};
        open_flow(ways[i].syn ? with : without);
        ck_assert(!leaves(ways[i].answer ? with : without, NULL, 0, 0));
        ck_assert_msg(leaves(ways[i].data ? with : without, gradients, 1440, 0) == ways[i].stays, "way %zu", i);
        with.seq = without.seq = 2440;
        ck_assert(leaves(without, gradients, 1440, 0) == ways[i].stays);
        ck_assert_uint_eq(gn_guard_count(guard)->other_flows - others, ways[i].stays);
        ck_assert_uint_eq(gn_guard_count(guard)->left - left, 2 * ways[i].stays);
    }
    const packet datagram = {.protocol = 17, .source = 99};
    ck_assert(!leaves(datagram, gradients, 1440, 0));
    // Without the mark nothing would be rounded.
    const packet plain = {.seq = 1000, .source = 98, .tos = NO_TOS, .tcp_options = 12, .option = {19, 12}};
    open_flow(plain);
    ck_assert(!leaves(plain, gradients, 1440, 0));
    const packet again = {.seq = 1000, .source = 99};
    open_flow(again);
    ck_assert(!leaves(again, gradients, 1440, 0));
}
END_TEST

// Values begin where the flow began, not where a packet does.
START_TEST(phase)
{
    packet p = {.seq = 77};
    for (uint32_t late = 1; late < 8; late++) {
        open_flow((packet){.seq = 77});
        p.seq = 77 + late;
        ck_assert(!leaves(p, (const uint8_t *)gradients + late, 1440 - late, 0));
    }
    expect_counted(7, 0, 0, 0);
    open_flow((packet){.seq = 77});
    ck_assert(leaves(p, gradients, 1440, 0));  // 7 bytes too early
    expect_counted(7, 1, 1, 0);
}
END_TEST

// A host that cuts within values may cut elsewhere when it sends again. Then exact and rounded
// parts of one value would meet.
START_TEST(sent_again)
{
    static const struct {
        uint16_t gso;
        uint32_t more;
        bool within;
    } ways[] = {{700, 4, false}, {701, 4, true}, {0, 7, true}};
    const uint8_t *payload = (const uint8_t *)gradients;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        packet p = {.seq = 0xffffff00};
        open_flow(p);
        const uint64_t left = gn_guard_count(guard)->left, flows = gn_datapath_tx_counters(datapath)->flows_now;
        ck_assert(!leaves(p, payload, 1400, ways[i].gso));
        p.seq += 1400;
        ck_assert(!leaves(p, payload + 1400, ways[i].more, 0));
        p.seq -= 400;
        ck_assert(leaves(p, payload + 1000, 400, 0) == ways[i].within);
        ck_assert_uint_eq(gn_guard_count(guard)->left - left, ways[i].within);
        p.seq += 400 + ways[i].more;
        ck_assert(!leaves(p, payload + 1400 + ways[i].more, 20, 0));  // this is new
        p.flags = ACK | FIN;
        ck_assert(leaves(p, payload + 1400 + ways[i].more, 20, 0) == ways[i].within);
        ck_assert_uint_eq(gn_datapath_tx_counters(datapath)->flows_now, flows - ways[i].within);
    }
}
END_TEST

// The odd end of a stream is no cut.
START_TEST(odd_end_sent_again)
{
    packet p = {.seq = 5};
    open_flow(p);
    ck_assert(!leaves(p, gradients, 1400, 0));
    p.seq += 1400, p.flags = ACK | FIN;
    ck_assert(!leaves(p, gradients, 3, 0));
    ck_assert(!leaves(p, gradients, 3, 0));
    p.seq -= 1400, p.flags = ACK;
    ck_assert(!leaves(p, gradients, 1400, 0));
}
END_TEST

// A flow whose SYN the guard has not seen may have sent anything before. Cut within values, all of
// it goes untouched.
START_TEST(unknown_and_cut)
{
    const uint8_t *payload = (const uint8_t *)gradients;
    for (int unknown = 0; unknown < 2; unknown++) {
        packet p = {.seq = 9};
        open_flow(p);
        if (unknown) gn_guard_forget(guard);
        ck_assert(!leaves(p, payload, 400, 0));
        p.seq += 400;
        ck_assert(leaves(p, payload + 400, 401, 0) == unknown);
        p.seq += 401;
        ck_assert(leaves(p, payload + 801, 403, 0) == unknown);
    }
}
END_TEST

// The one segment that ended within a value was lost ahead of the NIC. The next one shows it: it
// begins within one.
START_TEST(begins_within)
{
    const uint8_t *payload = (const uint8_t *)gradients;
    packet p = {.seq = 1};
    open_flow(p);
    ck_assert(!leaves(p, payload, 400, 0));
    p.seq += 403;
    ck_assert(leaves(p, payload + 403, 400, 0));
    p.seq -= 3;
    ck_assert(leaves(p, payload + 400, 400, 0));  // again, and cut elsewhere
    p.seq += 403;
    ck_assert(!leaves(p, payload + 803, 400, 0));
}
END_TEST

// Bytes that are missing: lost on the way to the NIC, they come again. They matter to a flow that
// is cut within values.
START_TEST(gap)
{
    for (unsigned odd = 0; odd < 2; odd++) {
        packet p = {.seq = 0xffffff00};
        open_flow(p);
        ck_assert(!leaves(p, gradients, 400 + odd, 0));
        p.seq += 800 + odd;
        ck_assert(leaves(p, gradients, 400, 0) == odd);
        p.seq += 400;
        ck_assert(leaves(p, gradients, 400, 0) == odd);
        p.seq -= 800;
        ck_assert(leaves(p, gradients, 400, 0) == odd);  // here they are
        p.seq += 1200;
        ck_assert(!leaves(p, gradients, 400, 0));
    }
}
END_TEST

// Untouched on a path that became narrower, it is cut between its values.
START_TEST(held_and_cut)
{
    const uint8_t *payload = (const uint8_t *)gradients;
    packet p = {.seq = 1};
    gn_headers_cut cut;
    open_flow(p);
    ck_assert(!leaves(p, payload, 403, 0));
    p.seq += 403;
    ck_assert(!leaves(p, payload + 403, 1000, 0));
    ck_assert(leaves(p, payload + 403, 1000, 0));
    const gn_segment segment = {.packet = bytes, .length = packet_build(&p, payload + 403, 1000, bytes)};
    ck_assert_int_eq(gn_guard_cut(guard, &segment, 600, &burst, &cut), 0);
    ck_assert_uint_eq(cut.header_bytes, 0);
    ck_assert_uint_eq(burst.count, 2);
    ck_assert_uint_eq((403 + burst.offset[1] - 40) % 4, 0);
}
END_TEST

// Or they are without the mark.
START_TEST(partly_unmarked)
{
    packet p = {.seq = 1}, plain = {.seq = 401, .tos = 4};
    open_flow(p);
    ck_assert(!leaves(p, gradients, 400, 0));
    ck_assert(!leaves(plain, gradients, 400, 0));
    p.seq += 800;
    ck_assert(!leaves(p, gradients, 400, 0));
    plain.seq = p.seq + 400;
    ck_assert(!leaves(plain, gradients, 403, 0));
    p.seq += 803;
    ck_assert(!leaves(p, gradients, 401, 0));
    p.seq -= 3;
    ck_assert(leaves(p, gradients, 404, 0));
}
END_TEST

// Or the segment is another connection's, whose SYN was not seen. Its values begin elsewhere.
START_TEST(another_connection)
{
    static const uint32_t away[] = {1, 12345, 0x3fffffff, 0x7fffffff, 0x80000000, 0xa0000000, 0xfffffe00};
    for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
        packet p = {.seq = 77};
        open_flow(p);
        ck_assert(!leaves(p, gradients, 400, 0));
        p.seq += 400 + away[i];
        for (int more = 0; more < 9; more++, p.seq += 1440) ck_assert(leaves(p, gradients, 1440, 0));
        open_flow(p);
        ck_assert(!leaves(p, gradients, 400, 0));
    }
    // Its numbers may lie among those of the first one. Then its values begin at other ones, and it
    // goes on where the first one ended.
    for (uint32_t later = 1; later < 4; later++) {
        packet p = {.seq = 77};
        open_flow(p);
        for (int more = 0; more < 4; more++, p.seq += 1440) ck_assert(!leaves(p, gradients, 1440, 0));
        p.seq = 77 + 1000 + later;
        for (int more = 0; more < 9; more++, p.seq += 1440) ck_assert(leaves(p, gradients, 1440, 0));
    }
    // It does not become the first one when it has sent so much that its numbers meet that one's.
    packet p = {.seq = 0};
    open_flow(p);
    ck_assert(!leaves(p, gradients, 400, 0));
    for (p.seq = 1001; p.seq < 0xf0000000; p.seq += 0x08000000) ck_assert(leaves(p, gradients, 1440, 0));
    for (p.seq = 0xfffffa60; p.seq != 1440; p.seq += 1440) ck_assert(leaves(p, gradients, 1440, 0));
}
END_TEST

// What is too short to judge is left alone, unless every profile carries it exactly.
START_TEST(undecided)
{
    const packet p = {.seq = 1};
    open_flow(p);
    ck_assert(!leaves(p, zeros, 1440, 0));
    ck_assert(leaves(p, gradients, 40, 0));
    expect_counted(0, 0, 0, 1);
    ck_assert(!leaves(p, zeros, 1440, 0));
    for (int i = 0; i < 2; i++) (void)leaves(p, gradients, 40, 0);
    ck_assert(!leaves(p, gradients, 40, 0));
    ck_assert_uint_eq(gn_guard_count(guard)->gradient_flows, 1);
    ck_assert_uint_eq(gn_guard_count(guard)->left, 0);
}
END_TEST

// The datapath forgets a flow that ends while it is left alone.
START_TEST(end)
{
    packet p = {.seq = 1};
    open_flow(p);
    ck_assert_uint_eq(gn_datapath_tx_counters(datapath)->flows_now, 1);
    ck_assert(leaves(p, text, 1440, 0));
    p.flags = FIN | ACK;
    ck_assert(leaves(p, text, 1440, 0));
    ck_assert_uint_eq(gn_datapath_tx_counters(datapath)->flows_now, 0);
    ck_assert_uint_eq(gn_datapath_tx_counters(datapath)->flows_closed, 1);
}
END_TEST

// Without its SYN a flow goes stored. That is the datapath's affair.
START_TEST(beginning_not_seen)
{
    ck_assert(!leaves((packet){.seq = 1}, text, 1440, 0));
    expect_counted(0, 0, 0, 0);
}
END_TEST

START_TEST(udp)
{
    const packet p = {.protocol = 17}, other = {.protocol = 17, .source = 7};
    ck_assert(!leaves(p, gradients, 1440, 0));
    ck_assert(leaves(other, text, 1440, 0));
    ck_assert(leaves(other, text, 1440, 0));
    expect_counted(1, 1, 2, 0);
    now += 59 * GN_SECOND;
    ck_assert(!leaves(p, text, 1440, 0));
    now += 61 * GN_SECOND;
    ck_assert(leaves(p, text, 1440, 0));  // after a pause it may be another program
    expect_counted(1, 2, 3, 0);
}
END_TEST

// Each datagram of a segment begins with a value, whatever their size.
START_TEST(datagrams)
{
    uint8_t payload[1442 * 3];
    for (size_t i = 0; i < 3; i++) memcpy(payload + 1442 * i, gradients, 1440);
    ck_assert(!leaves((packet){.protocol = 17}, payload, sizeof payload, 1442));
    memset(payload, 0, 1442);
    ck_assert(leaves((packet){.protocol = 17, .source = 9}, payload, sizeof payload, 1442));
    expect_counted(1, 0, 0, 1);
}
END_TEST

START_TEST(not_the_guards)
{
    ck_assert(!leaves((packet){.protocol = 17, .tos = NO_TOS}, text, 1440, 0));
    ck_assert(!leaves((packet){.protocol = 1}, text, 1440, 0));
    rules[0].port_high = 4999;
    ck_assert(!leaves((packet){.protocol = 17}, text, 1440, 0));
    rules[0].port_high = 65535;
    rules[0].head = 32;  // the packets of one program
    ck_assert(!leaves((packet){.protocol = 17}, text, 1440, 0));
    rules[0].head = 0;
    ck_assert(leaves((packet){.protocol = 17}, text, 1440, 0));
}
END_TEST

// More flows than there is room for: most keep their verdicts, and one that was forgotten is judged
// again.
START_TEST(eviction)
{
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 3 * GN_GUARD_FLOWS; i++) {
            const packet p = {.protocol = 17, .source = (uint16_t)(1 + i)};
            ck_assert(leaves(p, text, 200, 0));
            ck_assert(!leaves((packet){.protocol = 17, .source = (uint16_t)(1 + i), .host = 9}, gradients, 1440, 0));
            now++;
        }
    }
    ck_assert_uint_gt(gn_guard_count(guard)->evicted, 2 * GN_GUARD_FLOWS);
    ck_assert_uint_ge(gn_guard_count(guard)->gradient_flows, 3 * GN_GUARD_FLOWS);
    ck_assert_uint_lt(gn_guard_count(guard)->gradient_flows, 4 * GN_GUARD_FLOWS);
    gn_guard_forget(guard);
    const uint64_t other = gn_guard_count(guard)->other_flows;
    ck_assert(leaves((packet){.protocol = 17, .source = 1}, text, 200, 0));
    ck_assert_uint_eq(gn_guard_count(guard)->other_flows, other + 1);
}
END_TEST

// What began as text stays text, also when connections push it out that send nothing.
START_TEST(pushed_out)
{
    ck_assert(leaves((packet){.protocol = 17}, text, 200, 0));
    now++;
    for (unsigned i = 0; i < 5 * GN_GUARD_FLOWS; i++)
        ck_assert(!leaves((packet){.source = (uint16_t)i, .host = 9, .flags = 2}, NULL, 0, 0));
    ck_assert(leaves((packet){.protocol = 17}, gradients, 1440, 0));
    ck_assert_uint_eq(gn_guard_count(guard)->gradient_flows, 0);
}
END_TEST

// What is left alone, in one segment: the bytes that a receiver hands to its host.
static size_t received(const gn_segment *segment, uint8_t *out)
{
    gn_headers_cut cut;
    gn_rx *rx;
    size_t total = 0;
    ck_assert_int_eq(gn_guard_cut(guard, segment, MTU, &burst, &cut), 0);
    ck_assert_int_eq(gn_rx_new(&rx, &(gn_rx_config){0}), 0);
    size_t at = cut.payload_offset;
    for (unsigned i = 0; i < burst.count; i++) {
        static uint8_t whole[ROOM];
        size_t length;
        if (cut.header_bytes) {
            const size_t rest = segment->length - at, piece = rest < cut.piece ? rest : cut.piece;
            memcpy(whole, burst.data + i * cut.header_bytes, cut.header_bytes);
            memcpy(whole + cut.header_bytes, segment->packet + at, piece);
            at += piece;
            length = cut.header_bytes + piece;
        } else {
            length = burst.offset[i + 1] - burst.offset[i];
            memcpy(whole, burst.data + burst.offset[i], length);
        }
        ck_assert_uint_le(length, MTU);
        ck_assert(packet_valid(whole, length));
        size_t got = length;
        const gn_verdict verdict = gn_rx_packet(rx, whole, length, restored, sizeof restored, &got);
        ck_assert_int_ne(verdict, GN_VERDICT_DROP);
        const uint8_t *host = verdict == GN_VERDICT_PASS ? whole : restored;
        ck_assert(packet_valid(host, got));
        const size_t headers = packet_headers(host);
        memcpy(out + total, host + headers, got - headers);
        total += got - headers;
    }
    gn_rx_free(rx);
    return total;
}

// One packet of a segment begins like one of ours. The receiver must not take it for one.
START_TEST(shielded)
{
    static uint8_t payload[5000], arrived[ROOM];
    for (int version = 4; version <= 6; version += 2) {
        for (int protocol = 6; protocol <= 17; protocol += 11) {
            for (size_t i = 0; i < sizeof payload; i++) payload[i] = (uint8_t)(i * i >> 3);
            const uint16_t piece = 1000;
            for (unsigned with = 0; with < 2; with++) {
                const packet p = {.version = version, .protocol = protocol, .seq = 9};
                if (with) gn_shim_write(&(gn_shim){1, 3, 10, 992, 0}, payload + 2 * piece);
                const gn_segment segment = {
                    .packet = bytes, .length = packet_build(&p, payload, sizeof payload, bytes), .gso_size = piece};
                const uint64_t before = gn_guard_count(guard)->shielded;
                ck_assert_uint_eq(received(&segment, arrived), sizeof payload);
                ck_assert_mem_eq(arrived, payload, sizeof payload);
                ck_assert_uint_eq(gn_guard_count(guard)->shielded - before, with);
            }
        }
    }
}
END_TEST

// What is sent again without the mark leaves in whole values, but the receiver looks for no shim
// there. Another rule's mark is one, too, whatever its ports.
START_TEST(unmarked_is_not_shielded)
{
    static uint8_t payload[700], arrived[ROOM];
    static const struct {
        int tos;
        uint64_t shielded;
    } ways[] = {{NO_TOS, 0}, {0x28, 1}};
    gn_shim_write(&(gn_shim){1, 0, 0, 692, 0}, payload);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        packet p = {.seq = 5};
        const uint64_t before = gn_guard_count(guard)->shielded;
        open_flow(p);
        ck_assert(!leaves(p, gradients, 1400, 0));
        if (ways[i].tos > 0) rules[0].port_high = 4999;
        p.tos = ways[i].tos;
        const gn_segment segment = {.packet = bytes, .length = packet_build(&p, payload, 698, bytes)};
        ck_assert(gn_guard_leaves(guard, datapath, rules, 1, &segment, now));
        ck_assert_uint_eq(received(&segment, arrived), 696);  // two bytes wait for the rest of their value
        ck_assert_mem_eq(arrived, payload, 696);
        ck_assert_uint_eq(gn_guard_count(guard)->shielded - before, ways[i].shielded);
    }
}
END_TEST

// Cut elsewhere than before, by whole values: what was sent in between got lost ahead of the NIC.
// All values of it may have been rounded, so none leaves in parts.
START_TEST(sent_again_from_within)
{
    static uint8_t arrived[ROOM];
    packet p = {.seq = 5};
    open_flow(p);
    ck_assert(!leaves(p, gradients, 1400, 0));
    p.seq += 693;
    const gn_segment segment = {
        .packet = bytes, .length = packet_build(&p, (const uint8_t *)gradients + 693, 704, bytes), .gso_size = 352};
    ck_assert(gn_guard_leaves(guard, datapath, rules, 1, &segment, now));
    ck_assert_uint_eq(received(&segment, arrived), 700);  // three bytes ahead, and one at the end, wait
    ck_assert_mem_eq(arrived, (const uint8_t *)gradients + 696, 700);
}
END_TEST

// A receiver passes what has IPv4 options, so nothing may be put in front.
START_TEST(options_are_not_shielded)
{
    static uint8_t payload[900];
    const packet p = {.protocol = 17, .ip_options = 8};
    gn_headers_cut cut;
    gn_shim_write(&(gn_shim){1, 0, 0, 892, 0}, payload);
    const gn_segment segment = {.packet = bytes, .length = packet_build(&p, payload, sizeof payload, bytes)};
    ck_assert_int_eq(gn_guard_cut(guard, &segment, MTU, &burst, &cut), GN_OK);
    ck_assert_uint_eq(gn_guard_count(guard)->shielded, 0);
    ck_assert_uint_eq(burst.count, 1);
    if (!cut.header_bytes) ck_assert_mem_eq(burst.data, bytes, segment.length);
}
END_TEST

int main(void)
{
    return RUN_SUITE("guard", setup, teardown, tcp, bytes_that_must_stay, phase, sent_again, odd_end_sent_again,
                     unknown_and_cut, begins_within, gap, held_and_cut, partly_unmarked, another_connection, undecided,
                     end, beginning_not_seen, udp, datagrams, not_the_guards, eviction, pushed_out, shielded,
                     unmarked_is_not_shielded, sent_again_from_within, options_are_not_shielded);
}
