// SPDX-License-Identifier: Apache-2.0
#include "ring/collectives/call.h"

#include <endian.h>

#include <libdeflate.h>

#include "ring/collectives/types.h"

enum { BUCKETS = 65536 };

const char *gn_collective_name(gn_collective collective)
{
    static const char *const names[GN_COLLECTIVES] = {
        [GN_ALLREDUCE] = "allreduce",   [GN_BARRIER] = "barrier",     [GN_REDUCE_SCATTER] = "reduce_scatter",
        [GN_ALL_GATHER] = "all_gather", [GN_BROADCAST] = "broadcast", [GN_REDUCE] = "reduce",
        [GN_GATHER] = "gather",         [GN_SCATTER] = "scatter",     [GN_ALL_TO_ALL] = "all_to_all",
        [GN_TRANSFER] = "transfer"};
    return (unsigned)collective < GN_COLLECTIVES ? names[collective] : NULL;
}

gn_call gn_call_of_bucket(const gn_bucket *bucket)
{
    return (gn_call){.collective = GN_ALLREDUCE,
                     .send = bucket->send,
                     .recv = bucket->recv,
                     .count = bucket->count,
                     .op = bucket->op,
                     .residual = bucket->residual,
                     .id = bucket->id,
                     .layer = bucket->layer,
                     .layers = bucket->layers};
}

static bool computes(const gn_call *call)
{
    return call->collective == GN_ALLREDUCE || call->collective == GN_REDUCE_SCATTER || call->collective == GN_REDUCE;
}

static bool has_root(const gn_call *call)
{
    return (call->collective >= GN_BROADCAST && call->collective <= GN_SCATTER) || call->collective == GN_TRANSFER;
}

bool gn_call_is_exact(const gn_call *call)
{
    if (computes(call)) return gn_type_is_exact(call->type, call->op);
    return !call->lossy && call->collective != GN_BARRIER;
}

// Sizes -------------------------------------------------------------------------------------------

size_t gn_call_block(const gn_call *call, int block)
{
    if (call->collective == GN_BROADCAST || call->collective == GN_REDUCE) return block == call->root ? call->count : 0;
    return call->counts ? call->counts[block] : call->count;
}

size_t gn_call_starts(const gn_call *call, int size, size_t starts[GN_RANKS_MAX + 1])
{
    starts[0] = 0;
    for (int b = 0; b < size; b++) starts[b + 1] = starts[b] + gn_call_block(call, b);
    return starts[size];
}

/// Whether all that the call speaks of fits into memory.
static bool fits(const gn_comm *comm, const gn_call *call)
{
    size_t left = PTRDIFF_MAX / gn_type_bytes(call->type);
    if (!call->counts) return call->count <= left / (size_t)comm->size;
    for (int b = 0; b < comm->size; b++) {
        if (call->counts[b] > left) return false;
        left -= call->counts[b];
    }
    return true;
}

// Buffers -----------------------------------------------------------------------------------------

/// The elements that this rank gives and gets.
typedef struct ends {
    size_t send, recv;
    size_t own;    ///< where `recv` may lie in `send`, or the other way round: an element
    bool in_recv;  ///< `send` may be in `recv`; else `recv` in `send`
    bool in_place;
} ends;

static ends ends_of(const gn_comm *comm, const gn_call *call)
{
    const size_t count = call->count, all = count * (size_t)comm->size, own = count * (size_t)comm->rank;
    const bool root = comm->rank == call->root;
    size_t starts[GN_RANKS_MAX + 1];
    switch (call->collective) {
    case GN_ALLREDUCE:
        return (ends){.send = count, .recv = count, .in_place = true};
    case GN_REDUCE_SCATTER:
        return (ends){.send = gn_call_starts(call, comm->size, starts), .recv = gn_call_block(call, comm->rank)};
    case GN_ALL_GATHER:
        return (ends){.recv = gn_call_starts(call, comm->size, starts),
                      .send = gn_call_block(call, comm->rank),
                      .own = starts[comm->rank],
                      .in_recv = true,
                      .in_place = true};
    case GN_BROADCAST:
        return (ends){.recv = count};
    case GN_REDUCE:
        return (ends){.send = count, .recv = root ? count : 0, .in_place = true};
    case GN_GATHER:
        return (ends){.send = count, .recv = root ? all : 0, .own = own, .in_recv = true, .in_place = true};
    case GN_SCATTER:
        return (ends){.send = root ? all : 0, .recv = count, .own = own, .in_place = true};
    case GN_ALL_TO_ALL:
        return (ends){.send = all, .recv = all};
    case GN_TRANSFER:
        return (ends){.send = root ? count : 0, .recv = comm->rank == call->to ? count : 0, .in_place = true};
    default:
        return (ends){0};
    }
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_bytes && b_bytes && (x < y ? y - x < a_bytes : x - y < b_bytes);
}

