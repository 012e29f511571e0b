// SPDX-License-Identifier: Apache-2.0
// Algorithm direct for small vectors: one message a pair, one hop. Every rank sends its whole
// contribution to all others. All add the same bytes in the same order, that of ranks. So a rank
// takes of itself, too, what the others decode.
//
// Where TCP carries the values, and no NIC, the header of the call goes ahead of them: one message
// has both. A rank that has called something else sends its header out of band, as always. So the
// one that wants a small vector hears of both calls, and tells.
//
// No deadlock: a rank reads what comes whether or not it can send. There is room for all of it.
#include <errno.h>
#include <string.h>

#include "net/yield.h"
#include "ring/await.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/direct.h"
#include "ring/failure.h"
#include "ring/turn.h"

/// Bytes of values. More ranks send more to each other: a vector of this size costs a rank no more
/// than the second hop does, on fast links.
enum { SMALL_MOST = 32 << 10, SMALL_OF_ALL = 128 << 10, LOOK_EVERY = 64 };

/// Room ahead of `bytes` for the header of the call.
enum { LEAD_ROOM = 64 };
_Static_assert((int)LEAD_ROOM >= (int)GN_OP_BYTES, "it has to fit");

typedef struct peer {
    gn_coded in, out;  ///< without a code: values from `bytes` on
    gn_coded_in arriving;
    size_t lead;  ///< bytes of the call's header ahead of them, both ways; 0: it comes another way
    size_t led;   ///< of them, those that have come
    size_t sent;  ///< of lead and out
    bool here, heard, full;
} peer;

typedef struct small {
    gn_exchange *x;
    gn_comm *comm;
    bool coded;
    size_t peers, count;
    gn_coded own;
    peer *peer;
    uint64_t still;  ///< since when nothing has moved; 0: something has
} small;

/// Values of a small vector, at most.
static size_t most_values(const gn_comm *comm)
{
    const size_t share = SMALL_OF_ALL / (size_t)comm->size, segment = gn_coded_values(comm) * sizeof(float);
    const size_t most = share < SMALL_MOST ? share : SMALL_MOST;
    return (segment < most ? segment : most) / sizeof(float);
}

bool gn_direct_is_small(const gn_comm *comm, size_t count)
{
    return count <= most_values(comm);
}

static size_t room_of(const gn_comm *comm)
{
    return gn_coded_room_of(comm, most_values(comm));
}

size_t gn_direct_small_memory(const gn_comm *comm)
{
    const size_t others = (size_t)comm->size - 1;
    const size_t tables = others * sizeof(peer) + 64;
    return (2 * others + 1) * (LEAD_ROOM + room_of(comm)) + tables;
}

// What this rank gives ----------------------------------------------------------------------------

/// Values as they are. Paper is cut here, as a NIC will, so that all have the same.
static void make_values(small *s)
{
    const gn_comm_config *config = &s->comm->config;
    const gn_bucket *bucket = s->x->bucket;
    gn_exchange_own(s->x, 0, s->count);
    if (config->quantise && config->codec.profile == GN_PAPER && !bucket->residual)
        gn_quantise(&config->codec, bucket->recv, bucket->recv, NULL, s->count);
    s->own.length = s->count * sizeof(float);
    memcpy(s->own.bytes, bucket->recv, s->own.length);
    for (size_t i = 0; i < s->peers; i++) {
        gn_coded *out = &s->peer[i].out;
        out->length = s->own.length;
        if (!config->wire) {
            out->bytes = s->own.bytes;
            continue;
        }
        memcpy(out->bytes, s->own.bytes, out->length);
        config->wire(config->wire_context, (float *)(void *)out->bytes, s->count);
    }
}

static void make_stream(small *s)
{
    gn_coded_own(s->x, 0, s->count, &s->own);
    gn_coded_seal(&s->own, 0);
    for (size_t i = 0; i < s->peers; i++) s->peer[i].out = s->own;
}

// Both ways ---------------------------------------------------------------------------------------

