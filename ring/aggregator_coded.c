// SPDX-License-Identifier: Apache-2.0
// The paper's baseline (worker_aggregator.c) where the ranks compress themselves. Workers code
// their gradients. Rank 0 adds the segments in the order of ranks, and codes each sum once for all.
//
// Rank 0 stops reading when no buffer for a sum is free. Workers read whatever comes, so a buffer
// becomes free as long as they live.
#include <errno.h>
#include <string.h>

#include "ring/await.h"
#include "ring/coded.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/failure.h"
#include "ring/turn.h"

enum { LOOK_EVERY = 16, RESULTS = 4 };

/// Where a vector is cut.
typedef struct cut {
    size_t count, values;  ///< of the vector, of a segment
    size_t segments;
} cut;

static cut cut_of(const gn_exchange *x)
{
    const size_t count = x->bucket->count, values = gn_coded_values(x->comm);
    return (cut){count, values, (count + values - 1) / values};
}

static size_t values_of(const cut *c, size_t segment)
{
    const size_t left = c->count - segment * c->values;
    return left < c->values ? left : c->values;
}

/// A segment that leaves.
typedef struct leaving {
    size_t segment, sent;  ///< its number; bytes of it that have left
    bool full;             ///< the socket took less than there was
} leaving;

/// @return bytes sent, 0 when none could be, -1 with errno; `*whole`: that was the rest
static ssize_t send_segment(gn_comm *comm, int index, const gn_coded *coded, leaving *l, bool *whole)
{
    const size_t want = coded->length - l->sent;
    const ssize_t sent = gn_data_send(&comm->neighbours[index], coded->bytes + l->sent, want);
    *whole = sent == (ssize_t)want;
    l->full = !*whole;
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    l->sent += (size_t)sent;
    comm->wire_sent += (size_t)sent;
    return sent;
}

// Rank 0 ------------------------------------------------------------------------------------------

typedef struct worker {
    gn_coded in;
    gn_coded_in arriving;
    bool here;  ///< a segment is complete, and waits to be added
    leaving out;
} worker;

typedef struct aggregator {
    gn_exchange *x;
    gn_comm *comm;
    const gn_circle *circle;
    int count;  ///< workers
    cut cut;
    size_t segment;             ///< the one being added
    int next;                   ///< index of the worker to be added to it
    size_t finished;            ///< results that everyone has been sent
    gn_coded results[RESULTS];  ///< of segment s: s % RESULTS
    worker *workers;
} aggregator;

size_t gn_aggregator_coded_memory(const gn_comm *comm)
{
    const size_t workers = gn_comm_workers(comm);
    if (!workers) return 2 * gn_coded_room(comm);
    return (workers + RESULTS) * gn_coded_room(comm) + workers * sizeof(worker) + 64;
}

/// Index of the neighbour that is worker `i`.
static int neighbour_of(const aggregator *a, int i)
{
    return a->circle->index[i + 1];
}

static bool wants_data(const aggregator *a, const worker *w)
{
    return !w->here && w->arriving.segment < a->cut.segments;
}

/// All contributions to a segment are in.
static void publish(aggregator *a, size_t first, size_t count)
{
    gn_coded *result = &a->results[a->segment % RESULTS];
    gn_exchange_settle(a->x, first, count);
    if (a->x->legs != GN_LEG_REDUCE) {
        gn_coded_values_of(a->x, first, count, a->comm->config.aggregator_weights, result);
        gn_coded_seal(result, (uint32_t)a->segment);
    }
    gn_exchange_finish(a->x, first, count);
    a->next = 0;
    a->segment++;
}

/// Adds the segments that are next. With the second leg alone they are sums already.
static gn_status add_in_order(aggregator *a, bool *moved)
{
    while (a->segment < a->cut.segments && a->segment < a->finished + RESULTS) {
        const size_t first = a->segment * a->cut.values, count = values_of(&a->cut, a->segment);
        worker *w = &a->workers[a->next];
        if (a->x->legs == GN_LEG_GATHER) {
            publish(a, first, count);
            *moved = true;
            continue;
        }
        if (!w->here) return GN_OK;
        const gn_status status = a->next ? gn_coded_join(a->x, first, count, &w->in)
                                         : gn_coded_add(a->x, first, count, &w->in, NULL, true, false);
        if (status) return gn_coded_damaged(a->comm, neighbour_of(a, a->next), "a wrong stream", a->segment);
        w->here = false;
        gn_coded_release(&w->in, &a->comm->neighbours[neighbour_of(a, a->next)]);
        gn_comm_count_received(a->comm, neighbour_of(a, a->next), count * sizeof(float));
        if (++a->next == a->count) publish(a, first, count);
    }
    if (a->segment == a->cut.segments) gn_exchange_offer(a->x);
    return GN_OK;
}

