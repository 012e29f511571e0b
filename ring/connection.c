// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "net/tcp.h"

void gn_connection_open(gn_connection *connection, int fd)
{
    connection->fd = fd;
    connection->closed = connection->overflow = false;
    connection->in_used = connection->in_taken = connection->out_used = 0;
}

void gn_connection_close(gn_connection *connection)
{
    gn_close(&connection->fd);
    connection->closed = true;
}

void gn_connection_send(gn_connection *connection, const uint8_t *frame, size_t length)
{
    if (connection->fd < 0) return;
    if (connection->out_used + length > sizeof connection->out) gn_connection_flush(connection);
    if (connection->out_used + length > sizeof connection->out) {
        connection->overflow = true;
        return;
    }
    memcpy(connection->out + connection->out_used, frame, length);
    connection->out_used += length;
    gn_connection_flush(connection);
}

void gn_connection_flush(gn_connection *connection)
{
    if (connection->fd < 0 || !connection->out_used) return;
    ssize_t sent = send(connection->fd, connection->out, connection->out_used, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR)
            connection->out_used = 0;  // broken: reading will tell, after what was still sent
        return;
    }
    connection->out_used -= (size_t)sent;
    memmove(connection->out, connection->out + sent, connection->out_used);
}

bool gn_connection_fill(gn_connection *connection)
{
    if (connection->fd < 0 || connection->closed) return false;
    if (connection->in_taken) {
        connection->in_used -= connection->in_taken;
        memmove(connection->in, connection->in + connection->in_taken, connection->in_used);
        connection->in_taken = 0;
    }
    size_t room = sizeof connection->in - connection->in_used;
    if (!room) return false;
    ssize_t got = recv(connection->fd, connection->in + connection->in_used, room, MSG_DONTWAIT);
    if (got > 0) {
        connection->in_used += (size_t)got;
        return true;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) connection->closed = true;
    return false;
}

int gn_connection_next(gn_connection *connection, gn_frame *frame)
{
    size_t available = connection->in_used - connection->in_taken;
    if (!available) return 0;
    int length = gn_frame_parse(connection->in + connection->in_taken, available, frame);
    if (length <= 0) return length;
    connection->in_taken += (size_t)length;
    return 1;
}
