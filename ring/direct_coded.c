// SPDX-License-Identifier: Apache-2.0
// Algorithm direct where the ranks compress themselves. Rank b sums block b. Each rank sends the
// others their blocks of its values, segment by segment. When rank b has a segment of all, it adds
// them to its own in one pass, and sends the sum to all. Every rank decodes it.
//
// No deadlock, with bounded memory. Of each of the others a rank holds a window of segments that
// are not summed yet. It stops reading from one whose window is full, and from no other.
//
// 1. Contributions depend on nothing. A rank makes and sends them whenever the socket takes them.
// 2. A sum waits for nothing but contributions. Its stream needs a buffer. When none is free,
//    because somebody reads slowly, the sum waits in `recv`, and is coded again for each that lacks
//    it.
// 3. A result that comes is decoded at once, and needs nothing that stays.
// 4. Take the first segment that a rank has not summed. Those that it lacks have room in their
//    window, so it reads from them. By 1 they send. So it comes, and is summed. By induction all
//    are. Then no window is full, everyone reads everything, and all results arrive.
//
// In shared memory a contribution is read where it lies, when its segment is summed. Until then
// nothing behind it is read. The proof holds: contributions come in order, so who holds one of a
// peer lacks none of that peer's up to the first segment that is not summed.
#include <errno.h>
#include <string.h>

#include "ring/await.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/direct.h"
#include "ring/failure.h"
#include "ring/turn.h"

enum { LOOK_EVERY = 16, WINDOW = 4, WINDOW_LEAST = 2, RESULTS = 4, MEMORY_MOST = 8 << 20 };

typedef struct peer {
    gn_block block;         ///< that it sums
    gn_coded in[WINDOW];    ///< its contribution s to our block: in[s % window]
    gn_coded_in arriving;   ///< with the numbers of contributions and results that come next
    gn_coded out;           ///< made for it alone
    gn_coded *leaving;      ///< `out`, or a result that goes to all; NULL: nothing
    size_t sent;            ///< bytes of it
    bool full;              ///< its socket took less than there was
    bool heard;             ///< its header has come
    bool held;              ///< its last contribution lies in shared memory
    size_t given, told;     ///< contributions and results that have been made ready for it
    size_t told_whole;      ///< results that have left
    size_t leaving_values;  ///< of the segment that leaves
} peer;

typedef struct direct {
    gn_exchange *x;
    gn_comm *comm;
    size_t peers, window;
    size_t values;  ///< of a segment
    gn_block own;
    size_t summed;             ///< segments of our block
    size_t finished;           ///< of them, those whose values nobody needs any more
    gn_coded result[RESULTS];  ///< sum s: result[s % RESULTS]...
    size_t holds[RESULTS];     ///< ... if this is s + 1
    peer *peer;
} direct;

static size_t window_of(const gn_comm *comm)
{
    const size_t others = (size_t)comm->size - 1, buffers = MEMORY_MOST / gn_coded_room(comm);
    // A window, and one to send. A rank alone has no others.
    const size_t fit = others && buffers > RESULTS ? (buffers - RESULTS) / others : 0;
    return fit > WINDOW ? WINDOW : fit > WINDOW_LEAST ? fit - 1 : WINDOW_LEAST;
}

size_t gn_direct_coded_memory(const gn_comm *comm)
{
    const size_t others = (size_t)comm->size - 1;
    const size_t buffers = (others * (window_of(comm) + 1) + RESULTS) * gn_coded_room(comm);
    const size_t tables = others * sizeof(peer) + 64;
    const size_t small = gn_direct_small_memory(comm);
    return buffers + tables > small ? buffers + tables : small;
}

// Segments ----------------------------------------------------------------------------------------

static size_t segments_of(const direct *d, const gn_block *block)
{
    return (block->count + d->values - 1) / d->values;
}

/// The values of a segment.
static size_t values_at(const direct *d, const gn_block *block, size_t segment, size_t *first)
{
    const size_t from = segment * d->values, left = block->count - from;
    *first = block->first + from;
    return left < d->values ? left : d->values;
}

// Sending -----------------------------------------------------------------------------------------

static void prepare_result(direct *d, peer *p)
{
    const size_t s = p->told++;
    size_t first;
    p->leaving_values = values_at(d, &d->own, s, &first);
    p->leaving = &d->result[s % RESULTS];
    if (d->holds[s % RESULTS] == s + 1) return;
    p->leaving = &p->out;  // it waits in `recv`
    gn_coded_values_of(d->x, first, p->leaving_values, false, p->leaving);
    gn_coded_seal_result(p->leaving, (uint32_t)s);
}

static void prepare_contribution(direct *d, peer *p)
{
    const size_t s = p->given++;
    size_t first;
    p->leaving_values = values_at(d, &p->block, s, &first);
    p->leaving = &p->out;
    gn_coded_own(d->x, first, p->leaving_values, p->leaving);
    gn_coded_seal(p->leaving, (uint32_t)s);
}

