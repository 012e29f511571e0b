// SPDX-License-Identifier: Apache-2.0
// INCEPTIONN (MICRO 2018) Algorithm 1. The vector is cut into N blocks. In N-1 steps rank r sends
// block r-s and adds what arrives to block r-s-1. Then block r+1 is whole at rank r, and in N-1
// more steps the sums go round.
//
// Each leg may run alone: the first leaves block r whole at rank r, and the second begins with it
// there. Then all ranks are turned by one.
//
// No barrier stands between the steps. What a rank sends is one run of bytes, what it receives
// another. It may have sent in step s+1 whatever it has received in step s, so a link that is the
// bottleneck never waits.
#include <errno.h>
#include <string.h>

#include "ring/await.h"
#include "ring/blocks.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/exchange.h"
#include "ring/turn.h"

enum { LOOK_EVERY = 64 };

typedef struct ring {
    gn_exchange *x;
    gn_comm *comm;
    const gn_circle *circle;
    int left, right;   ///< neighbours
    int first, steps;  ///< the first step, and the one after the last: 0 and 2(N-1) with both legs
    int send_step, recv_step;
    size_t sent, received;       ///< bytes of the block of that step
    size_t own_ready;            ///< bytes of the first block that are ready to be sent
    size_t finished;             ///< bytes of the block being sent that are finished (second leg)
    size_t staged, staged_sent;  ///< with a wire function: bytes in `out`, and how many left
    uint8_t *in, *out;
    bool header_checked;
    bool send_full;  ///< the socket took less than there was
} ring;

static size_t block_start(const ring *r, int block)
{
    return r->x->starts ? r->x->starts[block] : gn_block_start(r->x->bucket->count, r->circle->size, block);
}

static int block_of(const ring *r, int step, int behind)
{
    return gn_block_of(r->circle->own - (r->x->legs != GN_LEGS_BOTH), r->circle->size, step, behind);
}

static size_t block_bytes(const ring *r, int block)
{
    if (r->x->starts) return (r->x->starts[block + 1] - r->x->starts[block]) * r->x->width;
    return gn_block_values(r->x->bucket->count, r->circle->size, block) * r->x->width;
}

static bool done(const ring *r)
{
    return r->send_step == r->steps && r->recv_step == r->steps;
}

/// Bytes of whole elements. Their width is a power of two.
static size_t whole_of(const ring *r, size_t bytes)
{
    return bytes & ~(r->x->width - 1);
}

/// Where element `first` is.
static uint8_t *element(const ring *r, const void *buffer, size_t first)
{
    return (uint8_t *)((uintptr_t)buffer + first * r->x->width);
}

size_t gn_ring_memory(const gn_comm *comm)
{
    return comm->segment + 64 + (comm->config.wire ? comm->segment : 0);
}

/// Bytes of the current block that may be sent: all that are known here.
static size_t may_send(const ring *r)
{
    size_t whole = block_bytes(r, block_of(r, r->send_step, 0));
    if (r->send_step == r->first || r->recv_step >= r->send_step) return whole;
    return r->recv_step == r->send_step - 1 ? whole_of(r, r->received) : 0;
}

/// Where the bytes of this step are. The first block goes straight from the caller's buffer
/// when nothing is done to it.
static const uint8_t *send_source(ring *r, size_t start)
{
    const gn_bucket *bucket = r->x->bucket;
    bool direct = r->send_step == r->first && !r->x->own_pass;
    return element(r, direct ? bucket->send : bucket->recv, start);
}

/// First block: makes the next segment ready just ahead of the sending, while it is in the cache.
static size_t make_own_ready(ring *r, size_t start, size_t limit)
{
    if (r->send_step != r->first || !r->x->own_pass) return limit;
    if (r->sent == r->own_ready && r->own_ready < limit) {
        size_t bytes = limit - r->own_ready < r->comm->segment ? limit - r->own_ready : r->comm->segment;
        gn_exchange_own(r->x, start + r->own_ready / r->x->width, bytes / r->x->width);
        r->own_ready += bytes;
    }
    return r->own_ready;
}

