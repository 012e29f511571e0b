// SPDX-License-Identifier: Apache-2.0
#include "driver/datapath.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct gn_datapath {
    const gn_engine *engine;
    void *state;  ///< the engine's
    bool whole;   ///< the engine takes whole segments: `tx` is the engine's
    bool flows;   ///< the engine has a table of TCP flows
    gn_tx *tx;    ///< transforms whole segments; or only cuts them and finds heads
    gn_rule rules[GN_RULES_MAX];
    size_t rule_count;
    gn_burst *cut;  ///< packets of a segment, before the engine has had them
    int heads[GN_BURST_PACKETS];
    gn_tx_counters tx_counters;
    gn_rx_counters rx_counters;
    pthread_mutex_t lock;  ///< of `failure`, until `failed` is set
    atomic_bool failed;
    gn_error failure;
};

void gn_datapath_close(gn_datapath *d)
{
    if (!d) return;
    if (!d->whole) gn_tx_free(d->tx);
    if (d->state) d->engine->close(d->state);
    free(d->cut);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static void keep_rules(gn_datapath *d, const gn_rule *rules, size_t count)
{
    if (count) memcpy(d->rules, rules, count * sizeof *rules);
    d->rule_count = count;
}

static gn_status open_cutter(gn_datapath *d, const gn_engine_config *config, gn_error *error)
{
    const gn_tx_config tx = {.rules = config->rules,
                             .rule_count = config->rule_count,
                             .flow_capacity = config->flow_capacity,
                             .bypass = config->bypass};
    d->cut = malloc(sizeof *d->cut);
    const gn_status status = d->cut ? gn_tx_new(&d->tx, &tx) : GN_NO_MEMORY;
    return status == GN_OK ? GN_OK : gn_fail(error, status, "%s", gn_status_string(status));
}

gn_status gn_datapath_open(gn_datapath **datapath, const gn_engine *engine, const gn_engine_config *config,
                           gn_error *error)
{
    gn_datapath *d = calloc(1, sizeof *d);
    if (!d) return gn_fail_memory(error);
    pthread_mutex_init(&d->lock, NULL);
    d->engine = engine;
    gn_status status = engine->whole_segments ? GN_OK : open_cutter(d, config, error);
    if (status == GN_OK) status = engine->open(engine, &d->state, config, error);
    if (status != GN_OK) {
        gn_datapath_close(d);
        return status;
    }
    if (engine->whole_segments) {
        d->whole = true;
        d->tx = engine->whole_segments(d->state);
    }
    gn_flow_sets sets = {0};
    if (engine->flows) engine->flows(d->state, &sets);
    d->flows = sets.log2;
    keep_rules(d, config->rules, config->rule_count);
    *datapath = d;
    return GN_OK;
}

// Keeps the first failure. @return whether there is one
static bool note(gn_datapath *d, gn_status status, const gn_error *error)
{
    if (status == GN_OK) return atomic_load(&d->failed);
    pthread_mutex_lock(&d->lock);
    if (!atomic_load(&d->failed)) {
        d->failure = *error;
        atomic_store(&d->failed, true);
    }
    pthread_mutex_unlock(&d->lock);
    return true;
}

gn_status gn_datapath_check(const gn_datapath *d, gn_error *error)
{
    if (!atomic_load(&d->failed)) return GN_OK;
    if (error) *error = d->failure;
    return d->failure.status;
}

gn_status gn_datapath_set_rules(gn_datapath *d, const gn_rule *rules, size_t count, gn_error *error)
{
    if (d->whole) return d->engine->set_rules(d->state, rules, count, error);
    gn_status status = gn_tx_set_rules(d->tx, rules, count);
    if (status != GN_OK) return gn_fail(error, status, "%s", gn_status_string(status));
    status = d->engine->set_rules(d->state, rules, count, error);
    if (status == GN_OK)
        keep_rules(d, rules, count);
    else
        gn_tx_set_rules(d->tx, d->rules, d->rule_count);
    return status;
}

void gn_datapath_set_bypass(gn_datapath *d, bool bypass)
{
    gn_error error;
    if (!d->whole) gn_tx_set_bypass(d->tx, bypass);
    note(d, d->engine->set_bypass(d->state, bypass, &error), &error);
}

gn_status gn_datapath_transmit_headers(gn_datapath *d, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                                       gn_headers_cut *cut)
{
    return d->whole ? gn_tx_segment_headers(d->tx, segment, wire_mtu, burst, cut) : GN_UNSUPPORTED;
}

// Cuts a segment, finds the packets' heads and gives them to the engine.
static gn_status transmit_packets(gn_datapath *d, const gn_segment *segment, size_t wire_mtu, gn_burst *burst)
{
    gn_error error;
    const gn_status status = gn_tx_segment_cut(d->tx, segment, wire_mtu, d->cut);
    if (status != GN_OK) return status;
    for (unsigned i = 0; i < d->cut->count; i++) {
        const uint32_t at = d->cut->offset[i];
        d->heads[i] = gn_tx_head(d->tx, d->cut->data + at, d->cut->offset[i + 1] - at);
    }
    return note(d, d->engine->transmit(d->state, d->cut, d->heads, burst, &error), &error) ? GN_DEAD : GN_OK;
}

gn_status gn_datapath_transmit(gn_datapath *d, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst)
{
    if (d->whole) return gn_tx_segment(d->tx, segment, cut, wire_mtu, burst);
    burst->count = 0;
    if (cut != GN_CUT_MTU) return GN_UNSUPPORTED;
    if (atomic_load(&d->failed)) return GN_DEAD;
    const gn_status status = transmit_packets(d, segment, wire_mtu, burst);
    if (status != GN_OK) burst->count = 0;
    return status;
}

int gn_datapath_head(gn_datapath *d, const uint8_t *packet, size_t length)
{
    return gn_tx_head(d->tx, packet, length);
}

gn_verdict gn_datapath_receive(gn_datapath *d, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                               size_t *out_length)
{
    gn_verdict verdict = GN_VERDICT_DROP;
    gn_error error;
    if (atomic_load(&d->failed)) return GN_VERDICT_DROP;
    const gn_status status = d->engine->receive(d->state, packet, length, out, capacity, out_length, &verdict, &error);
    return note(d, status, &error) ? GN_VERDICT_DROP : verdict;
}

const gn_tx_counters *gn_datapath_tx_counters(gn_datapath *d)
{
    gn_error error;
    const gn_tx_counters *flows = gn_tx_get_counters(d->tx);
    if (!atomic_load(&d->failed)) note(d, d->engine->tx_counters(d->state, &d->tx_counters, &error), &error);
    if (d->flows) return &d->tx_counters;
    d->tx_counters.flows_added = flows->flows_added;
    d->tx_counters.flows_evicted = flows->flows_evicted;
    d->tx_counters.flows_closed = flows->flows_closed;
    d->tx_counters.flows_now = flows->flows_now;
    return &d->tx_counters;
}

const gn_rx_counters *gn_datapath_rx_counters(gn_datapath *d)
{
    gn_error error;
    if (!atomic_load(&d->failed)) note(d, d->engine->rx_counters(d->state, &d->rx_counters, &error), &error);
    return &d->rx_counters;
}

bool gn_datapath_comparison(const gn_datapath *d, gn_comparison *comparison)
{
    if (!d->engine->comparison) return false;
    d->engine->comparison(d->state, comparison);
    return true;
}
