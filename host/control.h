// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_CONTROL_H
#define GRADNIC_HOST_CONTROL_H
/// The control socket of a daemon: a Unix socket. A client sends one JSON object, gets one answer,
/// and the connection is closed. The daemon says what can be asked. Its file belongs to the
/// daemon's account with mode 0600, so root and that account can ask.

#include <poll.h>

#include "host/privilege.h"
#include "net/error.h"

enum {
    GN_CONTROL_REQUEST_MAX = 65536,
    GN_CONTROL_DEADLINE_MS = 1000,  ///< for the whole request, and again for the whole answer
    GN_CONTROL_CLIENTS = 16,        ///< at a time; one more takes the place of the oldest
    GN_CONTROL_SHUT_MS = 50,        ///< for newcomers, when the process has no descriptor left
    GN_CONTROL_POLL = 1 + GN_CONTROL_CLIENTS
};

typedef struct gn_control gn_control;

/// Answers one whole request, which is untrusted bytes. @return a text to free(), or NULL when out
/// of memory
typedef char *gn_control_answer(void *context, const char *text, size_t length);

/// Listens on `path`. A socket there that nobody answers is replaced; any other file stays. If the
/// last folder of the path is missing, it is made, and belongs to root. A folder where strangers
/// can write is refused. Call it before root is given up, and before any thread is made.
/// @return NULL on failure
gn_control *gn_control_open(const char *path, const gn_account *account, gn_error *error);
/// Hangs up, and removes the socket's file if the account may do so. NULL allowed.
void gn_control_close(gn_control *control);

/// Fills in GN_CONTROL_POLL entries for poll(). `control` may be NULL. @return the timeout for
/// poll()
int gn_control_prepare(const gn_control *control, struct pollfd *watched);
/// Does what poll() says can be done, without waiting for any client.
void gn_control_serve(gn_control *control, const struct pollfd *watched, gn_control_answer *answer, void *context);

/// The client's side: sends `request`, unless an account listens that gn_account_trusts() does not.
/// `daemon`: what to call the daemon in messages ("NIC").
/// @return the whole answer, to free(); NULL with `error` set
char *gn_control_ask(const char *path, const char *daemon, const char *request, gn_error *error);

#endif
