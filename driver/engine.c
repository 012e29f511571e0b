// SPDX-License-Identifier: Apache-2.0
#include "driver/engine.h"

#include <string.h>

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
    if (!strcmp(name, "rtl") || !strcmp(name, "lockstep"))
        gn_fail(error, GN_INVALID,
                "this build has no %s: install Verilator (scripts/setup --rtl does) and build with -DGRADNIC_RTL=ON, "
                "as the "
                "preset release is",
                name);
    else
        gn_fail(error, GN_INVALID, "this build has " GN_ENGINE_NAMES);
    return NULL;
}
