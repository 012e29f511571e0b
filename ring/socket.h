// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_SOCKET_H
#define GRADNIC_RING_SOCKET_H
/// TCP sockets as the exchange uses them: non-blocking, close-on-exec, ToS set before the first SYN. IPv4 and IPv6.

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "error.h"
#include "message.h"

enum { GN_NAME = 64 };

/// "10.9.0.1:4000", "[fd00::1]:4000"; without the port where it is 0.
void gn_sockaddr_name(const struct sockaddr_storage *address, char name[GN_NAME]);
socklen_t gn_sockaddr_length(const struct sockaddr_storage *address);
uint16_t gn_sockaddr_port(const struct sockaddr_storage *address);
void gn_sockaddr_set_port(struct sockaddr_storage *address, uint16_t port);
bool gn_sockaddr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
bool gn_sockaddr_is_loopback(const struct sockaddr_storage *address);

/// To and from the form in messages. `scope`: interface index for link-local IPv6 addresses.
void gn_address_from(const struct sockaddr_storage *from, gn_address *to);
void gn_address_to(const gn_address *from, uint16_t port, uint32_t scope, struct sockaddr_storage *to);

/// Everything the same, ports too.
bool gn_address_same(const gn_address *a, const gn_address *b);

/// Text of host and port to an address. @return GN_INVALID with the resolver's words.
gn_status gn_resolve(const char *host, uint16_t port, struct sockaddr_storage *address, gn_error *error);

/// Listens at `address` (port 0: any, then written back). ToS is set before listen(), so that accepted sockets and their
/// SYN-ACKs carry it. @return the socket or -1 with errno.
int gn_listen(struct sockaddr_storage *address, uint8_t tos);

/// Starts a connection; ToS is set before connect(). `local` (may be NULL): source address. @return the socket, connected or
/// connecting (POLLOUT says when), or -1 with errno.
int gn_connect(const struct sockaddr_storage *to, const struct sockaddr_storage *local, uint8_t tos);

/// Outcome of a connection attempt that poll() reported. @return 0 or an errno.
int gn_connect_result(int fd);

/// @return the accepted socket, prepared as the others, or -1 (errno EAGAIN: nobody there).
int gn_accept(int listener, struct sockaddr_storage *from);

void gn_socket_set_tos(int fd, uint8_t tos);
void gn_close(int *fd);

#endif
