// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_OOB_H
#define GRADNIC_RING_OOB_H
/// The out-of-band connections between ranks, which lie beside those for data: reading, signs of
/// life, and the ends. What is said about a collective is in turn.h, and bad news in failure.h.

#include "ring/group.h"

/// The span between signs of life: four fit into a deadline.
uint64_t gn_oob_beat_span(const gn_comm *comm);
/// Sends signs of life to those that have had none for that span. @return when the next is due
uint64_t gn_oob_beat_locked(gn_comm *comm, uint64_t now);

/// Takes all that neighbour `index` has said.
void gn_oob_read_locked(gn_comm *comm, int index);

/// Ends the communicator with GN_ABORTED, here and at all ranks. Any thread.
gn_status gn_oob_abort(gn_comm *comm, const char *reason);
/// How often a caller is asked whether he is interrupted.
enum { GN_ASK_MS = 100 };
/// On the process's main thread: aborts when `interrupted` says so. Not under a lock.
void gn_oob_ask(gn_comm *comm);
/// Says goodbye, and why if another communicator's failure is the reason. The connections are not
/// used any more.
void gn_oob_leave(gn_comm *comm);

#endif
