// SPDX-License-Identifier: Apache-2.0
// The ring of ring.c where the ranks compress themselves. The steps are the same. In the first leg
// a rank reads a segment, adds its own values to it and writes the sum as a segment, in one pass.
// In the second leg it passes segments on as they are, and decodes them for itself.
//
// No deadlock, with bounded memory. A rank always reads what comes. What it makes of it waits for
// the right neighbour in one of a few buffers. When they are full, the values wait in `recv`, which
// has room for all of them, and are coded when their turn comes. So no rank ever stops reading
// because another does not, and the ring cannot wait for itself.
#include <errno.h>
#include <string.h>

#include "ring/await.h"
#include "ring/blocks.h"
#include "ring/coded.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/failure.h"
#include "ring/turn.h"

enum {
    LOOK_EVERY = 16,
    BUFFERS = 8,  // one arrives, one leaves, one is made, and the others wait
    BUFFERS_LEAST = 4,
    MEMORY_MOST = 8 << 20,
};

/// Where one direction is: a segment of a block of a step.
typedef struct place {
    int step;
    size_t segment;
    uint64_t item;  ///< segments before this one, of all steps
} place;

typedef struct ring {
    gn_exchange *x;
    gn_comm *comm;
    const gn_circle *circle;
    int left, right;   ///< neighbours
    int first, steps;  ///< the first step, and the one after the last: 0 and 2(N-1) with both legs
    size_t values;     ///< of a segment
    place send, recv;
    uint64_t first_items;  ///< segments of the first step, which come from no one
    gn_coded buffer[BUFFERS], *idle[BUFFERS], *queue[BUFFERS];
    unsigned buffers, idle_count, queue_first, queue_count;
    gn_coded *leaving;
    size_t sent;  ///< bytes of it
    gn_coded_in arriving;
    bool header_checked;
    bool send_full;  ///< the socket took less than there was
} ring;

static unsigned buffers_of(const gn_comm *comm)
{
    const size_t fit = MEMORY_MOST / gn_coded_room(comm);
    return fit >= BUFFERS ? BUFFERS : fit < BUFFERS_LEAST ? BUFFERS_LEAST : (unsigned)fit;
}

size_t gn_ring_coded_memory(const gn_comm *comm)
{
    return buffers_of(comm) * gn_coded_room(comm);
}

// Blocks and segments -----------------------------------------------------------------------------

static size_t block_first(const ring *r, int block)
{
    return r->x->starts ? r->x->starts[block] : gn_block_start(r->x->bucket->count, r->circle->size, block);
}

static size_t block_values(const ring *r, int block)
{
    return block_first(r, block + 1) - block_first(r, block);
}

static size_t segments_of(const ring *r, int block)
{
    return (block_values(r, block) + r->values - 1) / r->values;
}

static int block_at(const ring *r, const place *p, int behind)
{
    return gn_block_of(r->circle->own - (r->x->legs != GN_LEGS_BOTH), r->circle->size, p->step, behind);
}

/// The values of a place.
static size_t values_at(const ring *r, const place *p, int behind, size_t *first)
{
    const int block = block_at(r, p, behind);
    const size_t from = p->segment * r->values, left = block_values(r, block) - from;
    *first = block_first(r, block) + from;
    return left < r->values ? left : r->values;
}

/// Skips blocks that have no values.
static void settle_place(const ring *r, place *p, int behind)
{
    while (p->step < r->steps && p->segment == segments_of(r, block_at(r, p, behind))) {
        p->step++;
        p->segment = 0;
    }
}

static void advance(const ring *r, place *p, int behind)
{
    p->segment++;
    p->item++;
    settle_place(r, p, behind);
}

static bool is_second_leg(const ring *r, const place *p)
{
    return p->step >= r->circle->size - 1;
}

// Buffers -----------------------------------------------------------------------------------------

static gn_coded *take_idle(ring *r)
{
    return r->idle[--r->idle_count];
}

