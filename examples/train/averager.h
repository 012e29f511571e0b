// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_AVERAGER_H
#define GRADNIC_EXAMPLES_TRAIN_AVERAGER_H
/// The gradient's way between the workers: one communicator, and the NIC's part where there is none on the way.

#include <gradnic/comm.h>

#include "error.h"
#include "inprocess.h"
#include "mlp.h"
#include "settings.h"

typedef struct gn_averager {
    gn_comm *comm;
    gn_in_process *nic;  ///< NULL: real NICs, or none
    float *residual;     ///< error feedback; NULL: none
    gn_request *request[GN_MLP_LAYERS_MAX];
    bool overlap;
} gn_averager;

/// Connects this worker.
gn_status gn_averager_init(gn_averager *averager, const gn_train_settings *settings, gn_train_error *error);
void gn_averager_free(gn_averager *averager);

/// Room for error feedback, when the options ask for it.
gn_status gn_averager_prepare(gn_averager *averager, const gn_train_settings *settings, size_t parameters,
                              gn_train_error *error);

/// With --overlap: starts the exchange of one layer's part of mlp->gradient, which is ready. Otherwise does nothing.
gn_status gn_averager_start_layer(gn_averager *averager, gn_mlp *mlp, unsigned layer);

/// Averages mlp->gradient over all workers, or waits until all layers that were started are.
gn_status gn_averager_finish(gn_averager *averager, gn_mlp *mlp);

#endif
