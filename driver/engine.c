// SPDX-License-Identifier: Apache-2.0
#include "driver/engine.h"

#include <string.h>

#include "host/engines.h"

const gn_engine *gn_engine_find(const char *name, gn_error *error)
{
    static const gn_engine *const engines[] = {
        &gn_engine_model,
#ifdef GRADNIC_RTL_NIC
        &gn_engine_rtl,
        &gn_engine_lockstep,
#endif
    };
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (!strcmp(engines[i]->name, name)) return engines[i];
    (void)gn_engine_missing(name, GN_ENGINE_NAMES, error);
    return NULL;
}
