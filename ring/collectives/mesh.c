// SPDX-License-Identifier: Apache-2.0
// No deadlock: what a rank sends depends on nothing, and all that comes has its place already. So
// every rank sends and reads all the time.
#include "ring/collectives/mesh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ring/await.h"
#include "ring/blocks.h"
#include "ring/collectives/stage.h"
#include "ring/collectives/types.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/failure.h"
#include "ring/peers/peers.h"
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

static gn_part *part_of(const gn_comm *comm, gn_part parts[], int index)
{
    return &parts[comm->neighbours[index].rank];
}

static bool is_done(const gn_comm *comm, gn_part parts[])
{
    for (int i = 0; i < comm->neighbour_count; i++)
        if (part_of(comm, parts, i)->to_send || part_of(comm, parts, i)->to_receive) return false;
    return true;
}

static gn_status exchange_values(gn_comm *comm, gn_part parts[])
{
    gn_wish wishes[GN_RANKS_MAX];
    gn_status status = GN_OK;
    comm->data_expected = comm->data_received;
    for (int i = 0; i < comm->neighbour_count; i++) comm->data_expected += part_of(comm, parts, i)->to_receive;
    for (unsigned lap = 1; !status && !is_done(comm, parts); lap++) {
        bool moved = false;
        for (int i = 0; i < comm->neighbour_count && !status; i++)
            status = serve(comm, i, part_of(comm, parts, i), &wishes[i], &moved);
        if (!status && (!moved || lap % LOOK_EVERY == 0)) status = gn_await_data(comm, wishes, !moved);
    }
    return status;
}

/// Posts what is to come, and then what is to go: nothing waits for anything else.
static gn_status exchange_messages(gn_comm *comm, const gn_part parts[])
{
    const size_t size = (size_t)comm->size;
    gn_letter *letters = calloc(2 * size, sizeof *letters);
    gn_status status = GN_OK;
    size_t posted = 0;
    if (!letters) return gn_oob_fail(comm, GN_NO_MEMORY, comm->rank, "rank %d is out of memory", comm->rank);
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

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes && to != from) memcpy(to, from, bytes);
}

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
    if (all || (in && root)) copy(recv + own, all ? send + own : send, bytes);
    if (out && root) copy(recv, send + own, bytes);
    if (one && root && call->to == call->root) copy(recv, send, bytes);
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
    if (!gn_stage(x->comm, x->comm->stage_bytes > ROOM ? x->comm->stage_bytes : ROOM))
        return gn_oob_fail(x->comm, GN_NO_MEMORY, x->comm->rank, "rank %d is out of memory", x->comm->rank);
    for (size_t at = 0; at < whole->count && !status; at += most)
        status = reduce_and_gather(x, whole, at, least(most, whole->count - at));
    return status;
}
