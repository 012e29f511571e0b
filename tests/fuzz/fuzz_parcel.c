// SPDX-License-Identifier: Apache-2.0
// Any bytes on a connection for messages between two ranks: at the parser, and in a pipe. The first
// byte says in which portions they come.
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "ring/peers/pipe.h"

/// What is parsed is written as the same bytes, and stays within its limits.
static void look(const gn_parcel *parcel)
{
    uint8_t out[GN_PARCEL_HEAD];
    gn_parcel again;
    gn_parcel_write(out, parcel);
    check(gn_parcel_read(out, &again) && again.type == parcel->type && again.tag == parcel->tag);
    check(again.number == parcel->number && again.bytes == parcel->bytes);
    check(gn_parcel_follows(parcel) <= GN_PARCEL_PART_MAX);
    check(parcel->type != GN_PARCEL_WHOLE || parcel->bytes <= GN_PARCEL_WHOLE_MAX);
    check(parcel->type != GN_PARCEL_OFFER || parcel->bytes <= PTRDIFF_MAX);
}

static void read_all(gn_pipe *pipe, uint8_t *room)
{
    gn_parcel parcel;
    for (;;) {
        if (pipe->to_come) {
            if (!gn_pipe_read(pipe)) return;
        } else if (gn_pipe_next(pipe, &parcel)) {
            look(&parcel);
            gn_pipe_into(pipe, room, gn_parcel_follows(&parcel));
        } else {
            return;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t room[GN_PARCEL_PART_MAX];
    int ends[2];
    if (!size) return 0;
    const size_t portion = 1 + *data++;
    size--;
    check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
    const size_t first = size < portion ? size : portion;
    gn_pipe *pipe = gn_pipe_new(ends[0], data, first);
    check(pipe != NULL);
    // Nobody reads a broken pipe, and so it fills up.
    for (size_t at = first; at < size && !pipe->broken;) {
        const size_t some = size - at < portion ? size - at : portion;
        check(send(ends[1], data + at, some, 0) == (ssize_t)some);
        at += some;
        read_all(pipe, room);
    }
    close(ends[1]);
    read_all(pipe, room);
    check(pipe->broken || pipe->closed || pipe->to_come || !size || pipe->used - pipe->taken < GN_PARCEL_HEAD);
    gn_pipe_free(pipe);
    return 0;
}
