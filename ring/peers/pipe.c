// SPDX-License-Identifier: Apache-2.0
#include "ring/peers/pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "net/clock.h"
#include "net/socket.h"

gn_pipe *gn_pipe_new(int fd, const uint8_t *bytes, size_t count)
{
    gn_pipe *pipe = count <= GN_PIPE_ROOM ? calloc(1, sizeof *pipe) : NULL;
    if (!pipe) {
        gn_close(&fd);
        return NULL;
    }
    pipe->fd = fd;
    pipe->heard = gn_now();
    pipe->used = count;
    if (count) memcpy(pipe->in, bytes, count);
    return pipe;
}

void gn_pipe_free(gn_pipe *pipe)
{
    if (!pipe) return;
    gn_close(&pipe->fd);
    free(pipe);
}

// Reading -----------------------------------------------------------------------------------------

/// @return bytes; 0: none now, or the pipe is closed
static size_t read_bytes(gn_pipe *pipe, uint8_t *to, size_t count)
{
    if (pipe->closed) return 0;
    const ssize_t got = recv(pipe->fd, to, count, MSG_DONTWAIT);
    if (got > 0) {
        pipe->heard = gn_now();
        return (size_t)got;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    pipe->closed = true;
    if (got < 0) pipe->error = errno;
    return 0;
}

bool gn_pipe_next(gn_pipe *pipe, gn_parcel *parcel)
{
    if (pipe->broken || pipe->to_come) return false;
    if (pipe->used - pipe->taken < GN_PARCEL_HEAD) {
        pipe->used -= pipe->taken;
        memmove(pipe->in, pipe->in + pipe->taken, pipe->used);
        pipe->taken = 0;
        pipe->used += read_bytes(pipe, pipe->in + pipe->used, sizeof pipe->in - pipe->used);
        if (pipe->used < GN_PARCEL_HEAD) return false;
    }
    if (!gn_parcel_read(pipe->in + pipe->taken, parcel)) {
        pipe->broken = true;
        return false;
    }
    pipe->taken += GN_PARCEL_HEAD;
    return true;
}

void gn_pipe_into(gn_pipe *pipe, void *to, size_t count)
{
    pipe->to = to;
    pipe->to_come = count;
}

size_t gn_pipe_read(gn_pipe *pipe)
{
    const size_t here = pipe->used - pipe->taken;
    size_t got = here < pipe->to_come ? here : pipe->to_come;
    if (!pipe->to_come) return 0;
    if (got) {
        memcpy(pipe->to, pipe->in + pipe->taken, got);
        pipe->taken += got;
    } else {
        got = read_bytes(pipe, pipe->to, pipe->to_come);
    }
    pipe->to += got;
    pipe->to_come -= got;
    return got;
}

bool gn_pipe_has_more(const gn_pipe *pipe)
{
    return !pipe->broken && pipe->used - pipe->taken >= (pipe->to_come ? 1 : GN_PARCEL_HEAD);
}

// Writing -----------------------------------------------------------------------------------------

void gn_pipe_begin(gn_pipe *pipe, const gn_parcel *parcel, const void *from)
{
    gn_parcel_write(pipe->head, parcel);
    pipe->head_left = GN_PARCEL_HEAD;
    pipe->from = from;
    pipe->to_go = gn_parcel_follows(parcel);
}

/// So much has been written.
static void advance(gn_pipe *pipe, size_t sent)
{
    const size_t of_head = sent < pipe->head_left ? sent : pipe->head_left;
    pipe->head_left -= of_head;
    if (sent == of_head) return;
    pipe->from += sent - of_head;
    pipe->to_go -= sent - of_head;
}

bool gn_pipe_flush(gn_pipe *pipe)
{
    pipe->full = false;
    while (pipe->head_left || pipe->to_go) {
        struct iovec parts[2] = {{pipe->head + GN_PARCEL_HEAD - pipe->head_left, pipe->head_left},
                                 {(void *)(uintptr_t)pipe->from, pipe->to_go}};
        const struct msghdr message = {.msg_iov = parts, .msg_iovlen = pipe->to_go ? 2 : 1};
        const ssize_t sent = sendmsg(pipe->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        // Reading tells what is wrong, after what the other side has still said.
        pipe->full = sent < 0 && errno == EAGAIN;
        if (sent < 0) return false;
        advance(pipe, (size_t)sent);
    }
    return true;
}
