// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_SOCKET_H
#define GRADNIC_NET_SOCKET_H
/// What TCP and UDP sockets have in common. Any thread.

#include <poll.h>

#include "net/address.h"

/// Sets the ToS (traffic class) of what is sent from now on. When set before connect() or listen(),
/// it is also in the SYN and the SYN-ACK.
void gn_socket_set_tos(int fd, uint8_t tos);

/// Binds to an address; port 0 is any. @return 0, or -1 with errno
int gn_socket_bind(int fd, const gn_endpoint *local);
/// What to do when that failed for `reason` (errno), as " (...)"; "": nothing to add.
const char *gn_socket_bind_hint(int reason);
/// Connects, or begins to. @return 0, or -1 with errno (EINPROGRESS is not a failure)
int gn_socket_connect(int fd, const gn_endpoint *to);

/// Where the socket is bound. @return false with errno
bool gn_socket_local(int fd, gn_endpoint *endpoint);
/// Where it is connected to. @return false with errno
bool gn_socket_remote(int fd, gn_endpoint *endpoint);

/// As poll(). Linux refuses more entries than a process may have files, and counts those with a
/// negative fd, too. Here these do not count. @return as poll()
int gn_poll(struct pollfd *set, nfds_t count, int ms);

/// Outcome of a connection attempt that poll() has reported. @return 0 or an errno
int gn_socket_connected(int fd);

/// Gives a descriptor a number that is not of the standard streams. In a program that has closed
/// these, the number is free, and what anybody prints would go into the descriptor.
/// @return the descriptor, or -1 with errno; then `fd` is closed
int gn_apart(int fd);

/// Closes it if it is open, and sets it to -1. Keeps errno.
void gn_close(int *fd);

#endif
