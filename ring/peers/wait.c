// SPDX-License-Identifier: Apache-2.0
// How long a letter is waited for, and what is said when that is too long.
#include <errno.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/yield.h"
#include "ring/deadline.h"
#include "ring/failure.h"
#include "ring/oob.h"
#include "ring/peers/peers.h"

enum { LOOK_EVERY = 64 };

// Signs of life -----------------------------------------------------------------------------------

typedef struct signs {
    uint64_t last;   ///< when anything last came from it
    bool neighbour;  ///< it is one, and gives signs of life out of band
    bool left;       ///< it has called gn_comm_free()
} signs;

static signs signs_of(gn_comm *comm, int rank)
{
    const gn_peer *peer = comm->peers->peer[rank];
    signs s = {.left = peer && peer->left};
    if (peer && peer->in) s.last = peer->in->heard;
    if (peer && peer->out && peer->out->heard > s.last) s.last = peer->out->heard;
    gn_lock(&comm->lock);
    for (int i = 0; i < comm->neighbour_count; i++) {
        const gn_neighbour *n = &comm->neighbours[i];
        if (n->rank != rank) continue;
        s.neighbour = true;
        s.left |= n->said_bye;
        if (n->last_sign > s.last) s.last = n->last_sign;
    }
    gn_unlock(&comm->lock);
    return s;
}