/// Results first: they are in the cache, and their buffers are few.
/// @return false when there is nothing to send now
static bool prepare(direct *d, peer *p)
{
    if (p->told < d->summed)
        prepare_result(d, p);
    else if (p->given < segments_of(d, &p->block))
        prepare_contribution(d, p);
    else
        return false;
    p->sent = 0;
    return true;
}

static gn_status send_to(direct *d, size_t index, bool *moved)
{
    peer *p = &d->peer[index];
    gn_comm *comm = d->comm;
    p->full = false;
    if (!p->leaving && !prepare(d, p)) return GN_OK;
    const size_t want = p->leaving->length - p->sent;
    const ssize_t sent = gn_data_send(&comm->neighbours[index], p->leaving->bytes + p->sent, want);
    p->full = sent < (ssize_t)want;
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? GN_OK : gn_oob_data_lost(comm, (int)index, errno);
    *moved = true;
    p->sent += (size_t)sent;
    comm->wire_sent += (size_t)sent;
    if (p->full) return GN_OK;
    comm->data_sent[index] += p->leaving_values * sizeof(float);
    p->told_whole = p->told;  // one segment at a time is on its way
    p->leaving = NULL;
    return GN_OK;
}

// Receiving ---------------------------------------------------------------------------------------

static bool owes(const direct *d, const peer *p)
{
    return p->arriving.segment < segments_of(d, &d->own) || p->arriving.result < segments_of(d, &p->block);
}

/// Whether its next segment has a place. Whether it is a result is not known before it comes. In
/// shared memory those behind a contribution wait until that is added.
static bool has_room(const direct *d, const peer *p)
{
    return !p->held && p->arriving.segment < d->summed + d->window;
}

/// A result is decoded. It must answer what we have sent: the values that it replaces are not
/// needed any more.
static gn_status take_result(direct *d, size_t index)
{
    peer *p = &d->peer[index];
    const size_t s = p->arriving.result - 1;
    size_t first;
    if (s >= p->given) return gn_coded_damaged(d->comm, (int)index, "a result that nobody can know", s);
    const size_t count = values_at(d, &p->block, s, &first);
    if (gn_coded_take(d->x, first, count, p->arriving.to))
        return gn_coded_damaged(d->comm, (int)index, "a wrong stream", s);
    gn_coded_release(p->arriving.to, &d->comm->neighbours[index]);
    gn_exchange_finish(d->x, first, count);
    gn_comm_count_received(d->comm, (int)index, count * sizeof(float));
    return GN_OK;
}

/// A contribution stays where it is until all are there.
static gn_status keep_contribution(direct *d, size_t index)
{
    peer *p = &d->peer[index];
    const size_t s = p->arriving.segment - 1;
    size_t first;
    p->held = p->arriving.to->lies != NULL;
    if (s >= segments_of(d, &d->own)) return gn_coded_damaged(d->comm, (int)index, "a number that is too large", s);
    gn_comm_count_received(d->comm, (int)index, values_at(d, &d->own, s, &first) * sizeof(float));
    return GN_OK;
}

static gn_status receive_from(direct *d, size_t index, bool *moved)
{
    peer *p = &d->peer[index];
    gn_comm *comm = d->comm;
    bool complete;
    p->arriving.to = &p->in[p->arriving.segment % d->window];
    const ssize_t got = gn_coded_receive(comm, &p->arriving, &comm->neighbours[index], &complete);
    if (got == -1) return gn_oob_data_lost(comm, (int)index, errno);
    if (got == -2) return gn_coded_damaged(comm, (int)index, "a wrong header or check", p->arriving.segment);
    *moved |= got > 0;
    comm->wire_received += (size_t)got;
    if (!complete) return GN_OK;
    return gn_coded_is_result(p->arriving.to) ? take_result(d, index) : keep_contribution(d, index);
}

// Sums --------------------------------------------------------------------------------------------

static bool is_complete(const direct *d, size_t segment)
{
    for (size_t i = 0; i < d->peers; i++)
        if (d->peer[i].arriving.segment <= segment) return false;
    return true;
}

/// A buffer for sum `s`: everybody has been sent what it holds. NULL: there is none.
static gn_coded *buffer_for(direct *d, size_t s)
{
    const size_t held = d->holds[s % RESULTS];
    for (size_t i = 0; i < d->peers; i++)
        if (d->peer[i].told_whole < held) return NULL;
    d->holds[s % RESULTS] = s + 1;
    return &d->result[s % RESULTS];
}

