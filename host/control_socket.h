// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_CONTROL_SOCKET_H
#define GRADNIC_HOST_CONTROL_SOCKET_H
/// The control socket's file. Its folder may belong to somebody else than root, so nothing there is
/// touched with root's rights. A folder where strangers could put a socket of their own is refused.

#include <sys/un.h>

#include "host/privilege.h"
#include "net/error.h"

/// Where control sockets are by default. It belongs to root.
#define GN_CONTROL_FOLDER "/run/gradnic"

/// The address of a socket with this path. @return GN_OK, GN_INVALID
gn_status gn_control_address(const char *path, struct sockaddr_un *address, gn_error *error);

/// As gn_control_open() says. @return a listening, non-blocking socket; -1 on failure
int gn_control_listen(const char *path, const gn_account *account, gn_error *error);

#endif
