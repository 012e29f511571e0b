// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/engine.h"

#include <string.h>

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
    if (!strcmp(name, "rtl") || !strcmp(name, "lockstep"))
        gn_fail(error, GN_INVALID,
                "this build has no %s: install Verilator (scripts/setup --rtl does) and build with -DGRADNIC_RTL=ON, "
                "as the preset release is",
                name);
    else
        gn_fail(error, GN_INVALID, "this build has %s", count == 1 ? "model" : "model, rtl, lockstep");
    return NULL;
}
