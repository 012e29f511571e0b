// SPDX-License-Identifier: Apache-2.0
#include "driver/model.h"

#include <stdlib.h>

// The ToS values of the rules. @return how many
static size_t collect_tos(const gn_rule *rules, size_t count, uint8_t tos[GN_RULES_MAX])
{
    size_t used = 0;
    for (size_t i = 0; i < count && used < GN_RULES_MAX; i++) tos[used++] = rules[i].tos;
    return used;
}

void gn_model_close(gn_model *model)
{
    if (!model) return;
    gn_tx_free(model->tx);
    gn_rx_free(model->rx);
    free(model);
}

gn_status gn_model_open(gn_model **result, const gn_engine_config *config, gn_error *error)
{
    gn_model *model = calloc(1, sizeof *model);
    if (!model) return gn_fail_memory(error);
    model->own_flows = config->flows.log2;
    uint8_t tos[GN_RULES_MAX];
    const gn_tx_config tx = {.rules = config->rules,
                             .rule_count = config->rule_count,
                             .flow_capacity = config->flow_capacity,
                             .bypass = config->bypass,
                             .flow_log2 = config->flows.log2,
                             .flow_seed = config->flows.seed};
    const gn_rx_config rx = {.tos = tos,
                             .tos_count = collect_tos(config->rules, config->rule_count, tos),
                             .bypass = config->no_restore,
                             .partial_checksum = config->partial_checksum,
                             .max_restored = config->max_restored};
    gn_status status = gn_tx_new(&model->tx, &tx);
    if (status == GN_OK) status = gn_rx_new(&model->rx, &rx);
    if (status != GN_OK) {
        gn_model_close(model);
        return gn_fail(error, status, "%s", gn_status_string(status));
    }
    *result = model;
    return GN_OK;
}

gn_status gn_model_set_rules(gn_model *model, const gn_rule *rules, size_t count, gn_error *error)
{
    uint8_t tos[GN_RULES_MAX];
    gn_status status = gn_tx_set_rules(model->tx, rules, count);
    if (status == GN_OK) status = gn_rx_set_tos(model->rx, tos, collect_tos(rules, count, tos));
    return status == GN_OK ? GN_OK : gn_fail(error, status, "%s", gn_status_string(status));
}

void gn_model_set_bypass(gn_model *model, bool transmit, bool receive)
{
    gn_tx_set_bypass(model->tx, transmit);
    gn_rx_set_bypass(model->rx, receive);
}
