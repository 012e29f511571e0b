// SPDX-License-Identifier: Apache-2.0
// What the ways of `direct` have in common.
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/direct.h"
#include "ring/failure.h"

gn_status gn_direct_wait_for(gn_comm *comm, const gn_direct_wait *wait, struct pollfd *set, bool blocked)
{
    uint8_t waiting[GN_RANKS_MAX] = {0};
    for (int i = 0; i < comm->neighbour_count; i++) {
        set[i] = gn_data_poll(&comm->neighbours[i], wait[i].reading, wait[i].sending);
        waiting[i] = wait[i].owes || wait[i].sending;
    }
    const gn_status status = gn_oob_poll(comm, set, comm->neighbour_count, blocked ? -1 : 0);
    return status || !blocked ? status : gn_oob_check_deadline(comm, waiting);
}

gn_status gn_direct_damaged(gn_comm *comm, size_t index, const char *what, size_t segment)
{
    const gn_neighbour *from = &comm->neighbours[index];
    return gn_oob_fail(comm, GN_CORRUPT, from->rank, "rank %d (%s) sent a segment with %s in the %s, segment %zu",
                       from->rank, from->name, what, comm->phase, segment);
}
