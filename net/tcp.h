// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_TCP_H
#define GRADNIC_NET_TCP_H
/// TCP sockets: non-blocking, close-on-exec, without Nagle's delay, ToS set before the first SYN.
/// IPv4 and IPv6.

#include "net/socket.h"

/// Listens at `at`; port 0 is any, and the port is written back. Accepted sockets and their
/// SYN-ACKs carry the ToS. An IPv6 socket also hears IPv4 when `both` is true.
/// @return the socket, or -1 with errno
int gn_tcp_listen(gn_endpoint *at, bool both, uint8_t tos);

/// Starts a connection. `local` is the source address, whose port does not matter; NULL, or one
/// with version 0: any. @return the socket, connected or connecting (POLLOUT says when,
/// gn_socket_connected() says whether), or -1 with errno
int gn_tcp_connect(const gn_endpoint *to, const gn_endpoint *local, uint8_t tos);

/// @return the accepted socket, prepared as the others, or -1 (errno EAGAIN: nobody is there)
int gn_tcp_accept(int listener, gn_endpoint *from);

#endif