static const char *wrong_buffers(const gn_comm *comm, const gn_call *call)
{
    const ends e = ends_of(comm, call);
    const size_t width = gn_type_bytes(call->type), send = e.send * width, recv = e.recv * width;
    const uintptr_t whole = (uintptr_t)(e.in_recv ? call->recv : call->send),
                    part = (uintptr_t)(e.in_recv ? call->send : call->recv);
    if ((send && !call->send) || (recv && !call->recv)) return "send or recv is NULL";
    if (overlap(call->send, send, call->recv, recv) && !(e.in_place && part == whole + e.own * width))
        return "send and recv overlap";
    const size_t residuals = call->residual ? e.send * sizeof(float) : 0;
    if (overlap(call->residual, residuals, call->send, send) || overlap(call->residual, residuals, call->recv, recv))
        return "residual overlaps send or recv";
    return NULL;
}

bool gn_call_by_messages(const gn_comm *comm, const gn_call *call)
{
    const gn_comm_config *config = &comm->config;
    const bool exact = gn_call_is_exact(call), marked = config->offload == GN_OFFLOAD_NIC || config->wire;
    if (call->collective == GN_BARRIER || gn_comm_is_alone(comm)) return false;
    if (!gn_comm_goes_round(comm) && call->collective != GN_ALLREDUCE) return true;
    return exact && (marked || !gn_comm_goes_round(comm));
}

const char *gn_call_wrong(const gn_comm *comm, const gn_call *call)
{
    const bool floats = gn_type_staged(call->type) == GN_F32;
    if (!gn_collective_name(call->collective)) return "the collective is not known";
    if (!gn_type_name(call->type)) return "the type is not known";
    if (!gn_op_name(call->op)) return "op is none of GN_SUM, GN_AVERAGE, GN_MIN and GN_MAX";
    if (computes(call) && call->op == GN_AVERAGE && !floats && call->type != GN_F64)
        return "integers have no average: take GN_SUM";
    if (call->counts && call->collective != GN_REDUCE_SCATTER && call->collective != GN_ALL_GATHER)
        return "counts are for reduce_scatter and all_gather";
    if (!fits(comm, call)) return "count is larger than memory";
    if (has_root(call) && (call->root < 0 || call->root >= comm->size)) return "root is not a rank";
    if (call->collective == GN_TRANSFER && (call->to < 0 || call->to >= comm->size)) return "to is not a rank";
    if (call->id >= BUCKETS && call->id != GN_BUCKET_NONE) return "bucket id is not below 65536";
    if (call->lossy && (call->collective != GN_ALL_GATHER || !floats))
        return "lossy is for all_gather of f32, bf16 and f16";
    if ((call->lossy || call->residual) && !comm->config.quantise)
        return call->lossy ? "lossy needs `quantise`" : "a residual needs `quantise`";
    if (call->residual && (gn_call_is_exact(call) || !computes(call) || call->collective == GN_REDUCE))
        return "a residual is for allreduce and reduce_scatter: sums and averages of f32, bf16 and f16";
    return wrong_buffers(comm, call);
}

// The header --------------------------------------------------------------------------------------

/// Describes the counts of ranks. Equal ones are the same as no counts.
static void say_counts(const gn_comm *comm, const gn_call *call, gn_op_header *header)
{
    uint64_t little[GN_RANKS_MAX], all = 0;
    bool equal = true;
    for (int b = 0; b < comm->size; b++) {
        little[b] = htole64(call->counts[b]);
        all += call->counts[b];
        equal &= call->counts[b] == call->counts[0];
    }
    header->count = equal ? call->counts[0] : all;
    if (equal) return;
    const uint32_t crc = libdeflate_crc32(0, little, (size_t)comm->size * sizeof *little);
    header->shape = crc ? crc : 1;
}

gn_op_header gn_call_header(const gn_comm *comm, const gn_call *call)
{
    gn_op_header header = {.count = call->count,
                           .kind = (uint8_t)call->collective,
                           .algorithm = (uint8_t)comm->config.algorithm,
                           .type = (uint8_t)call->type};
    if (computes(call)) header.op = (uint8_t)call->op, header.bucket = call->id;
    if (call->lossy) header.op = 1;
    if (has_root(call)) header.root = (uint16_t)call->root;
    if (call->collective == GN_TRANSFER) header.to = (uint16_t)call->to;
    if (call->counts) say_counts(comm, call, &header);
    return header;
}
