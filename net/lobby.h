// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_LOBBY_H
#define GRADNIC_NET_LOBBY_H
/// Room for strangers: those who have connected and have not yet said who they are. Anybody may
/// connect to a port, so there are rules, and none of them makes anybody wait:
///
/// * There is room for so many strangers. Sockets of this process are room, too.
/// * When all room is taken, the oldest stranger gives way to a new one. But it has GN_LOBBY_GRACE
///   to speak before that, and is read once more. Whoever speaks at once is always heard.
/// * Until then new ones wait in the kernel's queue, where nothing is lost.
/// * A stranger has GN_LOBBY_PATIENCE to say who it is.
/// * The doors take turns: many strangers at one do not keep anybody out at another.
/// * When this process has no socket left, and nobody can give way, new ones wait. An owner that
///   keeps a spare can send them away with a reason when that lasts for GN_LOBBY_LACKING.
/// * Those who leave may pass through the lobby, too, until their last words have arrived. They
///   give way as strangers do.
///
/// The owner's loop reads what strangers say, admits or dismisses them, and accepts new ones:
///
///     now = gn_now();
///     n = gn_lobby_poll(&lobby, set, now);
///     poll(set, n, gn_ms_until(gn_lobby_due(&lobby, now), now));
///     gn_lobby_serve(&lobby, set);
///     for (unsigned i = lobby.count; i-- > 0;) {
///         gn_stranger *s = &lobby.strangers[i];
///         (where a door has a greeting: gn_stranger_greet(s) first)
///         found = gn_framed_next(s->connection, parse, &words);
///         if (found > 0 && known(&words))
///             mine = gn_lobby_admit(&lobby, i);
///         else if (found || gn_stranger_is_over(s, gn_now()))
///             gn_lobby_dismiss(&lobby, i);
///     }
///     gn_lobby_accept(&lobby);
///
/// One thread at a time.

#include <gradnic/status.h>

#include "net/address.h"
#include "net/clock.h"
#include "net/framed.h"
#include "net/greeting.h"

#define GN_LOBBY_GRACE (50 * GN_MILLISECOND)
#define GN_LOBBY_PATIENCE (5 * GN_SECOND)
#define GN_LOBBY_LACKING (2 * GN_SECOND)

/// Where strangers come in.
typedef struct gn_door {
    int listener;              ///< a listening socket that does not block; -1: closed
    size_t in_room, out_room;  ///< of a stranger's connection, see gn_framed_new()
    /// What strangers have to do first: the callee's side of a greeting, as gn_greeting_answer()
    /// makes it. Each gets a copy. NULL: nothing.
    const gn_greeting *greeting;
} gn_door;

typedef struct gn_stranger {
    gn_framed *connection;
    unsigned door;  ///< index of the door where it came in
    gn_endpoint from;
    uint64_t since;         ///< gn_now() when it was accepted
    uint64_t until;         ///< when its time is over; the owner may change it
    gn_greeting *greeting;  ///< NULL: there is none
} gn_stranger;

enum { GN_DOORS_MAX = 2 };

typedef struct gn_lobby {
    gn_door door[GN_DOORS_MAX];  ///< the owner may close one meanwhile
    unsigned doors;
    gn_stranger *strangers;  ///< [count], the oldest first
    unsigned count;
    unsigned room;    ///< the owner may change it, up to `places`
    unsigned places;  ///< memory for so many
    unsigned next_door;
    uint64_t read_at;      ///< when strangers were last read
    uint64_t shut_until;   ///< there are no more sockets before that
    uint64_t gave_way;     ///< strangers that had to
    int lacked;            ///< errno when one could not be taken in; the owner may reset it to 0
    bool keeps_spare;      ///< the owner sets it, see gn_lobby_refuse_one()
    int spare;             ///< a descriptor kept for that; 0: none
    uint64_t lacks_since;  ///< since when nobody could be taken in; 0: the last one could
} gn_lobby;

/// Room for `room` strangers, at least one. @return GN_OK, GN_NO_MEMORY
gn_status gn_lobby_open(gn_lobby *lobby, unsigned room);
/// Adds a door. Its listener stays the owner's. At most GN_DOORS_MAX.
void gn_lobby_add_door(gn_lobby *lobby, gn_door door);
/// Sends away those who are left. A lobby of zeros is closed already.
void gn_lobby_close(gn_lobby *lobby);

/// Writes what poll() is to wait for: an entry for each door, then one for each stranger.
/// @return entries written, at most GN_DOORS_MAX + room
unsigned gn_lobby_poll(const gn_lobby *lobby, struct pollfd *set, uint64_t now);
/// The next instant when something is to be done, though poll() finds nothing: a stranger's time is
/// over, or the oldest may give way. Takes the same `now` as gn_lobby_poll().
/// @return that instant, or GN_FOREVER
uint64_t gn_lobby_due(const gn_lobby *lobby, uint64_t now);
/// Reads and writes as poll() has found possible. `set` is what gn_lobby_poll() has written; nobody
/// may have come or gone since.
void gn_lobby_serve(gn_lobby *lobby, const struct pollfd *set);

/// Does the same without poll(): reads what has come.
void gn_lobby_read(gn_lobby *lobby);

/// Accepts those who wait at the doors, as far as there is room.
void gn_lobby_accept(gn_lobby *lobby);

enum { GN_LOBBY_LACK = 128 };
/// Says that `who` could not take somebody in, and why: an addition to a message about one who is
/// missing. Empty when all were taken in. @return text
const char *gn_lobby_lack(const gn_lobby *lobby, const char *who, char text[GN_LOBBY_LACK]);

/// When this process has had no socket for newcomers for GN_LOBBY_LACKING, takes in one of them
/// with the spare. It is to be told why, and seen off: gn_lobby_see_off().
/// @return its connection, which is the caller's; NULL: there is nobody to be refused now
gn_framed *gn_lobby_refuse_one(gn_lobby *lobby, gn_endpoint *from);

/// Whether there is nothing more to be expected of it: its time is over, or it has closed the
/// connection.
bool gn_stranger_is_over(const gn_stranger *stranger, uint64_t now);

/// Goes on with a stranger's greeting. Its words are the owner's to take when this is
/// GN_GREETING_DONE, which it is at once where there is no greeting.
gn_greeting_step gn_stranger_greet(gn_stranger *stranger);

/// Stranger `index` is known now. Its greeting is freed.
/// @return its connection, which is the caller's
gn_framed *gn_lobby_admit(gn_lobby *lobby, unsigned index);
/// Sends stranger `index` away: closes its connection.
void gn_lobby_dismiss(gn_lobby *lobby, unsigned index);
/// Takes in one who leaves. Its last words are queued already, or it has none. The connection ends,
/// as gn_framed_end() does it. The far side has `patience` to close it, too; what it still says is
/// dropped. To the owner's loop it is a stranger that says nothing.
void gn_lobby_see_off(gn_lobby *lobby, gn_framed *connection, uint64_t patience);

#endif
