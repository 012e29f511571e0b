// SPDX-License-Identifier: Apache-2.0
// Which message goes where. Messages of one rank come in order. A letter takes the first message
// that fits it, and a message goes to the first letter that fits it.
#include <stdlib.h>
#include <string.h>

#include "ring/failure.h"
#include "ring/peers/peers.h"

enum { READS_MAX = 64, GIVE_BACK = GN_PARCEL_WINDOW / 4 };

// Lists -------------------------------------------------------------------------------------------

static void push(gn_letters *list, gn_letter *letter)
{
    letter->next = NULL;
    if (list->last)
        list->last->next = letter;
    else
        list->first = letter;
    list->last = letter;
}

/// Takes out the one behind `before`; NULL: the first one.
static gn_letter *take_behind(gn_letters *list, gn_letter *before)
{
    gn_letter *letter = before ? before->next : list->first;
    if (before)
        before->next = letter->next;
    else
        list->first = letter->next;
    if (list->last == letter) list->last = before;
    return letter;
}

static gn_letter *pop(gn_letters *list)
{
    return list->first ? take_behind(list, NULL) : NULL;
}

static gn_letter *take_number(gn_letters *list, uint64_t number)
{
    gn_letter *before = NULL;
    for (gn_letter *l = list->first; l; before = l, l = l->next)
        if (l->number == number) return take_behind(list, before);
    return NULL;
}

// The ends of letters -----------------------------------------------------------------------------

void gn_letters_finish_locked(gn_peers *peers, gn_letter *letter, gn_status status)
{
    if (letter->before)
        letter->before->behind = letter->behind;
    else
        peers->all = letter->behind;
    if (letter->behind) letter->behind->before = letter->before;
    gn_request *request = letter->request;
    letter->status = status;
    letter->done = true;
    peers->ended++;
    if (letter->own) {
        free(letter->own);
        free(letter);
    } else if (request) {
        letter->tell(request, status);  // the letter is its
    }
}

void gn_letters_fail(gn_comm *comm, gn_status status)
{
    gn_peers *peers = comm->peers;
    gn_lock(&peers->lock);
    while (peers->all) gn_letters_finish_locked(peers, peers->all, status);
    gn_unlock(&peers->lock);
}

static void corrupt_locked(gn_comm *comm, const gn_peer *peer, const char *what)
{
    (void)gn_oob_fail(comm, GN_CORRUPT, peer->rank, "rank %d (%s) sent %s on its connection for messages", peer->rank,
                      peer->name, what);
}

// Sending -----------------------------------------------------------------------------------------

/// The bytes that were begun have been written.
static void written_locked(gn_comm *comm, gn_peer *peer)
{
    gn_letter *letter = peer->writing;
    peer->writing = NULL;
    if (!letter) return;
    letter->moved = gn_now();
    if (letter->moved_bytes == letter->count)
        gn_letters_finish_locked(comm->peers, letter, GN_OK);
    else
        push(&peer->moving, letter);
}

/// Gives a letter its place in the window. @return false when there is none
static bool pay(gn_peer *peer, gn_letter *letter)
{
    const size_t cost = gn_parcel_cost(letter->count);
    if (letter->paid) return true;
    if (peer->used + cost > GN_PARCEL_WINDOW) return false;
    peer->used += cost;
    letter->paid = true;
    return true;
}

static void announce_locked(gn_comm *comm, gn_peer *peer)
{
    gn_letter *letter = pop(&peer->queue);
    const bool whole = letter->count <= GN_PARCEL_WHOLE_MAX;
    letter->number = peer->next_out++;
    const gn_parcel parcel = {.type = whole ? GN_PARCEL_WHOLE : GN_PARCEL_OFFER,
                              .tag = letter->tag,
                              .number = letter->number,
                              .bytes = letter->count};
    gn_pipe_begin(peer->out, &parcel, letter->bytes);
    if (whole) {
        letter->moved_bytes = letter->count;
        comm->peers->sent += letter->count;
        peer->writing = letter;
    } else {
        push(&peer->offered, letter);
    }
}

static void send_part_locked(gn_comm *comm, gn_peer *peer)
{
    gn_letter *letter = pop(&peer->moving);
    const size_t left = letter->count - letter->moved_bytes,
                 part = left < GN_PARCEL_PART_MAX ? left : GN_PARCEL_PART_MAX;
    gn_pipe_begin(peer->out, &(gn_parcel){.type = GN_PARCEL_PART, .number = letter->number, .bytes = part},
                  letter->bytes + letter->moved_bytes);
    letter->moved_bytes += part;
    comm->peers->sent += part;
    peer->writing = letter;
}

