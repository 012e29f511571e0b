// SPDX-License-Identifier: Apache-2.0
// Algorithm direct where values travel as they are (direct_coded.c has it with streams). A
// connection carries nothing but values, so that NICs may compress them: first one rank's values of
// the other's block, then the other way round its sums. Rank b adds to its own values those of the
// others, in the order of ranks.
//
// No deadlock. A rank always sends its contributions, which depend on nothing. It stops reading
// only from one that is a window ahead of the sums. Those that lack behind are read, so the sums
// get on. Sums are read into `recv`, where there is always room.
#include "ring/direct.h"

#include <errno.h>
#include <string.h>

#include "ring/await.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/failure.h"
#include "ring/turn.h"

enum { LOOK_EVERY = 64, WINDOW = 2 };

/// All numbers are bytes of values.
typedef struct peer {
    gn_block block;      ///< that it sums
    size_t own_ready;    ///< of its block: contributions that have been made
    size_t given, told;  ///< what it has been sent: of its block, and of our sums
    size_t came, taken;  ///< of our block: its contributions that have come, and that are added
    size_t results;      ///< of its block: sums that have come
    uint8_t *in, *out;   ///< WINDOW pieces; what the wire function sees
    size_t staged, staged_sent;
    size_t room;  ///< that it had for the next bytes when it was served
    bool full, heard;
} peer;

typedef struct direct {
    gn_exchange *x;
    gn_comm *comm;
    size_t peers, piece;
    gn_block own;
    size_t adding;    ///< piece of our block that is being summed, from here on...
    size_t next;      ///< ... with this one's contribution
    size_t summed;    ///< of our block
    size_t finished;  ///< of them, those that everybody has been sent
    peer *peer;
} direct;

/// The staging of all others shares 4 MiB.
static size_t piece_bytes(const gn_comm *comm)
{
    const size_t limit = ((size_t)4 << 20) / (size_t)((WINDOW + 1) * comm->size) & ~(size_t)63;
    return comm->segment < limit ? comm->segment : limit;
}

