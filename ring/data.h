// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_DATA_H
#define GRADNIC_RING_DATA_H
/// The bytes of values between this rank and a neighbour: over the data connection, or through
/// memory that both share (shared.h). Then the connection carries only bytes that wake a sleeper,
/// and its end says that the neighbour is gone.

#include "ring/group.h"

struct gn_bootstrap;

/// Offers shared memory to the neighbours that this rank has connected to, and takes what others
/// offer, where both are on one host. Over each connection goes an offer, and back an answer. To be
/// called by all ranks when all data connections are there.
/// @return GN_OK; GN_TIMEOUT, GN_PEER_LOST or GN_CORRUPT, with the rank's name
gn_status gn_data_share(gn_comm *comm, struct gn_bootstrap *boot, gn_error *error);

/// As send() and recv() without waiting. That the other end of shared memory has gone is known only
/// after a wait.
ssize_t gn_data_send(gn_neighbour *neighbour, const void *bytes, size_t count);
ssize_t gn_data_receive(gn_neighbour *neighbour, void *bytes, size_t count);

/// What gn_data_receive() would copy, where it lies: in shared memory only, where it begins at
/// a multiple of `width` bytes. @return bytes of whole elements of that width; 0: none
size_t gn_data_look(const gn_neighbour *neighbour, size_t width, const void **at);
/// What was looked at is received.
void gn_data_take_off(const gn_neighbour *neighbour, size_t count);

/// Whether one of them could go on. Without shared memory: false, as only a wait tells.
bool gn_data_is_ready(const gn_neighbour *neighbour, bool receiving, bool sending);
/// This rank is about to wait for one of them: the other end is to wake it.
/// @return false when one of them can go on already
bool gn_data_sleep(const gn_neighbour *neighbour, bool receiving, bool sending);
/// What to wait for.
struct pollfd gn_data_poll(const gn_neighbour *neighbour, bool receiving, bool sending);
/// After a wait that found something there.
void gn_data_woken(gn_neighbour *neighbour);

#endif
