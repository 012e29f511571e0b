// SPDX-License-Identifier: Apache-2.0
#include "driver/engine_packets.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct packets {
    const gn_transform *transform;
    void *inner;  ///< the transform's state
    gn_tx *cutter;
    gn_rule rules[GN_RULES_MAX];
    size_t rule_count;
    gn_burst *cut;
    int heads[GN_BURST_PACKETS];
    gn_tx_counters tx;
    gn_rx_counters rx;
    pthread_mutex_t lock;  ///< of what follows: either side may fail
    bool failed;
    gn_error failure;
} packets;

void gn_packets_close(void *state)
{
    packets *p = state;
    if (!p) return;
    if (p->inner) p->transform->close(p->inner);
    gn_tx_free(p->cutter);
    free(p->cut);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void keep_rules(packets *p, const gn_rule *rules, size_t count)
{
    if (count) memcpy(p->rules, rules, count * sizeof *rules);
    p->rule_count = count;
}

gn_status gn_packets_open(void **state, const gn_transform *transform, const gn_engine_config *config, gn_error *error)
{
    packets *p = calloc(1, sizeof *p);
    if (!p) return gn_fail_memory(error);
    pthread_mutex_init(&p->lock, NULL);
    p->transform = transform;
    p->cut = malloc(sizeof *p->cut);
    const gn_tx_config tx = {config->rules, config->rule_count, config->flow_capacity, config->bypass};
    const gn_status status = p->cut ? gn_tx_new(&p->cutter, &tx) : GN_NO_MEMORY;
    if (status != GN_OK)
        gn_fail(error, status, "%s", gn_status_string(status));
    else if (!transform->open(&p->inner, config, error)) {
        keep_rules(p, config->rules, config->rule_count);
        *state = p;
        return GN_OK;
    }
    gn_packets_close(p);
    return error->status;
}

/// The first failure stays. @return whether there is one
static bool note(packets *p, gn_status status, const gn_error *error)
{
    pthread_mutex_lock(&p->lock);
    if (status && !p->failed) {
        p->failed = true;
        p->failure = *error;
    }
    const bool failed = p->failed;
    pthread_mutex_unlock(&p->lock);
    return failed;
}

static bool has_failed(packets *p)
{
    return note(p, GN_OK, NULL);
}

gn_status gn_packets_check(void *state, gn_error *error)
{
    packets *p = state;
    if (!has_failed(p)) return GN_OK;
    if (error) *error = p->failure;
    return p->failure.status;
}

gn_status gn_packets_set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error)
{
    packets *p = state;
    const gn_status status = gn_tx_set_rules(p->cutter, rules, count);
    if (status != GN_OK) return gn_fail(error, status, "%s", gn_status_string(status));
    if (p->transform->set_rules(p->inner, rules, count, error)) {
        gn_tx_set_rules(p->cutter, p->rules, p->rule_count);
        return error->status;
    }
    keep_rules(p, rules, count);
    return GN_OK;
}

void gn_packets_set_bypass(void *state, bool bypass)
{
    packets *p = state;
    gn_error error;
    gn_tx_set_bypass(p->cutter, bypass);
    note(p, p->transform->set_bypass(p->inner, bypass, &error), &error);
}

gn_status gn_packets_transmit_headers(void *state, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                                      gn_headers_cut *cut)
{
    (void)state, (void)segment, (void)wire_mtu, (void)burst, (void)cut;
    return GN_UNSUPPORTED;  // every packet goes through the transform
}

gn_status gn_packets_transmit(void *state, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst)
{
    packets *p = state;
    gn_error error;
    burst->count = 0;
    if (cut != GN_CUT_MTU) return GN_UNSUPPORTED;
    if (has_failed(p)) return GN_DEAD;
    const gn_status status = gn_tx_segment_cut(p->cutter, segment, wire_mtu, p->cut);
    if (status != GN_OK) return status;
    for (unsigned i = 0; i < p->cut->count; i++) {
        const uint32_t at = p->cut->offset[i];
        p->heads[i] = gn_tx_head(p->cutter, p->cut->data + at, p->cut->offset[i + 1] - at);
    }
    if (!note(p, p->transform->transmit(p->inner, p->cut, p->heads, burst, &error), &error)) return GN_OK;
    burst->count = 0;
    return GN_DEAD;
}

gn_verdict gn_packets_receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                              size_t *out_length)
{
    packets *p = state;
    gn_error error;
    if (has_failed(p)) return GN_VERDICT_DROP;
    const gn_status status = p->transform->receive(p->inner, packet, length, out, capacity, out_length, &error);
    return !note(p, status, &error) && *out_length ? GN_VERDICT_WRITE : GN_VERDICT_DROP;
}

const gn_tx_counters *gn_packets_tx_counters(void *state)
{
    packets *p = state;
    gn_error error;
    const gn_tx_counters *flows = gn_tx_get_counters(p->cutter);
    if (!has_failed(p)) note(p, p->transform->tx_counters(p->inner, &p->tx, &error), &error);
    p->tx.flows_added = flows->flows_added;
    p->tx.flows_evicted = flows->flows_evicted;
    p->tx.flows_closed = flows->flows_closed;
    p->tx.flows_now = flows->flows_now;
    return &p->tx;
}

const gn_rx_counters *gn_packets_rx_counters(void *state)
{
    packets *p = state;
    gn_error error;
    if (!has_failed(p)) note(p, p->transform->rx_counters(p->inner, &p->rx, &error), &error);
    return &p->rx;
}

void gn_packets_comparison(void *state, gn_comparison *comparison)
{
    packets *p = state;
    p->transform->comparison(p->inner, comparison);
}
