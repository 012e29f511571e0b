// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_ABOVE_H
#define GRADNIC_SWITCH_DAEMON_ABOVE_H
/// What is above this switch: its parent, or its parameter server.

#include "switch/daemon/base.h"

/// "parent switch" or "parameter server".
const char *gn_switchd_above(const gn_switchd *daemon);
/// The option that says where it is, "--parent" or "--ps", and what that option says.
const char *gn_switchd_above_option(const gn_switchd *daemon);
const char *gn_switchd_above_text(const gn_switchd *daemon);

/// Finds the address of what is above, if something is to be. May wait for a name server.
gn_status gn_switchd_find_above(gn_switchd *daemon, gn_error *error);
/// The address that was tried does not answer: takes the next one of the same name.
void gn_switchd_next_above(gn_switchd *daemon);
/// Refuses an address above where this switch is to listen itself.
gn_status gn_switchd_check_above(const gn_switchd *daemon, gn_error *error);

#endif
