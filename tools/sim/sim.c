// SPDX-License-Identifier: Apache-2.0
// gradnic sim: the table of simulators.
#include "sim.h"

#include "tools/commands.h"

static const gn_command simulators[] = {
    {"net", gn_command_sim_net, "jobs that sum through a switch, packet by packet"},
    {"nic", gn_command_sim_nic, "two NICs in hardware and the link between them, cycle by cycle"},
    {0},
};

int gn_command_sim(int argc, char **argv)
{
    return gn_command_dispatch(simulators, "Simulates hardware and networks. All times are simulated.", argc, argv);
}
