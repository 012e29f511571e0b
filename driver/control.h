// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_CONTROL_H
#define GRADNIC_DRIVER_CONTROL_H
/// The control socket: a Unix stream socket; one JSON object in, one answer out, closed. Requests are described in request.h.
/// Its file belongs to the NIC's account with mode 0600: root and that account may ask.

#include "driver/error.h"
#include "driver/nic.h"
#include "driver/privilege.h"

enum { GN_CONTROL_REQUEST_MAX = 65536, GN_CONTROL_DEADLINE_MS = 1000 };

/// Listens on `path`; a socket that nobody answers any more is replaced. Makes the last folder of the path if it is missing.
/// @return the socket, or -1
int gn_control_listen(const char *path, const gn_account *account, gn_error *error);
void gn_control_close(int socket, const char *path);

/// Accepts one client and answers it. A client that does not speak within the deadline is hung up on.
void gn_control_serve(int socket, gn_nic *nic);

/// The client's side: sends `request` and returns the whole answer (free() it), or NULL with `error` set.
char *gn_control_ask(const char *path, const char *request, gn_error *error);

#endif
