// SPDX-License-Identifier: Apache-2.0
// The vector goes in pieces through a stage of bounded size. A piece has the same part of every
// block: so a leg of the ring over a piece is a leg over a vector that is smaller. One piece comes
// behind the other, in the same order at all ranks, on connections that keep order. So nothing more
// needs to be said about where a piece ends.
#include "ring/collectives/staged.h"

#include <string.h>

#include "ring/collectives/call.h"
#include "ring/collectives/mesh.h"
#include "ring/collectives/stage.h"
#include "ring/collectives/types.h"
#include "ring/failure.h"

enum { STAGE_BYTES = 4 << 20 };

void gn_staged_histogram(uint64_t *histogram, gn_type type, const void *values, size_t count)
{
    float chunk[1024];
    const size_t room = sizeof chunk / sizeof *chunk;
    for (size_t done = 0; done < count; done += room) {
        const size_t n = count - done < room ? count - done : room;
        gn_type_load(type, (const uint8_t *)values + done * gn_type_bytes(type), chunk, n);
        gn_histogram_add(histogram, chunk, n);
    }
}

typedef struct staged {
    gn_exchange *x;
    const gn_call *call;
    int blocks, rank;
    size_t length;                    ///< elements of a block in a piece, at most
    size_t from[GN_RANKS_MAX + 1];    ///< blocks in the caller's vector
    size_t starts[GN_RANKS_MAX + 1];  ///< blocks in the piece
    uint8_t *stage;
    float *residual;  ///< of the piece; NULL: none
} staged;

/// Whether this rank gives block `b`, or gets it.
static bool gives(const staged *s, int b)
{
    return s->x->legs != GN_LEG_GATHER || b == s->rank;
}
static bool gets(const staged *s, int b)
{
    return s->x->legs != GN_LEG_REDUCE || b == s->rank;
}

static size_t elements(const staged *s, int b)
{
    return s->starts[b + 1] - s->starts[b];
}

/// The piece that begins `at` elements into each block.
static void cut(staged *s, size_t at)
{
    for (int b = 0; b < s->blocks; b++) {
        const size_t whole = s->from[b + 1] - s->from[b], left = whole > at ? whole - at : 0;
        s->starts[b + 1] = s->starts[b] + (left < s->length ? left : s->length);
    }
}

static void *staged_at(const staged *s, int b)
{
    return s->stage + s->starts[b] * s->x->width;
}

static void load(const staged *s, size_t at)
{
    const gn_call *call = s->call;
    const size_t width = gn_type_bytes(call->type);
    for (int b = 0; b < s->blocks; b++) {
        // A rank that gives one block gives nothing else.
        const size_t first = (s->x->legs == GN_LEG_GATHER ? 0 : s->from[b]) + at;
        if (!gives(s, b) || !elements(s, b)) continue;
        gn_type_load(call->type, (const uint8_t *)call->send + first * width, staged_at(s, b), elements(s, b));
        if (s->residual) memcpy(s->residual + s->starts[b], call->residual + first, elements(s, b) * sizeof(float));
    }
}

static void store(const staged *s, size_t at)
{
    const gn_call *call = s->call;
    const size_t width = gn_type_bytes(call->type);
    for (int b = 0; b < s->blocks; b++) {
        const size_t first = (s->x->legs == GN_LEG_REDUCE ? 0 : s->from[b]) + at;
        if (!elements(s, b)) continue;
        if (gets(s, b))
            gn_type_store(call->type, staged_at(s, b), (uint8_t *)call->recv + first * width, elements(s, b));
        if (s->residual)
            memcpy(call->residual + s->from[b] + at, s->residual + s->starts[b], elements(s, b) * sizeof(float));
    }
}

/// An all_gather has all that its owner's codec makes of it, at the owner, too.
static void quantise_own(gn_exchange *x, size_t first, size_t count)
{
    const gn_codec *codec = &x->comm->config.codec;
    float *values = x->bucket->recv + first;
    if (x->exact || !count) return;
    if (codec->profile == GN_PAPER)
        gn_quantise(codec, values, values, NULL, count);
    else
        gn_exchange_own(x, first, count);
}