size_t gn_direct_memory(const gn_comm *comm)
{
    const size_t others = (size_t)comm->size - 1, small = gn_direct_small_memory(comm);
    const size_t tables = others * sizeof(peer) + 64;
    const size_t staging = others * (WINDOW + 1) * piece_bytes(comm);
    return staging + tables > small ? staging + tables : small;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t bytes_of(const gn_block *block)
{
    return block->count * sizeof(float);
}

// Sending -----------------------------------------------------------------------------------------

/// Makes the next contributions just ahead of the sending, while they are in the cache.
static void make_own_ready(direct *d, peer *p)
{
    if (p->given < p->own_ready) return;
    const size_t bytes = least(bytes_of(&p->block) - p->own_ready, d->piece);
    if (d->x->own_pass) gn_exchange_own(d->x, p->block.first + p->own_ready / sizeof(float), bytes / sizeof(float));
    p->own_ready += bytes;
}

/// What leaves next, and how much of it there is.
static const uint8_t *source_of(direct *d, peer *p, size_t *available)
{
    const gn_bucket *bucket = d->x->bucket;
    if (p->given < bytes_of(&p->block)) {
        make_own_ready(d, p);
        *available = p->own_ready - p->given;
        const float *from = d->x->own_pass ? bucket->recv : bucket->send;
        return (const uint8_t *)(from + p->block.first) + p->given;
    }
    *available = least(d->summed - p->told, d->piece);
    return (const uint8_t *)(bucket->recv + d->own.first) + p->told;
}

/// Copies a piece aside and gives it to the caller's wire function.
static const uint8_t *pass_wire(const direct *d, peer *p, const uint8_t *source, size_t *available)
{
    const gn_comm_config *config = &d->comm->config;
    if (!config->wire) return source;
    if (p->staged_sent == p->staged) {
        p->staged = *available;
        p->staged_sent = 0;
        memcpy(p->out, source, p->staged);
        if (p->staged) config->wire(config->wire_context, (float *)(void *)p->out, p->staged / sizeof(float));
    }
    *available = p->staged - p->staged_sent;
    return p->out + p->staged_sent;
}

static gn_status send_to(direct *d, size_t index, bool *moved)
{
    peer *p = &d->peer[index];
    gn_comm *comm = d->comm;
    size_t want;
    const uint8_t *source = source_of(d, p, &want);
    source = pass_wire(d, p, source, &want);
    p->full = false;
    if (!want) return GN_OK;
    const ssize_t sent = gn_data_send(&comm->neighbours[index], source, want);
    p->full = sent < (ssize_t)want;
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? GN_OK : gn_oob_data_lost(comm, (int)index, errno);
    *moved = true;
    if (comm->config.wire) p->staged_sent += (size_t)sent;
    if (p->given < bytes_of(&p->block))
        p->given += (size_t)sent;
    else
        p->told += (size_t)sent;
    comm->data_sent[index] += (size_t)sent;
    return GN_OK;
}

// Receiving ---------------------------------------------------------------------------------------

static bool owes(const direct *d, const peer *p)
{
    return p->came < bytes_of(&d->own) || p->results < bytes_of(&p->block);
}

/// Whether the next piece of its contributions lies whole in shared memory. It is added there.
static bool lies_there(const direct *d, const peer *p)
{
    const void *at;
    const gn_neighbour *n = &d->comm->neighbours[p - d->peer];
    const size_t bytes = least(d->piece, bytes_of(&d->own) - p->came);
    return p->came == p->taken && gn_data_look(n, sizeof(float), &at) >= bytes;
}

/// Where its next bytes go, and how many may come now.
static uint8_t *room_for(const direct *d, const peer *p, size_t *room)
{
    const size_t own = bytes_of(&d->own);
    if (p->came < own) {
        const size_t in_piece = p->came % d->piece;
        const bool free_piece = p->came - p->taken < WINDOW * d->piece && !lies_there(d, p);
        *room = free_piece ? least(d->piece - in_piece, own - p->came) : 0;
        return p->in + p->came / d->piece % WINDOW * d->piece + in_piece;
    }
    *room = p->given - p->results;  // sums of what it has been sent
    return (uint8_t *)(d->x->bucket->recv + p->block.first) + p->results;
}

static void finish_results(const direct *d, const peer *p, size_t before)
{
    const size_t from = before / sizeof(float), to = p->results / sizeof(float);
    gn_exchange_finish(d->x, p->block.first + from, to - from);
}

static gn_status receive_from(direct *d, size_t index, uint8_t *to, size_t room, bool *moved)
{
    peer *p = &d->peer[index];
    gn_comm *comm = d->comm;
    const ssize_t got = gn_data_receive(&comm->neighbours[index], to, least(room, 2 * comm->segment));
    if (got == 0) return gn_oob_data_lost(comm, (int)index, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR ? GN_OK : gn_oob_data_lost(comm, (int)index, errno);
    *moved = true;
    gn_comm_count_received(comm, (int)index, (size_t)got);
    if (p->came < bytes_of(&d->own)) {
        p->came += (size_t)got;
        return GN_OK;
    }
    p->results += (size_t)got;
    finish_results(d, p, p->results - (size_t)got);
    return GN_OK;
}

// Sums --------------------------------------------------------------------------------------------

/// The next piece of a rank: where it was received, or where it lies in shared memory.
/// @return NULL when it has not come
static const float *piece_of(const direct *d, const peer *p, size_t bytes)
{
    const void *there;
    if (p->came >= d->adding + bytes) return (const void *)(p->in + d->adding / d->piece % WINDOW * d->piece);
    if (p->came > d->adding || !p->heard) return NULL;
    return gn_data_look(&d->comm->neighbours[d->next], sizeof(float), &there) >= bytes ? there : NULL;
}

/// A piece has been added.
static void take(direct *d, peer *p, size_t bytes)
{
    p->taken += bytes;
    if (p->came >= p->taken) return;
    gn_data_take_off(&d->comm->neighbours[d->next], bytes);
    p->came += bytes;
    gn_comm_count_received(d->comm, (int)d->next, bytes);
    gn_oob_sign(d->comm, (int)d->next, gn_now());
}

/// Adds pieces that are next, in the order of ranks.
static void add_in_order(direct *d, bool *moved)
{
    const size_t own = bytes_of(&d->own);
    while (d->adding < own) {
        peer *p = &d->peer[d->next];
        const size_t bytes = least(d->piece, own - d->adding), first = d->own.first + d->adding / sizeof(float);
        const float *in = piece_of(d, p, bytes);
        if (!in) return;
        if (d->next == 0)
            gn_exchange_own_add(d->x, first, bytes / sizeof(float), in);
        else
            gn_exchange_add(d->x, first, bytes / sizeof(float), in);
        take(d, p, bytes);
        *moved = true;
        if (++d->next < d->peers) continue;
        gn_exchange_settle(d->x, first, bytes / sizeof(float));
        d->next = 0;
        d->adding += bytes;
        d->summed = d->adding;
    }
}

/// Scales back and divides the sums that everybody has been sent.
static void finish_own(direct *d)
{
    size_t sent = d->summed;
    for (size_t i = 0; i < d->peers; i++) sent = least(sent, d->peer[i].told);
    sent &= ~(sizeof(float) - 1);
    gn_exchange_finish(d->x, d->own.first + d->finished / sizeof(float), (sent - d->finished) / sizeof(float));
    d->finished = sent;
}

// Both --------------------------------------------------------------------------------------------

static bool is_done(const direct *d)
{
    for (size_t i = 0; i < d->peers; i++) {
        const peer *p = &d->peer[i];
        if (owes(d, p) || p->given < bytes_of(&p->block) || p->told < bytes_of(&d->own)) return false;
    }
    return true;
}

static gn_status serve(direct *d, size_t index, bool *moved)
{
    peer *p = &d->peer[index];
    bool here = false;
    gn_status status = GN_OK;
    if (!p->heard) p->heard = gn_oob_has_header(d->comm, (int)index);
    uint8_t *to = room_for(d, p, &p->room);
    if (p->heard && p->room) status = receive_from(d, index, to, p->room, &here);
    if (!status) status = send_to(d, index, &here);
    if (status || !here) return status;
    *moved = true;
    gn_oob_sign(d->comm, (int)index, gn_now());
    return GN_OK;
}

static gn_status move(direct *d, bool *moved)
{
    gn_status status = GN_OK;
    bool made = true;
    d->comm->phase = d->summed < bytes_of(&d->own) ? "reduce leg" : "send-back leg";
    for (size_t i = 0; i < d->peers && !status; i++) {
        status = serve(d, i, moved);
        made = made && d->peer[i].own_ready == bytes_of(&d->peer[i].block);
    }
    if (status) return status;
    add_in_order(d, moved);
    finish_own(d);
    if (made && d->summed == bytes_of(&d->own)) gn_exchange_offer(d->x);
    return GN_OK;
}

/// Waits for what serve() could not do. It goes by the room that was there then: a piece that has
/// come since, whole in shared memory, takes no room and is to be added.
static gn_status await(direct *d, bool blocked)
{
    gn_wish wishes[GN_RANKS_MAX];
    for (size_t i = 0; i < d->peers; i++) {
        const peer *p = &d->peer[i];
        wishes[i] = (gn_wish){.reading = p->heard && p->room, .sending = p->full, .owes = owes(d, p) && p->room};
    }
    return gn_await_data(d->comm, wishes, blocked);
}

/// Divides the communicator's memory.
static void place(direct *d)
{
    uint8_t *memory = d->comm->memory;
    d->peer = (peer *)(void *)memory;
    memory += (d->peers * sizeof *d->peer + 63) & ~(size_t)63;
    for (size_t i = 0; i < d->peers; i++, memory += (WINDOW + 1) * d->piece) {
        const gn_block block = gn_direct_block(d->x, d->comm->neighbours[i].rank);
        d->peer[i] = (peer){.block = block, .in = memory, .out = memory + WINDOW * d->piece};
    }
}

gn_status gn_direct_run(gn_exchange *exchange)
{
    if (gn_direct_is_small(exchange->comm, exchange->bucket->count)) return gn_direct_small_run(exchange);
    gn_comm *comm = exchange->comm;
    direct d = {.x = exchange,
                .comm = comm,
                .peers = (size_t)comm->neighbour_count,
                .piece = piece_bytes(comm),
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
