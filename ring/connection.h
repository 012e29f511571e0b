// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_CONNECTION_H
#define GRADNIC_RING_CONNECTION_H
/// A message connection (bootstrap or control): frames in, frames out, never blocks.

#include "message.h"

enum { GN_CONNECTION_BUFFER = 8192 };
_Static_assert((int)GN_CONNECTION_BUFFER >= (int)GN_FRAME_MAX, "a frame must fit");

typedef struct gn_connection {
    int fd;         ///< -1: none
    bool closed;    ///< the far side has closed, or the connection broke: nothing more will come
    bool overflow;  ///< the far side has not read for so long that our buffer is full
    size_t in_used, in_taken, out_used;
    uint8_t in[GN_CONNECTION_BUFFER], out[GN_CONNECTION_BUFFER];
} gn_connection;

void gn_connection_open(gn_connection *connection, int fd);
void gn_connection_close(gn_connection *connection);

/// Queues a frame and writes what the socket takes. A broken connection is noticed where it is read.
void gn_connection_send(gn_connection *connection, const uint8_t *frame, size_t length);
void gn_connection_flush(gn_connection *connection);

/// Reads what is there. @return true when bytes came.
bool gn_connection_fill(gn_connection *connection);

/// The next whole frame; its body is valid until the next call. @return 1, 0 for none yet, -1 for bytes that are no frame.
int gn_connection_next(gn_connection *connection, gn_frame *frame);

#endif