void gn_letters_write_out_locked(gn_comm *comm, gn_peer *peer)
{
    while (gn_pipe_flush(peer->out)) {
        written_locked(comm, peer);
        if (peer->greet_out) {
            peer->greet_out = false;
            gn_pipe_begin(peer->out, &(gn_parcel){.type = GN_PARCEL_ALIVE}, NULL);
        } else if (peer->queue.first && pay(peer, peer->queue.first)) {
            announce_locked(comm, peer);
        } else if (peer->moving.first) {
            send_part_locked(comm, peer);
        } else {
            return;
        }
    }
}

/// What comes on either connection. @return false when it is something else
static bool take_sign(gn_peer *peer, const gn_parcel *parcel)
{
    if (parcel->type == GN_PARCEL_END) peer->left = true;
    return parcel->type == GN_PARCEL_END || parcel->type == GN_PARCEL_ALIVE;
}

static bool take_answer_locked(gn_peer *peer, const gn_parcel *parcel)
{
    gn_letter *letter;
    switch (parcel->type) {
    case GN_PARCEL_ACCEPT:
        letter = take_number(&peer->offered, parcel->number);
        if (letter) push(&peer->moving, letter);
        return letter != NULL;
    case GN_PARCEL_CREDIT:
        if (parcel->bytes > peer->used) return false;
        peer->used -= (size_t)parcel->bytes;
        return true;
    default:
        return take_sign(peer, parcel);
    }
}

void gn_letters_read_out_locked(gn_comm *comm, gn_peer *peer)
{
    gn_parcel parcel;
    while (gn_pipe_next(peer->out, &parcel))
        if (!take_answer_locked(peer, &parcel)) {
            corrupt_locked(comm, peer, "an answer that fits nothing");
            return;
        }
    if (peer->out->broken) corrupt_locked(comm, peer, "bytes that are no parcel");
}

// Receiving ---------------------------------------------------------------------------------------

/// Tags below 0 are those of collectives.
static bool tag_fits(int wanted, int tag)
{
    return wanted == GN_ANY_TAG ? tag >= 0 : wanted == tag;
}

static bool fits(const gn_letter *letter, int rank, int tag)
{
    return (letter->rank == GN_ANY_RANK || letter->rank == rank) && tag_fits(letter->tag, tag);
}

static gn_letter *take_fitting(gn_letters *list, int rank, int tag)
{
    gn_letter *before = NULL;
    for (gn_letter *l = list->first; l; before = l, l = l->next)
        if (fits(l, rank, tag)) return take_behind(list, before);
    return NULL;
}

/// The letter has found its message. @return false when it is too large or too small for it
static bool match_locked(gn_comm *comm, gn_letter *letter, int rank, int tag, size_t size)
{
    letter->size = size;
    letter->moved = gn_now();
    if (letter->got) *letter->got = (gn_received){.rank = rank, .tag = tag, .bytes = size};
    if (size <= letter->count && (letter->got || size == letter->count)) return true;
    char name[GN_ENDPOINT_TEXT];
    (void)gn_oob_fail(comm, GN_MISMATCH, rank, "rank %d (%s) sent %zu bytes with tag %d; rank %d wants %s%zu", rank,
                      gn_rank_name(&comm->table, rank, name), size, tag, comm->rank, letter->got ? "at most " : "",
                      letter->count);
    gn_letters_finish_locked(comm->peers, letter, GN_MISMATCH);
    return false;
}

static void give_back(gn_peer *peer, size_t size)
{
    const size_t cost = gn_parcel_cost(size);
    peer->owed -= cost;
    peer->free_again += cost;
}

static void keep_arrival(gn_peers *peers, gn_arrival *arrival)
{
    if (peers->last)
        peers->last->next = arrival;
    else
        peers->first = arrival;
    peers->last = arrival;
}

static void drop_arrival(gn_peers *peers, const gn_arrival *arrival)
{
    gn_arrival *before = NULL, *a = peers->first;
    for (; a != arrival; a = a->next) before = a;
    if (before)
        before->next = a->next;
    else
        peers->first = a->next;
    if (peers->last == a) peers->last = before;
    free(a);
}

static void deliver_locked(gn_comm *comm, gn_letter *letter, gn_arrival *arrival)
{
    if (arrival->size) memcpy(letter->bytes, arrival->bytes, arrival->size);
    drop_arrival(comm->peers, arrival);
    gn_letters_finish_locked(comm->peers, letter, GN_OK);
}