static gn_status send_to(small *s, size_t index, bool *moved)
{
    peer *p = &s->peer[index];
    gn_comm *comm = s->comm;
    const size_t want = p->lead + p->out.length - p->sent;
    p->full = false;
    if (!want) return GN_OK;
    const ssize_t sent = gn_data_send(&comm->neighbours[index], p->out.bytes - p->lead + p->sent, want);
    p->full = sent < (ssize_t)want;
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? GN_OK : gn_oob_data_lost(comm, (int)index, errno);
    *moved = true;
    p->sent += (size_t)sent;
    if (p->full) return GN_OK;
    if (s->coded) comm->wire_sent += p->out.length;
    comm->data_sent[index] = s->count * sizeof(float);
    return GN_OK;
}

/// As gn_coded_receive(), without a code.
static ssize_t receive_values(const small *s, peer *p, gn_neighbour *from, bool *complete)
{
    const size_t whole = s->count * sizeof(float);
    *complete = p->arriving.filled == whole;
    if (*complete) return 0;
    const ssize_t got = gn_data_receive(from, p->in.bytes + p->arriving.filled, whole - p->arriving.filled);
    if (got == 0) errno = 0;
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    p->arriving.filled += (size_t)got;
    *complete = p->arriving.filled == whole;
    return got;
}

/// Reads the header of the call, and as much of what follows as surely belongs to it.
static gn_status receive_lead(small *s, size_t index, bool *moved)
{
    peer *p = &s->peer[index];
    gn_comm *comm = s->comm;
    gn_frame frame;
    uint8_t *lead = p->in.bytes - p->lead;
    const size_t follows = s->coded ? GN_CODED_HEADER : s->count * sizeof(float);
    const ssize_t got = gn_data_receive(&comm->neighbours[index], lead + p->led, p->lead - p->led + follows);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return GN_OK;
    if (got <= 0) return gn_oob_data_lost(comm, (int)index, got ? errno : 0);
    *moved = true;
    p->led += (size_t)got;
    if (gn_frame_parse(lead, p->led, &frame) < 0) return gn_oob_data_strange(comm, (int)index);
    if (p->led < p->lead) return GN_OK;
    p->arriving.filled = p->led - p->lead;
    p->led = p->lead;
    if (s->coded) comm->wire_received += p->arriving.filled;
    p->heard = gn_oob_take_lead(comm, (int)index, lead);
    const gn_status status = gn_oob_state(comm);
    return p->heard || status ? status : gn_oob_data_strange(comm, (int)index);
}

static gn_status receive_from(small *s, size_t index, bool *moved)
{
    peer *p = &s->peer[index];
    gn_comm *comm = s->comm;
    gn_neighbour *from = &comm->neighbours[index];
    if (p->led < p->lead) {
        const gn_status status = receive_lead(s, index, moved);
        if (status) return status;
    } else if (!p->heard) {
        p->heard = gn_oob_has_header(comm, (int)index);
    }
    p->here = p->heard && !s->count;
    if (!p->heard || p->here) return GN_OK;
    const ssize_t got =
        s->coded ? gn_coded_receive(comm, &p->arriving, from, &p->here) : receive_values(s, p, from, &p->here);
    if (got == -1) return gn_oob_data_lost(comm, (int)index, errno);
    if (got == -2) return gn_coded_damaged(comm, (int)index, "a wrong header or check", 0);
    *moved |= got > 0;
    if (s->coded) comm->wire_received += (size_t)got;
    if (!p->here) return GN_OK;
    gn_comm_count_received(comm, (int)index, s->count * sizeof(float));
    return GN_OK;
}

static gn_status serve(small *s, size_t index, bool *moved)
{
    peer *p = &s->peer[index];
    bool here = false;
    gn_status status = send_to(s, index, &here);
    if (!status && !p->here) status = receive_from(s, index, &here);
    if (status || !here) return status;
    *moved = true;
    gn_oob_sign(s->comm, (int)index, gn_now());
    return GN_OK;
}

static gn_status await(small *s, bool blocked)
{
    gn_wish wishes[GN_RANKS_MAX];
    for (size_t i = 0; i < s->peers; i++) {
        const peer *p = &s->peer[i];
        wishes[i] = (gn_wish){.reading = (p->heard || p->lead) && !p->here, .sending = p->full, .owes = !p->here};
    }
    return gn_await_data(s->comm, wishes, blocked);
}

