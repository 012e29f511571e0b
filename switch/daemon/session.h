// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SESSION_H
#define GRADNIC_SWITCH_DAEMON_SESSION_H
/// One connection of admission: a child's to this switch, or this switch's to its parent or parameter server. Never waits. Who ends it says so to the other side, and reads what
/// still comes for a moment: to hang up on unread bytes would lose the last words.

#include <stdbool.h>
#include <stdint.h>

#include <gradnic/admission.h>

#include "net/address.h"

enum {
    GN_SESSION_OUT = 2 * GN_ADMISSION_MAX,
    GN_SESSION_HELLO_MS = 5000,   ///< for the first frame
    GN_SESSION_LINGER_MS = 1000,  ///< for the last words
    GN_SESSION_SILENCE_S = 10     ///< a host that does not even acknowledge for so long is gone
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
    bool was_open;      ///< of such a one: there was a connection
    bool is_switch;     ///< a child that is a switch
    bool leaves;        ///< it has said that it leaves
    uint64_t deadline;  ///< gn_now(); 0: none
    uint64_t heard;     ///< gn_now() of the last bytes, at first of its beginning
    gn_endpoint peer;
    char name[GN_ENDPOINT_TEXT];
    struct gn_job *job;               ///< that it belongs to; NULL: none
    unsigned bit;                     ///< of the child in that job
    char broken[GN_ADMISSION_FAULT];  ///< why it is closed though nobody said a last word
    uint8_t in[GN_ADMISSION_MAX];
    uint8_t out[GN_SESSION_OUT];
    size_t in_bytes, out_bytes;
} gn_session;

/// Takes over an accepted connection. @return NULL when out of memory (`fd` is closed)
gn_session *gn_session_accepted(int fd);
/// Begins to connect to `to` from `from` (its port is left to the kernel; version 0: any address). @return NULL with `error` set
gn_session *gn_session_connect(const gn_endpoint *to, const gn_endpoint *from, gn_error *error);
/// Who asks: a switch is called by the address where it is asked itself, not by that of this connection.
void gn_session_introduce(gn_session *session, const gn_admission_join *join);
/// NULL allowed.
void gn_session_free(gn_session *session);

/// What poll() is to wait for.
short gn_session_events(const gn_session *session);
/// Reads and writes what can be after poll(). The session may be GN_SESSION_CLOSED then.
void gn_session_serve(gn_session *session, short events);
/// The next whole frame that has come. @return 1; 0: none; -1: what came is none, `*wrong` says why
int gn_session_next(gn_session *session, gn_admission *frame, const char **wrong);

void gn_session_send(gn_session *session, const gn_admission *frame);
/// Sends the last words, GN_ADMISSION_REFUSED or GN_ADMISSION_GONE, and leaves.
void gn_session_end(gn_session *session, gn_admission_type type, const char *text);
void gn_session_close(gn_session *session, const char *broken);

#endif