/// Second leg: finishes what has been sent on.
static void finish_sent(ring *r, size_t start)
{
    if (r->send_step < r->circle->size - 1) return;
    size_t whole = whole_of(r, r->sent);
    gn_exchange_finish(r->x, start + r->finished / r->x->width, (whole - r->finished) / r->x->width);
    r->finished = whole;
}

static void count_sent(ring *r, size_t start, size_t bytes)
{
    r->sent += bytes;
    r->comm->data_sent[r->right] += bytes;
    finish_sent(r, start);
}

/// Copies a piece aside and gives it to the caller's wire function. @return false when nothing is
/// there.
static bool stage(ring *r, const uint8_t *source, size_t available)
{
    if (r->staged_sent < r->staged) return true;
    r->staged = available < r->comm->segment ? available & ~(size_t)3 : r->comm->segment;
    r->staged_sent = 0;
    memcpy(r->out, source, r->staged);
    if (r->staged) r->comm->config.wire(r->comm->config.wire_context, (float *)(void *)r->out, r->staged / 4);
    return r->staged > 0;
}

static void next_send_step(ring *r)
{
    while (r->send_step < r->steps && r->sent == block_bytes(r, block_of(r, r->send_step, 0))) {
        r->send_step++;
        r->sent = r->finished = 0;
    }
}

/// @return bytes sent, 0 when nothing can be, -1 with errno
static ssize_t send_some(ring *r)
{
    size_t start = block_start(r, block_of(r, r->send_step, 0));
    size_t limit = make_own_ready(r, start, may_send(r));
    r->send_full = false;
    if (limit <= r->sent) return 0;
    const uint8_t *source = send_source(r, start) + r->sent;
    size_t available = limit - r->sent;
    if (r->comm->config.wire) {
        if (!stage(r, source, available)) return 0;
        source = r->out + r->staged_sent;
        available = r->staged - r->staged_sent;
    }
    size_t want = available < 2 * r->comm->segment ? available : 2 * r->comm->segment;
    ssize_t sent = gn_data_send(&r->comm->neighbours[r->right], source, want);
    r->send_full = sent < (ssize_t)want;
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (r->comm->config.wire) r->staged_sent += (size_t)sent;
    count_sent(r, start, (size_t)sent);
    next_send_step(r);
    return sent;
}

/// First leg: adds whole values to the block, from element `first` of the vector on.
static void add(ring *r, size_t first, size_t count, const void *values)
{
    gn_exchange_own_add(r->x, first, count, values);
    if (r->recv_step == r->circle->size - 2) gn_exchange_settle(r->x, first, count);
    if (r->recv_step == r->steps - 1) gn_exchange_finish(r->x, first, count);
}

/// The same for what was received into `in`. A value that is cut in two waits at its front.
static void reduce(ring *r, size_t start, size_t fragment, size_t got)
{
    const size_t whole = whole_of(r, fragment + got);
    add(r, start + (r->received - fragment) / r->x->width, whole / r->x->width, r->in);
    memmove(r->in, r->in + whole, fragment + got - whole);
}

/// The same where the values lie, in shared memory. @return bytes; 0: they have to be received
static size_t reduce_there(ring *r, size_t start, size_t most)
{
    const void *values;
    const gn_neighbour *left = &r->comm->neighbours[r->left];
    const size_t there = whole_of(r, most) ? gn_data_look(left, r->x->width, &values) : 0;
    const size_t bytes = there < most ? there : whole_of(r, most);
    if (!bytes) return 0;
    add(r, start + r->received / r->x->width, bytes / r->x->width, values);
    gn_data_take_off(left, bytes);
    return bytes;
}

/// Last step: finishes what was received, because nobody waits for it.
static void finish_received(ring *r, size_t start, size_t got)
{
    if (r->recv_step != r->steps - 1) return;
    const size_t from = whole_of(r, r->received), to = whole_of(r, r->received + got);
    gn_exchange_finish(r->x, start + from / r->x->width, (to - from) / r->x->width);
}

