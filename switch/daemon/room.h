// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_ROOM_H
#define GRADNIC_SWITCH_DAEMON_ROOM_H
/// Room for connections: of children, and of strangers. When children have taken theirs, a job that
/// still forms makes room for a newcomer: the oldest of the address with most such connections.

#include "switch/daemon/base.h"

/// Sets how much room there is, in a process that may have so many files.
void gn_room_open(gn_switchd *daemon, uint64_t files);

/// Room in the lobby, beside the sessions.
unsigned gn_room_lobby(const gn_switchd *daemon);

/// Finds room for one more child from there. @return GN_OK; GN_NO_SPACE with the reason
gn_status gn_room_make(gn_switchd *daemon, const gn_ip *from, gn_error *error);

/// Gives memory back to the system when most of those who were here have gone.
void gn_room_tidy(gn_switchd *daemon);

#endif
