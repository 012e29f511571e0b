// SPDX-License-Identifier: Apache-2.0
// An allreduce over two levels, in three steps:
//
// 1. Within each group, the values of its ranks are summed.
// 2. Across the groups, these sums are summed.
// 3. Within each group, the results are handed out.
//
// Where all groups are equal and exchange in rings, each rank of a group has a part of the vector
// in step 2 (reduce-scatter, allreduce, all-gather). Otherwise the first rank of each group has all
// of it.
//
// The bits are those of a flat ring with lattice and dense: a rank quantises its values in step 1,
// and from then on all sums are multiples of the step, which any level holds exactly. With paper
// the owner passes a sum through the codec at the end of step 2. What the codec has made it does
// not change again, so step 3 may use it or not. Scale and residual are of step 1, too. The result
// is divided and scaled back in step 3, as it has been sent on.
//
// No deadlock. A step is one of the exchanges of ring.c or worker_aggregator.c, in one circle. Each
// of these ends when all of its circle have begun it. Every rank takes the steps in the same order,
// and a step waits for nothing of a later one: what comes early stays in the connection, where only
// the step reads that it is for. So all of step 1 ends everywhere, then all of step 2, and then
// step 3. Two ranks are in one circle at most: steps 1 and 3 follow each other on one connection,
// and step 2 has others.
//
// A vector goes in pieces, one behind the other, with the same argument: step 1 of the next piece
// waits for nothing of a later step. So no rank waits longer than for a piece. One that has nothing
// to do in step 2 would otherwise think that all stands still.
#include "ring/blocks.h"
#include "ring/groups/groups.h"

enum { PIECE_SEGMENTS = 64 };

/// What has left and come so far in this collective.
typedef struct traffic {
    uint64_t sent, received, wire_sent, wire_received;
} traffic;

static traffic traffic_of(const gn_comm *comm)
{
    traffic t = {0, comm->data_received, comm->wire_sent, comm->wire_received};
    for (int i = 0; i < comm->neighbour_count; i++) t.sent += comm->data_sent[i];
    return t;
}

/// Counts what a level has moved. What is not coded travels as it is.
static void account(gn_comm *comm, const traffic *before, bool inner, bool coded)
{
    traffic now = traffic_of(comm);
    if (!coded && comm->config.offload == GN_OFFLOAD_LIBRARY) {
        comm->wire_sent += now.sent - before->sent;
        comm->wire_received += now.received - before->received;
        now = traffic_of(comm);
    }
    if (!inner) return;
    const bool library = comm->config.offload == GN_OFFLOAD_LIBRARY;
    pthread_mutex_lock(&comm->stats_lock);
    gn_comm_stats *s = &comm->stats;
    s->group_sent_bytes += now.sent - before->sent;
    s->group_received_bytes += now.received - before->received;
    s->group_sent_wire_bytes += library ? now.wire_sent - before->wire_sent : now.sent - before->sent;
    s->group_received_wire_bytes +=
        library ? now.wire_received - before->wire_received : now.received - before->received;
    pthread_mutex_unlock(&comm->stats_lock);
}

/// Runs an exchange in a circle of two and more.
static gn_status run_in(gn_exchange *x, const gn_circle *circle, bool star, bool coded)
{
    gn_comm *comm = x->comm;
    const traffic before = traffic_of(comm);
    x->circle = circle;
    gn_status status;
    if (star)
        status = coded ? gn_aggregator_coded_run(x) : gn_aggregator_run(x);
    else
        status = coded ? gn_ring_coded_run(x) : gn_ring_run(x);
    account(comm, &before, circle == &comm->groups->inner, coded);
    return status;
}

/// Where the blocks of a group's ranks begin: one for each, or one for the first.
static void cut(const struct gn_groups *g, size_t count, size_t starts[GN_RANKS_MAX + 1])
{
    starts[0] = 0;
    for (int i = 1; i <= g->inner.size; i++) starts[i] = g->scattered ? gn_block_start(count, g->inner.size, i) : count;
}

