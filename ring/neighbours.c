// SPDX-License-Identifier: Apache-2.0
#include "ring/neighbours.h"

#include <stdlib.h>

#include "net/socket.h"
#include "ring/shared.h"

gn_status gn_neighbours_make(gn_comm *comm, gn_error *error)
{
    const bool ring = comm->config.algorithm == GN_RING;
    const bool all = gn_comm_is_mesh(comm) || !comm->rank;
    const int count = ring ? 2 : all ? comm->size - 1 : 1;
    comm->neighbours = calloc((size_t)count, sizeof *comm->neighbours);
    if (!comm->neighbours) return gn_fail_memory(error);
    comm->neighbour_count = count;
    for (int i = 0; i < count; i++) {
        gn_neighbour *neighbour = &comm->neighbours[i];
        if (ring)
            neighbour->rank = (comm->rank + (i ? 1 : comm->size - 1)) % comm->size;
        else
            neighbour->rank = i < comm->rank ? i : i + 1;
        neighbour->data_in = neighbour->data_out = -1;
        gn_rank_name(&comm->table, neighbour->rank, neighbour->name);
    }
    return GN_OK;
}

bool gn_neighbours_calls(const gn_comm *comm, int index)
{
    return comm->config.algorithm == GN_RING ? index == 1 : comm->neighbours[index].rank < comm->rank;
}

void gn_neighbours_close(gn_comm *comm)
{
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &comm->neighbours[i];
        if (neighbour->data_in != neighbour->data_out) gn_close(&neighbour->data_in);
        gn_close(&neighbour->data_out);
        gn_shared_free(neighbour->shared);
        gn_framed_free(neighbour->oob);
    }
    free(comm->neighbours);
    comm->neighbours = NULL;
    comm->neighbour_count = 0;
}

void gn_neighbours_tell_call_locked(gn_comm *comm)
{
    uint8_t frame[GN_FRAME_MAX];
    if (!comm->leads) return;
    const size_t length = gn_op_header_write(frame, &comm->own_header);
    for (int i = 0; i < comm->neighbour_count; i++)
        if (!comm->neighbours[i].shared) (void)gn_framed_send(comm->neighbours[i].oob, frame, length);
}

void gn_neighbours_tell_locked(gn_comm *comm, const gn_neighbour *except, const uint8_t *frame, size_t length)
{
    for (int i = 0; i < comm->neighbour_count; i++)
        if (&comm->neighbours[i] != except) (void)gn_framed_send(comm->neighbours[i].oob, frame, length);
}