/// The bytes behind a head are all here.
static void arrived_locked(gn_comm *comm, gn_peer *peer)
{
    gn_letter *letter = peer->reading;
    gn_arrival *arrival = peer->keeping;
    peer->reading = NULL;
    peer->keeping = NULL;
    if (arrival) {
        arrival->whole = true;
        if (arrival->taker) deliver_locked(comm, arrival->taker, arrival);
    } else if (letter) {
        letter->moved = gn_now();
        if (letter->moved_bytes == letter->size)
            gn_letters_finish_locked(comm->peers, letter, GN_OK);
        else
            push(&peer->arriving, letter);
    }
}

/// A message comes, or an offer of one. @return false when it does not fit the window
static bool take_message_locked(gn_comm *comm, gn_peer *peer, const gn_parcel *parcel)
{
    const size_t size = (size_t)parcel->bytes;
    const bool whole = parcel->type == GN_PARCEL_WHOLE;
    if (parcel->number != peer->next_in++ || peer->owed + peer->free_again + gn_parcel_cost(size) > GN_PARCEL_WINDOW)
        return false;
    peer->owed += gn_parcel_cost(size);
    gn_letter *letter = take_fitting(&comm->peers->wanted, peer->rank, parcel->tag);
    if (letter) {
        give_back(peer, size);
        if (!match_locked(comm, letter, peer->rank, parcel->tag, size)) return true;
        letter->number = parcel->number;
        if (!whole) {
            push(&peer->accepting, letter);
            return true;
        }
        letter->moved_bytes = size;
        peer->reading = letter;
        gn_pipe_into(peer->in, letter->bytes, size);
    } else {
        gn_arrival *arrival = calloc(1, sizeof *arrival + (whole ? size : 0));
        if (!arrival) {
            (void)gn_oob_no_memory(comm);
            return true;
        }
        *arrival = (gn_arrival){
            .rank = peer->rank, .tag = parcel->tag, .offered = !whole, .number = parcel->number, .size = size};
        keep_arrival(comm->peers, arrival);
        if (!whole) return true;
        peer->keeping = arrival;
        gn_pipe_into(peer->in, arrival->bytes, size);
    }
    if (!size) arrived_locked(comm, peer);
    return true;
}

static bool take_part_locked(gn_peer *peer, const gn_parcel *parcel)
{
    const size_t size = (size_t)parcel->bytes;
    gn_letter *letter = take_number(&peer->arriving, parcel->number);
    if (!letter || size > letter->size - letter->moved_bytes) return false;
    gn_pipe_into(peer->in, letter->bytes + letter->moved_bytes, size);
    letter->moved_bytes += size;
    peer->reading = letter;
    return true;
}

static bool take_parcel_locked(gn_comm *comm, gn_peer *peer, const gn_parcel *parcel)
{
    switch (parcel->type) {
    case GN_PARCEL_WHOLE:
    case GN_PARCEL_OFFER:
        return take_message_locked(comm, peer, parcel);
    case GN_PARCEL_PART:
        return take_part_locked(peer, parcel);
    default:
        return take_sign(peer, parcel);
    }
}

void gn_letters_read_in_locked(gn_comm *comm, gn_peer *peer)
{
    gn_parcel parcel;
    // What has been read from the socket is not left there: poll() would not tell of it.
    for (int i = 0; i < READS_MAX || gn_pipe_has_more(peer->in); i++) {
        if (peer->in->to_come) {
            const size_t got = gn_pipe_read(peer->in);
            comm->peers->received += got;
            if (!got) return;
            if (!peer->in->to_come) arrived_locked(comm, peer);
        } else if (!gn_pipe_next(peer->in, &parcel)) {
            break;
        } else if (!take_parcel_locked(comm, peer, &parcel)) {
            corrupt_locked(comm, peer, "a message that fits nothing");
            return;
        }
        if (gn_oob_state(comm)) return;
    }
    if (peer->in->broken) corrupt_locked(comm, peer, "bytes that are no parcel");
}

void gn_letters_write_in_locked(gn_comm *comm, gn_peer *peer)
{
    (void)comm;
    while (gn_pipe_flush(peer->in)) {
        gn_parcel parcel = {.type = GN_PARCEL_ALIVE};
        gn_letter *letter = pop(&peer->accepting);
        if (letter) {
            parcel = (gn_parcel){.type = GN_PARCEL_ACCEPT, .number = letter->number};
            push(&peer->arriving, letter);
        } else if (peer->free_again >= GIVE_BACK) {
            parcel = (gn_parcel){.type = GN_PARCEL_CREDIT, .bytes = peer->free_again};
            peer->free_again = 0;
        } else if (!peer->greet_in) {
            return;
        }
        if (parcel.type == GN_PARCEL_ALIVE) peer->greet_in = false;
        gn_pipe_begin(peer->in, &parcel, NULL);
    }
}

