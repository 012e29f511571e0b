// SPDX-License-Identifier: Apache-2.0
// The paper's baseline. Workers send their gradients to rank 0, which is a worker, too. It adds
// them segment by segment, in the order of ranks, and sends the sums back to all while the next
// segments come in.
#include <errno.h>
#include <string.h>

#include "ring/await.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/exchange.h"
#include "ring/turn.h"

enum { LOOK_EVERY = 64 };

/// Rank 0's view of one worker. Segments arrive in order; one is kept until it is
/// added.
typedef struct worker {
    size_t segment;  ///< the one that arrives
    size_t filled;   ///< bytes of it
    size_t sent;     ///< bytes of the result
    size_t staged, staged_sent;
    uint8_t *in, *out;
    bool send_full;
} worker;

typedef struct aggregator {
    gn_exchange *x;
    gn_comm *comm;
    const gn_circle *circle;
    int count;            ///< workers
    size_t total, piece;  ///< bytes: of the vector, of a segment
    size_t segment;       ///< the one being added
    int next;             ///< index of the worker to be added to it
    size_t ready;         ///< bytes of the result that are whole
    size_t finished;      ///< bytes that everyone has been sent
    worker *workers;
} aggregator;

/// The staging of N-1 workers shares 4 MiB.
static size_t piece_bytes(const gn_comm *comm)
{
    size_t limit = ((size_t)4 << 20) / (size_t)(2 * comm->size) & ~(size_t)63;
    return comm->segment < limit ? comm->segment : limit;
}

