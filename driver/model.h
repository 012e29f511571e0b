// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_MODEL_H
#define GRADNIC_DRIVER_MODEL_H
/// Both directions of the C model (gn_tx, gn_rx) under the same rules. Threads: as with gn_engine.

#include "driver/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gn_model {
    gn_tx *tx;
    gn_rx *rx;
    bool own_flows;  ///< gn_engine_config.flows: heads come from the table in `tx`
} gn_model;

gn_status gn_model_open(gn_model **model, const gn_engine_config *config, gn_error *error);
void gn_model_close(gn_model *model);  ///< NULL allowed
/// Sets all rules, or changes nothing. The receiver uses only the ToS values of the rules: a packet
/// says its own profile, bound and head.
gn_status gn_model_set_rules(gn_model *model, const gn_rule *rules, size_t count, gn_error *error);
void gn_model_set_bypass(gn_model *model, bool transmit, bool receive);

#ifdef __cplusplus
}
#endif

#endif
