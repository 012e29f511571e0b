// SPDX-License-Identifier: Apache-2.0
#include "averager.h"

#include <stdlib.h>
#include <string.h>

gn_status gn_averager_init(gn_averager *averager, const gn_train_settings *settings, gn_train_error *error)
{
    memset(averager, 0, sizeof *averager);
    averager->overlap = settings->overlap;
    gn_comm_config config = settings->comm;
    config.aggregator_weights = true;  // the paper's baseline compresses gradients only
    if (settings->nic_in_process) {
        gn_status wrong = gn_in_process_new(&averager->nic, settings, error);
        if (wrong) return wrong;
        config.wire = gn_in_process_wire;
        config.wire_plain = gn_in_process_wire_plain;
        config.wire_context = averager->nic;
    }
    const gn_status status = gn_comm_init(&averager->comm, &config);
    if (!status) {
        if (averager->nic)
            gn_in_process_connect(averager->nic, settings, gn_comm_rank(averager->comm), gn_comm_size(averager->comm));
        return GN_OK;
    }
    gn_status wrong = gn_train_fail(error, status, "%s: %s", gn_status_string(status), gn_comm_last_error(NULL));
    gn_averager_free(averager);
    return wrong;
}

void gn_averager_free(gn_averager *averager)
{
    gn_comm_free(averager->comm);
    gn_in_process_free(averager->nic);
    free(averager->residual);
    memset(averager, 0, sizeof *averager);
}

gn_status gn_averager_prepare(gn_averager *averager, const gn_train_settings *settings, size_t parameters,
                              gn_train_error *error)
{
    if (!settings->feedback) return GN_OK;
    averager->residual = calloc(parameters, sizeof *averager->residual);
    return averager->residual ? GN_OK : gn_train_fail(error, GN_NO_MEMORY, "out of memory for error feedback");
}

/// `count` parameters from `offset` on, as a bucket.
static gn_bucket bucket_of(const gn_averager *averager, gn_mlp *mlp, size_t offset, size_t count, unsigned id)
{
    return (gn_bucket){.send = mlp->gradient + offset,
                       .recv = mlp->gradient + offset,
                       .count = count,
                       .op = GN_AVERAGE,
                       .residual = averager->residual ? averager->residual + offset : NULL,
                       .id = id,
                       .layer = averager->overlap ? (uint16_t)(id + 1) : 0,
                       .layers = (uint16_t)mlp->layers};
}

gn_status gn_averager_start_layer(gn_averager *averager, gn_mlp *mlp, unsigned layer)
{
    if (!averager->overlap) return GN_OK;
    const size_t offset = mlp->offset[layer];
    const gn_bucket bucket = bucket_of(averager, mlp, offset, mlp->offset[layer + 1] - offset, layer);
    return gn_iallreduce(averager->comm, &bucket, &averager->request[layer]);
}

gn_status gn_averager_finish(gn_averager *averager, gn_mlp *mlp)
{
    if (!averager->overlap) {
        const gn_bucket bucket = bucket_of(averager, mlp, 0, gn_mlp_parameters(mlp), 0);
        return gn_allreduce_bucket(averager->comm, &bucket);
    }
    gn_status first = GN_OK;
    for (unsigned layer = mlp->layers; layer-- > 0;) {
        const gn_status status = gn_wait(averager->request[layer]);
        averager->request[layer] = NULL;
        if (!first) first = status;
    }
    return first;
}
