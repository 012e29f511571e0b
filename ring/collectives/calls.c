// SPDX-License-Identifier: Apache-2.0
// The calls of gradnic/comm.h that are collectives, as one.
#include <gradnic/comm.h>

#include "ring/collectives/call.h"
#include "ring/request.h"

gn_status gn_comm_run(gn_comm *comm, const gn_call *call)
{
    return gn_run_call(comm, call);
}

gn_status gn_allreduce(gn_comm *comm, const float *send, float *recv, size_t count, gn_op op)
{
    return gn_allreduce_typed(comm, send, recv, count, GN_F32, op);
}

gn_status gn_allreduce_bucket(gn_comm *comm, const gn_bucket *bucket)
{
    gn_call call = {.collective = GN_ALLREDUCE};
    if (bucket) call = gn_call_of_bucket(bucket);
    return gn_run_call(comm, bucket ? &call : NULL);
}

gn_status gn_barrier(gn_comm *comm)
{
    return gn_run_call(comm, &(gn_call){.collective = GN_BARRIER});
}

gn_status gn_allreduce_typed(gn_comm *comm, const void *send, void *recv, size_t count, gn_type type, gn_op op)
{
    return gn_run_call(
        comm,
        &(gn_call){.collective = GN_ALLREDUCE, .type = type, .op = op, .send = send, .recv = recv, .count = count});
}

gn_status gn_reduce_scatter(gn_comm *comm, const void *send, void *recv, size_t count, gn_type type, gn_op op)
{
    return gn_run_call(
        comm, &(gn_call){
                  .collective = GN_REDUCE_SCATTER, .type = type, .op = op, .send = send, .recv = recv, .count = count});
}

gn_status gn_all_gather(gn_comm *comm, const void *send, void *recv, size_t count, gn_type type)
{
    return gn_run_call(
        comm, &(gn_call){.collective = GN_ALL_GATHER, .type = type, .send = send, .recv = recv, .count = count});
}

gn_status gn_reduce(gn_comm *comm, const void *send, void *recv, size_t count, gn_type type, gn_op op, int root)
{
    return gn_run_call(
        comm,
        &(gn_call){
            .collective = GN_REDUCE, .type = type, .op = op, .send = send, .recv = recv, .count = count, .root = root});
}

gn_status gn_broadcast(gn_comm *comm, void *bytes, size_t count, int root)
{
    return gn_run_call(
        comm, &(gn_call){.collective = GN_BROADCAST, .type = GN_U8, .recv = bytes, .count = count, .root = root});
}

/// A collective of bytes, with equal blocks.
static gn_status run_bytes(gn_comm *comm, gn_collective collective, const void *send, void *recv, size_t count,
                           int root)
{
    return gn_run_call(
        comm,
        &(gn_call){.collective = collective, .type = GN_U8, .send = send, .recv = recv, .count = count, .root = root});
}

gn_status gn_gather(gn_comm *comm, const void *send, void *recv, size_t count, int root)
{
    return run_bytes(comm, GN_GATHER, send, recv, count, root);
}

gn_status gn_scatter(gn_comm *comm, const void *send, void *recv, size_t count, int root)
{
    return run_bytes(comm, GN_SCATTER, send, recv, count, root);
}

gn_status gn_all_to_all(gn_comm *comm, const void *send, void *recv, size_t count)
{
    return run_bytes(comm, GN_ALL_TO_ALL, send, recv, count, 0);
}

gn_status gn_transfer(gn_comm *comm, void *bytes, size_t count, int from, int to)
{
    return gn_run_call(comm, &(gn_call){.collective = GN_TRANSFER,
                                        .type = GN_U8,
                                        .send = bytes,
                                        .recv = bytes,
                                        .count = count,
                                        .root = from,
                                        .to = to});
}
