// SPDX-License-Identifier: Apache-2.0
#include "host/engines.h"

#include <string.h>

gn_status gn_engine_missing(const char *name, const char *names, gn_error *error)
{
    if (strcmp(name, "rtl") != 0 && strcmp(name, "lockstep") != 0)
        return gn_fail(error, GN_INVALID, "this build has %s", names);
    return gn_fail(
        error, GN_INVALID,
        "this build has no %s: install Verilator (scripts/setup --rtl does) and build with -DGRADNIC_RTL=ON, "
        "as the preset release is",
        name);
}