static gn_status sum_within(gn_exchange *x, const size_t *starts)
{
    const struct gn_groups *g = x->comm->groups;
    const bool star = x->comm->config.algorithm == GN_AGGREGATORS;
    x->sum_pass = x->finish_pass = false;
    if (g->inner.size == 1) {
        gn_exchange_own(x, 0, x->bucket->count);
        return GN_OK;
    }
    x->legs = GN_LEG_REDUCE;
    x->starts = star ? NULL : starts;
    return run_in(x, &g->inner, star, g->inner_coded);
}

static gn_status sum_across(gn_exchange *x, const gn_bucket *part)
{
    const struct gn_groups *g = x->comm->groups;
    const bool coded = x->comm->config.offload == GN_OFFLOAD_LIBRARY;
    x->bucket = part;
    x->finish_pass = false;
    if (g->across.own < 0 || !part->count) return GN_OK;
    if (g->across.size > 1) return run_in(x, &g->across, x->comm->config.algorithm != GN_GROUP_RING, coded);
    gn_exchange_settle(x, 0, part->count);
    return GN_OK;
}

static gn_status hand_out(gn_exchange *x, const gn_bucket *sums, const size_t *starts)
{
    const struct gn_groups *g = x->comm->groups;
    const bool star = x->comm->config.algorithm == GN_AGGREGATORS;
    x->bucket = sums;
    x->sum_pass = false;
    if (g->inner.size == 1) {
        gn_exchange_finish(x, 0, sums->count);
        return GN_OK;
    }
    x->legs = GN_LEG_GATHER;
    x->starts = star ? NULL : starts;
    return run_in(x, &g->inner, star, g->inner_coded);
}

/// What is left for the later steps: the values are sums in `recv`, and nothing is done to them.
static gn_exchange later(const gn_exchange *x)
{
    gn_exchange y = *x;
    y.own_pass = false;
    y.shift = 0;
    y.histogram = NULL;
    y.quantising = y.reducing = 0;
    return y;
}

static gn_status run_piece(gn_exchange *x, size_t at, size_t count, bool last)
{
    const struct gn_groups *g = x->comm->groups;
    size_t starts[GN_RANKS_MAX + 1];
    gn_bucket own = *x->bucket;
    own.send += at;
    own.recv += at;
    own.count = count;
    if (own.residual) own.residual += at;
    const gn_bucket sums = {.send = own.recv, .recv = own.recv, .count = count, .op = own.op, .id = own.id};
    cut(g, count, starts);
    gn_bucket part = sums;
    part.send = part.recv = sums.recv + starts[g->inner.own];
    part.count = starts[g->inner.own + 1] - starts[g->inner.own];

    gn_exchange first = *x, second = later(x), third = later(x);
    first.bucket = &own;
    first.offered = true;  // what is said of the next scale is of all pieces
    first.quantising = first.reducing = 0;
    gn_status status = sum_within(&first, starts);
    if (!status && last) gn_exchange_offer(x);
    if (!status) status = sum_across(&second, &part);
    if (!status) status = hand_out(&third, &sums, starts);
    x->quantising += first.quantising + second.quantising + third.quantising;
    x->reducing += first.reducing + second.reducing + third.reducing;
    return status;
}

gn_status gn_groups_run(gn_exchange *exchange)
{
    const gn_comm *comm = exchange->comm;
    const unsigned ranks = (unsigned)comm->size;
    const size_t segments = 2 * ranks > PIECE_SEGMENTS ? 2 * ranks : PIECE_SEGMENTS;
    const size_t length = segments * comm->segment / sizeof(float), count = exchange->bucket->count;
    gn_status status = GN_OK;
    for (size_t at = 0; !status && at < count; at += length) {
        const size_t left = count - at;
        status = run_piece(exchange, at, left < length ? left : length, left <= length);
    }
    return status;
}
