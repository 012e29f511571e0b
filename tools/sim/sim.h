// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_SIM_SIM_H
#define GRADNIC_TOOLS_SIM_SIM_H
/// `gradnic sim` starts simulators. They are programs of their own (sim/), so `gradnic` does not
/// need their libraries.

int gn_command_sim_net(int argc, char **argv);
int gn_command_sim_nic(int argc, char **argv);

#endif
