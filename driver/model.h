// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_MODEL_H
#define GRADNIC_DRIVER_MODEL_H
/// Both directions of the C model (gn_tx, gn_rx) under the same rules: what a NIC is made of. Threads as with gn_engine.

#include "driver/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gn_model {
    gn_tx *tx;
    gn_rx *rx;
} gn_model;

/// As gn_engine's calls of these names (engine.h); the state is a gn_model.
gn_status gn_model_open(void **state, const gn_engine_config *config, gn_error *error);
void gn_model_close(void *state);
/// The receiver goes by the ToS values of the rules alone: profile, bound and head come in the packet.
gn_status gn_model_set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error);
void gn_model_set_bypass(gn_model *model, bool transmit, bool receive);

#ifdef __cplusplus
}
#endif

#endif
