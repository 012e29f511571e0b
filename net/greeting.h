// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_GREETING_H
#define GRADNIC_NET_GREETING_H
/// How a connection begins where a shared secret is set (net/secret.h): each side proves to the
/// other that it has the secret. Then the owner's own frames follow.
///
///     caller                          callee
///     CALL       ────────────▶               who I am, whom I want, a nonce
///                ◀────────────  CHALLENGE    a nonce, and a code over CALL and nonce
///     PROOF      ────────────▶               a code over CALL and CHALLENGE
///
/// - Both nonces are fresh, so an answer from another connection proves nothing.
/// - The codes of caller and callee have different labels, so a code that is sent back proves
///   nothing.
/// - The codes cover role, job, rank, size and callee, so an answer for another place proves
///   nothing.
/// - A caller without the secret sees CHALLENGE, and can try guesses at home. So the secret has to
///   be random.
///
/// The frames are in net/greeting_frame.h. No function here waits.
///
/// A greeting goes on while its step is GN_GREETING_PENDING. The owner has the deadline:
///
///     switch (gn_greeting_advance(&greeting, connection)) {
///     case GN_GREETING_PENDING: ...poll, and again
///     case GN_GREETING_DONE: ...the owner's own frames
///     case GN_GREETING_FAILED: ...gn_greeting_why() says what is wrong
///     }

#include "net/framed.h"
#include "net/greeting_frame.h"
#include "net/secret.h"

enum {
    GN_DATAGRAM_KEY = 16,  ///< bytes of a key for datagrams
    GN_GREETING_WHY = 330  ///< bytes of a reason with its 0
};

typedef enum gn_greeting_step { GN_GREETING_PENDING, GN_GREETING_DONE, GN_GREETING_FAILED } gn_greeting_step;

typedef enum gn_greeting_fault {
    GN_GREETING_FINE,
    GN_GREETING_NONE_HERE,   ///< callee: the other side has a secret, and this one has none
    GN_GREETING_NONE_THERE,  ///< the other side says something else: it has no secret, or no such one
    GN_GREETING_OTHER,       ///< its code is wrong
    GN_GREETING_ELSEWHERE,   ///< callee: the caller wants somebody else
    GN_GREETING_LATER        ///< callee: the caller speaks another version
} gn_greeting_fault;

/// One side of a greeting. The fields are net/greeting.c's, but for those that say so.
typedef struct gn_greeting {
    const gn_secret *secret;
    gn_greeting_dialect dialect;
    bool calls, said;
    uint16_t own;             ///< callee: its rank, or GN_GREETING_ANYBODY
    gn_greeting_step step;    ///< to be read
    gn_greeting_fault fault;  ///< to be read, with GN_GREETING_FAILED
    gn_greeting_who who;      ///< to be read: the caller; proved with GN_GREETING_DONE
    uint8_t version;          ///< to be read: that the caller speaks
    uint8_t call[GN_GREETING_CALL];
    uint8_t challenge[GN_GREETING_CHALLENGE];
    uint8_t epoch[GN_GREETING_EPOCH];  ///< callee's: random, of this process
    uint8_t session[GN_SECRET_MAC];    ///< both sides have it; it is never sent
} gn_greeting;

/// The caller's side. Without a secret it is done at once, and nothing is sent. `secret` has to
/// outlive the greeting.
void gn_greeting_call(gn_greeting *greeting, const gn_secret *secret, gn_greeting_dialect dialect,
                      const gn_greeting_who *who);

/// The callee's side. Without a secret it only looks whether the caller has one. Copies of it may
/// answer any number of callers. `epoch`: random, of this process; NULL where datagrams have no
/// keys.
void gn_greeting_answer(gn_greeting *greeting, const gn_secret *secret, gn_greeting_dialect dialect, uint16_t own,
                        const uint8_t *epoch);

/// Goes on as far as what has come allows. With GN_GREETING_FAILED, bytes that are not of a
/// greeting are still to be taken: the other side may say why.
gn_greeting_step gn_greeting_advance(gn_greeting *greeting, gn_framed *connection);

/// Says in words why it has failed. `here` and `there` are what people call the two sides ("rank 0
/// (10.0.0.1)"). The text may go to the other side. @return text
const char *gn_greeting_why(const gn_greeting *greeting, const char *here, const char *there,
                            char text[GN_GREETING_WHY]);

/// Forgets what is secret.
void gn_greeting_wipe(gn_greeting *greeting);

/// The key of a child's contributions on one channel. Only child and switch have it.
void gn_greeting_key_up(const gn_greeting *greeting, unsigned channel, uint8_t key[GN_DATAGRAM_KEY]);
/// The key of what a switch sends to the children of one channel. All of them have it, because all
/// get the same datagrams. `number` and `gen` are those of WELCOME.
void gn_greeting_key_down(const gn_greeting *greeting, const char *job, uint16_t number, uint16_t gen,
                          uint8_t key[GN_DATAGRAM_KEY]);

#endif