size_t gn_aggregator_memory(const gn_comm *comm)
{
    const size_t workers = gn_comm_workers(comm);
    if (!workers) return comm->segment + 64;
    return workers * (2 * piece_bytes(comm) + sizeof(worker) + 64) + 64;
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/// The second leg is a gradient unless the baseline sends weights back. Only gradients pass the
/// NIC's codec.
static void pass_wire(gn_comm *comm, uint8_t *bytes, size_t length, bool gradient)
{
    const gn_comm_config *config = &comm->config;
    if (gradient && config->wire) config->wire(config->wire_context, (float *)(void *)bytes, length / 4);
    if (!gradient && config->wire_plain) config->wire_plain(config->wire_context, length);
}

static bool has_wire(const gn_comm *comm, bool gradient)
{
    return gradient ? comm->config.wire != NULL : comm->config.wire_plain != NULL;
}

// Rank 0 ------------------------------------------------------------------------------------------

static size_t segment_bytes(const aggregator *a, size_t segment)
{
    return min(a->piece, a->total - segment * a->piece);
}

/// Index of the neighbour that is worker `i`.
static int neighbour_of(const aggregator *a, int i)
{
    return a->circle->index[i + 1];
}

static ssize_t receive_from(aggregator *a, int i)
{
    worker *w = &a->workers[i];
    size_t want = segment_bytes(a, w->segment) - w->filled;
    ssize_t got = gn_data_receive(&a->comm->neighbours[neighbour_of(a, i)], w->in + w->filled, want);
    if (got == 0) errno = 0;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return -1;
    if (got < 0) return 0;
    w->filled += (size_t)got;
    gn_comm_count_received(a->comm, neighbour_of(a, i), (size_t)got);
    return got;
}

static bool wants_data(const aggregator *a, const worker *w)
{
    return w->segment * a->piece < a->total && w->filled < segment_bytes(a, w->segment);
}

/// Adds the segments that are next.
static void add_in_order(aggregator *a)
{
    while (a->segment * a->piece < a->total) {
        size_t bytes = segment_bytes(a, a->segment), first = a->segment * a->piece / 4;
        worker *w = &a->workers[a->next];
        if (w->segment != a->segment || w->filled < bytes) return;
        if (a->next == 0)
            gn_exchange_own_add(a->x, first, bytes / 4, (const float *)(const void *)w->in);
        else
            gn_exchange_add(a->x, first, bytes / 4, (const float *)(const void *)w->in);
        w->segment++;
        w->filled = 0;
        if (++a->next < a->count) continue;
        gn_exchange_settle(a->x, first, bytes / 4);
        a->next = 0;
        a->segment++;
        a->ready += bytes;
    }
    gn_exchange_offer(a->x);
}

static ssize_t send_to(aggregator *a, int i)
{
    worker *w = &a->workers[i];
    const int index = neighbour_of(a, i);
    bool gradient = !a->comm->config.aggregator_weights;
    const uint8_t *source = (const uint8_t *)a->x->bucket->recv + w->sent;
    size_t available = min(a->ready - w->sent, a->piece);
    w->send_full = false;
    if (!available) return 0;
    if (has_wire(a->comm, gradient)) {
        if (w->staged_sent == w->staged) {
            w->staged = available;
            w->staged_sent = 0;
            memcpy(w->out, source, available);
            pass_wire(a->comm, w->out, available, gradient);
        }
        source = w->out + w->staged_sent;
        available = w->staged - w->staged_sent;
    }
    ssize_t sent = gn_data_send(&a->comm->neighbours[index], source, available);
    w->send_full = sent < (ssize_t)available;
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    w->sent += (size_t)sent;
    w->staged_sent += has_wire(a->comm, gradient) ? (size_t)sent : 0;
    a->comm->data_sent[index] += (size_t)sent;
    return sent;
}

/// Finishes results that have gone to everyone.
static void finish_sent(aggregator *a)
{
    size_t least = a->total;
    for (int i = 0; i < a->count; i++) least = min(least, a->workers[i].sent & ~(size_t)3);
    // A piece at a time: to finish 4 bytes for each packet that leaves would cost more than it
    // does.
    if (least < a->total && least - a->finished < a->piece) return;
    gn_exchange_finish(a->x, a->finished / 4, (least - a->finished) / 4);
    a->finished = least;
}

static gn_status serve(aggregator *a, int i, bool *moved)
{
    gn_comm *comm = a->comm;
    const int index = neighbour_of(a, i);
    ssize_t got = 0, sent = 0;
    if (wants_data(a, &a->workers[i]) && gn_oob_has_header(comm, index) && (got = receive_from(a, i)) < 0)
        return gn_oob_data_lost(comm, index, errno);
    if (a->workers[i].sent < a->ready && (sent = send_to(a, i)) < 0) return gn_oob_data_lost(comm, index, errno);
    if (got <= 0 && sent <= 0) return GN_OK;
    *moved = true;
    gn_oob_sign(comm, index, gn_now());
    return GN_OK;
}

static gn_status await(const aggregator *a, bool blocked)
{
    gn_wish wishes[GN_RANKS_MAX] = {0};
    for (int i = 0; i < a->count; i++) {
        const worker *w = &a->workers[i];
        const int index = neighbour_of(a, i);
        wishes[index] = (gn_wish){.reading = wants_data(a, w) && gn_oob_has_header(a->comm, index),
                                  .sending = w->send_full,
                                  .owes = wants_data(a, w)};
    }
    return gn_await_data(a->comm, wishes, blocked);
}

/// With one leg alone, the other one counts as done.
static void take_leg(aggregator *a)
{
    if (a->x->legs == GN_LEG_GATHER) {
        a->segment = (a->total + a->piece - 1) / a->piece;
        a->ready = a->total;
    }
    for (int i = 0; i < a->count; i++) {
        a->workers[i].segment = a->segment;
        if (a->x->legs == GN_LEG_REDUCE) a->workers[i].sent = a->total;
    }
}

static bool is_done(const aggregator *a)
{
    return a->finished == a->total && a->ready == a->total;
}

static gn_status aggregate(gn_exchange *exchange)
{
    gn_comm *comm = exchange->comm;
    const gn_circle *circle = gn_exchange_circle(exchange);
    const size_t count = (size_t)circle->size - 1;
    aggregator a = {.x = exchange,
                    .comm = comm,
                    .circle = circle,
                    .count = (int)count,
                    .total = exchange->bucket->count * sizeof(float),
                    .piece = piece_bytes(comm)};
    uint8_t *memory = comm->memory + count * 2 * a.piece;
    a.workers = (worker *)(void *)memory;
    for (size_t i = 0; i < count; i++)
        a.workers[i] = (worker){.in = comm->memory + 2 * i * a.piece, .out = comm->memory + (2 * i + 1) * a.piece};
    take_leg(&a);
    if (exchange->legs != GN_LEG_GATHER) comm->data_expected += count * a.total;
    gn_status status = GN_OK;
    for (unsigned lap = 1; !status && !is_done(&a); lap++) {
        bool moved = false;
        for (int i = 0; i < a.count && !status; i++) status = serve(&a, i, &moved);
        if (status) return status;
        comm->phase = a.ready < a.total ? "gradient leg" : "result leg";
        add_in_order(&a);
        finish_sent(&a);
        if (!is_done(&a) && (!moved || lap % LOOK_EVERY == 0)) status = await(&a, !moved);
    }
    return status;
}

// Workers -----------------------------------------------------------------------------------------

typedef struct leaf {
    gn_exchange *x;
    gn_comm *comm;
    int head;  ///< the neighbour that adds
    size_t total, prepared, sent, received, staged, staged_sent;
    bool send_full;
} leaf;

static ssize_t send_up(leaf *l)
{
    const gn_bucket *bucket = l->x->bucket;
    const uint8_t *source = (const uint8_t *)(l->x->own_pass ? bucket->recv : bucket->send) + l->sent;
    size_t available = min(l->total - l->sent, l->comm->segment);
    l->send_full = false;
    if (l->x->own_pass) {
        if (l->prepared == l->sent) {
            gn_exchange_own(l->x, l->prepared / 4, available / 4);
            l->prepared += available;
            if (l->prepared == l->total) gn_exchange_offer(l->x);
        }
        available = l->prepared - l->sent;
    }
    if (l->comm->config.wire) {
        if (l->staged_sent == l->staged) {
            l->staged = available;
            l->staged_sent = 0;
            memcpy(l->comm->memory, source, available);
            pass_wire(l->comm, l->comm->memory, available, true);
        }
        source = l->comm->memory + l->staged_sent;
        available = l->staged - l->staged_sent;
    }
    ssize_t sent = gn_data_send(&l->comm->neighbours[l->head], source, available);
    l->send_full = sent < (ssize_t)available;
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    l->sent += (size_t)sent;
    l->staged_sent += l->comm->config.wire ? (size_t)sent : 0;
    l->comm->data_sent[l->head] += (size_t)sent;
    return sent;
}

/// Results never overtake what was sent, so `recv` may hold both.
static ssize_t receive_down(leaf *l)
{
    size_t limit = l->sent & ~(size_t)3;
    if (limit <= l->received) return 0;
    uint8_t *to = (uint8_t *)l->x->bucket->recv + l->received;
    ssize_t got = gn_data_receive(&l->comm->neighbours[l->head], to, min(limit - l->received, 2 * l->comm->segment));
    if (got == 0) errno = 0;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return -1;
    if (got < 0) return 0;
    size_t from = l->received & ~(size_t)3, till = (l->received + (size_t)got) & ~(size_t)3;
    gn_exchange_finish(l->x, from / 4, (till - from) / 4);
    l->received += (size_t)got;
    gn_comm_count_received(l->comm, l->head, (size_t)got);
    return got;
}

static gn_status contribute(gn_exchange *exchange)
{
    gn_comm *comm = exchange->comm;
    const int head = gn_exchange_circle(exchange)->index[0];
    leaf l = {.x = exchange, .comm = comm, .head = head, .total = exchange->bucket->count * sizeof(float)};
    gn_wish wishes[GN_RANKS_MAX] = {0};
    if (exchange->legs == GN_LEG_GATHER) l.sent = l.total;
    if (exchange->legs == GN_LEG_REDUCE) l.received = l.total;
    comm->data_expected += l.total - l.received;
    gn_status status = gn_oob_await_header(comm, head);
    for (unsigned lap = 1; !status && (l.received < l.total || l.sent < l.total); lap++) {
        ssize_t sent = 0, got = 0;
        if (l.sent < l.total && (sent = send_up(&l)) < 0) return gn_oob_data_lost(comm, head, errno);
        if (l.received < l.total && (got = receive_down(&l)) < 0) return gn_oob_data_lost(comm, head, errno);
        comm->phase = l.sent < l.total ? "gradient leg" : "result leg";
        bool moved = sent > 0 || got > 0;
        if (moved) gn_oob_sign(comm, head, gn_now());
        if (moved && lap % LOOK_EVERY) continue;
        const bool owes = l.received < l.total;
        wishes[head] = (gn_wish){.reading = owes, .sending = l.send_full, .owes = owes};
        if (owes || l.sent < l.total) status = gn_await_data(comm, wishes, !moved);
    }
    return status;
}

gn_status gn_aggregator_run(gn_exchange *exchange)
{
    return gn_exchange_circle(exchange)->own ? contribute(exchange) : aggregate(exchange);
}
