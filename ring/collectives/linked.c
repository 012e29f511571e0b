// SPDX-License-Identifier: Apache-2.0
// Collectives of bytes where every rank has two connections, to its right and from its left.
// Ranks in between pass on what is not for them.
//
// No deadlock, with bounded memory:
//
// * gather, scatter and transfer are chains: from the ranks behind the root round to the root, or
//   from the root round to the rank before it. The last of a chain always reads. So the one before
//   it gets rid of what it has, and reads on, and so do all.
// * all_to_all goes in steps. In each step every rank sends and receives equally much at the same
//   time, from one buffer and into another one. So no rank stops reading because it cannot send.
//   What a step sends came in the step before.
#include <string.h>

#include "ring/collectives/link.h"

#include "ring/collectives/call.h"
#include "ring/collectives/mesh.h"
#include "ring/collectives/stage.h"
#include "ring/collectives/types.h"
#include "ring/failure.h"

enum { STAGE_BYTES = 4 << 20, PASS_BYTES = 256 << 10 };

typedef struct linked {
    gn_comm *comm;
    const uint8_t *send;
    uint8_t *recv;
    size_t bytes;  ///< of a block
    int position;  ///< of this rank, counted to the right from the root
} linked;

static int rank_at(const linked *l, int position)
{
    return (l->comm->rank - l->position + position + 2 * l->comm->size) % l->comm->size;
}

/// Passes bytes on from the left to the right: while one buffer leaves, the other one fills.
static gn_status pass_on(const linked *l, size_t blocks)
{
    uint64_t left = (uint64_t)blocks * l->bytes;
    size_t have = 0;
    gn_status status = GN_OK;
    if (!left) return GN_OK;
    uint8_t *full = gn_stage(l->comm, 2 * (size_t)PASS_BYTES);
    if (!full) return gn_oob_no_memory(l->comm);
    uint8_t *empty = full + PASS_BYTES;
    while (!status && (left || have)) {
        const size_t next = left < PASS_BYTES ? (size_t)left : PASS_BYTES;
        status = gn_link_exchange(l->comm, full, have, empty, next);
        left -= next;
        have = next;
        uint8_t *other = full;
        full = empty;
        empty = other;
    }
    return status;
}

static gn_status gather(const linked *l)
{
    const int size = l->comm->size;
    if (l->position) {
        const gn_status status = gn_link_exchange(l->comm, l->send, l->bytes, NULL, 0);
        return status ? status : pass_on(l, (size_t)l->position - 1);
    }
    gn_status status = GN_OK;
    gn_link_copy(l->recv + (size_t)l->comm->rank * l->bytes, l->send, l->bytes);
    for (int p = size - 1; p > 0 && !status; p--)
        status = gn_link_exchange(l->comm, NULL, 0, l->recv + (size_t)rank_at(l, p) * l->bytes, l->bytes);
    return status;
}

static gn_status scatter(const linked *l)
{
    const int size = l->comm->size;
    if (l->position) {
        const gn_status status = pass_on(l, (size_t)(size - 1 - l->position));
        return status ? status : gn_link_exchange(l->comm, NULL, 0, l->recv, l->bytes);
    }
    gn_status status = GN_OK;
    for (int p = size - 1; p > 0 && !status; p--)
        status = gn_link_exchange(l->comm, l->send + (size_t)rank_at(l, p) * l->bytes, l->bytes, NULL, 0);
    gn_link_copy(l->recv, l->send + (size_t)l->comm->rank * l->bytes, l->bytes);
    return status;
}

static gn_status transfer(const linked *l, int to)
{
    const int target = (to - rank_at(l, 0) + l->comm->size) % l->comm->size;
    if (!l->position) {
        if (!target) gn_link_copy(l->recv, l->send, l->bytes);
        return target ? gn_link_exchange(l->comm, l->send, l->bytes, NULL, 0) : GN_OK;
    }
    if (l->position < target) return pass_on(l, 1);
    return l->position == target ? gn_link_exchange(l->comm, NULL, 0, l->recv, l->bytes) : GN_OK;
}

/// A part of every block: `bytes` of them from `at` on. Step h brings what rank r-h has for r and
/// for those behind it, and takes away all of that but the first.
static gn_status exchange_part(const linked *l, size_t at, size_t bytes, uint8_t *out, uint8_t *in)
{
    const int size = l->comm->size, rank = l->comm->rank;
    gn_status status = GN_OK;
    for (int d = 1; d < size; d++)
        memcpy(out + (size_t)(d - 1) * bytes, l->send + (size_t)((rank + d) % size) * l->bytes + at, bytes);
    for (int step = 1; step < size && !status; step++) {
        const size_t bundle = (size_t)(size - step) * bytes;
        const size_t skip = step > 1 ? bytes : 0;
        status = gn_link_exchange(l->comm, out + skip, bundle, in, bundle);
        if (!status) memcpy(l->recv + (size_t)((rank - step + size) % size) * l->bytes + at, in, bytes);
        uint8_t *other = out;
        out = in;
        in = other;
    }
    return status;
}

static gn_status all_to_all(const linked *l)
{
    const size_t others = (size_t)l->comm->size - 1, own = (size_t)l->comm->rank * l->bytes;
    gn_link_copy(l->recv + own, l->send + own, l->bytes);
    if (!others || !l->bytes) return GN_OK;
    const size_t most = STAGE_BYTES / 2 / others, part = l->bytes < most ? l->bytes : most;
    uint8_t *stage = gn_stage(l->comm, 2 * others * part);
    if (!stage) return gn_oob_no_memory(l->comm);
    gn_status status = GN_OK;
    for (size_t at = 0; at < l->bytes && !status; at += part)
        status = exchange_part(l, at, l->bytes - at < part ? l->bytes - at : part, stage, stage + others * part);
    return status;
}

/// Bytes that come from the left neighbour.
static uint64_t expected(const linked *l, const gn_call *call)
{
    const uint64_t others = (uint64_t)l->comm->size - 1, before = (uint64_t)l->position;
    const int target = (call->to - call->root + l->comm->size) % l->comm->size;
    switch (call->collective) {
    case GN_GATHER:
        return (before ? before - 1 : others) * l->bytes;
    case GN_SCATTER:
        return before ? (others + 1 - before) * l->bytes : 0;
    case GN_TRANSFER:
        return before && l->position <= target ? l->bytes : 0;
    default:
        return others * (others + 1) / 2 * l->bytes;
    }
}

gn_status gn_linked_run(gn_comm *comm, const gn_call *call)
{
    const bool by_messages = gn_call_by_messages(comm, call);
    if (by_messages || gn_comm_is_mesh(comm)) return gn_mesh_run(comm, call, by_messages);
    const linked l = {.comm = comm,
                      .send = call->send,
                      .recv = call->recv,
                      .bytes = call->count * gn_type_bytes(call->type),
                      .position = (comm->rank - call->root + comm->size) % comm->size};
    comm->data_expected = expected(&l, call);
    switch (call->collective) {
    case GN_GATHER:
        return gather(&l);
    case GN_SCATTER:
        return scatter(&l);
    case GN_TRANSFER:
        return transfer(&l, call->to);
    default:
        return all_to_all(&l);
    }
}
