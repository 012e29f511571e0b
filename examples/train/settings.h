// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_SETTINGS_H
#define GRADNIC_EXAMPLES_TRAIN_SETTINGS_H
/// What is trained, and how. The same at every rank, but for comm.rank and what follows from it.

#include <stdbool.h>
#include <stdint.h>

#include <gradnic/comm.h>

#include "sgd.h"

typedef struct gn_train_settings {
    unsigned classes;  ///< labels are 0 to classes - 1
    unsigned copies;   ///< augmented ones of each image

    unsigned layers, hidden, batch;
    gn_sgd sgd;
    float rate_drop;           ///< the learning rate is divided by this ...
    uint64_t rate_drop_steps;  ///< ... every so many steps; 0: never
    uint64_t epochs, steps;    ///< `steps` not 0: stop after so many, whatever the epoch
    uint64_t evaluate_steps;   ///< also look at the test set every so many steps; 0: at the end of an epoch only
    uint64_t seed;             ///< of the weights, the order and the copies

    gn_comm_config comm;  ///< how the ranks meet, and how they exchange gradients
    bool feedback;        ///< add what quantising removed to the next gradient
    bool overlap;         ///< a bucket for each layer, exchanged while the layers before it are computed

    bool nic_in_process;  ///< there is no NIC on the way: inprocess.h does what two of them would do
    uint64_t link_bits;   ///< bits per second of the link that it models; 0: none
    unsigned mtu;         ///< of that link
} gn_train_settings;

/// The network "HDC" of INCEPTIONN (MICRO 2018) and its optimiser; an exchange without compression.
gn_train_settings gn_train_settings_default(void);

#endif
