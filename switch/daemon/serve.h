// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SERVE_H
#define GRADNIC_SWITCH_DAEMON_SERVE_H
/// What sessions say: children that ask, ping and leave, and what is above.

#include "switch/daemon/base.h"

/// Reads and writes what poll() says can be, and does what has been said.
void gn_switchd_serve(gn_switchd *daemon, gn_session *session, short events);
/// Does what has been said and has not been heard yet.
void gn_switchd_hear(gn_switchd *daemon, gn_session *session);

/// Frees the sessions that are closed.
void gn_switchd_sweep(gn_switchd *daemon);

#endif
