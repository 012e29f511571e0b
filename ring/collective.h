// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_COLLECTIVE_H
#define GRADNIC_RING_COLLECTIVE_H
/// One collective from its header to its end. On the thread that runs collectives.

#include "group.h"

gn_status gn_collective_allreduce(gn_comm *comm, const gn_bucket *bucket);
gn_status gn_collective_barrier(gn_comm *comm);

#endif
