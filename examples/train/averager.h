// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_AVERAGER_H
#define GRADNIC_EXAMPLES_TRAIN_AVERAGER_H
/// Averages gradients over the workers, with one communicator. It also does the NIC's part if
/// there is no NIC on the way.

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

/// Makes room for error feedback, if the settings ask for it.
gn_status gn_averager_prepare(gn_averager *averager, const gn_train_settings *settings, size_t parameters,
                              gn_train_error *error);

/// With settings->overlap: starts the exchange of one layer's part of mlp->gradient. Otherwise
/// does nothing.
gn_status gn_averager_start_layer(gn_averager *averager, gn_mlp *mlp, unsigned layer);

/// Averages mlp->gradient over all workers. With settings->overlap: waits for the layers, all of
/// which have been started.
gn_status gn_averager_finish(gn_averager *averager, gn_mlp *mlp);

#endif
