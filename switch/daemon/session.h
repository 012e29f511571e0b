// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SESSION_H
#define GRADNIC_SWITCH_DAEMON_SESSION_H
/// One connection that belongs to a job: a child's to this switch, or this switch's to its parent
/// or parameter server. Nothing here waits.
///
/// Who has not asked for a job yet is a stranger in the lobby (accept.h). A session that ends goes
/// back to the lobby with its last words.

#include "switch/daemon/frames.h"

enum { GN_SESSION_SILENCE_S = 10 };  ///< a host that acknowledges nothing for so long is gone

typedef struct gn_session {
    gn_framed *connection;  ///< NULL: closed
    bool upward;            ///< to what is above
    bool was_open;          ///< there was a connection
    bool is_switch;         ///< the child is a switch
    bool leaves;            ///< the child has said LEAVE
    gn_endpoint remote;
    char name[GN_ENDPOINT_TEXT];
    gn_greeting greeting;             ///< by which it began, where a secret is set
    bool asked;                       ///< upward: the greeting is over, and JOIN has been sent
    struct gn_job *job;               ///< that it belongs to; NULL: none
    unsigned bit;                     ///< of the child in that job
    char broken[GN_ADMISSION_FAULT];  ///< why it is closed, where nobody has said last words
} gn_session;

/// Takes over the connection of a child at `remote`, which asks with `join`. People call a switch
/// by the address where it listens, and not by that of this connection.
/// @return NULL when out of memory (`connection` is closed)
gn_session *gn_session_of_child(gn_framed *connection, const gn_endpoint *remote, const gn_admission_join *join);
/// Begins to connect to `to` from the address of `from`, with any port (version 0: from any
/// address).
/// @return NULL with `error` set
gn_session *gn_session_connect(const gn_endpoint *to, const gn_endpoint *from, gn_error *error);
/// NULL allowed.
void gn_session_free(gn_session *session);

/// Whether the connection stands. Not while it is being made.
bool gn_session_is_open(const gn_session *session);

/// Reads and writes what poll() says can be. Afterwards the session may be closed.
void gn_session_serve(gn_session *session, short events);

/// To one who does not read, the session is closed.
void gn_session_send(gn_session *session, const gn_admission *frame);

/// Sends the last words, as gn_frames_end() does it, and closes the session. It has no job any
/// more.
void gn_session_end(gn_session *session, gn_lobby *lobby, gn_admission_type type, const char *text);
/// The same without words.
void gn_session_hang_up(gn_session *session, gn_lobby *lobby);
/// Closes at once. `broken`: why; NULL: no reason is to be told.
void gn_session_close(gn_session *session, const char *broken);

#endif
