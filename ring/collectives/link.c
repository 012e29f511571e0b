// SPDX-License-Identifier: Apache-2.0
// No deadlock: what a rank sends depends on nothing, and all that comes has its place already. So
// every rank sends and reads all the time.
#include "ring/collectives/link.h"

#include <errno.h>

#include "ring/await.h"
#include "ring/data.h"
#include "ring/deadline.h"
#include "ring/turn.h"

enum {
    LOOK_EVERY = 64,
    CHUNK = 256 << 10  // bytes to or from one rank before the next one has its turn
};

static size_t chunk_of(size_t bytes)
{
    return bytes < CHUNK ? bytes : CHUNK;
}

static bool may_go_on(void)
{
    return errno == EAGAIN || errno == EINTR;
}

static gn_status send_to(gn_comm *comm, int index, gn_part *p, bool *full, bool *moved)
{
    const size_t want = chunk_of(p->to_send);
    const ssize_t sent = gn_data_send(&comm->neighbours[index], p->out, want);
    *full = sent < (ssize_t)want;
    if (sent < 0) return may_go_on() ? GN_OK : gn_oob_data_lost(comm, index, errno);
    p->out += sent;
    p->to_send -= (size_t)sent;
    comm->data_sent[index] += (size_t)sent;
    *moved |= sent > 0;
    return GN_OK;
}

static gn_status receive_from(gn_comm *comm, int index, gn_part *p, bool *moved)
{
    const ssize_t got = gn_data_receive(&comm->neighbours[index], p->in, chunk_of(p->to_receive));
    if (!got) return gn_oob_data_lost(comm, index, 0);
    if (got < 0) return may_go_on() ? GN_OK : gn_oob_data_lost(comm, index, errno);
    p->in += got;
    p->to_receive -= (size_t)got;
    gn_comm_count_received(comm, index, (size_t)got);
    *moved = true;
    return GN_OK;
}

/// Does what can be done with one rank, and says what is to be waited for.
static gn_status serve(gn_comm *comm, int index, gn_part *p, gn_wish *wish, bool *moved)
{
    gn_status status = GN_OK;
    bool here = false;
    *wish = (gn_wish){0};
    if (p->to_send) status = send_to(comm, index, p, &wish->sending, &here);
    if (!status && p->to_receive && gn_oob_has_header(comm, index)) {
        status = receive_from(comm, index, p, &here);
        wish->reading = p->to_receive > 0;
    }
    wish->owes = p->to_receive > 0;
    if (status || !here) return status;
    *moved = true;
    gn_oob_sign(comm, index, gn_now());
    return GN_OK;
}

static bool is_done(const gn_comm *comm, gn_part *const parts[])
{
    for (int i = 0; i < comm->neighbour_count; i++)
        if (parts[i] && (parts[i]->to_send || parts[i]->to_receive)) return false;
    return true;
}

gn_status gn_link_parts(gn_comm *comm, gn_part *const parts[])
{
    gn_wish wishes[GN_RANKS_MAX] = {0};
    gn_status status = GN_OK;
    for (unsigned lap = 1; !status && !is_done(comm, parts); lap++) {
        bool moved = false;
        for (int i = 0; i < comm->neighbour_count && !status; i++)
            if (parts[i]) status = serve(comm, i, parts[i], &wishes[i], &moved);
        if (!status && (!moved || lap % LOOK_EVERY == 0)) status = gn_await_data(comm, wishes, !moved);
    }
    return status;
}

gn_status gn_link_exchange(gn_comm *comm, const void *out, size_t out_bytes, void *in, size_t in_bytes)
{
    gn_part to_right = {.out = out, .to_send = out_bytes}, from_left = {.in = in, .to_receive = in_bytes};
    gn_part *parts[GN_RANKS_MAX] = {0};
    parts[comm->whole.right] = &to_right;
    if (comm->whole.left == comm->whole.right) {  // two ranks with one connection
        to_right.in = in;
        to_right.to_receive = in_bytes;
    } else {
        parts[comm->whole.left] = &from_left;
    }
    return gn_link_parts(comm, parts);
}
