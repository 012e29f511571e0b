// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_LIFE_H
#define GRADNIC_RING_LIFE_H
/// The communicators of this process. A process is alive or not as a whole: while it waits in a collective of one of them, neighbours may
/// wait for it in another one, and must not take it for dead; and when it gives up because of what one of them has found, the
/// neighbours of the others are told the reason. All functions from any thread.

#include "group.h"

/// `comm` is ready / is about to leave its group (then it is told why, if another one's failure is the reason). No lock held.
void gn_life_join(gn_comm *comm);
void gn_life_leave(gn_comm *comm);

/// Reads what has been said to the communicators that are in no collective, and sends their signs of life; `comm`, in whose collective
/// the caller waits, is left to itself. No lock held. @return when that is due again.
uint64_t gn_life_serve(const gn_comm *comm, uint64_t now);

/// Whether another one of this process has failed since `comm` is there. No lock held.
bool gn_life_has_failed_elsewhere(gn_comm *comm);

#endif
