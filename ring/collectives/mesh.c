// SPDX-License-Identifier: Apache-2.0
// No deadlock: what a rank sends depends on nothing, and all that comes has its place already. So
// every rank sends and reads all the time.
#include "ring/collectives/mesh.h"

#include <errno.h>
#include <string.h>

#include "ring/await.h"
#include "ring/collectives/types.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/turn.h"

enum {
    LOOK_EVERY = 64,
    CHUNK = 256 << 10,  // bytes to or from one rank before the next one has its turn
    /// A broadcast of more goes round the ring: the root would send it N-1 times.
    BROADCAST_BYTES = 64 << 10,
    ROOM = 2 << 20  // for the contributions of all to one block
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// The exchange ------------------------------------------------------------------------------------

static bool may_go_on(void)
{
    return errno == EAGAIN || errno == EINTR;
}

static gn_status send_to(gn_comm *comm, int index, gn_part *p, bool *full, bool *moved)
{
    const size_t want = least(p->to_send, CHUNK);
    const ssize_t sent = gn_data_send(&comm->neighbours[index], p->out, want);
    *full = sent < (ssize_t)want;
    if (sent < 0) return may_go_on() ? GN_OK : gn_oob_data_lost(comm, index, errno);
    p->out += sent;
    p->to_send -= (size_t)sent;
    comm->data_sent[index] += (size_t)sent;
    *moved |= sent > 0;
    return GN_OK;
}

static gn_status receive_from(gn_comm *comm, int index, gn_part *p, bool *moved)
{
    const ssize_t got = gn_data_receive(&comm->neighbours[index], p->in, least(p->to_receive, CHUNK));
    if (!got) return gn_oob_data_lost(comm, index, 0);
    if (got < 0) return may_go_on() ? GN_OK : gn_oob_data_lost(comm, index, errno);
    p->in += got;
    p->to_receive -= (size_t)got;
    gn_comm_count_received(comm, index, (size_t)got);
    *moved = true;
    return GN_OK;
}

/// Does what can be done with one rank, and says what is to be waited for.
static gn_status serve(gn_comm *comm, int index, gn_part *p, gn_wish *wish, bool *moved)
{
    gn_status status = GN_OK;
    bool here = false;
    *wish = (gn_wish){0};
    if (p->to_send) status = send_to(comm, index, p, &wish->sending, &here);
    if (!status && p->to_receive && gn_oob_has_header(comm, index)) {
        status = receive_from(comm, index, p, &here);
        wish->reading = p->to_receive > 0;
    }
    wish->owes = p->to_receive > 0;
    if (status || !here) return status;
    *moved = true;
    gn_oob_sign(comm, index, gn_now());
    return GN_OK;
}

static bool is_done(const gn_comm *comm, const gn_part parts[])
{
    for (int i = 0; i < comm->neighbour_count; i++)
        if (parts[i].to_send || parts[i].to_receive) return false;
    return true;
}

gn_status gn_mesh_exchange(gn_comm *comm, gn_part parts[])
{
    gn_wish wishes[GN_RANKS_MAX];
    gn_status status = GN_OK;
    comm->data_expected = comm->data_received;
    for (int i = 0; i < comm->neighbour_count; i++) comm->data_expected += parts[i].to_receive;
    for (unsigned lap = 1; !status && !is_done(comm, parts); lap++) {
        bool moved = false;
        for (int i = 0; i < comm->neighbour_count && !status; i++)
            status = serve(comm, i, &parts[i], &wishes[i], &moved);
        if (!status && (!moved || lap % LOOK_EVERY == 0)) status = gn_await_data(comm, wishes, !moved);
    }
    return status;
}

// Bytes -------------------------------------------------------------------------------------------

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes && to != from) memcpy(to, from, bytes);
}

gn_status gn_mesh_run(gn_comm *comm, const gn_call *call)
{
    const size_t bytes = call->count * gn_type_bytes(call->type);
    const bool all = call->collective == GN_ALL_TO_ALL, one = call->collective == GN_TRANSFER;
    const bool out = call->collective == GN_SCATTER, in = call->collective == GN_GATHER;
    const bool root = comm->rank == call->root;
    const uint8_t *send = call->send;
    uint8_t *recv = call->recv;
    gn_part parts[GN_RANKS_MAX] = {0};
    for (int i = 0; i < comm->neighbour_count; i++) {
        const int other = comm->neighbours[i].rank;
        const bool from_root = other == call->root, to = one && root && other == call->to,
                   from = one && from_root && comm->rank == call->to;
        if (all || (out && root)) parts[i].out = send + (size_t)other * bytes;
        if (all || (in && root)) parts[i].in = recv + (size_t)other * bytes;
        if ((in && from_root) || to) parts[i].out = send;
        if ((out && from_root) || from) parts[i].in = recv;
        if (parts[i].out) parts[i].to_send = bytes;
        if (parts[i].in) parts[i].to_receive = bytes;
    }
    const size_t own = (size_t)comm->rank * bytes;
    if (all || (in && root)) copy(recv + own, all ? send + own : send, bytes);
    if (out && root) copy(recv, send + own, bytes);
    if (one && root && call->to == call->root) copy(recv, send, bytes);
    return gn_mesh_exchange(comm, parts);
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
    for (int i = 0; i < comm->neighbour_count; i++) {
        const int other = comm->neighbours[i].rank;
        parts[i] = (gn_part){.out = block_at(x, x->bucket->recv, comm->rank),
                             .to_send = block_bytes(x, comm->rank),
                             .in = block_at(x, x->bucket->recv, other),
                             .to_receive = block_bytes(x, other)};
    }
    return gn_mesh_exchange(comm, parts);
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

size_t gn_mesh_room(const gn_comm *comm)
{
    return gn_comm_is_mesh(comm) ? ROOM : 0;
}

gn_status gn_mesh_reduce(gn_exchange *x)
{
    gn_comm *comm = x->comm;
    gn_part parts[GN_RANKS_MAX] = {0};
    const size_t own = block_bytes(x, comm->rank), first = x->starts[comm->rank], count = own / x->width;
    // Behind what staged.c has there.
    uint8_t *stage = comm->stage + comm->stage_bytes - ROOM;
    gn_exchange_own(x, 0, x->starts[comm->size]);
    for (int i = 0; i < comm->neighbour_count; i++) {
        const int other = comm->neighbours[i].rank;
        parts[i] = (gn_part){.out = block_at(x, x->bucket->recv, other), .to_send = block_bytes(x, other)};
        parts[i].in = stage + (size_t)i * own;
        parts[i].to_receive = own;
    }
    const gn_status status = gn_mesh_exchange(comm, parts);
    // Its own values, and then those of the others in the order of ranks.
    for (int i = 0; i < comm->neighbour_count && own && !status; i++)
        gn_exchange_add(x, first, count, (const float *)(const void *)(stage + (size_t)i * own));
    if (!status && own) gn_exchange_settle(x, first, count);
    if (!status && own) gn_exchange_finish(x, first, count);
    return status;
}