static bool is_done(const small *s)
{
    for (size_t i = 0; i < s->peers; i++)
        if (!s->peer[i].here || s->peer[i].sent < s->peer[i].lead + s->peer[i].out.length) return false;
    return true;
}

// Sums --------------------------------------------------------------------------------------------

/// Adds what one rank has given. The first is taken.
static gn_status add(small *s, const gn_coded *in, bool first)
{
    if (s->coded) return first ? gn_coded_take(s->x, 0, s->count, in) : gn_coded_join(s->x, 0, s->count, in);
    const float *values = (const float *)(const void *)in->bytes;
    if (first)
        memcpy(s->x->bucket->recv, values, s->count * sizeof *values);
    else
        gn_exchange_add(s->x, 0, s->count, values);
    return GN_OK;
}

static gn_status sum(small *s)
{
    size_t index = 0;
    for (int rank = 0; rank < s->comm->size; rank++) {
        const bool own = rank == s->comm->rank;
        if (add(s, own ? &s->own : &s->peer[index].in, rank == 0))
            return gn_coded_damaged(s->comm, (int)index, "a wrong stream", 0);
        if (own) continue;
        gn_coded_release(&s->peer[index].in, &s->comm->neighbours[index]);
        index++;
    }
    gn_exchange_settle(s->x, 0, s->count);
    gn_exchange_finish(s->x, 0, s->count);
    return GN_OK;
}

/// Divides the communicator's memory.
static void place(small *s)
{
    const gn_comm *comm = s->comm;
    const size_t room = LEAD_ROOM + room_of(comm);
    uint8_t *memory = comm->memory;
    s->peer = (peer *)(void *)memory;
    memory += ((s->peers * sizeof *s->peer + 63) & ~(size_t)63) + LEAD_ROOM;
    s->own.bytes = memory;
    memory += room;
    for (size_t i = 0; i < s->peers; i++, memory += 2 * room) {
        peer *p = &s->peer[i];
        *p = (peer){.in.bytes = memory, .out.bytes = memory + room};
        p->arriving.to = &p->in;
        p->arriving.room = room_of(comm);
        if (comm->leads && !comm->neighbours[i].shared) p->lead = GN_OP_BYTES;
    }
    if (comm->leads) (void)gn_op_header_write(s->own.bytes - GN_OP_BYTES, &comm->own_header);
}

/// Looks for a moment before it sleeps, and lets others run. In shared memory a wait does that.
static bool looks_on(small *s)
{
    bool tcp = false;
    for (size_t i = 0; i < s->peers; i++) tcp |= !s->peer[i].here && !s->comm->neighbours[i].shared;
    const uint64_t now = gn_now();
    if (!s->still) s->still = now;
    if (!tcp || gn_elapsed(s->still, now) >= GN_SPIN) return false;
    return gn_yield();
}

static gn_status exchange_all(small *s)
{
    gn_status status = GN_OK;
    for (unsigned lap = 1; !status && !is_done(s); lap++) {
        bool moved = false;
        for (size_t i = 0; i < s->peers && !status; i++) status = serve(s, i, &moved);
        if (moved) s->still = 0;
        if (status || is_done(s)) continue;
        if (lap % LOOK_EVERY && (moved || looks_on(s))) continue;
        status = await(s, !moved);
    }
    return status;
}

gn_status gn_direct_small_run(gn_exchange *exchange)
{
    gn_comm *comm = exchange->comm;
    small s = {.x = exchange,
               .comm = comm,
               .coded = comm->config.offload == GN_OFFLOAD_LIBRARY,
               .peers = (size_t)comm->neighbour_count,
               .count = exchange->bucket->count};
    place(&s);
    comm->data_expected = s.peers * s.count * sizeof(float);
    comm->phase = "exchange";
    if (s.coded)
        make_stream(&s);
    else
        make_values(&s);
    gn_exchange_offer(exchange);
    const gn_status status = exchange_all(&s);
    return status ? status : sum(&s);
}

gn_status gn_direct_meet(gn_comm *comm)
{
    small s = {.comm = comm, .peers = (size_t)comm->neighbour_count};
    place(&s);
    for (size_t i = 0; i < s.peers; i++) s.peer[i].out.bytes = s.own.bytes;
    return exchange_all(&s);
}
