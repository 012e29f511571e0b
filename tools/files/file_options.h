// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_FILE_OPTIONS_H
#define GRADNIC_TOOLS_FILES_FILE_OPTIONS_H
/// The options of commands that read and write files of values or packets. A command's argp table has the rows that it
/// takes, under the keys below; gn_file_option_parse() reads them, and is never asked about the others. Its own keys are
/// below 0x200.

#include <argp.h>
#include <stdbool.h>

#include "tools/kit/codec_options.h"
#include "values.h"

typedef struct gn_file_options {
    const char *input;   ///< of a command that takes one FILE
    const char *output;  ///< -o; NULL: not given
    bool force, quiet, json;
    unsigned threads;  ///< 0: one per processor
    gn_format format;
    const char *kernel;  ///< NULL: not given
} gn_file_options;

/// -o, -f, -q and -j have these letters as keys.
enum { GN_OPTION_FORMAT = 0x300, GN_OPTION_KERNEL, GN_OPTION_JSON };

// clang-format off
/// Rows of an argp table. `note` follows what is said of every command.
#define GN_THREADS_OPTION(note) {"threads", 'j', "N", 0, "threads; 0, the default, is one per processor" note, 0}
#define GN_KERNEL_OPTION(note) {"kernel", GN_OPTION_KERNEL, "NAME", 0, "codec kernel: " GN_KERNEL_NAMES note, 0}
/// `what`: "FILE is, when its name does".
#define GN_FORMAT_OPTION(what) {"format", GN_OPTION_FORMAT, "FORMAT", 0, "what " what " not say: npy, f32, gn", 0}
// clang-format on

/// Reads one option. False: `key` is none of these. Exits with GN_EXIT_USAGE and a message when the value is wrong.
bool gn_file_option_parse(int key, char *arg, struct argp_state *state, gn_file_options *options);

/// The same for a command with exactly one FILE, which becomes `input`.
bool gn_file_argument_parse(int key, char *arg, struct argp_state *state, gn_file_options *options);

#endif
