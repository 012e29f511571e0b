// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_PEERS_PEERS_H
#define GRADNIC_RING_PEERS_PEERS_H
/// Messages between two ranks, as the files of this folder see them. They have connections of their
/// own, which are made when they are first needed: one for each direction. The rank that sends
/// connects to the other's out-of-band port, which stays open for that.
///
/// Small messages leave at once, and wait at the receiver, in a window of bounded size. Large ones
/// are offered, and their bytes come when they are wanted. So memory is bounded.
///
/// `lock` guards all of it. One thread at a time runs it: the one that runs collectives, while it
/// waits (deadline.c). Others post letters, or look after a group in which nobody waits (life.c).
/// It is taken after the registry's lock of life.c, and before the communicator's own.

#include "net/lobby.h"
#include "net/log_limit.h"
#include "net/secret.h"
#include "ring/group.h"
#include "ring/peers/pipe.h"

/// The tag of collectives. Those of callers are not below 0.
enum { GN_LETTER_OF_COLLECTIVE = GN_ANY_TAG - 1 };

/// What a caller has posted.
typedef struct gn_letter {
    bool sends;
    int rank, tag;        ///< of the other side; or GN_ANY_RANK, GN_ANY_TAG
    uint8_t *bytes;       ///< the caller's, or `own`
    size_t count;         ///< bytes of that
    gn_received *got;     ///< the caller's; NULL: the message has just `count` bytes
    gn_request *request;  ///< to be told, with `tell`; NULL: it is a blocking call's
    void (*tell)(gn_request *request, gn_status status);
    // What follows is the engine's.
    bool done;         ///< to be read: `status` is there
    gn_status status;  ///< to be read
    uint64_t waited;   ///< since when somebody waits for it; 0: nobody does
    uint64_t moved;    ///< when bytes of it last moved
    bool paid;         ///< it has its place in the window
    uint64_t number;
    size_t size, moved_bytes;           ///< of the message; that have moved
    struct gn_letter *next;             ///< of the list that it is in
    struct gn_letter *before, *behind;  ///< of all
    uint8_t *own;                       ///< a copy of the bytes: nobody knows of the letter any more
} gn_letter;

typedef struct gn_letters {
    gn_letter *first, *last;
} gn_letters;

/// A message that nobody has wanted yet.
typedef struct gn_arrival {
    struct gn_arrival *next;
    int rank, tag;
    bool offered;  ///< its bytes are still there
    bool whole;    ///< they are here
    uint64_t number;
    size_t size;
    gn_letter *taker;  ///< wants it, and waits for its bytes
    uint8_t bytes[];
} gn_arrival;

typedef struct gn_peer {
    int rank;
    char name[GN_ENDPOINT_TEXT];
    gn_pipe *in, *out;   ///< for messages from it, to it; NULL: not there
    gn_framed *calling;  ///< `out` is being made
    gn_greeting greeting;
    uint64_t retry_at;
    int refused;        ///< why it cannot be connected to: an errno
    bool knocked;       ///< it is connected to, though there is nothing to be sent, so that it gives signs of life
    bool left;          ///< it has said that nothing more will come
    uint64_t broke_at;  ///< when it was first found gone; 0: it was not
    bool greet_in, greet_out;  ///< signs of life are due on `in`, on `out`
    // Messages to it.
    gn_letters queue, offered, moving;  ///< not announced; announced; wanted
    gn_letter *writing;                 ///< its bytes are in `out`
    size_t used;                        ///< of the window
    uint64_t next_out;                  ///< number of the next message
    // Messages from it.
    gn_letters accepting, arriving;  ///< to be accepted; accepted
    gn_letter *reading;              ///< the bytes in `in` are its
    gn_arrival *keeping;             ///< the same
    size_t owed, free_again;         ///< of the window: taken, to be given back
    uint64_t next_in;
} gn_peer;

typedef struct gn_peers {
    pthread_mutex_t lock;
    int listener;  ///< -1: there is none
    int bell;      ///< eventfd: a letter was posted, or a collective
    gn_endpoint local;
    gn_secret secret;
    gn_greeting door;
    gn_lobby lobby;
    gn_log_limit sent_away;       ///< log lines about strangers
    gn_peer *peer[GN_RANKS_MAX];  ///< by rank; NULL: not needed yet
    int count;                    ///< of them
    gn_letters wanted;            ///< receive, and match nothing yet; in order
    gn_arrival *first, *last;     ///< in order
    gn_letter *all;
    uint64_t changes;          ///< of the set that poll() waits for
    uint64_t polled;           ///< `changes` when it was made
    unsigned polled_lobby;     ///< entries of the lobby in it
    unsigned polled_entries;   ///< all entries
    uint64_t beat_at, looked;  ///< when signs of life are due; when deadlines were last looked at
    uint64_t excused;          ///< nobody is blamed for silence before that
    unsigned awaited;          ///< how often letters were waited for
    bool waiting;              ///< somebody waits for a letter, and...
    uint64_t ended, seen;      ///< ... of the letters that have ended so far, it knows so many
    bool looks;                ///< for messages that were not asked for
    uint64_t sent, received;   ///< bytes of messages
} gn_peers;

