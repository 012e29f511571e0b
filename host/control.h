// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_CONTROL_H
#define GRADNIC_HOST_CONTROL_H
/// The control socket: a Unix stream socket; one JSON object in, one answer out, closed. What may be asked is the daemon's matter.
/// Its file belongs to the daemon's account with mode 0600: root and that account may ask.

#include <poll.h>

#include "host/privilege.h"
#include "net/error.h"

enum {
    GN_CONTROL_REQUEST_MAX = 65536,
    GN_CONTROL_DEADLINE_MS = 1000,  ///< for a whole request, and again for taking the whole answer
    GN_CONTROL_CLIENTS = 16,        ///< at a time; one more, and the oldest is hung up on
    GN_CONTROL_POLL = 1 + GN_CONTROL_CLIENTS
};

typedef struct gn_control gn_control;

/// Answers one whole request, untrusted bytes. @return a text to free(), or NULL when out of memory
typedef char *gn_control_answer(void *context, const char *text, size_t length);

/// Listens on `path`; a socket that nobody answers any more is replaced, any other file is left alone. Makes the last folder of
/// the path, for the account, if it is missing. Call before root is given up and before any thread is made.
/// @return NULL on failure
gn_control *gn_control_open(const char *path, const gn_account *account, gn_error *error);
/// Hangs up and removes the socket's file if the account may. NULL allowed.
void gn_control_close(gn_control *control);

/// Fills in GN_CONTROL_POLL entries for poll(). @return its timeout, milliseconds; -1: none. `control` may be NULL.
int gn_control_prepare(const gn_control *control, struct pollfd *watched);
/// Does what can be done after poll(), without waiting for any client.
void gn_control_serve(gn_control *control, const struct pollfd *watched, gn_control_answer *answer, void *context);

/// The client's side: sends `request` and returns the whole answer (free() it), or NULL with `error` set.
/// `daemon` is what does not answer, for messages ("NIC").
char *gn_control_ask(const char *path, const char *daemon, const char *request, gn_error *error);

#endif
