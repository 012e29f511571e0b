// SPDX-License-Identifier: Apache-2.0
#include "ring/part_socket.h"

#include <errno.h>
#include <stdlib.h>

#include "net/udp_in.h"
#include "net/udp_out.h"

enum {
    MESSAGES = 32,        // of a system call
    MESSAGE_MAX = 60000,  // bytes of a message of several datagrams
    OUT_BYTES = 128 << 10
};

struct gn_part_socket {
    int fd;
    bool six, full;
    bool cuts;               // the kernel takes messages that it is to cut
    bool open;               // the last message may take more datagrams...
    uint8_t tos;             // ... of this ToS
    size_t datagram, whole;  // the longest datagram; the longest that travels whole
    uint8_t *out;
    size_t used;
    gn_udp_inbox *in;
    gn_udp_batch batch;
    gn_udp_message message[MESSAGES];
    struct mmsghdr header[MESSAGES];
    struct iovec piece[MESSAGES];
};

gn_part_socket *gn_part_socket_new(int fd, size_t datagram)
{
    gn_part_socket *io = calloc(1, sizeof *io);
    if (!io) return NULL;
    gn_endpoint own;
    io->fd = fd;
    io->datagram = datagram;
    io->whole = gn_udp_payload(fd);
    io->cuts = true;
    io->six = gn_socket_local(fd, &own) && own.ip.version == 6;
    io->batch = (gn_udp_batch){.message = io->message,
                               .header = io->header,
                               .piece = io->piece,
                               .messages_max = MESSAGES,
                               .pieces_max = MESSAGES,
                               .bytes_max = MESSAGE_MAX,
                               .flags = MSG_DONTWAIT | MSG_NOSIGNAL};
    io->out = malloc(OUT_BYTES);
    io->in = gn_udp_inbox_new(false);
    if (io->out && io->in) return io;
    gn_part_socket_free(io);
    return NULL;
}

void gn_part_socket_free(gn_part_socket *io)
{
    if (!io) return;
    free(io->out);
    gn_udp_inbox_free(io->in);
    free(io);
}

void *gn_part_socket_room(gn_part_socket *io)
{
    const bool room = io->used + io->datagram <= OUT_BYTES && gn_udp_batch_has_room(&io->batch);
    return room ? io->out + io->used : NULL;
}

void gn_part_socket_put(gn_part_socket *io, size_t bytes, uint8_t tos)
{
    const uint8_t *data = io->out + io->used;
    io->used += bytes;
    if (io->open && tos == io->tos && gn_udp_batch_join(&io->batch, data, bytes)) return;
    const gn_udp_to to = {.six = io->six, .tos = gn_ecn_capable(tos)};
    gn_udp_batch_begin(&io->batch, &to);
    gn_udp_batch_add(&io->batch, data, bytes);
    // The kernel cuts off no datagrams that travel in fragments.
    io->open = io->cuts && bytes <= io->whole;
    io->tos = tos;
}

/// Errors that mean that the socket, or its use, is broken.
static bool is_fatal(int error)
{
    return error == EMSGSIZE || error == EBADF || error == EACCES || error == EPERM || error == EINVAL;
}

bool gn_part_socket_flush(gn_part_socket *io, int *failed)
{
    gn_udp_batch *batch = &io->batch;
    int error;
    *failed = 0;
    io->full = false;
    while ((error = gn_udp_batch_send(batch, io->fd))) {
        const gn_udp_refusal refusal = gn_udp_batch_refusal(batch, error);
        const bool uncuttable = refusal == GN_UDP_TOO_LARGE || refusal == GN_UDP_NO_OFFLOAD;
        io->full = refusal == GN_UDP_FULL;
        if (io->full || error == ENOBUFS) return false;
        if (uncuttable && batch->message[batch->sent].datagrams > 1) {
            io->cuts = false;
            (void)gn_udp_batch_send_singly(batch, io->fd);  // lost ones are sent again
            continue;
        }
        if (is_fatal(error)) {
            *failed = error;
            return false;
        }
        // No route, for example: as if lost on the way. The tether knows if the switch is there.
        (void)gn_udp_batch_skip(batch);
    }
    gn_udp_batch_clear(batch);
    io->used = 0;
    return true;
}

bool gn_part_socket_is_full(const gn_part_socket *io)
{
    return io->full;
}

bool gn_part_socket_receive(gn_part_socket *io, void (*take)(void *context, void *datagram, size_t bytes),
                            void *context)
{
    const int got = gn_udp_inbox_receive(io->in, io->fd, GN_UDP_INBOX_MESSAGES);
    for (int i = 0; i < got; i++) {
        const gn_udp_arrival a = gn_udp_inbox_at(io->in, i);
        for (size_t at = 0; at < a.bytes; at += a.segment) take(context, a.data + at, gn_udp_piece(&a, at));
    }
    return got == GN_UDP_INBOX_MESSAGES;
}
