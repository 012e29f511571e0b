// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_FAILURE_H
#define GRADNIC_RING_FAILURE_H
/// How a communicator ends because of an error. The first error is kept. Every rank passes bad news
/// on in all directions before it stops.

#include "ring/group.h"

/// Ends the communicator and tells the neighbours. `culprit` is the rank at fault, or GN_NOBODY.
/// @return the status of the error that is kept, which may be an earlier one
gn_status gn_oob_fail(gn_comm *comm, gn_status status, int culprit, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/// The same where this rank has no memory.
gn_status gn_oob_no_memory(gn_comm *comm);
/// The same; error->who is the culprit.
void gn_oob_fail_locked(gn_comm *comm, const gn_error *error);
/// The same for a failure that `from` has told of.
void gn_oob_fail_by_locked(gn_comm *comm, const gn_failure *failure, const gn_neighbour *from);

/// A call that is wrong by itself. Keeps the text for gn_comm_last_error(), tells nobody, and ends
/// nothing. @return GN_INVALID
gn_status gn_oob_refuse(gn_comm *comm, const char *call, const char *wrong);

/// A neighbour may have told of a failure in the next collective. That waits until we get there.
/// Here it ends this collective at once, because this one cannot be finished.
void gn_oob_take_later(gn_comm *comm);

/// @return GN_OK, or the status with which the communicator has failed
gn_status gn_oob_state(gn_comm *comm);
gn_status gn_oob_state_locked(const gn_comm *comm);

/// Whether a call may begin. Changes nothing.
/// @return GN_OK; the status of a failure that no call has returned yet; else GN_DEAD
gn_status gn_oob_ready(gn_comm *comm);
/// A call returns the failure to its caller: later ones return GN_DEAD.
void gn_oob_told(gn_comm *comm);

/// The text of the error that is kept, or of the last call that was refused; else "".
void gn_oob_last_error(gn_comm *comm, char text[GN_ERROR_TEXT]);

#endif