static void next_recv_step(ring *r)
{
    while (r->recv_step < r->steps && r->received == block_bytes(r, block_of(r, r->recv_step, 1))) {
        r->recv_step++;
        r->received = 0;
    }
}

/// @return bytes received, 0 when there are none, -1 with errno (0: the connection has ended)
static ssize_t recv_some(ring *r)
{
    int block = block_of(r, r->recv_step, 1);
    size_t start = block_start(r, block), left = block_bytes(r, block) - r->received;
    bool reducing = r->recv_step < r->circle->size - 1;
    size_t fragment = reducing ? r->received - whole_of(r, r->received) : 0;
    uint8_t *to = reducing ? r->in + fragment : element(r, r->x->bucket->recv, start) + r->received;
    size_t room = reducing ? r->comm->segment - fragment : 2 * r->comm->segment;
    const size_t most = left < room ? left : room;
    const size_t added = reducing && !fragment ? reduce_there(r, start, most) : 0;
    ssize_t got = added ? (ssize_t)added : gn_data_receive(&r->comm->neighbours[r->left], to, most);
    if (got == 0) {
        errno = 0;
        return -1;
    }
    if (got < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (added)
        ;  // where it lay
    else if (reducing)
        reduce(r, start, fragment, (size_t)got);
    else
        finish_received(r, start, (size_t)got);
    r->received += (size_t)got;
    gn_comm_count_received(r->comm, r->left, (size_t)got);
    r->comm->phase = reducing ? "reduce leg" : "send-back leg";
    next_recv_step(r);
    return got;
}

/// What this rank wants of its neighbours, who may be one.
static gn_status await(ring *r, bool blocked)
{
    gn_wish wishes[GN_RANKS_MAX] = {0};
    wishes[r->left].reading = r->recv_step < r->steps && r->header_checked;
    wishes[r->left].owes = r->recv_step < r->steps;
    wishes[r->right].sending = r->send_full;
    return gn_await_data(r->comm, wishes, blocked);
}

static gn_status move(ring *r, bool *moved)
{
    gn_comm *comm = r->comm;
    ssize_t sent = 0, got = 0;
    if (r->send_step < r->steps && (sent = send_some(r)) < 0) return gn_oob_data_lost(comm, r->right, errno);
    if (!r->header_checked) r->header_checked = gn_oob_has_header(comm, r->left);
    if (r->recv_step < r->steps && r->header_checked && (got = recv_some(r)) < 0)
        return gn_oob_data_lost(comm, r->left, errno);
    if (r->send_step > r->first && r->recv_step >= r->circle->size - 1) gn_exchange_offer(r->x);
    *moved = sent > 0 || got > 0;
    if (!*moved) return GN_OK;
    const uint64_t now = gn_now();
    if (sent > 0) gn_oob_sign(comm, r->right, now);
    if (got > 0) gn_oob_sign(comm, r->left, now);
    return GN_OK;
}

gn_status gn_ring_run(gn_exchange *exchange)
{
    gn_comm *comm = exchange->comm;
    const gn_circle *circle = gn_exchange_circle(exchange);
    const int leg = circle->size - 1;
    ring r = {.x = exchange,
              .comm = comm,
              .circle = circle,
              .left = circle->left,
              .right = circle->right,
              .first = exchange->legs == GN_LEG_GATHER ? leg : 0,
              .steps = exchange->legs == GN_LEG_REDUCE ? leg : 2 * leg,
              .in = comm->memory,
              .out = comm->memory + comm->segment + 64};
    r.send_step = r.recv_step = r.first;
    for (int step = r.first; step < r.steps; step++) comm->data_expected += block_bytes(&r, block_of(&r, step, 1));
    next_send_step(&r);
    next_recv_step(&r);
    gn_status status = GN_OK;
    for (unsigned lap = 1; !status && !done(&r); lap++) {
        bool moved = false;
        status = move(&r, &moved);
        if (!status && (!moved || lap % LOOK_EVERY == 0)) status = await(&r, !moved);
    }
    return status;
}