static gn_status receive_from(aggregator *a, int i, bool *moved)
{
    worker *w = &a->workers[i];
    gn_comm *comm = a->comm;
    const int index = neighbour_of(a, i);
    const ssize_t got = gn_coded_receive(comm, &w->arriving, &comm->neighbours[index], &w->here);
    if (got == -1) return gn_oob_data_lost(comm, index, errno);
    if (got == -2) return gn_coded_damaged(comm, index, "a wrong header or check", w->arriving.segment);
    comm->wire_received += (size_t)got;
    *moved |= got > 0;
    return GN_OK;
}

static gn_status send_to(aggregator *a, int i, bool *moved)
{
    leaving *out = &a->workers[i].out;
    const int index = neighbour_of(a, i);
    bool whole;
    const ssize_t sent = send_segment(a->comm, index, &a->results[out->segment % RESULTS], out, &whole);
    if (sent < 0) return gn_oob_data_lost(a->comm, index, errno);
    *moved |= sent > 0;
    if (!whole) return GN_OK;
    a->comm->data_sent[index] += values_of(&a->cut, out->segment) * sizeof(float);
    *out = (leaving){.segment = out->segment + 1};
    return GN_OK;
}

static gn_status serve(aggregator *a, int i, bool *moved)
{
    worker *w = &a->workers[i];
    const int index = neighbour_of(a, i);
    bool here = false;
    gn_status status = GN_OK;
    if (wants_data(a, w) && gn_oob_has_header(a->comm, index)) status = receive_from(a, i, &here);
    if (!status && w->out.segment < a->segment) status = send_to(a, i, &here);
    if (status || !here) return status;
    *moved = true;
    gn_oob_sign(a->comm, index, gn_now());
    return GN_OK;
}

static void count_finished(aggregator *a)
{
    size_t least = a->cut.segments;
    for (int i = 0; i < a->count; i++)
        if (a->workers[i].out.segment < least) least = a->workers[i].out.segment;
    a->finished = least;
}

static gn_status await(const aggregator *a, bool blocked)
{
    gn_wish wishes[GN_RANKS_MAX] = {0};
    for (int i = 0; i < a->count; i++) {
        const worker *w = &a->workers[i];
        const int index = neighbour_of(a, i);
        wishes[index] = (gn_wish){.reading = wants_data(a, w) && gn_oob_has_header(a->comm, index),
                                  .sending = w->out.full,
                                  .owes = wants_data(a, w)};
    }
    return gn_await_data(a->comm, wishes, blocked);
}

static aggregator aggregator_of(gn_exchange *x)
{
    gn_comm *comm = x->comm;
    const gn_circle *circle = gn_exchange_circle(x);
    const size_t count = (size_t)circle->size - 1, room = gn_coded_room(comm);
    aggregator a = {.x = x, .comm = comm, .circle = circle, .count = (int)count, .cut = cut_of(x)};
    uint8_t *memory = comm->memory;
    for (int i = 0; i < RESULTS; i++, memory += room) a.results[i].bytes = memory;
    uint8_t *frames = memory;
    memory += count * room;
    a.workers = (worker *)(void *)memory;
    for (size_t i = 0; i < count; i++) {
        a.workers[i] = (worker){.in = {.bytes = frames + i * room}};
        a.workers[i].arriving.to = &a.workers[i].in;
        // With one leg alone, the other one counts as done.
        if (x->legs == GN_LEG_REDUCE) a.workers[i].out.segment = a.cut.segments;
        if (x->legs == GN_LEG_GATHER) a.workers[i].arriving.segment = (uint32_t)a.cut.segments;
    }
    if (x->legs == GN_LEG_REDUCE) a.finished = a.cut.segments;
    if (x->legs != GN_LEG_GATHER) comm->data_expected += count * x->bucket->count * sizeof(float);
    return a;
}

static bool is_done(const aggregator *a)
{
    return a->finished == a->cut.segments && a->segment == a->cut.segments;
}

static gn_status aggregate(gn_exchange *exchange)
{
    aggregator a = aggregator_of(exchange);
    gn_comm *comm = a.comm;
    gn_status status = GN_OK;
    for (unsigned lap = 1; !status && !is_done(&a); lap++) {
        bool moved = false;
        comm->phase = a.segment < a.cut.segments ? "gradient leg" : "result leg";
        for (int i = 0; i < a.count && !status; i++) status = serve(&a, i, &moved);
        if (!status) status = add_in_order(&a, &moved);
        if (status) return status;
        count_finished(&a);
        if (!is_done(&a) && (!moved || lap % LOOK_EVERY == 0)) status = await(&a, !moved);
    }
    return status;
}

