// SPDX-License-Identifier: Apache-2.0
// The engine `lockstep`: every packet goes through two engines, and the results are compared. What
// `other` makes is handed on. The first difference ends the engine. It is written to a capture
// file, which the error names. Counters are compared whenever they are read.
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/counters.h"
#include "driver/difference.h"
#include "driver/engine.h"

typedef struct lockstep {
    const gn_engine *reference, *other;
    void *reference_state, *other_state;
    atomic_uint_fast64_t tx_packets, rx_packets, differences;
    gn_burst *expected;               // by the reference, on transmit
    uint8_t restored[GN_PACKET_MAX];  // by the reference, on receive
} lockstep;

static void close_both(void *state)
{
    lockstep *l = state;
    if (!l) return;
    if (l->reference_state) l->reference->close(l->reference_state);
    if (l->other_state) l->other->close(l->other_state);
    free(l->expected);
    free(l);
}

// With a table of flows like the other's.
static gn_status open_reference(lockstep *l, gn_engine_config *config, gn_error *error)
{
    if (l->other->flows) l->other->flows(l->other_state, &config->flows);
    return l->reference->open(l->reference, &l->reference_state, config, error);
}

static gn_status open_both(const gn_engine *engine, void **state, const gn_engine_config *config, gn_error *error)
{
    lockstep *l = calloc(1, sizeof *l);
    if (!l) return gn_fail_memory(error);
    gn_engine_config packets = *config;
    packets.flow_capacity = 1;  // heads come with the packets, or are found as `other` does
    packets.partial_checksum = false;
    l->reference = engine->reference;
    l->other = engine->other;
    l->expected = malloc(sizeof *l->expected);
    const bool failed =
        !l->expected ? gn_fail_memory(error)
                     : l->other->open(l->other, &l->other_state, &packets, error) || open_reference(l, &packets, error);
    if (failed) {
        close_both(l);
        return error->status;
    }
    *state = l;
    return GN_OK;
}

static gn_status set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error)
{
    lockstep *l = state;
    // The reference takes all valid rules; the other may have limits of its own.
    return l->other->set_rules(l->other_state, rules, count, error) ||
                   l->reference->set_rules(l->reference_state, rules, count, error)
               ? error->status
               : GN_OK;
}

static gn_status set_bypass(void *state, bool bypass, gn_error *error)
{
    lockstep *l = state;
    return l->reference->set_bypass(l->reference_state, bypass, error) ||
                   l->other->set_bypass(l->other_state, bypass, error)
               ? error->status
               : GN_OK;
}

static gn_bytes packet_of(const gn_burst *burst, unsigned i)
{
    if (i >= burst->count) return (gn_bytes){NULL, 0};
    return (gn_bytes){burst->data + burst->offset[i], burst->offset[i + 1] - burst->offset[i]};
}

static gn_status differ(lockstep *l, gn_difference *difference, gn_error *error)
{
    atomic_fetch_add(&l->differences, 1);
    difference->reference = l->reference->name;
    difference->other = l->other->name;
    return gn_difference_report(difference, error);
}

static gn_status transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error)
{
    lockstep *l = state;
    if (l->reference->transmit(l->reference_state, in, heads, l->expected, error) ||
        l->other->transmit(l->other_state, in, heads, out, error))
        return error->status;
    for (unsigned i = 0; i < in->count; i++) {
        const uint64_t number = atomic_fetch_add(&l->tx_packets, 1) + 1;
        gn_difference d = {.direction = "transmit",
                           .number = number,
                           .head = heads[i],
                           .in = packet_of(in, i),
                           .expected = packet_of(l->expected, i),
                           .got = packet_of(out, i)};
        if (!gn_bytes_equal(d.expected, d.got)) return differ(l, &d, error);
    }
    return GN_OK;
}

// What an engine made of a received packet; no packet when it was dropped.
static gn_bytes received(gn_verdict verdict, gn_bytes in, gn_bytes out)
{
    return verdict == GN_VERDICT_PASS ? in : verdict == GN_VERDICT_WRITE ? out : (gn_bytes){NULL, 0};
}

static gn_status receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                         size_t *out_length, gn_verdict *verdict, gn_error *error)
{
    lockstep *l = state;
    gn_verdict expected = GN_VERDICT_DROP;
    size_t bytes = 0;
    if (l->reference->receive(l->reference_state, packet, length, l->restored, sizeof l->restored, &bytes, &expected,
                              error) ||
        l->other->receive(l->other_state, packet, length, out, capacity, out_length, verdict, error))
        return error->status;
    const gn_bytes in = {packet, length};
    gn_difference d = {.direction = "receive",
                       .number = atomic_fetch_add(&l->rx_packets, 1) + 1,
                       .in = in,
                       .expected = received(expected, in, (gn_bytes){l->restored, bytes}),
                       .got = received(*verdict, in, (gn_bytes){out, *out_length})};
    return gn_bytes_equal(d.expected, d.got) ? GN_OK : differ(l, &d, error);
}

// Compares counters by name. The error names the first that differs.
static gn_status compare(lockstep *l, const gn_counter *rows, const void *expected, const void *got, const char *what,
                         gn_error *error)
{
    for (; rows->name; rows++) {
        const uint64_t a = gn_counter_value(rows, expected), b = gn_counter_value(rows, got);
        if (a == b) continue;
        atomic_fetch_add(&l->differences, 1);
        return gn_fail(error, GN_CORRUPT, "counter %s.%s is %" PRIu64 " in %s, %" PRIu64 " in %s", what, rows->name, a,
                       l->reference->name, b, l->other->name);
    }
    return GN_OK;
}

static gn_status tx_counters(void *state, gn_tx_counters *counters, gn_error *error)
{
    lockstep *l = state;
    gn_tx_counters expected;
    if (l->reference->tx_counters(l->reference_state, &expected, error) ||
        l->other->tx_counters(l->other_state, counters, error) ||
        compare(l, gn_tx_counter_rows, &expected, counters, "tx", error))
        return error->status;
    for (size_t i = 0; i < GN_RULES_MAX; i++) {
        char what[24];
        snprintf(what, sizeof what, "tx.rules[%zu]", i);
        if (compare(l, gn_tx_rule_counter_rows, &expected.rule[i], &counters->rule[i], what, error))
            return error->status;
    }
    return GN_OK;
}

static gn_status rx_counters(void *state, gn_rx_counters *counters, gn_error *error)
{
    lockstep *l = state;
    gn_rx_counters expected;
    return l->reference->rx_counters(l->reference_state, &expected, error) ||
                   l->other->rx_counters(l->other_state, counters, error)
               ? error->status
               : compare(l, gn_rx_counter_rows, &expected, counters, "rx", error);
}

static void flows(void *state, gn_flow_sets *sets)
{
    lockstep *l = state;
    if (l->other->flows) l->other->flows(l->other_state, sets);
}

static void comparison_of(void *state, gn_comparison *comparison)
{
    lockstep *l = state;
    *comparison =
        (gn_comparison){atomic_load(&l->tx_packets), atomic_load(&l->rx_packets), atomic_load(&l->differences)};
}

const gn_engine gn_engine_lockstep = {
    .name = "lockstep",
    .reference = &gn_engine_model,
#ifdef GRADNIC_RTL_NIC
    .other = &gn_engine_rtl,
#endif
    .open = open_both,
    .close = close_both,
    .set_rules = set_rules,
    .set_bypass = set_bypass,
    .transmit = transmit,
    .receive = receive,
    .tx_counters = tx_counters,
    .rx_counters = rx_counters,
    .flows = flows,
    .comparison = comparison_of,
};
