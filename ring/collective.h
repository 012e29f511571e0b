// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_COLLECTIVE_H
#define GRADNIC_RING_COLLECTIVE_H
/// One collective from its header to its end.

#include "ring/group.h"

/// A call enters. Any thread.
/// @return GN_OK; or why it must not begin, which counts as told to its caller (gn_oob_ready())
gn_status gn_collective_enter(gn_comm *comm);

/// Enters, and checks the arguments before anything is queued or sent. Any thread.
/// @return GN_OK; as gn_collective_enter(); GN_INVALID with a text for gn_comm_last_error()
gn_status gn_collective_check(gn_comm *comm, const gn_call *call);

/// Runs a collective that has been checked. On the thread that runs collectives.
gn_status gn_collective_run(gn_comm *comm, const gn_call *call);

#endif
