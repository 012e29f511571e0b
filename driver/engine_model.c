// SPDX-License-Identifier: Apache-2.0
// The reference in C as an engine.
#include <stdlib.h>

#include "driver/transform.h"

typedef struct model {
    gn_tx *tx;
    gn_rx *rx;
} model;

static void model_close(void *state)
{
    model *m = state;
    if (!m) return;
    gn_tx_free(m->tx);
    gn_rx_free(m->rx);
    free(m);
}

static int model_open(void **state, const gn_engine_config *config, gn_error *error)
{
    model *m = calloc(1, sizeof *m);
    if (!m) return gn_error_set(error, "out of memory");
    uint8_t tos[GN_RULES_MAX];
    const gn_tx_config tx = {config->rules, config->rule_count, config->flow_capacity, config->bypass};
    const gn_rx_config rx = {.tos = tos,
                             .tos_count = gn_rules_collect_tos(config->rules, config->rule_count, tos),
                             .bypass = config->bypass,
                             .partial_checksum = config->partial_checksum};
    gn_status status = gn_tx_new(&m->tx, &tx);
    if (status == GN_OK) status = gn_rx_new(&m->rx, &rx);
    if (status != GN_OK) {
        model_close(m);
        return gn_error_set(error, "%s", gn_status_string(status));
    }
    *state = m;
    return 0;
}

static int model_set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error)
{
    model *m = state;
    uint8_t tos[GN_RULES_MAX];
    gn_status status = gn_tx_set_rules(m->tx, rules, count);
    if (status == GN_OK) status = gn_rx_set_tos(m->rx, tos, gn_rules_collect_tos(rules, count, tos));
    return status == GN_OK ? 0 : gn_error_set(error, "%s", gn_status_string(status));
}

static void model_set_bypass(void *state, bool bypass)
{
    model *m = state;
    gn_tx_set_bypass(m->tx, bypass);
    gn_rx_set_bypass(m->rx, bypass);
}

static gn_status model_transmit_headers(void *state, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                                        gn_headers_cut *cut)
{
    return gn_tx_segment_headers(((model *)state)->tx, segment, wire_mtu, burst, cut);
}

static gn_status model_transmit(void *state, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst)
{
    return gn_tx_segment(((model *)state)->tx, segment, cut, wire_mtu, burst);
}

static gn_verdict model_receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                                size_t *out_length)
{
    return gn_rx_packet(((model *)state)->rx, packet, length, out, capacity, out_length);
}

static const gn_tx_counters *model_tx_counters(void *state)
{
    return gn_tx_get_counters(((model *)state)->tx);
}
static const gn_rx_counters *model_rx_counters(void *state)
{
    return gn_rx_get_counters(((model *)state)->rx);
}

const gn_engine gn_engine_model = {
    .name = "model",
    .fill = true,
    .partial_checksum = true,
    .open = model_open,
    .close = model_close,
    .set_rules = model_set_rules,
    .set_bypass = model_set_bypass,
    .transmit_headers = model_transmit_headers,
    .transmit = model_transmit,
    .receive = model_receive,
    .tx_counters = model_tx_counters,
    .rx_counters = model_rx_counters,
};