/// A process that stood still itself blames nobody for that.
static void look_at_oneself(gn_comm *comm, uint64_t now)
{
    gn_peers *peers = comm->peers;
    if (peers->looked && gn_elapsed(peers->looked, now) > gn_comm_timeout(comm) / 2) peers->excused = now;
    peers->looked = now;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

// Deadlines ---------------------------------------------------------------------------------------

static const char *describe(const gn_letter *letter, char text[96])
{
    char tag[24] = "any tag";
    if (letter->tag != GN_ANY_TAG) snprintf(tag, sizeof tag, "tag %d", letter->tag);
    if (letter->tag < GN_ANY_TAG) snprintf(tag, sizeof tag, "a collective");
    if (letter->sends)
        snprintf(text, 96, "sending %zu bytes, %s, %zu sent", letter->count, tag, letter->moved_bytes);
    else
        snprintf(text, 96, "receiving %s, %zu of %zu bytes received", tag, letter->moved_bytes,
                 letter->size ? letter->size : letter->count);
    return text;
}

/// Its connection has ended, and it has not said goodbye.
static bool has_broken(const gn_peer *peer, const gn_letter *letter)
{
    const gn_pipe *pipe = letter->sends ? peer->out : peer->in;
    return (pipe && pipe->closed) || peer->refused;
}

/// A rank that stops because of an error says so to its neighbours first. That is given the time to
/// arrive.
static bool has_had_time(gn_comm *comm, gn_peer *peer, uint64_t now)
{
    if (!peer->broke_at) peer->broke_at = now;
    return gn_elapsed(peer->broke_at, now) >= gn_oob_beat_span(comm);
}

/// Everything that it has sent has been read.
static bool is_empty(const gn_peer *peer)
{
    return !peer->in || peer->in->closed;
}

/// This rank itself has no room for the connection: the other one is not to blame.
static bool is_own_lack(int reason)
{
    return reason == EMFILE || reason == ENFILE || reason == ENOMEM || reason == ENOBUFS;
}

/// The other one cannot connect, as there has been no room for that since long.
static bool keeps_out(gn_comm *comm, const gn_peer *peer, const gn_letter *letter, uint64_t now)
{
    const uint64_t since = comm->peers->lobby.lacks_since, limit = gn_comm_timeout(comm);
    return !letter->sends && !peer->in && since && gn_elapsed(since, now) > limit &&
           gn_elapsed(letter->waited, now) > limit;
}

static gn_status fail_by_lack(gn_comm *comm, const gn_peer *peer, int reason, const char *what)
{
    return gn_oob_fail(comm, GN_IO, comm->rank,
                       "rank %d has no room for a connection for messages with rank %d (%s): %s%s: %s", comm->rank,
                       peer->rank, peer->name, strerror(reason), gn_files_hint(reason), what);
}

/// Why nothing moves, where the receiver has as many unread messages as it keeps. Empty otherwise.
static const char *say_full(const gn_peer *peer, const gn_letter *letter, char text[128])
{
    const size_t unread = letter->sends ? peer->used : peer->owed;
    *text = 0;
    if (unread + gn_parcel_cost(GN_PARCEL_WHOLE_MAX) > GN_PARCEL_WINDOW)
        snprintf(text, 128, "; %zu of %d bytes are taken by earlier messages, which have not been received", unread,
                 GN_PARCEL_WINDOW);
    return text;
}

static gn_status check_letter(gn_comm *comm, const gn_letter *letter, uint64_t now)
{
    const uint64_t limit = gn_comm_timeout(comm), excused = comm->peers->excused;
    const uint64_t moved = later(later(letter->moved, letter->waited), excused);
    char what[96], full[128];
    describe(letter, what);
    if (letter->rank == GN_ANY_RANK || letter->rank == comm->rank) {
        if (gn_elapsed(moved, now) <= 2 * limit) return GN_OK;
        return gn_oob_fail(comm, GN_TIMEOUT, GN_NOBODY, "no message for %d ms from %s, %s", 2 * comm->timeout_ms,
                           letter->rank == GN_ANY_RANK ? "any rank" : "this rank itself", what);
    }
    gn_peer *peer = gn_peer_of_locked(comm, letter->rank);
    if (!peer) return gn_oob_no_memory(comm);
    const signs s = signs_of(comm, letter->rank);
    char name[GN_ENDPOINT_TEXT];
    gn_rank_name(&comm->table, letter->rank, name);
    if (is_own_lack(peer->refused)) return fail_by_lack(comm, peer, peer->refused, what);
    if (keeps_out(comm, peer, letter, now)) return fail_by_lack(comm, peer, comm->peers->lobby.lacked, what);
    if (s.left && (letter->sends || is_empty(peer)) && has_had_time(comm, peer, now))
        return gn_oob_fail(comm, GN_PEER_LOST, letter->rank, "rank %d (%s) has left the group (gn_comm_free): %s",
                           letter->rank, name, what);
    if (!s.left && has_broken(peer, letter) && has_had_time(comm, peer, now)) {
        const gn_pipe *pipe = letter->sends ? peer->out : peer->in;
        const int reason = peer->refused ? peer->refused : pipe->error;
        return gn_oob_fail(comm, GN_PEER_LOST, letter->rank, "rank %d (%s) lost: connection for messages %s: %s",
                           letter->rank, name, reason ? strerror(reason) : "closed", what);
    }
    if (gn_elapsed(later(later(s.last, letter->waited), excused), now) > limit)
        return gn_oob_fail(comm, GN_PEER_LOST, letter->rank, "rank %d (%s) lost: no sign of life for %d ms: %s",
                           letter->rank, name, comm->timeout_ms, what);
    if (gn_elapsed(moved, now) > 2 * limit)
        return gn_oob_fail(comm, GN_TIMEOUT, GN_NOBODY,
                           "no message for %d ms from or to rank %d (%s), which is alive: %s%s", 2 * comm->timeout_ms,
                           letter->rank, name, what, say_full(peer, letter, full));
    // One that is no neighbour gives signs of life on a connection for messages.
    if (!s.neighbour && !peer->out && !peer->in) {
        peer->knocked = true;
        gn_peer_call_locked(comm, peer);
    }
    return GN_OK;
}

static gn_status check(gn_comm *comm)
{
    gn_peers *peers = comm->peers;
    const uint64_t now = gn_now();
    gn_status status = GN_OK;
    gn_lock(&peers->lock);
    look_at_oneself(comm, now);
    for (const gn_letter *l = peers->all; l && !status; l = l->behind)
        if (l->waited) status = check_letter(comm, l, now);
    gn_unlock(&peers->lock);
    return status;
}

// Waiting -----------------------------------------------------------------------------------------

bool gn_peers_busy(gn_comm *comm)
{
    gn_peers *peers = comm->peers;
    if (!peers) return false;
    gn_lock(&peers->lock);
    const bool busy = peers->all != NULL;
    gn_unlock(&peers->lock);
    return busy;
}

gn_status gn_peers_step(gn_comm *comm)
{
    gn_status status = gn_oob_poll(comm, NULL, 0, -1);
    if (!status) status = check(comm);
    if (status) gn_letters_fail(comm, status);
    return status;
}

gn_status gn_peers_look(gn_comm *comm)
{
    comm->peers->looks = true;
    const gn_status status = gn_oob_poll(comm, NULL, 0, 0);
    if (status) gn_letters_fail(comm, status);
    return status;
}

/// Whether it is done. If not, somebody waits for it from now on.
static bool is_done(gn_comm *comm, gn_letter *letter)
{
    gn_lock(&comm->peers->lock);
    const bool done = letter->done;
    comm->peers->waiting = !done;
    comm->peers->seen = comm->peers->ended;
    if (!letter->waited) {
        letter->waited = gn_now();
        comm->peers->looked = letter->waited;
    }
    gn_unlock(&comm->peers->lock);
    return done;
}

/// Looks at the connection before it sleeps. @return whether the letter is done
static bool spin(gn_comm *comm, const gn_letter *letter)
{
    gn_peers *peers = comm->peers;
    bool done = false, looks = letter->rank != GN_ANY_RANK && letter->rank != comm->rank;
    for (const uint64_t until = gn_now() + GN_SPIN; looks; looks = looks && gn_yield() && gn_now() < until) {
        gn_lock(&peers->lock);
        gn_peer *peer = peers->peer[letter->rank];
        looks = peer && (peer->in || peer->out) && !gn_oob_state(comm);
        if (looks) gn_peer_serve_locked(comm, peer);
        done = letter->done;
        gn_unlock(&peers->lock);
        if (done) return true;
    }
    return false;
}

gn_status gn_letter_await(gn_comm *comm, gn_letter *letter)
{
    // Now and then, however often it is called, all connections are looked at.
    while (!is_done(comm, letter))
        if (++comm->peers->awaited % LOOK_EVERY == 0 || !spin(comm, letter)) (void)gn_peers_step(comm);
    return letter->status;
}

void gn_peers_expect(gn_comm *comm, const gn_request *request)
{
    gn_peers *peers = comm->peers;
    if (!peers) return;
    const uint64_t now = gn_now();
    gn_lock(&peers->lock);
    for (gn_letter *l = peers->all; l; l = l->behind)
        if ((!request || l->request == request) && !l->own && !l->waited) l->waited = now;
    gn_unlock(&peers->lock);
}

void gn_peers_ring(gn_comm *comm)
{
    const uint64_t one = 1;
    if (comm->peers) (void)!write(comm->peers->bell, &one, sizeof one);
}

void gn_peers_add_stats(gn_comm *comm, gn_comm_stats *stats)
{
    gn_peers *peers = comm->peers;
    gn_lock(&peers->lock);
    stats->sent_bytes += peers->sent;
    stats->sent_wire_bytes += peers->sent;
    stats->received_bytes += peers->received;
    stats->received_wire_bytes += peers->received;
    gn_unlock(&peers->lock);
}

// Leaving -----------------------------------------------------------------------------------------

/// Whether the other side's system has all that was sent.
static bool has_left(const gn_pipe *pipe)
{
    int unsent = 0;
    return pipe->closed || (!pipe->head_left && !pipe->to_go && (ioctl(pipe->fd, SIOCOUTQ, &unsent) || !unsent));
}

/// @return whether all have what was sent to them. `moved`: bytes that have left so far
static bool all_have_left(gn_comm *comm, size_t *unsent)
{
    const gn_peers *peers = comm->peers;
    bool all = !peers->all;
    *unsent = 0;
    for (int r = 0; r < comm->size; r++) {
        const gn_peer *peer = peers->peer[r];
        int queued = 0;
        if (!peer || !peer->out || has_left(peer->out)) continue;
        all = false;
        if (!ioctl(peer->out->fd, SIOCOUTQ, &queued)) *unsent += (size_t)queued;
        *unsent += peer->out->to_go;
    }
    return all;
}

static void await_all_left(gn_comm *comm)
{
    gn_peers *peers = comm->peers;
    size_t before = SIZE_MAX, unsent;
    uint64_t moved = gn_now();
    for (gn_status status = gn_oob_state(comm); !status;) {
        gn_lock(&peers->lock);
        const bool all = all_have_left(comm, &unsent);
        gn_unlock(&peers->lock);
        const uint64_t now = gn_now();
        if (unsent < before) moved = now;
        before = unsent;
        if (all || gn_elapsed(moved, now) > gn_comm_timeout(comm)) return;
        status = gn_oob_poll(comm, NULL, 0, 1);
    }
}

static void say_end(gn_pipe *pipe)
{
    if (!pipe || pipe->closed || pipe->head_left || pipe->to_go) return;
    gn_pipe_begin(pipe, &(gn_parcel){.type = GN_PARCEL_END}, NULL);
    (void)gn_pipe_flush(pipe);
    (void)shutdown(pipe->fd, SHUT_WR);
    // To close a socket that has unread bytes would reset it.
    char bytes[4096];
    while (recv(pipe->fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
}

void gn_peers_leave(gn_comm *comm)
{
    gn_peers *peers = comm->peers;
    if (!peers || gn_oob_state(comm)) return;
    (void)gn_peers_look(comm);  // who has come meanwhile is told, too
    if (!peers->count) return;
    await_all_left(comm);
    if (gn_oob_state(comm)) return;
    gn_lock(&peers->lock);
    for (int r = 0; r < comm->size; r++) {
        if (!peers->peer[r]) continue;
        say_end(peers->peer[r]->out);
        say_end(peers->peer[r]->in);
    }
    gn_unlock(&peers->lock);
}
