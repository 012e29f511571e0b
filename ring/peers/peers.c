// SPDX-License-Identifier: Apache-2.0
// The connections for messages. The rank that sends connects, to the out-of-band port of the other,
// and says JOIN, after a greeting where a secret is set. Then parcels follow at once.
#include "ring/peers/peers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "net/socket.h"
#include "net/tcp.h"
#include "ring/bootstrap/bootstrap.h"
#include "ring/failure.h"
#include "ring/log.h"
#include "ring/oob.h"

enum {
    JOIN_BYTES = GN_FRAME_HEADER + GN_TOKEN_BYTES + 2,
    STRANGERS = 16,
    RETRY_MS = 50,
    ENTRIES_OF_A_PEER = 2  // for poll()
};

gn_status gn_peers_open(gn_comm *comm, struct gn_bootstrap *boot, gn_error *error)
{
    gn_peers *peers = calloc(1, sizeof *peers);
    if (!peers) return gn_fail_memory(error);
    comm->peers = peers;
    pthread_mutex_init(&peers->lock, NULL);
    peers->listener = -1;
    peers->bell = gn_apart(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (peers->bell < 0) return gn_fail(error, GN_IO, "rank %d: eventfd: %s", comm->rank, strerror(errno));
    if (!boot) return GN_OK;
    peers->listener = boot->oob_listener;
    boot->oob_listener = -1;
    peers->local = boot->local;
    peers->secret = boot->secret;
    if (gn_lobby_open(&peers->lobby, STRANGERS)) return gn_fail_memory(error);
    gn_door door = {.listener = peers->listener, .in_room = JOIN_BYTES};
    if (peers->secret.set) {
        gn_greeting_answer(&peers->door, &peers->secret, GN_GREETING_EXCHANGE, (uint16_t)comm->rank, NULL);
        door.in_room = door.out_room = GN_GREETING_MAX;
        door.greeting = &peers->door;
    }
    gn_lobby_add_door(&peers->lobby, door);
    return GN_OK;
}

static void free_peer(gn_peer *peer)
{
    if (!peer) return;
    gn_pipe_free(peer->in);
    gn_pipe_free(peer->out);
    gn_framed_free(peer->calling);
    gn_greeting_wipe(&peer->greeting);
    free(peer);
}

void gn_peers_close(gn_comm *comm)
{
    gn_peers *peers = comm->peers;
    if (!peers) return;
    for (int r = 0; r < comm->size; r++) free_peer(peers->peer[r]);
    for (gn_letter *l = peers->all, *next; l; l = next) {
        next = l->behind;
        if (!l->own) continue;
        free(l->own);
        free(l);
    }
    for (gn_arrival *a = peers->first, *next; a; a = next) {
        next = a->next;
        free(a);
    }
    gn_lobby_close(&peers->lobby);
    gn_close(&peers->listener);
    gn_close(&peers->bell);
    gn_greeting_wipe(&peers->door);
    gn_secret_wipe(&peers->secret);
    pthread_mutex_destroy(&peers->lock);
    free(peers);
    comm->peers = NULL;
}

gn_peer *gn_peer_of_locked(gn_comm *comm, int rank)
{
    gn_peers *peers = comm->peers;
    gn_peer *peer = peers->peer[rank];
    if (peer) return peer;
    peer = calloc(1, sizeof *peer);
    if (!peer) return NULL;
    peer->rank = rank;
    gn_rank_name(&comm->table, rank, peer->name);
    peers->peer[rank] = peer;
    peers->count++;
    peers->changes++;
    return peer;
}

// Connecting --------------------------------------------------------------------------------------

void gn_peer_call_locked(gn_comm *comm, gn_peer *peer)
{
    gn_peers *peers = comm->peers;
    if (peer->out || peer->calling || peer->refused || gn_now() < peer->retry_at) return;
    const gn_address *address = &comm->table.address[peer->rank];
    const gn_endpoint to = gn_address_endpoint(address, address->oob_port, peers->local.scope);
    const int fd = gn_tcp_connect(&to, &peers->local, 0);
    gn_greeting_who who = {
        .role = GN_ROLE_PEER, .rank = (uint16_t)comm->rank, .size = (uint16_t)comm->size, .to = (uint16_t)peer->rank};
    if (fd < 0) {
        peer->refused = errno;
        return;
    }
    gn_token_text(comm->table.token, who.name);
    gn_greeting_call(&peer->greeting, &peers->secret, GN_GREETING_EXCHANGE, &who);
    peer->calling = gn_framed_new(fd, GN_FRAMED_CONNECTING, GN_GREETING_MAX, GN_GREETING_MAX + JOIN_BYTES);
    if (!peer->calling) peer->refused = ENOMEM;
    peers->changes++;
}

/// The connection is there: nothing but parcels follows.
static void connected_locked(gn_peers *peers, gn_peer *peer)
{
    const uint8_t *bytes;
    uint8_t rest[GN_GREETING_MAX];
    const size_t count = gn_framed_rest(peer->calling, &bytes);
    if (count) memcpy(rest, bytes, count);
    peer->out = gn_pipe_new(gn_framed_release(peer->calling), rest, count);
    if (!peer->out) peer->refused = ENOMEM;
    peer->calling = NULL;
    gn_greeting_wipe(&peer->greeting);
    peers->changes++;
}

static void say_join(const gn_comm *comm, gn_framed *calling)
{
    gn_join join = {.rank = (uint16_t)comm->rank};
    uint8_t frame[GN_FRAME_MAX];
    memcpy(join.token, comm->table.token, sizeof join.token);
    (void)gn_framed_send(calling, frame, gn_join_write(frame, &join));
}

/// Goes on with a connection that is being made.
static void go_on_calling_locked(gn_comm *comm, gn_peer *peer)
{
    gn_peers *peers = comm->peers;
    gn_framed *calling = peer->calling;
    struct pollfd p = gn_framed_poll(calling);
    if (poll(&p, 1, 0) > 0) gn_framed_serve(calling, p.revents);
    if (calling->state == GN_FRAMED_CONNECTING) return;
    const gn_greeting_step step = gn_greeting_advance(&peer->greeting, calling);
    if (step == GN_GREETING_DONE && calling->state == GN_FRAMED_OPEN) {
        say_join(comm, calling);
        if (!gn_framed_unsent(calling)) {  // a fresh socket takes it
            connected_locked(peers, peer);
            return;
        }
    }
    if (step == GN_GREETING_PENDING && calling->state != GN_FRAMED_CLOSED) return;
    // It is gone; or strangers took our place, and it is tried again.
    const int error = step == GN_GREETING_FAILED ? EACCES : calling->error;
    const bool again = !error || error == ECONNRESET || error == EPIPE;
    gn_framed_free(calling);
    peer->calling = NULL;
    peer->refused = again ? 0 : error;
    peer->retry_at = gn_now() + RETRY_MS * GN_MILLISECOND;
    peers->changes++;
}

// Being connected to ------------------------------------------------------------------------------

static int parse_join(const uint8_t *bytes, size_t available, void *join)
{
    gn_frame frame;
    const int length = gn_frame_parse(bytes, available, &frame);
    if (length <= 0) return length;
    return frame.type == GN_MSG_JOIN && gn_join_read(&frame, join) ? length : -1;
}

static bool is_greeted(const gn_comm *comm, const gn_stranger *stranger, const gn_join *join)
{
    char name[GN_GREETING_NAME] = "";
    if (!comm->peers->secret.set) return true;
    const gn_greeting_who *who = &stranger->greeting->who;
    gn_token_text(comm->table.token, name);
    return who->role == GN_ROLE_PEER && who->rank == join->rank && who->size == comm->size && !strcmp(who->name, name);
}

/// @return false when it is no rank of this group, or one that is connected already
static bool admit_locked(gn_comm *comm, unsigned index, const gn_join *join)
{
    gn_peers *peers = comm->peers;
    if (join->rank >= comm->size || join->rank == comm->rank) return false;
    if (memcmp(join->token, comm->table.token, sizeof join->token) != 0) return false;
    if (!is_greeted(comm, &peers->lobby.strangers[index], join)) return false;
    gn_peer *peer = gn_peer_of_locked(comm, join->rank);
    if (!peer || peer->in) return false;
    gn_framed *connection = gn_lobby_admit(&peers->lobby, index);
    const uint8_t *bytes;
    uint8_t rest[GN_GREETING_MAX];
    const size_t count = gn_framed_rest(connection, &bytes);
    if (count) memcpy(rest, bytes, count);
    peer->in = gn_pipe_new(gn_framed_release(connection), rest, count);
    peers->changes++;
    return true;
}

static void send_away_locked(gn_comm *comm, unsigned index, bool false_secret)
{
    gn_peers *peers = comm->peers;
    char name[GN_ENDPOINT_TEXT];
    const uint64_t now = gn_now(), held = gn_log_limit_rest(&peers->sent_away, now);
    if (held) gn_log_text(&comm->config, GN_LOG_WARNING, "and %" PRIu64 " more strangers were sent away", held);
    if (gn_log_limit_take(&peers->sent_away, now))
        gn_log_text(&comm->config, GN_LOG_WARNING, "a stranger, %s, connected to the out-of-band port%s: sent away",
                    gn_endpoint_format(&peers->lobby.strangers[index].from, name),
                    false_secret ? " without the shared secret" : "");
    gn_lobby_dismiss(&peers->lobby, index);
    peers->changes++;
}

static void look_at_strangers_locked(gn_comm *comm)
{
    gn_lobby *lobby = &comm->peers->lobby;
    gn_lobby_read(lobby);
    for (unsigned i = lobby->count; i-- > 0;) {
        gn_stranger *stranger = &lobby->strangers[i];
        gn_join join;
        const gn_greeting_step step = gn_stranger_greet(stranger);
        int found = step == GN_GREETING_FAILED ? -1 : 0;
        if (step == GN_GREETING_DONE) found = gn_framed_next(stranger->connection, parse_join, &join);
        if (!found && !gn_stranger_is_over(stranger, gn_now())) continue;
        if (found > 0 && admit_locked(comm, i, &join)) continue;
        send_away_locked(comm, i, step == GN_GREETING_FAILED);
    }
}

static void let_in_locked(gn_comm *comm)
{
    gn_peers *peers = comm->peers;
    if (peers->listener < 0) return;
    look_at_strangers_locked(comm);  // who has been heard may give way
    const unsigned before = peers->lobby.count;
    const uint64_t gave_way = peers->lobby.gave_way;
    gn_lobby_accept(&peers->lobby);
    if (peers->lobby.count != before || peers->lobby.gave_way != gave_way) peers->changes++;
    look_at_strangers_locked(comm);  // who speaks at once is heard at once
}

// All of them -------------------------------------------------------------------------------------

void gn_peer_serve_locked(gn_comm *comm, gn_peer *peer)
{
    if (peer->calling) go_on_calling_locked(comm, peer);
    if (!peer->out && (peer->queue.first || peer->knocked)) gn_peer_call_locked(comm, peer);
    if (peer->in) gn_letters_read_in_locked(comm, peer);
    if (peer->out) gn_letters_read_out_locked(comm, peer);
    if (gn_oob_state(comm)) return;
    if (peer->in && !peer->in->closed) gn_letters_write_in_locked(comm, peer);
    if (peer->out && !peer->out->closed) gn_letters_write_out_locked(comm, peer);
}

/// Ranks that are neighbours hear signs of life out of band. Others do here.
static void beat_locked(gn_comm *comm, uint64_t now)
{
    gn_peers *peers = comm->peers;
    if (now < peers->beat_at) return;
    peers->beat_at = now + gn_oob_beat_span(comm);
    let_in_locked(comm);
    for (int r = 0; r < comm->size; r++) {
        gn_peer *peer = peers->peer[r];
        if (!peer) continue;
        peer->greet_in = peer->in && !gn_comm_is_mesh(comm);
        peer->greet_out = peer->out && !gn_comm_is_mesh(comm);
        gn_peer_serve_locked(comm, peer);
    }
}

size_t gn_peers_room(const gn_comm *comm)
{
    return 1 + GN_DOORS_MAX + STRANGERS + ENTRIES_OF_A_PEER * (size_t)comm->size;
}

static struct pollfd poll_pipe(const gn_pipe *pipe)
{
    if (!pipe || pipe->closed) return (struct pollfd){.fd = -1};
    return (struct pollfd){.fd = pipe->fd, .events = (short)(POLLIN | (pipe->full ? POLLOUT : 0))};
}

unsigned gn_peers_poll(gn_comm *comm, struct pollfd *set, uint64_t now, uint64_t *due)
{
    gn_peers *peers = comm->peers;
    unsigned n = 0;
    *due = GN_FOREVER;
    if (!peers) return 0;
    gn_lock(&peers->lock);
    if (now >= peers->beat_at && !gn_oob_state(comm)) beat_locked(comm, now);
    set[n++] = (struct pollfd){.fd = comm->queue ? peers->bell : -1, .events = POLLIN};
    // A rank that needs nobody looks at its door only with its signs of life.
    const bool used = peers->count || peers->all || peers->looks;
    peers->polled_lobby = 0;
    if (used && peers->listener >= 0) {
        peers->polled_lobby = gn_lobby_poll(&peers->lobby, set + n, now);
        n += peers->polled_lobby;
        *due = gn_lobby_due(&peers->lobby, now);
    }
    for (int r = 0; r < comm->size && peers->count; r++) {
        const gn_peer *peer = peers->peer[r];
        if (!peer) continue;
        set[n++] = poll_pipe(peer->in);
        set[n++] = peer->calling ? gn_framed_poll(peer->calling) : poll_pipe(peer->out);
        if (!peer->out && !peer->calling && peer->queue.first && !peer->refused && peer->retry_at < *due)
            *due = peer->retry_at;
    }
    if (used && peers->beat_at < *due) *due = peers->beat_at;
    if (peers->waiting && peers->ended != peers->seen) *due = now;  // there is nothing to wait for
    peers->polled = peers->changes;
    peers->polled_entries = n;
    gn_unlock(&peers->lock);
    return n;
}

static void hear_bell(const gn_peers *peers)
{
    uint64_t rung;
    (void)!read(peers->bell, &rung, sizeof rung);
}

gn_status gn_peers_serve(gn_comm *comm, struct pollfd *set, bool found)
{
    gn_peers *peers = comm->peers;
    unsigned n = 0;
    // Strangers have deadlines.
    const bool somebody = peers && (peers->count || peers->polled_lobby > peers->lobby.doors);
    if (!peers || (!found && !somebody)) return GN_OK;
    for (unsigned i = 0; i < peers->polled_entries && !found; i++) set[i].revents = 0;
    gn_lock(&peers->lock);
    if (set[n++].revents) hear_bell(peers);
    bool news = peers->polled != peers->changes;
    if (peers->polled_lobby) {
        const uint64_t now = gn_now();
        news |= gn_lobby_due(&peers->lobby, now) <= now;
    }
    for (unsigned i = 0; i < peers->polled_lobby; i++) news |= set[n++].revents != 0;
    if (news && !gn_oob_state(comm)) let_in_locked(comm);
    const bool same = peers->polled == peers->changes;  // else all are looked at
    for (int r = 0; r < comm->size && peers->count; r++) {
        gn_peer *peer = peers->peer[r];
        if (!peer) continue;
        const bool ready = !same || set[n].revents || set[n + 1].revents;
        const bool waits = !peer->out && !peer->calling && (peer->queue.first || peer->knocked);
        if (same) n += ENTRIES_OF_A_PEER;
        if ((ready || waits) && !gn_oob_state(comm)) gn_peer_serve_locked(comm, peer);
    }
    gn_unlock(&peers->lock);
    return gn_oob_state(comm);
}

void gn_peers_tend(gn_comm *comm)
{
    gn_peers *peers = comm->peers;
    if (!peers || !gn_try_lock(&peers->lock)) return;
    if (!peers->waiting && !gn_oob_state(comm)) {
        peers->beat_at = 0;
        beat_locked(comm, gn_now());
    }
    gn_unlock(&peers->lock);
}
