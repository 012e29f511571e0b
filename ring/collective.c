// SPDX-License-Identifier: Apache-2.0
#include "ring/collective.h"

#include <stdlib.h>

#include "ring/await.h"
#include "ring/collectives/call.h"
#include "ring/collectives/link.h"
#include "ring/collectives/mesh.h"
#include "ring/collectives/staged.h"
#include "ring/collectives/types.h"
#include "ring/deadline.h"
#include "ring/direct.h"
#include "ring/exchange.h"
#include "ring/failure.h"
#include "ring/groups/groups.h"
#include "ring/turn.h"

enum { BUCKETS = 65536 };

/// A bucket that has not been seen yet. No histogram gives this value.
enum { UNSEEN = GN_SCALE_UNSEEN };
_Static_assert((int)UNSEEN == (int)GN_EXPONENT_NONE + 1, "it is no exponent");

gn_status gn_collective_enter(gn_comm *comm)
{
    const gn_status status = gn_oob_ready(comm);
    if (status) gn_oob_told(comm);
    return status;
}

gn_status gn_collective_check(gn_comm *comm, const gn_call *call)
{
    if (!comm) return GN_INVALID;
    const gn_status status = gn_collective_enter(comm);
    if (status) return status;
    const char *wrong = call ? gn_call_wrong(comm, call) : "the call or bucket is NULL";
    const char *name = call ? gn_collective_name(call->collective) : NULL;
    return wrong ? gn_oob_refuse(comm, name ? name : "a collective", wrong) : GN_OK;
}

/// Whether values are scaled. An all_gather has the codec's bound.
static bool scaled(const gn_comm *comm, const gn_call *call)
{
    return comm->config.quantise && comm->config.scale == GN_SCALE_AUTO && !gn_call_is_exact(call) && !call->lossy &&
           call->collective != GN_BARRIER;
}

static bool has_history(gn_comm *comm)
{
    if (comm->history) return true;
    comm->history = malloc(BUCKETS * sizeof *comm->history);
    for (int i = 0; comm->history && i < BUCKETS; i++) comm->history[i] = UNSEEN;
    return comm->history;
}

int gn_comm_scale(const gn_comm *comm, uint32_t id)
{
    return comm && comm->history && id < BUCKETS ? comm->history[id] : UNSEEN;
}

gn_status gn_comm_set_scale(gn_comm *comm, uint32_t id, int exponent)
{
    enum { LEAST = -150, MOST = 128 };
    if (!comm) return GN_INVALID;
    if (comm->config.scale != GN_SCALE_AUTO) return gn_oob_refuse(comm, "set_scale", "it needs GN_SCALE_AUTO");
    if (id >= BUCKETS) return gn_oob_refuse(comm, "set_scale", "bucket id is not below 65536");
    if (exponent != UNSEEN && (exponent < LEAST || exponent > MOST))
        return gn_oob_refuse(comm, "set_scale", "the exponent is neither from -150 to 128 nor GN_SCALE_UNSEEN");
    if (!has_history(comm)) return GN_NO_MEMORY;
    comm->history[id] = (int16_t)exponent;
    return GN_OK;
}

static gn_status prepare_history(gn_comm *comm, gn_exchange *exchange)
{
    if (!has_history(comm)) return gn_oob_no_memory(comm);
    exchange->histogram = calloc(GN_HISTOGRAM, sizeof *exchange->histogram);
    if (!exchange->histogram) return gn_oob_no_memory(comm);
    return GN_OK;
}

/// The first time of a bucket costs a pass over it, and an agreement before the data.
static gn_status first_exponent(gn_comm *comm, const gn_call *call, uint64_t *histogram, int *exponent)
{
    size_t starts[GN_RANKS_MAX + 1];
    const bool scatters = call->collective == GN_REDUCE_SCATTER;
    gn_staged_histogram(histogram, call->type, call->send,
                        scatters ? gn_call_starts(call, comm->size, starts) : call->count);
    *exponent = gn_histogram_exponent(histogram);
    for (int i = 0; i < GN_HISTOGRAM; i++) histogram[i] = 0;
    if (comm->size == 1) return GN_OK;
    comm->phase = "agreement on the scale";
    gn_oob_offer(comm, 0, *exponent);
    return gn_oob_await_agreement(comm, 0, exponent);
}