static gn_status run_piece(staged *s, size_t at, bool last, int exponent)
{
    gn_exchange *x = s->x;
    float *values = (float *)(void *)s->stage;
    const gn_bucket bucket = {.send = values,
                              .recv = values,
                              .count = s->starts[s->blocks],
                              .op = x->legs == GN_LEG_GATHER ? GN_SUM : s->call->op,  // it computes nothing
                              .residual = s->residual,
                              .id = s->call->id,
                              .layer = s->call->layer,
                              .layers = s->call->layers};
    load(s, at);
    gn_exchange_prepare(x, x->comm, &bucket, exponent);
    x->starts = s->blocks > 1 ? s->starts : NULL;
    x->offered = !last;  // what the rank says of the next scale is of all pieces
    if (x->legs == GN_LEG_GATHER) quantise_own(x, s->starts[s->rank], elements(s, s->rank));
    const gn_status status = x->move(x);
    if (!status && last) gn_exchange_offer(x);
    if (!status) store(s, at);
    return status;
}

/// Elements of the largest block, and how many blocks have some.
static size_t largest(const staged *s, size_t *used)
{
    size_t most = 0;
    *used = 0;
    for (int b = 0; b < s->blocks; b++) {
        const size_t n = s->from[b + 1] - s->from[b];
        if (n > most) most = n;
        *used += n > 0;
    }
    return most;
}

gn_status gn_staged_run(gn_exchange *x, const gn_call *call, int exponent)
{
    gn_comm *comm = x->comm;
    staged s = {.x = x, .call = call, .blocks = x->legs == GN_LEGS_BOTH ? 1 : comm->size, .rank = comm->rank};
    size_t used;
    x->type = gn_type_staged(call->type);
    x->narrow = x->type != call->type;
    x->width = gn_type_bytes(x->type);
    s.from[1] = call->count;
    if (x->legs != GN_LEGS_BOTH) gn_call_starts(call, comm->size, s.from);
    const size_t most = largest(&s, &used), room = STAGE_BYTES / x->width / (used ? used : 1);
    // A switch counts collectives, not pieces.
    s.length = most < room || (comm->config.algorithm == GN_SWITCH && !x->by_messages) ? most : room;
    // What all send of a block has to fit.
    const size_t by_messages = gn_mesh_room(x) / (size_t)comm->size / x->width;
    if (x->by_messages && x->legs == GN_LEG_REDUCE && s.length > by_messages) s.length = by_messages;
    const size_t bytes = (used * s.length * x->width + 63) & ~(size_t)63;
    const size_t residual = call->residual ? used * s.length * sizeof(float) : 0;
    s.stage = gn_stage(comm, bytes + residual + gn_mesh_room(x));
    if (!s.stage && bytes) return gn_oob_no_memory(comm);
    if (call->residual) s.residual = (float *)(void *)(s.stage + bytes);
    gn_status status = GN_OK;
    for (size_t at = 0; !status && at < most; at += s.length) {
        cut(&s, at);
        status = run_piece(&s, at, most - at <= s.length, exponent);
    }
    return status;
}

gn_status gn_gathered_run(gn_exchange *x, const gn_call *call)
{
    gn_comm *comm = x->comm;
    size_t starts[GN_RANKS_MAX + 1];
    const size_t count = gn_call_starts(call, comm->size, starts);
    const gn_bucket bucket = {.send = call->recv, .recv = call->recv, .count = count};
    const size_t first = starts[comm->rank], own = starts[comm->rank + 1] - first;
    x->type = call->type;
    x->starts = starts;
    gn_exchange_prepare(x, comm, &bucket, GN_EXPONENT_NONE);
    uint8_t *place = (uint8_t *)call->recv + first * x->width;
    if (own && call->collective == GN_ALL_GATHER && place != call->send) memcpy(place, call->send, own * x->width);
    quantise_own(x, first, own);
    const gn_status status = x->move(x);
    x->starts = NULL;
    return status;
}
