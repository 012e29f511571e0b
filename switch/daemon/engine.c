// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/engine.h"

#include <string.h>

#include "host/engines.h"

const gn_switch_engine gn_switch_engine_model = {.name = "model"};

const gn_switch_engine *gn_switch_engine_find(const char *name, gn_error *error)
{
    static const gn_switch_engine *const engines[] = {
        &gn_switch_engine_model,
#ifdef GRADNIC_RTL_SWITCH
        &gn_switch_engine_rtl,
        &gn_switch_engine_lockstep,
#endif
    };
    const size_t count = sizeof engines / sizeof *engines;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(engines[i]->name, name)) return engines[i];
    (void)gn_engine_missing(name, count == 1 ? "model" : "model, rtl, lockstep", error);
    return NULL;
}
