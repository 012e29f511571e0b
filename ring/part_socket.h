// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_PART_SOCKET_H
#define GRADNIC_RING_PART_SOCKET_H
/// Many datagrams with one system call: sendmmsg() and recvmmsg(), and where datagrams of one
/// length follow each other, one buffer that the kernel or the device cuts (UDP_SEGMENT), or has
/// put together (UDP_GRO).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gn_part_socket gn_part_socket;

/// `fd`: connected. `datagram`: bytes of the longest. NULL without memory.
gn_part_socket *gn_part_socket_new(int fd, size_t datagram);
void gn_part_socket_free(gn_part_socket *io);

/// Where the next datagram is to be written; NULL: no room before gn_part_socket_flush().
void *gn_part_socket_room(gn_part_socket *io);

/// It has been written there.
void gn_part_socket_put(gn_part_socket *io, size_t bytes, uint8_t tos);

/// Sends. @return false when some are left, because the socket is full (gn_part_socket_is_full())
/// or broken (`*failed`: errno).
bool gn_part_socket_flush(gn_part_socket *io, int *failed);
bool gn_part_socket_is_full(const gn_part_socket *io);

/// Gives `take` the datagrams that are there, up to a batch. @return whether there may be more.
bool gn_part_socket_receive(gn_part_socket *io, void (*take)(void *context, const void *datagram, size_t bytes),
                            void *context);

#endif
