// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_SIM_NET_OPTIONS_H
#define GRADNIC_TOOLS_SIM_NET_OPTIONS_H
/// Options of `gradnic sim net`. They are read twice: by the program, and by the simulator that
/// the program becomes.

#include <stdint.h>

#include "tools/kit/result_options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gn_sim_net_options {
    const char *scenario;  ///< the file; owned by argv
    uint64_t seed;
    gn_result_options result;
} gn_sim_net_options;

/// Reads the command line; ends the program on wrong usage and for --help.
void gn_sim_net_parse(gn_sim_net_options *options, int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