static gn_status sum_segment(direct *d, size_t s)
{
    const gn_coded *in[GN_RANKS_MAX];
    size_t first, wrong = 0;
    const size_t count = values_at(d, &d->own, s, &first);
    for (size_t i = 0; i < d->peers; i++) in[i] = &d->peer[i].in[s % d->window];
    gn_coded *out = buffer_for(d, s);
    if (gn_coded_sum(d->x, first, count, in, d->peers, out, &wrong))
        return gn_coded_damaged(d->comm, (int)wrong, "a wrong stream", s);
    if (out) gn_coded_seal_result(out, (uint32_t)s);
    for (size_t i = 0; i < d->peers; i++) {
        gn_coded *summed = &d->peer[i].in[s % d->window];
        if (summed->lies) d->peer[i].held = false;  // a later one may lie there, behind a copied one
        gn_coded_release(summed, &d->comm->neighbours[i]);
    }
    return GN_OK;
}

static gn_status sum_complete(direct *d, bool *moved)
{
    const size_t segments = segments_of(d, &d->own);
    for (; d->summed < segments && is_complete(d, d->summed); d->summed++) {
        const gn_status status = sum_segment(d, d->summed);
        if (status) return status;
        *moved = true;
    }
    return GN_OK;
}

/// Scales back and divides what is coded for everybody.
static void finish_own(direct *d)
{
    size_t least = d->summed, first;
    for (size_t i = 0; i < d->peers; i++)
        if (d->peer[i].told < least) least = d->peer[i].told;
    for (; d->finished < least; d->finished++) {
        const size_t count = values_at(d, &d->own, d->finished, &first);
        gn_exchange_finish(d->x, first, count);
    }
}

// Both --------------------------------------------------------------------------------------------

static bool is_served(const direct *d, const peer *p)
{
    return !owes(d, p) && !p->leaving && p->given == segments_of(d, &p->block) && p->told == segments_of(d, &d->own);
}

static bool is_done(const direct *d)
{
    for (size_t i = 0; i < d->peers; i++)
        if (!is_served(d, &d->peer[i])) return false;
    return true;
}

static gn_status serve(direct *d, size_t index, bool *moved)
{
    peer *p = &d->peer[index];
    bool here = false;
    gn_status status = GN_OK;
    if (!p->heard) p->heard = gn_oob_has_header(d->comm, (int)index);
    if (p->heard && owes(d, p) && has_room(d, p)) status = receive_from(d, index, &here);
    if (!status) status = send_to(d, index, &here);
    if (status || !here) return status;
    *moved = true;
    gn_oob_sign(d->comm, (int)index, gn_now());
    return GN_OK;
}

static gn_status move(direct *d, bool *moved)
{
    const size_t segments = segments_of(d, &d->own);
    gn_status status = GN_OK;
    bool given = true;
    d->comm->phase = d->summed < segments ? "reduce leg" : "send-back leg";
    for (size_t i = 0; i < d->peers && !status; i++) {
        status = serve(d, i, moved);
        given = given && d->peer[i].given == segments_of(d, &d->peer[i].block);
    }
    if (!status) status = sum_complete(d, moved);
    if (status) return status;
    finish_own(d);
    if (given && d->summed == segments) gn_exchange_offer(d->x);
    return GN_OK;
}

static gn_status await(direct *d, bool blocked)
{
    gn_wish wishes[GN_RANKS_MAX];
    for (size_t i = 0; i < d->peers; i++) {
        const peer *p = &d->peer[i];
        wishes[i] = (gn_wish){.reading = p->heard && owes(d, p) && has_room(d, p),
                              .sending = p->full,
                              .owes = owes(d, p) && has_room(d, p)};
    }
    return gn_await_data(d->comm, wishes, blocked);
}

/// Divides the communicator's memory.
static void place(direct *d)
{
    const size_t room = gn_coded_room(d->comm);
    uint8_t *memory = d->comm->memory;
    d->peer = (peer *)(void *)memory;
    memory += (d->peers * sizeof *d->peer + 63) & ~(size_t)63;
    for (size_t i = 0; i < RESULTS; i++, memory += room) d->result[i].bytes = memory;
    for (size_t i = 0; i < d->peers; i++) {
        peer *p = &d->peer[i];
        *p = (peer){.block = gn_direct_block(d->x, d->comm->neighbours[i].rank), .arriving.results = true};
        for (size_t k = 0; k < d->window; k++, memory += room) p->in[k].bytes = memory;
        p->out.bytes = memory;
        memory += room;
    }
}

gn_status gn_direct_coded_run(gn_exchange *exchange)
{
    if (gn_direct_is_small(exchange->comm, exchange->bucket->count)) return gn_direct_small_run(exchange);
    gn_comm *comm = exchange->comm;
    direct d = {.x = exchange,
                .comm = comm,
                .peers = (size_t)comm->neighbour_count,
                .window = window_of(comm),
                .values = gn_coded_values(comm),
                .own = gn_direct_block(exchange, comm->rank)};
    place(&d);
    comm->data_expected = gn_direct_expected(exchange);
    gn_status status = GN_OK;
    for (unsigned lap = 1; !status && !is_done(&d); lap++) {
        bool moved = false;
        status = move(&d, &moved);
        if (!status && (!moved || lap % LOOK_EVERY == 0)) status = await(&d, !moved);
    }
    return status;
}
