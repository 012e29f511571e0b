// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_CONNECTION_H
#define GRADNIC_RING_CONNECTION_H
/// Connections that carry the messages of message.h, as net/framed.h does it.

#include "net/framed.h"
#include "ring/message.h"

enum {
    GN_CONNECTION_BUFFER = 8192,  ///< bytes, each way
    GN_STRANGERS_MAX = 64         ///< strangers at a port, beside those that are expected there
};
_Static_assert((int)GN_CONNECTION_BUFFER >= (int)GN_FRAME_MAX, "a frame must fit");

/// Takes over a socket. @return NULL when out of memory; then `fd` is closed
gn_framed *gn_connection_new(int fd, gn_framed_state state);

/// Takes the next whole message. Its body is valid until the next gn_framed_fill().
/// @return 1; 0: none yet; -1: the bytes are foreign
int gn_connection_next(gn_framed *connection, gn_frame *frame);

#endif
