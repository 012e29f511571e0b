// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_WATCH_H
#define GRADNIC_SWITCH_DAEMON_WATCH_H
/// Ends jobs whose time is over: not all children have come, somebody has left whom others wait
/// for, or a switch above or below is silent.

#include "switch/daemon/base.h"

/// Looks at all jobs, and ends those. @return gn_now() when to look again; GN_FOREVER: never
uint64_t gn_jobs_expire(gn_switchd *daemon, uint64_t now);

#endif
