// SPDX-License-Identifier: Apache-2.0
// gradnic sim nic: reads the options, so that what is wrong with them is said in any case, and becomes the simulator.
#include "sim.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "nic_options.h"
#include "tools/kit/beside.h"
#include "tools/kit/command.h"

static gn_message become_simulator(char **argv)
{
    char path[PATH_MAX];
    gn_message wrong =
        gn_beside_find("gradnic-sim-nic", "../libexec/gradnic/gradnic-sim-nic", "../sim/nic/gradnic-sim-nic", path);
    if (wrong)
        return gn_message_format("%s: it was not built, for want of SystemC; install libsystemc-dev (scripts/setup "
                                 "does) and build again",
                                 wrong);
    execv(path, argv);
    return gn_message_format("%s: %s", path, strerror(errno));
}

int gn_command_sim_nic(int argc, char **argv)
{
    gn_sim_nic_options options;
    char *words[argc + 1];  // argp moves the words about; the simulator wants them as they came
    memcpy(words, argv, sizeof words);
    gn_sim_nic_parse(&options, argc, argv);
    gn_cli_error(words[0], "%s", become_simulator(words));
    return GN_EXIT_FAILED;
}
