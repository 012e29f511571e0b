// SPDX-License-Identifier: Apache-2.0
#include "driver/engine.h"

#include <string.h>

const gn_engine *gn_engine_find(const char *name)
{
    static const gn_engine *const engines[] = {&gn_engine_model};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (!strcmp(engines[i]->name, name)) return engines[i];
    return NULL;
}
