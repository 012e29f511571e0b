// SPDX-License-Identifier: Apache-2.0
#include "ring/collectives/link.h"

#include <errno.h>

#include "ring/await.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/turn.h"

enum { LOOK_EVERY = 64 };

typedef struct link_state {
    gn_comm *comm;
    int left, right;
    const uint8_t *out;
    uint8_t *in;
    size_t to_send, to_receive;  ///< bytes that are left
    bool send_full;              ///< the socket took less than there was
    bool header_checked;
} link_state;

/// @return bytes sent, 0 when none could be, -1 with errno
static ssize_t send_some(link_state *l)
{
    const ssize_t sent = gn_data_send(&l->comm->neighbours[l->right], l->out, l->to_send);
    l->send_full = sent < (ssize_t)l->to_send;
    if (sent < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    l->out += sent;
    l->to_send -= (size_t)sent;
    l->comm->data_sent[l->right] += (size_t)sent;
    return sent;
}

/// @return bytes received, 0 when there are none, -1 with errno (0: the connection has ended)
static ssize_t receive_some(link_state *l)
{
    const ssize_t got = gn_data_receive(&l->comm->neighbours[l->left], l->in, l->to_receive);
    if (!got) errno = 0;
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    l->in += got;
    l->to_receive -= (size_t)got;
    gn_comm_count_received(l->comm, l->left, (size_t)got);
    return got;
}

static gn_status await(link_state *l, bool blocked)
{
    gn_wish wishes[GN_RANKS_MAX] = {0};
    wishes[l->left].reading = l->to_receive && l->header_checked;
    wishes[l->left].owes = l->to_receive > 0;
    wishes[l->right].sending = l->send_full;
    return gn_await_data(l->comm, wishes, blocked);
}

gn_status gn_link_exchange(gn_comm *comm, const void *out, size_t out_bytes, void *in, size_t in_bytes)
{
    link_state l = {.comm = comm,
                    .left = gn_comm_left(comm),
                    .right = gn_comm_right(comm),
                    .out = out,
                    .in = in,
                    .to_send = out_bytes,
                    .to_receive = in_bytes};
    gn_status status = GN_OK;
    for (unsigned lap = 1; !status && (l.to_send || l.to_receive); lap++) {
        ssize_t sent = 0, got = 0;
        l.send_full = false;
        if (l.to_send && (sent = send_some(&l)) < 0) return gn_oob_data_lost(comm, l.right, errno);
        if (l.to_receive && !l.header_checked) l.header_checked = gn_oob_has_header(comm, l.left);
        if (l.to_receive && l.header_checked && (got = receive_some(&l)) < 0)
            return gn_oob_data_lost(comm, l.left, errno);
        if (sent > 0) gn_oob_sign(comm, l.right, gn_now());
        if (got > 0) gn_oob_sign(comm, l.left, gn_now());
        const bool moved = sent > 0 || got > 0;
        if (!moved || lap % LOOK_EVERY == 0) status = await(&l, !moved);
    }
    return status;
}
