// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_PART_SOCKET_H
#define GRADNIC_RING_PART_SOCKET_H
/// The socket of a channel, for many datagrams with one system call (net/udp_out.h, net/udp_in.h).
/// Datagrams leave in the order in which they are put.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gn_part_socket gn_part_socket;

/// `fd` is connected and does not block. `datagram`: bytes of the longest. NULL without memory.
gn_part_socket *gn_part_socket_new(int fd, size_t datagram);
void gn_part_socket_free(gn_part_socket *io);

/// Where to write the next datagram. NULL: there is no room before gn_part_socket_flush().
void *gn_part_socket_room(gn_part_socket *io);

/// A datagram has been written there. `tos` 0: the socket's.
void gn_part_socket_put(gn_part_socket *io, size_t bytes, uint8_t tos);

/// Sends all. @return false when some are left, because the socket is full
/// (gn_part_socket_is_full()) or broken (`*failed`: errno)
bool gn_part_socket_flush(gn_part_socket *io, int *failed);
bool gn_part_socket_is_full(const gn_part_socket *io);

/// Gives `take` the datagrams that are there, up to a batch. It may change them.
/// @return whether there may be more
bool gn_part_socket_receive(gn_part_socket *io, void (*take)(void *context, void *datagram, size_t bytes),
                            void *context);

#endif
