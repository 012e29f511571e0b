// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_LIFE_H
#define GRADNIC_RING_LIFE_H
/// The communicators of this process. A process is alive or not as a whole:
///
/// * While it waits in a collective of one of them, neighbours may wait for it in another one. They
///   must not take it for dead.
/// * When it gives up because of what one of them has found, the neighbours of the others are told
///   the reason.
/// * A process that was forked off has copies of its parent's communicators. They are dead there,
///   and nobody is told.
///
/// Any thread.

#include "ring/group.h"

/// `comm` is ready.
void gn_life_join(gn_comm *comm);
/// `comm` is about to leave its group. If another communicator's failure is the reason, it learns
/// so now, for its goodbye.
void gn_life_leave(gn_comm *comm);

/// Reads what has been said to the communicators that are in no collective, and sends their signs
/// of life. Leaves out `comm`, in which the caller waits. @return when that is due again
uint64_t gn_life_serve(const gn_comm *comm, uint64_t now);

/// Whether it is another process's, from which this one was forked.
bool gn_life_is_copy(const gn_comm *comm);

/// Whether another one of this process has failed since `comm` was made.
bool gn_life_has_failed_elsewhere(gn_comm *comm);

#endif
