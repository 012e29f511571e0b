// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_PEERS_PIPE_H
#define GRADNIC_RING_PEERS_PIPE_H
/// A connection that carries parcels both ways. Bytes of messages go from and to their own places.
/// No function here waits.

#include <sys/types.h>

#include "ring/peers/parcel.h"

enum { GN_PIPE_ROOM = 8 << 10 };

typedef struct gn_pipe {
    int fd;
    bool closed, broken;  ///< to be read: nothing more comes; what came is no parcel
    int error;            ///< to be read: an errno, why it is closed; 0: in order
    uint64_t heard;       ///< to be read: when bytes last came
    bool full;            ///< to be read: the socket took less than there was
    // Reading.
    size_t used, taken;
    uint8_t *to;     ///< where the bytes behind the last head go
    size_t to_come;  ///< to be read: how many of them still come
    // Writing.
    size_t head_left;
    const uint8_t *from;
    size_t to_go;
    uint8_t head[GN_PARCEL_HEAD];
    uint8_t in[GN_PIPE_ROOM];
} gn_pipe;

/// Takes over a connected socket, and `count` bytes that have been read from it.
/// @return NULL when out of memory, or when there is no room for them; then the socket is closed
gn_pipe *gn_pipe_new(int fd, const uint8_t *bytes, size_t count);
/// Closes it. NULL allowed.
void gn_pipe_free(gn_pipe *pipe);

/// Takes the next head, when all bytes behind the one before have come. Where bytes follow,
/// gn_pipe_into() has to come next. @return false: there is none yet, or the pipe is closed or
/// broken
bool gn_pipe_next(gn_pipe *pipe, gn_parcel *parcel);
/// Says where the bytes behind a head go.
void gn_pipe_into(gn_pipe *pipe, void *to, size_t count);
/// Reads some of them. @return how many
size_t gn_pipe_read(gn_pipe *pipe);

/// Whether a head, or bytes behind it, have been read from the socket and not been taken.
bool gn_pipe_has_more(const gn_pipe *pipe);

/// Begins a parcel, when the one before has been written. `from` stays where it is until then.
void gn_pipe_begin(gn_pipe *pipe, const gn_parcel *parcel, const void *from);
/// Writes. @return whether all that was begun has been written
bool gn_pipe_flush(gn_pipe *pipe);

#endif
