// SPDX-License-Identifier: Apache-2.0
#include "ring/collective.h"

#include <stdlib.h>

#include "ring/deadline.h"
#include "ring/exchange.h"
#include "ring/failure.h"
#include "ring/turn.h"

enum { BUCKETS = 65536 };

/// A bucket that has not been seen yet. No histogram gives this value.
enum { UNSEEN = GN_EXPONENT_NONE + 1 };

static bool overlap(const float *a, const float *b, size_t count)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return (x < y ? y - x : x - y) < count * sizeof(float);
}

gn_status gn_collective_enter(gn_comm *comm)
{
    const gn_status status = gn_oob_ready(comm);
    if (status) gn_oob_told(comm);
    return status;
}

gn_status gn_collective_check(gn_comm *comm, const gn_bucket *bucket)
{
    if (!comm) return GN_INVALID;
    const gn_status status = gn_collective_enter(comm);
    if (status) return status;
    const char *wrong = NULL;
    if (!bucket)
        wrong = "bucket is NULL";
    else if (bucket->count > PTRDIFF_MAX / sizeof(float))
        wrong = "count is larger than memory";
    else if (bucket->count && (!bucket->send || !bucket->recv))
        wrong = "send or recv is NULL";
    else if (bucket->op != GN_SUM && bucket->op != GN_AVERAGE)
        wrong = "op is neither GN_SUM nor GN_AVERAGE";
    else if (bucket->residual && !comm->config.quantise)
        wrong = "a residual needs `quantise`";
    else if (bucket->id >= BUCKETS)
        wrong = "bucket id is not below 65536";
    else if (bucket->send != bucket->recv && overlap(bucket->send, bucket->recv, bucket->count))
        wrong = "send and recv overlap";
    else if (bucket->residual && (overlap(bucket->residual, bucket->send, bucket->count) ||
                                  overlap(bucket->residual, bucket->recv, bucket->count)))
        wrong = "residual overlaps send or recv";
    return wrong ? gn_oob_refuse(comm, wrong) : GN_OK;
}

static bool scaled(const gn_comm *comm)
{
    return comm->config.quantise && comm->config.scale == GN_SCALE_AUTO;
}

static gn_status prepare_history(gn_comm *comm, gn_exchange *exchange)
{
    if (!scaled(comm)) return GN_OK;
    if (!comm->history) {
        comm->history = malloc(BUCKETS * sizeof *comm->history);
        if (!comm->history) return gn_oob_fail(comm, GN_NO_MEMORY, comm->rank, "rank %d is out of memory", comm->rank);
        for (int i = 0; i < BUCKETS; i++) comm->history[i] = UNSEEN;
    }
    exchange->histogram = calloc(GN_HISTOGRAM, sizeof *exchange->histogram);
    if (!exchange->histogram)
        return gn_oob_fail(comm, GN_NO_MEMORY, comm->rank, "rank %d is out of memory", comm->rank);
    return GN_OK;
}

/// The first time of a bucket costs a pass over it, and an agreement before the data.
static gn_status first_exponent(gn_comm *comm, const gn_bucket *bucket, uint64_t *histogram, int *exponent)
{
    for (size_t done = 0; done < bucket->count; done += 4096)
        gn_histogram_add(histogram, bucket->send + done, bucket->count - done < 4096 ? bucket->count - done : 4096);
    *exponent = gn_histogram_exponent(histogram);
    for (int i = 0; i < GN_HISTOGRAM; i++) histogram[i] = 0;
    if (comm->size == 1) return GN_OK;
    comm->phase = "agreement on the scale";
    gn_oob_offer(comm, 0, *exponent);
    return gn_oob_await_agreement(comm, 0, exponent);
}

static gn_status next_exponent(gn_exchange *exchange, const gn_bucket *bucket, int used)
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
        comm->history[bucket->id] = (int16_t)(next != GN_EXPONENT_NONE   ? next
                                              : used == GN_EXPONENT_NONE ? UNSEEN
                                                                         : used);
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
                               [GN_SWITCH] = {"aggregation", gn_switched_run, gn_switched_run}};

static gn_status run_exchange(gn_comm *comm, const gn_bucket *bucket, gn_exchange *exchange, int known)
{
    int exponent = known == UNSEEN ? GN_EXPONENT_NONE : known;
    gn_status status = GN_OK;
    if (scaled(comm) && known == UNSEEN) status = first_exponent(comm, bucket, exchange->histogram, &exponent);
    if (status) return status;
    gn_exchange_prepare(exchange, comm, bucket, exponent);
    comm->phase = algorithms[comm->config.algorithm].phase;
    const bool coded = comm->config.offload == GN_OFFLOAD_LIBRARY;
    if (gn_comm_is_alone(comm))
        status = run_alone(exchange);
    else
        status =
            (coded ? algorithms[comm->config.algorithm].run_coded : algorithms[comm->config.algorithm].run)(exchange);
    return !status && scaled(comm) ? next_exponent(exchange, bucket, exponent) : status;
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

/// Waits until all ranks have come.
static gn_status meet(gn_comm *comm)
{
    int nothing;
    comm->phase = "barrier";
    if (comm->size == 1) return GN_OK;
    gn_oob_offer(comm, 0, 0);
    gn_status status = GN_OK;
    if (comm->config.algorithm == GN_RING || comm->rank) status = gn_oob_await_header(comm, 0);
    return status ? status : gn_oob_await_agreement(comm, 0, &nothing);
}

gn_status gn_collective_allreduce(gn_comm *comm, const gn_bucket *bucket)
{
    const uint64_t start = gn_now();
    gn_exchange exchange = {0};
    gn_status status = gn_collective_enter(comm);
    if (!status) status = prepare_history(comm, &exchange);
    if (status) return status;
    int known = scaled(comm) ? comm->history[bucket->id] : GN_EXPONENT_NONE;
    gn_op_header header = {.sequence = comm->sequence,
                           .count = bucket->count,
                           .kind = GN_KIND_ALLREDUCE,
                           .op = (uint8_t)bucket->op,
                           .algorithm = (uint8_t)comm->config.algorithm,
                           .bucket = bucket->id,
                           .exponent = (int16_t)known};
    status = gn_oob_begin(comm, &header);
    if (!status) status = bucket->count ? run_exchange(comm, bucket, &exchange, known) : meet(comm);
    account(comm, &exchange, start);
    if (!status) gn_oob_end(comm);
    free(exchange.histogram);
    return status;
}

gn_status gn_collective_barrier(gn_comm *comm)
{
    gn_op_header header = {
        .sequence = comm->sequence, .kind = GN_KIND_BARRIER, .algorithm = (uint8_t)comm->config.algorithm};
    gn_status status = gn_collective_enter(comm);
    if (!status) status = gn_oob_begin(comm, &header);
    if (!status) status = meet(comm);
    if (!status) gn_oob_end(comm);
    return status;
}
