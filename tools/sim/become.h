// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_SIM_BECOME_H
#define GRADNIC_TOOLS_SIM_BECOME_H
/// Simulators are C++, and one needs SystemC. So they are programs of their own, which `gradnic`
/// becomes.

/// Becomes gradnic-sim-`name`, of sim/`folder`, with the same arguments. It returns only when that
/// failed, and then has told the user why. `without` is what to do when the program is not there.
/// @return the exit status
int gn_sim_become(const char *folder, const char *name, char **argv, const char *without);

#endif
