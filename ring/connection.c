// SPDX-License-Identifier: Apache-2.0
#include "ring/connection.h"

gn_framed *gn_connection_new(int fd, gn_framed_state state)
{
    return gn_framed_new(fd, state, GN_CONNECTION_BUFFER, GN_CONNECTION_BUFFER);
}

static int parse(const uint8_t *bytes, size_t available, void *frame)
{
    return gn_frame_parse(bytes, available, frame);
}

int gn_connection_next(gn_framed *connection, gn_frame *frame)
{
    return gn_framed_next(connection, parse, frame);
}
