// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_ACCEPT_H
#define GRADNIC_SWITCH_DAEMON_ACCEPT_H
/// How connections of children come in. Until one asks for a job, it is a stranger in the daemon's
/// lobby (net/lobby.h).

#include "switch/daemon/base.h"

/// Listens at daemon->listen, which gets the port that was chosen, and opens the lobby.
gn_status gn_switchd_listen(gn_switchd *daemon, gn_error *error);
/// Nobody comes in any more.
void gn_switchd_close_door(gn_switchd *daemon);

/// Does what strangers say. Those who ask for a job become sessions.
void gn_switchd_hear_strangers(gn_switchd *daemon);

/// Accepts whoever has connected, as far as there is room.
void gn_switchd_accept(gn_switchd *daemon);

/// Tells all strangers that the switch goes.
void gn_switchd_send_away(gn_switchd *daemon, const char *why);

#endif
