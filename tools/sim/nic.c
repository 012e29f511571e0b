// SPDX-License-Identifier: Apache-2.0
// gradnic sim nic: checks the options, and becomes the simulator. So wrong options are reported
// even without a simulator.
#include "sim.h"

#include <string.h>

#include "become.h"
#include "nic_options.h"

int gn_command_sim_nic(int argc, char **argv)
{
    gn_sim_nic_options options;
    char *words[argc + 1];  // a copy, because argp reorders argv
    memcpy(words, argv, sizeof words);
    gn_sim_nic_parse(&options, argc, argv);
    return gn_sim_become("nic", options.lanes > 1 ? "nic-512" : "nic", words,
                         "it was not built, because SystemC was not found; install libsystemc-dev (scripts/setup --rtl "
                         "does) and build again");
}
