// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_NIC_NIC_H
#define GRADNIC_TOOLS_NIC_NIC_H
/// `gradnic nic`, and the commands that ask a running NIC.

int gn_command_nic_status(int argc, char **argv);
int gn_command_nic_stats(int argc, char **argv);
int gn_command_nic_set(int argc, char **argv);

#endif
