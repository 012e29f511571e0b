// SPDX-License-Identifier: Apache-2.0
// The reference in C, packet by packet: what hardware is compared with.
#include "driver/transform.h"

#include <stdlib.h>
#include <string.h>

typedef struct model {
    gn_tx *tx;
    gn_rx *rx;
} model;

size_t gn_rules_collect_tos(const gn_rule *rules, size_t count, uint8_t tos[GN_RULES_MAX])
{
    size_t used = 0;
    for (size_t i = 0; i < count && used < GN_RULES_MAX; i++) tos[used++] = rules[i].tos;
    return used;
}

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
    const gn_tx_config tx = {config->rules, config->rule_count, 1, config->bypass};  // flows are not its business
    const gn_rx_config rx = {.tos = tos,
                             .tos_count = gn_rules_collect_tos(config->rules, config->rule_count, tos),
                             .bypass = config->bypass};
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

static int model_set_bypass(void *state, bool bypass, gn_error *error)
{
    (void)error;
    gn_tx_set_bypass(((model *)state)->tx, bypass);
    gn_rx_set_bypass(((model *)state)->rx, bypass);
    return 0;
}

static int model_transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error)
{
    out->count = 0;
    out->offset[0] = 0;
    for (unsigned i = 0; i < in->count; i++) {
        const uint8_t *packet = in->data + in->offset[i];
        const size_t length = in->offset[i + 1] - in->offset[i], room = sizeof out->data - out->offset[i];
        uint8_t *to = out->data + out->offset[i];
        size_t bytes = length;
        if (gn_tx_packet_head(((model *)state)->tx, packet, length, heads[i], to, room, &bytes) == GN_VERDICT_PASS) {
            if (length > room) return gn_error_set(error, "a burst is too long");
            memcpy(to, packet, length);
        }
        out->offset[++out->count] = (uint32_t)(out->offset[i] + bytes);
    }
    return 0;
}

static int model_receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                         size_t *out_length, gn_error *error)
{
    switch (gn_rx_packet(((model *)state)->rx, packet, length, out, capacity, out_length)) {
    case GN_VERDICT_DROP:
        return 0;
    case GN_VERDICT_WRITE:
        return 1;
    case GN_VERDICT_PASS:
        break;
    }
    if (length > capacity) return gn_error_set(error, "a packet of %zu bytes has no room in %zu", length, capacity);
    memcpy(out, packet, length);
    *out_length = length;
    return 1;
}

static int model_tx_counters(void *state, gn_tx_counters *counters, gn_error *error)
{
    (void)error;
    *counters = *gn_tx_get_counters(((model *)state)->tx);
    return 0;
}

static int model_rx_counters(void *state, gn_rx_counters *counters, gn_error *error)
{
    (void)error;
    *counters = *gn_rx_get_counters(((model *)state)->rx);
    return 0;
}

const gn_transform gn_transform_model = {
    .name = "model",
    .open = model_open,
    .close = model_close,
    .set_rules = model_set_rules,
    .set_bypass = model_set_bypass,
    .transmit = model_transmit,
    .receive = model_receive,
    .tx_counters = model_tx_counters,
    .rx_counters = model_rx_counters,
};
