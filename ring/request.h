// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_REQUEST_H
#define GRADNIC_RING_REQUEST_H
/// Requests, and the thread that runs them in the order in which they were started.

#include "ring/group.h"

/// Runs a collective when it is due: at once without a progress thread, else behind what is queued.
gn_status gn_run_call(gn_comm *comm, const gn_call *call);

/// Ends the progress thread, after what is queued.
void gn_queue_free(gn_comm *comm);

#endif
