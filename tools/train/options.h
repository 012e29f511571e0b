// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_OPTIONS_H
#define GRADNIC_TOOLS_TRAIN_OPTIONS_H
/// Options of `gradnic train`.

#include <stdbool.h>
#include <stdint.h>

#include "baseline.h"
#include "dump.h"
#include "examples/train/settings.h"
#include "tools/kit/comm_options.h"
#include "tools/kit/result_options.h"

typedef struct gn_train_options {
    const char *program;  ///< argv[0], for messages

    const char *data;  ///< folder with the four files; NULL: each is named
    const char *train_images, *train_labels, *test_images, *test_labels;
    gn_train_settings settings;  ///< all but its `comm`, which gn_train_rank() makes
    gn_comm_options comm;
    gn_baseline_choice baseline;
    bool shape_given;  ///< --layers or --hidden

    const char *dump_folder;
    const char *dump_detail;  // an option that says more about dumps; NULL: none is given
    uint64_t dump_steps;
    unsigned dump_ranks;
    gn_dump_mode dump_mode;
    const char *checkpoint;  ///< path of checkpoint files, before the rank; NULL: none
    uint64_t checkpoint_steps;
    bool resume;
    bool mtu_given;
    gn_result_options result;
} gn_train_options;

/// Reads the command line; ends the program on wrong usage.
void gn_train_parse(int argc, char **argv, gn_train_options *options);

#endif
