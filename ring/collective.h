// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_COLLECTIVE_H
#define GRADNIC_RING_COLLECTIVE_H
/// One collective from its header to its end. On the thread that runs collectives.

#include "group.h"

/// Before anything is queued or sent. Any thread. @return GN_INVALID with a text for gn_comm_last_error(); GN_DEAD.
gn_status gn_collective_check(gn_comm *comm, const gn_bucket *bucket);

/// `bucket` has been checked.
gn_status gn_collective_allreduce(gn_comm *comm, const gn_bucket *bucket);
gn_status gn_collective_barrier(gn_comm *comm);

#endif
