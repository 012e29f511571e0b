// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_FRAMED_H
#define GRADNIC_NET_FRAMED_H
/// A TCP connection that carries frames. No function here blocks or waits.
///
/// Bytes to send are queued in a buffer of the connection. Bytes that come are kept until they make
/// a whole frame. A function of the owner says what a frame is. The owner's loop is:
///
///     struct pollfd set[] = {gn_framed_poll(c), ...};
///     poll(set, ...);
///     gn_framed_serve(c, set[0].revents);
///     while ((found = gn_framed_next(c, parse, &frame)) > 0) ...;
///     if (c->state == GN_FRAMED_CLOSED) ...;  // after the frames that came before the end
///
/// A connection that breaks while bytes are sent is found out where it is read. What the far side
/// said before that can still be read.
///
/// One thread at a time.

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gn_framed_state {
    GN_FRAMED_CONNECTING,  ///< frames are queued until the connection is made
    GN_FRAMED_OPEN,
    GN_FRAMED_ENDING,  ///< the last words are on their way; what comes is dropped
    GN_FRAMED_CLOSED   ///< nothing more will come
} gn_framed_state;

typedef struct gn_framed {
    int fd;  ///< open until gn_framed_free(), in every state
    gn_framed_state state;
    int error;       ///< why it is GN_FRAMED_CLOSED: an errno; 0: the far side closed it in order
    bool overflow;   ///< a frame was lost, because the far side has not read for so long
    uint64_t heard;  ///< gn_now() when bytes last came; before that, when it was made
    size_t in_room, in_used, in_taken;
    size_t out_room, out_used;
    uint8_t bytes[];  ///< in_room bytes that came, then out_room bytes to send
} gn_framed;

/// Takes over the socket `fd`, which does not block. `state` is GN_FRAMED_CONNECTING or
/// GN_FRAMED_OPEN. `in_room` and `out_room` are capacities in bytes; `in_room` is at least the
/// length of the longest frame. @return NULL when out of memory; then `fd` is closed
gn_framed *gn_framed_new(int fd, gn_framed_state state, size_t in_room, size_t out_room);
/// Closes the socket. NULL is allowed.
void gn_framed_free(gn_framed *framed);
/// Frees `framed` and keeps the socket. What is in its buffers is lost.
/// @return the socket
int gn_framed_release(gn_framed *framed);

/// What poll() is to wait for. While frames fill the buffer and nobody takes them, bytes are not
/// waited for. NULL and a closed connection give an entry that poll() ignores.
struct pollfd gn_framed_poll(const gn_framed *framed);
/// Does what poll() has found possible: ends connecting, writes, reads.
void gn_framed_serve(gn_framed *framed, short events);

/// Queues a frame and writes what the socket takes. NULL is allowed, and takes nothing.
/// @return false when the frame is not queued: the connection is ending or closed, or `overflow`
bool gn_framed_send(gn_framed *framed, const void *frame, size_t length);
/// Writes what the socket takes. NULL is allowed.
void gn_framed_flush(gn_framed *framed);
/// Bytes that are queued and not yet written.
size_t gn_framed_unsent(const gn_framed *framed);

/// Reads what fits into the buffer.
/// @return whether bytes came. There may be more.
bool gn_framed_fill(gn_framed *framed);

/// Looks for a frame at the start of `available` bytes, at least one, and fills `frame`.
/// @return its length; 0 when it is not whole yet; -1 when the bytes cannot begin a frame
typedef int gn_framed_parse(const uint8_t *bytes, size_t available, void *frame);

/// Takes the next whole frame. Pointers of `frame` into the bytes hold until the next
/// gn_framed_fill().
/// @return 1; 0: none yet; -1: the bytes are no frame, or one that is longer than the buffer
int gn_framed_next(gn_framed *framed, gn_framed_parse *parse, void *frame);
/// What has come and has not been taken. After gn_framed_next() has returned -1, these bytes are no
/// frame. They hold as a frame's do.
/// @return their number
size_t gn_framed_rest(const gn_framed *framed, const uint8_t **bytes);

/// Nothing more will be sent. What is queued still leaves, as far as the owner goes on to serve the
/// connection, and then the sending side is closed. What has come and what comes is dropped: to
/// close a socket that has unread bytes would reset it, and lose the last words.
/// NULL is allowed.
void gn_framed_end(gn_framed *framed);

#endif