static void give_idle(ring *r, gn_coded *buffer)
{
    r->idle[r->idle_count++] = buffer;  // the last one in is in the cache
}

/// Whether one more segment may wait: a buffer stays for what leaves next.
static bool may_queue(const ring *r)
{
    return r->queue_count + 2 + (r->leaving != NULL) < r->buffers;
}

/// What is received is sent on as item `first_items` + its own number.
static void enqueue(ring *r, gn_coded *buffer)
{
    buffer->item = r->first_items + r->recv.item;
    r->queue[(r->queue_first + r->queue_count++) % BUFFERS] = buffer;
}

// Sending -----------------------------------------------------------------------------------------

/// Codes what waited in `recv` because no buffer was free.
static gn_coded *code_late(ring *r, size_t first, size_t count)
{
    gn_coded *buffer = take_idle(r);
    gn_coded_values_of(r->x, first, count, false, buffer);
    if (is_second_leg(r, &r->send)) gn_exchange_finish(r->x, first, count);
    return buffer;
}

/// Finds what leaves next. @return false when it is not known yet
static bool prepare(ring *r)
{
    size_t first;
    const size_t count = values_at(r, &r->send, 0, &first);
    if (r->send.item < r->first_items) {
        r->leaving = take_idle(r);
        gn_coded_own(r->x, first, count, r->leaving);
        if (is_second_leg(r, &r->send)) gn_exchange_finish(r->x, first, count);
    } else if (r->send.item >= r->first_items + r->recv.item) {
        return false;
    } else if (r->queue_count && r->queue[r->queue_first]->item == r->send.item) {
        r->leaving = r->queue[r->queue_first];
        r->queue_first = (r->queue_first + 1) % BUFFERS;
        r->queue_count--;
    } else {
        r->leaving = code_late(r, first, count);
    }
    gn_coded_seal(r->leaving, (uint32_t)r->send.item);
    r->sent = 0;
    return true;
}

/// @return bytes sent, 0 when nothing can be, -1 with errno
static ssize_t send_some(ring *r)
{
    r->send_full = false;
    if (!r->leaving && !prepare(r)) return 0;
    const size_t want = r->leaving->length - r->sent;
    const ssize_t sent = gn_data_send(&r->comm->neighbours[r->right], r->leaving->bytes + r->sent, want);
    r->send_full = sent < (ssize_t)want;
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    r->sent += (size_t)sent;
    r->comm->wire_sent += (size_t)sent;
    if (r->sent < r->leaving->length) return sent;
    size_t first;
    r->comm->data_sent[r->right] += values_at(r, &r->send, 0, &first) * sizeof(float);
    give_idle(r, r->leaving);
    r->leaving = NULL;
    advance(r, &r->send, 0);
    return sent;
}

// Receiving ---------------------------------------------------------------------------------------

static gn_neighbour *left_of(const ring *r)
{
    return &r->comm->neighbours[r->left];
}

/// First leg: adds our values to a segment.
static gn_status reduce(ring *r, size_t first, size_t count)
{
    const bool whole = r->recv.step == r->circle->size - 2, last = r->recv.step == r->steps - 1;
    const bool queued = !last && may_queue(r);
    gn_coded *sum = queued ? take_idle(r) : NULL;
    const gn_status status = gn_coded_add(r->x, first, count, r->arriving.to, sum, whole || !queued, whole);
    if (status) return status;
    gn_coded_release(r->arriving.to, left_of(r));
    if (queued) enqueue(r, sum);
    if (last || (whole && queued)) gn_exchange_finish(r->x, first, count);
    return GN_OK;
}

/// Second leg: decodes a segment, and passes it on as it is.
static gn_status take(ring *r, size_t first, size_t count)
{
    const bool last = r->recv.step == r->steps - 1, queued = !last && may_queue(r);
    if (queued) gn_coded_keep(r->arriving.to, left_of(r));
    const gn_status status = gn_coded_take(r->x, first, count, r->arriving.to);
    if (status) return status;
    gn_coded_release(r->arriving.to, left_of(r));
    if (queued) {
        enqueue(r, r->arriving.to);
        r->arriving.to = take_idle(r);
    }
    if (last || queued) gn_exchange_finish(r->x, first, count);
    return GN_OK;
}

