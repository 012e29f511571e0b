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

/// As send() and recv() without waiting.
ssize_t gn_data_send(gn_neighbour *neighbour, const void *bytes, size_t count);
ssize_t gn_data_receive(gn_neighbour *neighbour, void *bytes, size_t count);

/// What to wait for after gn_data_send() or gn_data_receive() had nothing to do.
struct pollfd gn_data_poll(const gn_neighbour *neighbour, bool receiving, bool sending);
/// Whether one of them could go on by now. Asked right before a wait.
bool gn_data_is_ready(const gn_comm *comm);

#endif
