// SPDX-License-Identifier: Apache-2.0
// gradnic sim net: checks the options, and becomes the simulator.
#include "sim.h"

#include <string.h>

#include "become.h"
#include "net_options.h"

int gn_command_sim_net(int argc, char **argv)
{
    gn_sim_net_options options;
    char *words[argc + 1];  // a copy, because argp reorders argv
    memcpy(words, argv, sizeof words);
    gn_sim_net_parse(&options, argc, argv);
    return gn_sim_become("net", "net", words, "build it (cmake --preset tool), or install gradnic again");
}