// Connections: peers.c ----------------------------------------------------------------------------

struct gn_bootstrap;

/// Makes what messages need, for all ranks. `boot` gives its out-of-band listener away. NULL: this
/// rank is alone. @return GN_OK, GN_NO_MEMORY
gn_status gn_peers_open(gn_comm *comm, struct gn_bootstrap *boot, gn_error *error);
/// Frees it. What has not left is lost.
void gn_peers_close(gn_comm *comm);

/// Entries for poll() that gn_peers_poll() writes, at most.
size_t gn_peers_room(const gn_comm *comm);
/// What to wait for, and until when. @return entries
unsigned gn_peers_poll(gn_comm *comm, struct pollfd *set, uint64_t now, uint64_t *due);
/// Goes on after poll(). `found`: it has found something. @return GN_OK, or the status with which
/// the communicator has failed
gn_status gn_peers_serve(gn_comm *comm, struct pollfd *set, bool found);
/// Looks after a group in which nobody waits. Does nothing when somebody else is at it.
void gn_peers_tend(gn_comm *comm);

/// The other side, made when there is none yet. @return NULL when out of memory
gn_peer *gn_peer_of_locked(gn_comm *comm, int rank);
/// Goes on with one of them as far as it goes without waiting.
void gn_peer_serve_locked(gn_comm *comm, gn_peer *peer);
/// Begins to connect, unless it has begun.
void gn_peer_call_locked(gn_comm *comm, gn_peer *peer);

// Messages: letters.c -----------------------------------------------------------------------------

/// A letter to another rank waits for its turn. It has a place in the window when all before it
/// have one.
void gn_letters_enqueue_locked(gn_peer *peer, gn_letter *letter);
/// A small letter that has its place at the receiver, but not in the socket, ends: a copy goes on.
void gn_letters_let_go_locked(gn_comm *comm, gn_peer *peer, gn_letter *letter);
/// A letter to this rank itself is there at once.
void gn_letters_keep_own_locked(gn_comm *comm, gn_letter *letter);
/// A letter that receives.
void gn_letters_want_locked(gn_comm *comm, gn_letter *letter);
/// Ends a letter.
void gn_letters_finish_locked(gn_peers *peers, gn_letter *letter, gn_status status);
/// Ends all letters.
void gn_letters_fail(gn_comm *comm, gn_status status);

/// Writes what is to be written. The connections exist.
void gn_letters_write_out_locked(gn_comm *comm, gn_peer *peer);
void gn_letters_write_in_locked(gn_comm *comm, gn_peer *peer);
/// Reads what has come.
void gn_letters_read_in_locked(gn_comm *comm, gn_peer *peer);
void gn_letters_read_out_locked(gn_comm *comm, gn_peer *peer);

/// Looks for a message that nobody has wanted yet. @return NULL: there is none
const gn_arrival *gn_letters_find_locked(const gn_comm *comm, int rank, int tag);

// Beginning: post.c -------------------------------------------------------------------------------

/// Posts a letter, and does what can be done at once. @return GN_OK, or why the communicator has
/// failed
gn_status gn_letter_post(gn_comm *comm, gn_letter *letter);

// Waiting: wait.c ---------------------------------------------------------------------------------

/// Whether there are letters that are not done.
bool gn_peers_busy(gn_comm *comm);
/// Waits for the next event. When the communicator fails, all letters end. @return GN_OK, or the
/// status with which it has failed
gn_status gn_peers_step(gn_comm *comm);
/// The same for what is there already: it does not wait.
gn_status gn_peers_look(gn_comm *comm);
/// Waits until a letter is done, on the thread that runs collectives. @return its status
gn_status gn_letter_await(gn_comm *comm, gn_letter *letter);
/// From now on somebody waits for the letter of a request; NULL: for all letters.
void gn_peers_expect(gn_comm *comm, const gn_request *request);
/// Wakes the thread that waits.
void gn_peers_ring(gn_comm *comm);
/// Adds the bytes of messages.
void gn_peers_add_stats(gn_comm *comm, gn_comm_stats *stats);
/// Waits until all has left that was sent, and says goodbye.
void gn_peers_leave(gn_comm *comm);

#endif