// Workers -----------------------------------------------------------------------------------------

typedef struct leaf {
    gn_exchange *x;
    gn_comm *comm;
    int head;  ///< the neighbour that adds
    cut cut;
    gn_coded out, in;
    gn_coded_in arriving;
    leaving leaves;
    bool made;  ///< `out` has the segment that leaves
} leaf;

static gn_status send_up(leaf *l, bool *moved)
{
    const size_t segment = l->leaves.segment, count = values_of(&l->cut, segment);
    bool whole;
    if (!l->made) {
        gn_coded_own(l->x, segment * l->cut.values, count, &l->out);
        gn_coded_seal(&l->out, (uint32_t)segment);
        l->made = true;
        if (segment + 1 == l->cut.segments) gn_exchange_offer(l->x);
    }
    const ssize_t sent = send_segment(l->comm, l->head, &l->out, &l->leaves, &whole);
    if (sent < 0) return gn_oob_data_lost(l->comm, l->head, errno);
    *moved |= sent > 0;
    if (!whole) return GN_OK;
    l->comm->data_sent[l->head] += count * sizeof(float);
    l->leaves = (leaving){.segment = segment + 1};
    l->made = false;
    return GN_OK;
}

/// Results never overtake what was sent, so `recv` may hold both.
static gn_status receive_down(leaf *l, bool *moved)
{
    const uint32_t segment = l->arriving.segment;
    bool complete;
    if (segment >= l->leaves.segment || segment >= l->cut.segments) return GN_OK;
    const ssize_t got = gn_coded_receive(l->comm, &l->arriving, &l->comm->neighbours[l->head], &complete);
    if (got == -1) return gn_oob_data_lost(l->comm, l->head, errno);
    if (got == -2) return gn_coded_damaged(l->comm, l->head, "a wrong header or check", segment);
    *moved |= got > 0;
    l->comm->wire_received += (size_t)got;
    if (!complete) return GN_OK;
    const size_t first = segment * l->cut.values, count = values_of(&l->cut, segment);
    if (gn_coded_take(l->x, first, count, &l->in)) return gn_coded_damaged(l->comm, l->head, "a wrong stream", segment);
    gn_coded_release(&l->in, &l->comm->neighbours[l->head]);
    gn_exchange_finish(l->x, first, count);
    gn_comm_count_received(l->comm, l->head, count * sizeof(float));
    return GN_OK;
}

static bool has_all(const leaf *l)
{
    return l->arriving.segment == l->cut.segments && l->leaves.segment == l->cut.segments;
}

static gn_status contribute(gn_exchange *exchange)
{
    gn_comm *comm = exchange->comm;
    const int head = gn_exchange_circle(exchange)->index[0];
    leaf l = {.x = exchange, .comm = comm, .head = head, .cut = cut_of(exchange), .out = {.bytes = comm->memory}};
    gn_wish wishes[GN_RANKS_MAX] = {0};
    l.in.bytes = comm->memory + gn_coded_room(comm);
    l.arriving.to = &l.in;
    if (exchange->legs == GN_LEG_GATHER) l.leaves.segment = l.cut.segments;
    if (exchange->legs == GN_LEG_REDUCE)
        l.arriving.segment = (uint32_t)l.cut.segments;
    else
        comm->data_expected += l.cut.count * sizeof(float);
    gn_status status = gn_oob_await_header(comm, head);
    for (unsigned lap = 1; !status && !has_all(&l); lap++) {
        bool moved = false;
        comm->phase = l.leaves.segment < l.cut.segments ? "gradient leg" : "result leg";
        if (l.leaves.segment < l.cut.segments) status = send_up(&l, &moved);
        if (!status) status = receive_down(&l, &moved);
        if (status) return status;
        if (moved) gn_oob_sign(comm, head, gn_now());
        if (moved && lap % LOOK_EVERY) continue;
        const bool owes = l.arriving.segment < l.cut.segments;
        wishes[head] = (gn_wish){.reading = owes, .sending = l.leaves.full, .owes = owes};
        if (!has_all(&l)) status = gn_await_data(comm, wishes, !moved);
    }
    return status;
}

gn_status gn_aggregator_coded_run(gn_exchange *exchange)
{
    return gn_exchange_circle(exchange)->own ? contribute(exchange) : aggregate(exchange);
}
