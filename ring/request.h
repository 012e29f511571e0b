// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_REQUEST_H
#define GRADNIC_RING_REQUEST_H
/// Requests, and the thread that runs them in the order in which they were started.

#include "ring/group.h"

/// One thread at a time is in a call. A second one would use the memory and the connections of the
/// first, and their sums would be mixed up. @return GN_OK; GN_INVALID, and the text names `call`
gn_status gn_comm_occupy(gn_comm *comm, const char *call);
void gn_comm_vacate(gn_comm *comm);

/// Runs a collective when it is due: at once without a progress thread, else behind what is queued.
gn_status gn_run_call(gn_comm *comm, const gn_call *call);

struct gn_letter;

/// Starts a message between two ranks: a copy of `letter`. The thread begins with the first one.
/// @return GN_OK, or why it has not begun; then `*request` is NULL
gn_status gn_request_post(gn_comm *comm, const struct gn_letter *letter, gn_request **request);

/// Ends the progress thread, after what is queued.
void gn_queue_free(gn_comm *comm);

#endif