static gn_status next_exponent(gn_exchange *exchange, const gn_call *call, int used)
{
    gn_comm *comm = exchange->comm;
    int next = GN_EXPONENT_NONE;
    gn_status status = GN_OK;
    if (comm->size == 1)
        next = gn_histogram_exponent(exchange->histogram);
    else {
        comm->phase = "agreement on the next scale";
        gn_exchange_offer(exchange);
        status = gn_oob_await_agreement(comm, 1, &next);
    }
    // A bucket of zeros says nothing about the next one: it keeps the scale it has.
    if (!status)
        comm->history[call->id] = (int16_t)(next != GN_EXPONENT_NONE ? next : used == GN_EXPONENT_NONE ? UNSEEN : used);
    return status;
}

static gn_status run_alone(gn_exchange *exchange)
{
    gn_exchange_own(exchange, 0, exchange->bucket->count);
    gn_exchange_settle(exchange, 0, exchange->bucket->count);
    gn_exchange_finish(exchange, 0, exchange->bucket->count);
    return GN_OK;
}

static const struct {
    const char *phase;
    gn_status (*run)(gn_exchange *exchange);
    gn_status (*run_coded)(gn_exchange *exchange);  ///< offload library
} algorithms[GN_ALGORITHMS] = {[GN_RING] = {"reduce leg", gn_ring_run, gn_ring_coded_run},
                               [GN_WORKER_AGGREGATOR] = {"gradient leg", gn_aggregator_run, gn_aggregator_coded_run},
                               [GN_DIRECT] = {"reduce leg", gn_direct_run, gn_direct_coded_run},
                               [GN_AUTO] = {"reduce leg", NULL, NULL},  // one of the others
                               [GN_GROUP_RING] = {"reduce leg", gn_groups_run, gn_groups_run},
                               [GN_GROUP_AGGREGATOR] = {"reduce leg", gn_groups_run, gn_groups_run},
                               [GN_AGGREGATORS] = {"gradient leg", gn_groups_run, gn_groups_run},
                               [GN_SWITCH] = {"aggregation", gn_switched_run, gn_switched_run}};

/// Direct and groups sum binary32 in allreduces. What else sums, or passes the codec, goes round,
/// over the same connections.
static gn_algorithm way_of(const gn_exchange *x)
{
    const bool sums = x->legs == GN_LEGS_BOTH && !x->exact && !x->starts;
    if (!gn_comm_is_mesh(x->comm)) return x->comm->config.algorithm;
    if (sums && x->comm->groups) return x->comm->config.algorithm;
    return sums && !gn_choice_goes_round(x->choice) ? GN_DIRECT : GN_RING;
}

static gn_status move(gn_exchange *exchange)
{
    gn_comm *comm = exchange->comm;
    const gn_algorithm way = way_of(exchange);
    const bool plain = exchange->exact || gn_choice_is_plain(exchange->choice);
    const bool coded = comm->config.offload == GN_OFFLOAD_LIBRARY && !plain;
    if (gn_comm_is_alone(comm) || (comm->size == 1 && exchange->by_messages)) return run_alone(exchange);
    if (exchange->by_messages) return gn_mesh_move(exchange);
    if (gn_mesh_gathers(exchange)) return gn_mesh_gather(exchange);
    if (gn_mesh_reduces(exchange)) return gn_mesh_reduce(exchange);
    return (coded ? algorithms[way].run_coded : algorithms[way].run)(exchange);
}

