// SPDX-License-Identifier: Apache-2.0
#include "ring/await.h"

#include "net/yield.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/failure.h"
#include "ring/turn.h"

enum { POLL_EVERY = 64 };

/// Whether what a wish is for is in shared memory.
static bool is_ready(gn_comm *comm, int index, const gn_wish *wish)
{
    return gn_data_is_ready(&comm->neighbours[index], wish->reading, wish->sending) ||
           (wish->owes && !wish->reading && gn_oob_is_told(comm, index));
}

/// Whether all that is wished for comes through shared memory.
static bool is_all_shared(const gn_comm *comm, const gn_wish wishes[])
{
    for (int i = 0; i < comm->neighbour_count; i++)
        if ((wishes[i].reading || wishes[i].sending || wishes[i].owes) && !comm->neighbours[i].shared) return false;
    return true;
}

/// Looks at the memory before it sleeps. Now and then the connections are looked at, too.
/// @return whether a wish is fulfilled
static bool spin(gn_comm *comm, const gn_wish wishes[])
{
    if (!is_all_shared(comm, wishes) || ++comm->looks % POLL_EVERY == 0) return false;
    const uint64_t until = gn_now() + GN_SPIN;
    do {
        for (int i = 0; i < comm->neighbour_count; i++)
            if (is_ready(comm, i, &wishes[i])) return true;
    } while (gn_yield() && gn_now() < until);
    return false;
}

static bool sleep_for(const gn_comm *comm, const gn_wish wishes[])
{
    bool sleeps = true;
    for (int i = 0; i < comm->neighbour_count; i++)
        sleeps &= gn_data_sleep(&comm->neighbours[i], wishes[i].reading, wishes[i].sending);
    return sleeps;
}

gn_status gn_await_data(gn_comm *comm, const gn_wish wishes[], bool blocked)
{
    struct pollfd set[GN_RANKS_MAX];
    uint8_t waiting[GN_RANKS_MAX] = {0};
    if (blocked && spin(comm, wishes)) return GN_OK;
    for (int i = 0; i < comm->neighbour_count; i++) {
        set[i] = gn_data_poll(&comm->neighbours[i], wishes[i].reading, wishes[i].sending);
        waiting[i] = wishes[i].owes || wishes[i].sending;
    }
    const bool waits = blocked && sleep_for(comm, wishes);
    const gn_status status = gn_oob_poll(comm, set, comm->neighbour_count, waits ? -1 : 0);
    for (int i = 0; i < comm->neighbour_count; i++)
        if (set[i].revents) gn_data_woken(&comm->neighbours[i]);
    return status || !blocked ? status : gn_oob_check_deadline(comm, waiting);
}

gn_status gn_await_headers(gn_comm *comm)
{
    gn_wish wishes[GN_RANKS_MAX] = {0};
    gn_status status = gn_oob_state(comm);
    while (!status) {
        bool all = true;
        for (int i = 0; i < comm->neighbour_count; i++) {
            wishes[i].owes = !gn_oob_has_header(comm, i);
            all &= !wishes[i].owes;
        }
        if (all) return GN_OK;
        status = gn_await_data(comm, wishes, true);
    }
    return status;
}
