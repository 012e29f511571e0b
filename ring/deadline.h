// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_DEADLINE_H
#define GRADNIC_RING_DEADLINE_H
/// Waiting for neighbours, and when to stop.

#include "net/clock.h"
#include "ring/group.h"

/// Who sleeps is woken after some 30 to 50 us. So a wait first looks for so many nanoseconds, and
/// lets others run meanwhile.
enum { GN_SPIN = 50 * (GN_MILLISECOND / 1000) };

/// Waits until one of `count` data sockets is ready, an out-of-band message has come, the next sign
/// of life is due, or `wait` ms have passed (-1: no such limit). Fills in revents of `data`, takes
/// the messages and sends signs of life. The other communicators of this process are served, too.
/// @return GN_OK, or the status with which the communicator has failed
gn_status gn_oob_poll(gn_comm *comm, struct pollfd *data, int count, int wait);

/// Waits until neighbour `index` has sent its header. @return as gn_oob_poll()
gn_status gn_oob_await_header(gn_comm *comm, int index);
/// Waits until all have agreed. @return as gn_oob_poll()
gn_status gn_oob_await_agreement(gn_comm *comm, int round, int *value);

/// Fails when a neighbour that we wait for has been silent for too long. `waiting[i]` says whether
/// we need something of neighbour i. @return as gn_oob_poll()
gn_status gn_oob_check_deadline(gn_comm *comm, const uint8_t *waiting);

/// The data connection with neighbour `index` has ended (`cause` 0) or broken (an errno). Waits a
/// moment for the out-of-band connection to say why, then fails. @return the status
gn_status gn_oob_data_lost(gn_comm *comm, int index, int cause);

/// What neighbour `index` has sent on its data connection is no header of a call. It may have
/// called something else, of which it tells out of band. Waits as above, then fails.
/// @return the status
gn_status gn_oob_data_strange(gn_comm *comm, int index);

/// Data has moved, but between us and no neighbour.
void gn_oob_progress(gn_comm *comm, uint64_t now);
/// Data has moved between us and neighbour `index`: a sign of life, and progress.
void gn_oob_sign(gn_comm *comm, int index, uint64_t now);

/// Algorithm switch: until when ranks that lack results of the first `collectives` collectives are
/// worth waiting for. They are in a collective, so they give signs of life. `begun`: when this rank
/// began to wait for them.
uint64_t gn_oob_finish_until(gn_comm *comm, uint64_t collectives, uint64_t begun);

#endif
