// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_SETTINGS_H
#define GRADNIC_EXAMPLES_TRAIN_SETTINGS_H
/// What is trained, and how. All ranks have the same settings, except for comm.rank and what
/// follows from it.

#include <stdbool.h>
#include <stdint.h>

#include <gradnic/comm.h>

#include "sgd.h"

typedef struct gn_train_settings {
    unsigned classes;  ///< labels are 0 to classes - 1
    unsigned copies;   ///< augmented copies of each image

    bool convolutional;       ///< gn_mlp_init_cnn(), which has its own layers
    unsigned layers, hidden;  ///< of the fully connected network
    unsigned batch;
    gn_sgd sgd;
    float rate_drop;           ///< divides the learning rate ...
    uint64_t rate_drop_steps;  ///< ... every so many steps; 0: never
    uint64_t epochs, steps;    ///< length of the training: `steps`, or `epochs` if that is 0
    uint64_t evaluate_steps;   ///< test every so many steps too; 0: only after an epoch
    uint64_t seed;             ///< of the weights, the order and the copies

    uint64_t agreed;  ///< what else must be the same at all ranks, as a number; 0: nothing

    gn_comm_config comm;  ///< how the ranks meet, and how they exchange gradients
    bool feedback;        ///< add the quantising error to the next gradient
    bool overlap;         ///< exchange a layer while the layers before it are computed

    bool nic_in_process;  ///< do what two NICs would do: see inprocess.h
    uint64_t link_bits;   ///< bits per second of the modelled link; 0: none
    unsigned mtu;         ///< of that link
    /// Software that the in-process NIC passes all data through, in place of gradnic's codec: it
    /// compresses and decompresses `values`, and returns the compressed bytes, or 0 where it fails.
    /// NULL: none.
    size_t (*software)(void *context, float *values, size_t count);
    void *software_context;
} gn_train_settings;

/// The network "HDC" of INCEPTIONN (MICRO 2018) and its optimiser; an exchange without compression.
gn_train_settings gn_train_settings_default(void);

#endif
