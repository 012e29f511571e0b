// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_OPTIONS_H
#define GRADNIC_TOOLS_TRAIN_OPTIONS_H
/// What `gradnic train` was told on its command line.

#include <stdbool.h>
#include <stdint.h>

#include "sgd.h"
#include "tools/kit/comm_options.h"

typedef struct gn_train_options {
    const char *program;  ///< argv[0], for messages

    const char *data;  ///< folder with the four files; NULL when each is named
    const char *train_images, *train_labels, *test_images, *test_labels;
    unsigned classes;
    unsigned copies;  ///< augmented ones of each image

    unsigned hidden, layers, batch;
    gn_sgd sgd;
    float rate_drop;           ///< the learning rate is divided by this ...
    uint64_t rate_drop_steps;  ///< ... every so many steps; 0: never
    uint64_t epochs, steps;    ///< `steps` not 0: stop after so many, whatever the epoch
    uint64_t evaluate_steps;   ///< also look at the test set every so many steps; 0: at the end of an epoch only
    uint64_t seed;

    gn_comm_options comm;
    bool feedback, overlap;

    bool nic_in_process;
    uint64_t rate_bits;  ///< of the modelled link, 0: none
    unsigned mtu;

    const char *dump_folder;
    uint64_t dump_steps;
    unsigned dump_ranks;
    const char *json;
    bool force, quiet;
} gn_train_options;

/// Parses and checks; exits with GN_EXIT_USAGE and a message when something is wrong, as argp does.
void gn_train_parse(int argc, char **argv, gn_train_options *options);

#endif
