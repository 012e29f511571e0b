// SPDX-License-Identifier: Apache-2.0
#include "ring/await.h"

#include "ring/data.h"
#include "ring/deadline.h"

gn_status gn_await_data(gn_comm *comm, const gn_wish wishes[], bool blocked)
{
    struct pollfd set[GN_RANKS_MAX];
    uint8_t waiting[GN_RANKS_MAX] = {0};
    for (int i = 0; i < comm->neighbour_count; i++) {
        set[i] = gn_data_poll(&comm->neighbours[i], wishes[i].reading, wishes[i].sending);
        waiting[i] = wishes[i].owes || wishes[i].sending;
    }
    const gn_status status = gn_oob_poll(comm, set, comm->neighbour_count, blocked ? -1 : 0);
    return status || !blocked ? status : gn_oob_check_deadline(comm, waiting);
}
