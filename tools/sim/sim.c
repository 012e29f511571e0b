// SPDX-License-Identifier: Apache-2.0
// gradnic sim: a table of simulators, as main.c is one of commands.
#include "sim.h"

#include "tools/commands.h"

static const gn_command simulators[] = {
    {"nic", gn_command_sim_nic, "two NICs in hardware and the link between them, cycle by cycle"},
    {0},
};

int gn_command_sim(int argc, char **argv)
{
    return gn_command_dispatch(simulators, "Simulates hardware; everything is in simulated time.", argc, argv);
}