/// Whether algorithm auto chooses a way. Small vectors have only one.
static bool chooses(const gn_exchange *exchange, const gn_call *call)
{
    const gn_comm *comm = exchange->comm;
    if (comm->config.algorithm != GN_AUTO || gn_comm_is_alone(comm) || exchange->exact) return false;
    return !gn_direct_is_small(comm, call->count);
}

/// An allreduce of values that are exchanged where they are.
static gn_status run_in_place(gn_exchange *exchange, const gn_call *call, int exponent)
{
    const gn_bucket bucket = {.send = call->send,
                              .recv = call->recv,
                              .count = call->count,
                              .op = call->op,
                              .residual = call->residual,
                              .id = call->id,
                              .layer = call->layer,
                              .layers = call->layers};
    exchange->type = call->type;
    gn_exchange_prepare(exchange, exchange->comm, &bucket, exponent);
    return move(exchange);
}

static gn_status run_allreduce(gn_exchange *exchange, const gn_call *call, int exponent)
{
    gn_comm *comm = exchange->comm;
    const bool narrow = gn_type_staged(call->type) != call->type, choice = chooses(exchange, call);
    gn_status status = choice ? gn_choice_begin(comm, call->count, narrow, &exchange->choice) : GN_OK;
    if (status) return status;
    if (choice) comm->phase = "reduce leg";
    const uint64_t start = gn_now();
    status = (narrow ? gn_staged_run : run_in_place)(exchange, call, exponent);
    if (choice && !status) gn_choice_end(comm, call->count, narrow, exchange->choice, start);
    return status;
}

static gn_status run_by_kind(gn_exchange *exchange, const gn_call *call, int exponent)
{
    const bool staged = gn_type_staged(call->type) != call->type;
    exchange->exact = gn_call_is_exact(call);
    exchange->by_messages = gn_call_by_messages(exchange->comm, call);
    switch (call->collective) {
    case GN_ALLREDUCE:
        return run_allreduce(exchange, call, exponent);
    case GN_REDUCE_SCATTER:
    case GN_REDUCE:
        exchange->legs = GN_LEG_REDUCE;
        return gn_staged_run(exchange, call, exponent);
    case GN_ALL_GATHER:
    case GN_BROADCAST:
        exchange->legs = GN_LEG_GATHER;
        return staged && call->lossy ? gn_staged_run(exchange, call, exponent) : gn_gathered_run(exchange, call);
    default:
        return gn_linked_run(exchange->comm, call);
    }
}

static gn_status run_exchange(gn_exchange *exchange, const gn_call *call, int known)
{
    gn_comm *comm = exchange->comm;
    const bool scale = scaled(comm, call);
    int exponent = known == UNSEEN ? GN_EXPONENT_NONE : known;
    gn_status status = GN_OK;
    if (scale && known == UNSEEN) status = first_exponent(comm, call, exchange->histogram, &exponent);
    if (status) return status;
    const bool keeps = scale && call->id != GN_BUCKET_NONE;
    if (scale && !keeps) {  // there is no next time to measure for
        free(exchange->histogram);
        exchange->histogram = NULL;
    }
    comm->phase = call->collective == GN_ALLREDUCE ? algorithms[comm->config.algorithm].phase
                                                   : gn_collective_name(call->collective);
    status = run_by_kind(exchange, call, exponent);
    return !status && keeps ? next_exponent(exchange, call, exponent) : status;
}

static void account(gn_comm *comm, const gn_exchange *exchange, uint64_t start)
{
    pthread_mutex_lock(&comm->stats_lock);
    comm->stats.quantise_seconds += gn_seconds(exchange->quantising);
    comm->stats.reduce_seconds += gn_seconds(exchange->reducing);
    comm->stats.total_seconds += gn_seconds(gn_now() - start);
    // Algorithm switch counts datagrams itself.
    uint64_t sent = 0;
    const uint64_t received = comm->config.algorithm != GN_SWITCH ? comm->data_received : 0;
    for (int i = 0; i < comm->neighbour_count; i++) sent += comm->data_sent[i];
    const bool coded = comm->wire_sent || comm->wire_received;
    comm->stats.sent_bytes += sent;
    comm->stats.received_bytes += received;
    comm->stats.sent_wire_bytes += coded ? comm->wire_sent : sent;
    comm->stats.received_wire_bytes += coded ? comm->wire_received : received;
    pthread_mutex_unlock(&comm->stats_lock);
}