// Posting -----------------------------------------------------------------------------------------

static const gn_arrival *find(const gn_peers *peers, int rank, int tag)
{
    for (const gn_arrival *a = peers->first; a; a = a->next)
        if (!a->taker && (rank == GN_ANY_RANK || rank == a->rank) && tag_fits(tag, a->tag)) return a;
    return NULL;
}

const gn_arrival *gn_letters_find_locked(const gn_comm *comm, int rank, int tag)
{
    return find(comm->peers, rank, tag);
}

void gn_letters_want_locked(gn_comm *comm, gn_letter *letter)
{
    gn_peers *peers = comm->peers;
    gn_arrival *arrival = (gn_arrival *)(uintptr_t)find(peers, letter->rank, letter->tag);
    if (!arrival) {
        push(&peers->wanted, letter);
        return;
    }
    gn_peer *peer = arrival->rank == comm->rank ? NULL : peers->peer[arrival->rank];
    if (peer) give_back(peer, arrival->size);
    if (!match_locked(comm, letter, arrival->rank, arrival->tag, arrival->size)) return;
    if (arrival->offered) {
        letter->number = arrival->number;
        push(&peer->accepting, letter);
        drop_arrival(peers, arrival);
    } else if (arrival->whole) {
        deliver_locked(comm, letter, arrival);
    } else {
        arrival->taker = letter;
    }
    if (peer && peer->in) gn_letters_write_in_locked(comm, peer);
}

void gn_letters_keep_own_locked(gn_comm *comm, gn_letter *letter)
{
    gn_letter *taker = take_fitting(&comm->peers->wanted, comm->rank, letter->tag);
    gn_arrival *arrival = taker ? NULL : malloc(sizeof *arrival + letter->count);
    if (taker) {
        if (match_locked(comm, taker, comm->rank, letter->tag, letter->count)) {
            if (letter->count) memcpy(taker->bytes, letter->bytes, letter->count);
            gn_letters_finish_locked(comm->peers, taker, GN_OK);
        }
    } else if (arrival) {
        *arrival = (gn_arrival){.rank = comm->rank, .tag = letter->tag, .whole = true, .size = letter->count};
        if (letter->count) memcpy(arrival->bytes, letter->bytes, letter->count);
        keep_arrival(comm->peers, arrival);
    }
    const bool kept = taker || arrival;
    gn_letters_finish_locked(comm->peers, letter, kept ? GN_OK : gn_oob_no_memory(comm));
}

/// Takes the place of `letter` with a copy of its bytes, and ends it.
static void replace_locked(gn_peers *peers, gn_peer *peer, gn_letter *letter, gn_letter *copy)
{
    if (letter->count) memcpy(copy->own, letter->bytes, letter->count);
    copy->bytes = copy->own;
    if (peer->writing == letter) {
        if (peer->out->to_go) peer->out->from = copy->bytes + (letter->count - peer->out->to_go);
        peer->writing = copy;
    } else {
        gn_letter *before = NULL;
        for (gn_letter *l = peer->queue.first; l != letter; l = l->next) before = l;
        (void)take_behind(&peer->queue, before);
        push(&peer->queue, copy);  // it was the last one
    }
    copy->behind = peers->all;
    if (peers->all) peers->all->before = copy;
    peers->all = copy;
    gn_letters_finish_locked(peers, letter, GN_OK);
}

void gn_letters_let_go_locked(gn_comm *comm, gn_peer *peer, gn_letter *letter)
{
    if (letter->done || !letter->paid || letter->count > GN_PARCEL_WHOLE_MAX || !peer->out) return;
    gn_letter *copy = malloc(sizeof *copy);
    uint8_t *own = malloc(letter->count ? letter->count : 1);
    if (!copy || !own) {
        free(copy);
        free(own);
        return;
    }
    *copy = *letter;
    copy->own = own;
    copy->request = NULL;
    copy->before = NULL;
    copy->waited = 0;
    replace_locked(comm->peers, peer, letter, copy);
}

void gn_letters_enqueue_locked(gn_peer *peer, gn_letter *letter)
{
    const gn_letter *last = peer->queue.last;
    push(&peer->queue, letter);
    if (!last || last->paid) (void)pay(peer, letter);
}
