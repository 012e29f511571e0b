// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_OOB_H
#define GRADNIC_RING_OOB_H
/// What deadline.c and life.c need of oob.c. Everything here is called with the communicator's `lock` held.

#include "group.h"

/// The span between signs of life: four fit into a deadline. (Needs no lock.)
uint64_t gn_oob_beat_span(const gn_comm *comm);

/// Sends signs of life where none was sent for a while. @return when the next is due.
uint64_t gn_oob_beat_locked(gn_comm *comm, uint64_t now);

/// Takes everything that neighbour `index` has said.
void gn_oob_read_locked(gn_comm *comm, int index);

/// gn_oob_fail() for those who hold the lock.
void gn_oob_fail_locked(gn_comm *comm, gn_status status, int culprit, const char *text);

#endif
