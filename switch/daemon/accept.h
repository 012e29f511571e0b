// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_ACCEPT_H
#define GRADNIC_SWITCH_DAEMON_ACCEPT_H
/// How connections of children come in, and whose room they get when there are too many.

#include "switch/daemon/base.h"

/// Listens at daemon->listen, which gets the port that was chosen.
gn_status gn_switchd_listen(gn_switchd *daemon, gn_error *error);

/// Accepts whoever has connected, as far as there is room. While there is none, daemon->full_until
/// says when to try again.
void gn_switchd_accept(gn_switchd *daemon);

#endif
