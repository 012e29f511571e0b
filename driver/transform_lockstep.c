// SPDX-License-Identifier: Apache-2.0
#include "driver/transform_lockstep.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/counters.h"
#include "driver/difference.h"

typedef struct lockstep {
    const gn_transform *reference, *other;
    void *reference_state, *other_state;
    atomic_uint_fast64_t tx_packets, rx_packets, differences;
    gn_burst *expected;               ///< transmit side
    uint8_t restored[GN_PACKET_MAX];  ///< receive side
} lockstep;

void gn_lockstep_close(void *state)
{
    lockstep *l = state;
    if (!l) return;
    if (l->reference_state) l->reference->close(l->reference_state);
    if (l->other_state) l->other->close(l->other_state);
    free(l->expected);
    free(l);
}

gn_status gn_lockstep_open(void **state, const gn_transform *reference, const gn_transform *other,
                           const gn_engine_config *config, gn_error *error)
{
    lockstep *l = calloc(1, sizeof *l);
    if (!l) return gn_fail_memory(error);
    l->reference = reference;
    l->other = other;
    l->expected = malloc(sizeof *l->expected);
    const bool failed = !l->expected ? gn_fail_memory(error)
                                     : reference->open(&l->reference_state, config, error) ||
                                           other->open(&l->other_state, config, error);
    if (failed) {
        gn_lockstep_close(l);
        return error->status;
    }
    *state = l;
    return GN_OK;
}

gn_status gn_lockstep_set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error)
{
    lockstep *l = state;
    // The reference takes all that is valid; the other may have its limits.
    return l->other->set_rules(l->other_state, rules, count, error) ||
                   l->reference->set_rules(l->reference_state, rules, count, error)
               ? error->status
               : GN_OK;
}

gn_status gn_lockstep_set_bypass(void *state, bool bypass, gn_error *error)
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

gn_status gn_lockstep_transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error)
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

gn_status gn_lockstep_receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                              size_t *out_length, gn_error *error)
{
    lockstep *l = state;
    size_t bytes = 0;
    if (l->reference->receive(l->reference_state, packet, length, l->restored, sizeof l->restored, &bytes, error) ||
        l->other->receive(l->other_state, packet, length, out, capacity, out_length, error))
        return error->status;
    gn_difference d = {.direction = "receive",
                       .number = atomic_fetch_add(&l->rx_packets, 1) + 1,
                       .in = {packet, length},
                       .expected = {bytes ? l->restored : NULL, bytes},
                       .got = {*out_length ? out : NULL, *out_length}};
    return gn_bytes_equal(d.expected, d.got) ? GN_OK : differ(l, &d, error);
}

/// Compares counters by name; the error names the first that differs.
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

gn_status gn_lockstep_tx_counters(void *state, gn_tx_counters *counters, gn_error *error)
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

gn_status gn_lockstep_rx_counters(void *state, gn_rx_counters *counters, gn_error *error)
{
    lockstep *l = state;
    gn_rx_counters expected;
    return l->reference->rx_counters(l->reference_state, &expected, error) ||
                   l->other->rx_counters(l->other_state, counters, error)
               ? error->status
               : compare(l, gn_rx_counter_rows, &expected, counters, "rx", error);
}

void gn_lockstep_comparison(void *state, gn_comparison *comparison)
{
    lockstep *l = state;
    *comparison =
        (gn_comparison){atomic_load(&l->tx_packets), atomic_load(&l->rx_packets), atomic_load(&l->differences)};
}
