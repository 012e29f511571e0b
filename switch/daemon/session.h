// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SESSION_H
#define GRADNIC_SWITCH_DAEMON_SESSION_H
/// One connection of admission: a child's to this switch, or this switch's to its parent or
/// parameter server. Nothing here waits. The side that ends a session says so, and reads for a
/// moment what still comes: to hang up on unread bytes would lose the last words.

#include <stdbool.h>
#include <stdint.h>

#include <gradnic/admission.h>

#include "net/address.h"

enum {
    GN_SESSION_OUT = 2 * GN_ADMISSION_MAX,
    GN_SESSION_HELLO_MS = 5000,   ///< for the first frame
    GN_SESSION_LINGER_MS = 1000,  ///< for the last words
    GN_SESSION_SILENCE_S = 10     ///< a host that acknowledges nothing for so long is gone
};

typedef enum gn_session_state {
    GN_SESSION_CONNECTING,  ///< to what is above
    GN_SESSION_OPEN,
    GN_SESSION_LEAVING,  ///< the last words are being sent
    GN_SESSION_CLOSED
} gn_session_state;

typedef struct gn_session {
    int fd;
    gn_session_state state;
    bool upward;        ///< to what is above
    bool was_open;      ///< upward: there was a connection
    bool is_switch;     ///< the child is a switch
    bool leaves;        ///< the child has said LEAVE
    uint64_t deadline;  ///< gn_now(); 0: none
    uint64_t heard;     ///< gn_now() of the last bytes; before there are any, of the beginning
    gn_endpoint remote;
    char name[GN_ENDPOINT_TEXT];
    struct gn_job *job;               ///< that it belongs to; NULL: none
    unsigned bit;                     ///< of the child in that job
    char broken[GN_ADMISSION_FAULT];  ///< why it is closed, where nobody has said last words
    uint8_t in[GN_ADMISSION_MAX];
    uint8_t out[GN_SESSION_OUT];
    size_t in_bytes, out_bytes;
} gn_session;

/// Takes over an accepted connection from `remote`. @return NULL when out of memory (`fd` is
/// closed)
gn_session *gn_session_accepted(int fd, const gn_endpoint *remote);
/// Begins to connect to `to` from the address of `from`, with any port (version 0: from any
/// address).
/// @return NULL with `error` set
gn_session *gn_session_connect(const gn_endpoint *to, const gn_endpoint *from, gn_error *error);
/// Notes who asks. People call a switch by the address where it listens, and not by that of this
/// connection.
void gn_session_introduce(gn_session *session, const gn_admission_join *join);
/// NULL allowed.
void gn_session_free(gn_session *session);

/// What poll() has to wait for.
short gn_session_events(const gn_session *session);
/// Reads and writes what poll() says can be. Afterwards the session may be GN_SESSION_CLOSED.
void gn_session_serve(gn_session *session, short events);
/// The next whole frame that has come. @return 1; 0: there is none yet; -1: what came is not a
/// frame, and `*wrong` says why
int gn_session_next(gn_session *session, gn_admission *frame, const char **wrong);

void gn_session_send(gn_session *session, const gn_admission *frame);
/// Sends the last words and leaves. `type`: GN_ADMISSION_REFUSED, GN_ADMISSION_GONE or
/// GN_ADMISSION_LEAVE.
void gn_session_end(gn_session *session, gn_admission_type type, const char *text);
/// Closes at once. `broken`: why; NULL: no reason is to be told.
void gn_session_close(gn_session *session, const char *broken);

#endif
