// SPDX-License-Identifier: Apache-2.0
#include "doctor.h"
#include "driver/engine.h"
#include "tools/codec/rivals.h"

#if defined __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

void gn_doctor_build(gn_findings *findings)
{
    const char *missing = gn_rivals_missing();
    gn_find(findings, "build", GN_LEVEL_OK, "Compressors to compare with are for gradnic ratio and bench codec alone.",
            NULL, "gradnic %s, %s; engines of the NIC: %s; compressors to compare with: %s%s", GRADNIC_VERSION,
            COMPILER, GN_ENGINE_NAMES, *missing ? "all but " : "all", missing);
}
