// SPDX-License-Identifier: Apache-2.0
#include "ring/collectives/mesh.h"

#include <stdlib.h>

#include "ring/blocks.h"
#include "ring/collectives/stage.h"
#include "ring/collectives/types.h"
#include "ring/failure.h"
#include "ring/peers/peers.h"

enum {
    /// A broadcast of more goes round the ring: the root would send it N-1 times.
    BROADCAST_BYTES = 64 << 10,
    ROOM = 2 << 20  // for the contributions of all to one block
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// The exchange ------------------------------------------------------------------------------------

static gn_status exchange_values(gn_comm *comm, gn_part parts[])
{
    gn_part *by_index[GN_RANKS_MAX];
    comm->data_expected = comm->data_received;
    for (int i = 0; i < comm->neighbour_count; i++) {
        by_index[i] = &parts[comm->neighbours[i].rank];
        comm->data_expected += by_index[i]->to_receive;
    }
    return gn_link_parts(comm, by_index);
}

/// Posts what is to come, and then what is to go: nothing waits for anything else.
static gn_status exchange_messages(gn_comm *comm, const gn_part parts[])
{
    const size_t size = (size_t)comm->size;
    gn_letter *letters = calloc(2 * size, sizeof *letters);
    gn_status status = GN_OK;
    size_t posted = 0;
    if (!letters) return gn_oob_no_memory(comm);
    for (size_t i = 0; i < 2 * size && !status; i++) {
        // Each begins with another rank: so no rank is written to by all at first.
        const int rank = (int)(((size_t)comm->rank + i) % size);
        const bool sends = i >= size;
        const gn_part *p = &parts[rank];
        gn_letter *letter = &letters[posted];
        if (rank == comm->rank || !(sends ? p->to_send : p->to_receive)) continue;
        *letter = (gn_letter){.sends = sends, .rank = rank, .tag = GN_LETTER_OF_COLLECTIVE};
        letter->bytes = sends ? (uint8_t *)(uintptr_t)p->out : p->in;
        letter->count = sends ? p->to_send : p->to_receive;
        status = gn_letter_post(comm, letter);
        if (!status) posted++;
    }
    if (status) gn_letters_fail(comm, status);
    for (size_t i = 0; i < posted; i++) {
        const gn_status ended = gn_letter_await(comm, &letters[i]);
        if (!status) status = ended;
    }
    free(letters);
    return status;
}

gn_status gn_mesh_exchange(gn_comm *comm, gn_part parts[], bool by_messages)
{
    return by_messages ? exchange_messages(comm, parts) : exchange_values(comm, parts);
}

// Bytes -------------------------------------------------------------------------------------------

gn_status gn_mesh_run(gn_comm *comm, const gn_call *call, bool by_messages)
{
    const size_t bytes = call->count * gn_type_bytes(call->type);
    const bool all = call->collective == GN_ALL_TO_ALL, one = call->collective == GN_TRANSFER;
    const bool out = call->collective == GN_SCATTER, in = call->collective == GN_GATHER;
    const bool root = comm->rank == call->root;
    const uint8_t *send = call->send;
    uint8_t *recv = call->recv;
    gn_part parts[GN_RANKS_MAX] = {0};
    for (int other = 0; other < comm->size; other++) {
        gn_part *p = &parts[other];
        const bool from_root = other == call->root, to = one && root && other == call->to,
                   from = one && from_root && comm->rank == call->to;
        if (other == comm->rank) continue;
        if (all || (out && root)) p->out = send + (size_t)other * bytes;
        if (all || (in && root)) p->in = recv + (size_t)other * bytes;
        if ((in && from_root) || to) p->out = send;
        if ((out && from_root) || from) p->in = recv;
        if (p->out) p->to_send = bytes;
        if (p->in) p->to_receive = bytes;
    }
    const size_t own = (size_t)comm->rank * bytes;
    if (all || (in && root)) gn_link_copy(recv + own, all ? send + own : send, bytes);
    if (out && root) gn_link_copy(recv, send + own, bytes);
    if (one && root && call->to == call->root) gn_link_copy(recv, send, bytes);
    return gn_mesh_exchange(comm, parts, by_messages);
}

// Blocks ------------------------------------------------------------------------------------------

static size_t block_bytes(const gn_exchange *x, int rank)
{
    return (x->starts[rank + 1] - x->starts[rank]) * x->width;
}

static uint8_t *block_at(const gn_exchange *x, const void *vector, int rank)
{
    return (uint8_t *)((uintptr_t)vector + x->starts[rank] * x->width);
}

bool gn_mesh_gathers(const gn_exchange *x)
{
    if (!gn_comm_is_mesh(x->comm) || !x->starts || !x->exact || x->legs != GN_LEG_GATHER) return false;
    int given = 0;
    for (int r = 0; r < x->comm->size; r++) given += block_bytes(x, r) > 0;
    return given > 1 || x->starts[x->comm->size] * x->width <= BROADCAST_BYTES;
}

gn_status gn_mesh_gather(gn_exchange *x)
{
    gn_comm *comm = x->comm;
    gn_part parts[GN_RANKS_MAX] = {0};
    for (int other = 0; other < comm->size; other++) {
        if (other == comm->rank) continue;
        parts[other] = (gn_part){.out = block_at(x, x->bucket->recv, comm->rank),
                                 .to_send = block_bytes(x, comm->rank),
                                 .in = block_at(x, x->bucket->recv, other),
                                 .to_receive = block_bytes(x, other)};
    }
    return gn_mesh_exchange(comm, parts, x->by_messages);
}

bool gn_mesh_reduces(const gn_exchange *x)
{
    const gn_comm_config *config = &x->comm->config;
    if (!gn_comm_is_mesh(x->comm) || !x->starts || x->legs != GN_LEG_REDUCE) return false;
    if (!x->exact && config->offload != GN_OFFLOAD_NONE) return false;
    size_t most = 0;
    for (int r = 0; r < x->comm->size; r++) most = block_bytes(x, r) > most ? block_bytes(x, r) : most;
    return !config->wire && most <= ROOM / (size_t)x->comm->size;
}

size_t gn_mesh_room(const gn_exchange *x)
{
    return x->by_messages || (gn_comm_is_mesh(x->comm) && x->legs == GN_LEG_REDUCE) ? ROOM : 0;
}

gn_status gn_mesh_reduce(gn_exchange *x)
{
    gn_comm *comm = x->comm;
    gn_part parts[GN_RANKS_MAX] = {0};
    const size_t own = block_bytes(x, comm->rank), first = x->starts[comm->rank], count = own / x->width;
    // Behind what staged.c has there.
    uint8_t *stage = comm->stage + comm->stage_bytes - ROOM;
    gn_exchange_own(x, 0, x->starts[comm->size]);
    for (int other = 0; other < comm->size; other++) {
        if (other == comm->rank) continue;
        parts[other] = (gn_part){.out = block_at(x, x->bucket->recv, other),
                                 .to_send = block_bytes(x, other),
                                 .in = stage + (size_t)other * own,
                                 .to_receive = own};
    }
    const gn_status status = gn_mesh_exchange(comm, parts, x->by_messages);
    if (status || !own) return status;
    // Its own values, and then those of the others in the order of ranks.
    for (int other = 0; other < comm->size; other++)
        if (other != comm->rank)
            gn_exchange_add(x, first, count, (const float *)(const void *)(stage + (size_t)other * own));
    gn_exchange_settle(x, first, count);
    gn_exchange_finish(x, first, count);
    return GN_OK;
}

// As messages -------------------------------------------------------------------------------------

/// Elements `at` and behind, as far as their reduced blocks fit.
static gn_status reduce_and_gather(gn_exchange *x, const gn_bucket *whole, size_t at, size_t count)
{
    gn_bucket piece = *whole;
    size_t starts[GN_RANKS_MAX + 1];
    piece.send = (const float *)((uintptr_t)whole->send + at * x->width);
    piece.recv = (float *)((uintptr_t)whole->recv + at * x->width);
    piece.count = count;
    for (int b = 0; b <= x->comm->size; b++) starts[b] = gn_block_start(count, x->comm->size, b);
    x->bucket = &piece;
    x->starts = starts;
    gn_status status = gn_mesh_reduce(x);
    if (!status) status = gn_mesh_gather(x);
    x->bucket = whole;
    x->starts = NULL;
    return status;
}

gn_status gn_mesh_move(gn_exchange *x)
{
    const gn_bucket *whole = x->bucket;
    const size_t most = ROOM / 2 / x->width;  // a block of all ranks is rounded up
    gn_status status = GN_OK;
    if (x->legs == GN_LEG_REDUCE) return gn_mesh_reduce(x);
    if (x->legs == GN_LEG_GATHER) return gn_mesh_gather(x);
    if (!gn_stage(x->comm, x->comm->stage_bytes > ROOM ? x->comm->stage_bytes : ROOM)) return gn_oob_no_memory(x->comm);
    for (size_t at = 0; at < whole->count && !status; at += most)
        status = reduce_and_gather(x, whole, at, least(most, whole->count - at));
    return status;
}