/// Tells the others that this rank has come. With a mesh its header has told them.
static void offer_nothing(gn_comm *comm)
{
    if (!gn_comm_is_mesh(comm)) gn_oob_offer(comm, 0, 0);
}

/// Waits until all ranks have come.
static gn_status await_all(gn_comm *comm)
{
    int nothing;
    gn_status status = GN_OK;
    if (comm->size == 1) return GN_OK;
    if (gn_comm_is_mesh(comm)) return gn_await_headers(comm);
    if (comm->config.algorithm == GN_RING || comm->rank) status = gn_oob_await_header(comm, 0);
    return status ? status : gn_oob_await_agreement(comm, 0, &nothing);
}

static gn_status meet(gn_comm *comm)
{
    comm->phase = "barrier";
    if (comm->leads) return gn_direct_meet(comm);
    offer_nothing(comm);
    return await_all(comm);
}

/// An allreduce ends when all ranks have begun it, because it needs something of each. Others might
/// end sooner, and then a rank could be two collectives ahead. So they wait for each other, while
/// their data is on its way. Messages say nothing of the call, so there they wait before it.
static gn_status run_together(gn_exchange *exchange, const gn_call *call, int known)
{
    gn_comm *comm = exchange->comm;
    const bool scales = scaled(comm, call) && known == UNSEEN, by_messages = gn_call_by_messages(comm, call);
    const bool agrees = scales || (call->collective == GN_ALLREDUCE && !by_messages);
    gn_status status = GN_OK;
    if (!agrees) offer_nothing(comm);
    if (!agrees && by_messages) status = await_all(comm);
    if (!status) status = run_exchange(exchange, call, known);
    return status || agrees || by_messages ? status : await_all(comm);
}

static bool is_empty(const gn_comm *comm, const gn_call *call)
{
    size_t starts[GN_RANKS_MAX + 1];
    if (call->collective == GN_BARRIER) return true;
    return !(call->counts ? gn_call_starts(call, comm->size, starts) : call->count);
}

/// Whether the header goes ahead of the values: one message to each rank has both. Only where each
/// rank sends all others something at once, and nothing has to be agreed on before.
static bool leads(const gn_comm *comm, const gn_call *call, int known)
{
    const gn_algorithm algorithm = comm->config.algorithm;
    if ((algorithm != GN_DIRECT && algorithm != GN_AUTO) || comm->size == 1 || gn_comm_marks(comm)) return false;
    if (is_empty(comm, call)) return true;
    return call->collective == GN_ALLREDUCE && !gn_call_is_exact(call) && known != UNSEEN &&
           gn_direct_is_small(comm, call->count);
}

gn_status gn_collective_run(gn_comm *comm, const gn_call *call)
{
    const uint64_t start = gn_now();
    const bool scale = scaled(comm, call);
    gn_exchange exchange = {.comm = comm, .move = move};
    gn_status status = gn_collective_enter(comm);
    if (!status && scale) status = prepare_history(comm, &exchange);
    if (status) return status;
    const int known = scale ? gn_comm_scale(comm, call->id) : GN_EXPONENT_NONE;
    gn_op_header header = gn_call_header(comm, call);
    header.sequence = comm->sequence;
    header.exponent = (int16_t)(call->collective == GN_BARRIER ? 0 : known);
    status = gn_oob_begin(comm, &header, leads(comm, call, known));
    if (!status) status = is_empty(comm, call) ? meet(comm) : run_together(&exchange, call, known);
    if (call->collective != GN_BARRIER) account(comm, &exchange, start);
    if (!status) gn_oob_end(comm);
    free(exchange.histogram);
    return status;
}