static gn_status receive_some(ring *r, bool *moved)
{
    bool complete;
    size_t first;
    const bool reducing = !is_second_leg(r, &r->recv);
    r->comm->phase = reducing ? "reduce leg" : "send-back leg";
    const ssize_t got = gn_coded_receive(r->comm, &r->arriving, left_of(r), &complete);
    if (got == -1) return gn_oob_data_lost(r->comm, r->left, errno);
    if (got == -2) return gn_coded_damaged(r->comm, r->left, "a wrong header or check", r->recv.item);
    *moved |= got > 0;
    r->comm->wire_received += (size_t)got;
    if (!complete) return GN_OK;
    const size_t count = values_at(r, &r->recv, 1, &first);
    if (reducing ? reduce(r, first, count) : take(r, first, count))
        return gn_coded_damaged(r->comm, r->left, "a wrong stream", r->recv.item);
    gn_comm_count_received(r->comm, r->left, count * sizeof(float));
    advance(r, &r->recv, 1);
    return GN_OK;
}

// Both --------------------------------------------------------------------------------------------

/// What this rank wants of its neighbours, who may be one.
static gn_status await(ring *r, bool blocked)
{
    gn_wish wishes[GN_RANKS_MAX] = {0};
    wishes[r->left].reading = r->recv.step < r->steps && r->header_checked;
    wishes[r->left].owes = r->recv.step < r->steps;
    wishes[r->right].sending = r->send_full;
    return gn_await_data(r->comm, wishes, blocked);
}

static gn_status move(ring *r, bool *moved)
{
    gn_comm *comm = r->comm;
    ssize_t sent = 0;
    bool got = false;
    if (r->send.step < r->steps && (sent = send_some(r)) < 0) return gn_oob_data_lost(comm, r->right, errno);
    if (!r->header_checked) r->header_checked = gn_oob_has_header(comm, r->left);
    if (r->recv.step < r->steps && r->header_checked) {
        const gn_status status = receive_some(r, &got);
        if (status) return status;
    }
    if (r->send.step > r->first && is_second_leg(r, &r->recv)) gn_exchange_offer(r->x);
    *moved = sent > 0 || got;
    if (!*moved) return GN_OK;
    const uint64_t now = gn_now();
    if (sent > 0) gn_oob_sign(comm, r->right, now);
    if (got) gn_oob_sign(comm, r->left, now);
    return GN_OK;
}

static void prepare_buffers(ring *r)
{
    const size_t room = gn_coded_room(r->comm);
    r->buffers = buffers_of(r->comm);
    for (unsigned i = 0; i < r->buffers; i++) {
        r->buffer[i].bytes = r->comm->memory + i * room;
        give_idle(r, &r->buffer[i]);
    }
    r->arriving.to = take_idle(r);
}

gn_status gn_ring_coded_run(gn_exchange *exchange)
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
              .values = gn_coded_values(comm)};
    r.send.step = r.recv.step = r.first;
    prepare_buffers(&r);
    r.first_items = segments_of(&r, block_at(&r, &r.send, 0));
    for (place p = {.step = r.first}; p.step < r.steps; p.step++)
        comm->data_expected += block_values(&r, block_at(&r, &p, 1)) * sizeof(float);
    settle_place(&r, &r.send, 0);
    settle_place(&r, &r.recv, 1);
    gn_status status = GN_OK;
    for (unsigned lap = 1; !status && (r.send.step < r.steps || r.recv.step < r.steps); lap++) {
        bool moved = false;
        status = move(&r, &moved);
        if (!status && (!moved || lap % LOOK_EVERY == 0)) status = await(&r, !moved);
    }
    return status;
}
