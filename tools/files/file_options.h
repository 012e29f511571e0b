// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_FILE_OPTIONS_H
#define GRADNIC_TOOLS_FILES_FILE_OPTIONS_H
/// Options of commands that read and write files of values or packets. A command's argp table has
/// the rows that it takes. Its parser calls gn_file_option_parse(), which reads the options of
/// result_options.h as well. The command's own keys are below 0x200.

#include <argp.h>
#include <stdbool.h>

#include "tools/kit/codec_options.h"
#include "tools/kit/result_options.h"
#include "values.h"

typedef struct gn_file_options {
    const char *input;   ///< of a command that takes one FILE
    const char *output;  ///< -o; NULL: not given
    gn_result_options result;
    unsigned threads;  ///< 0: one per processor
    gn_format format;
    const char *kernel;  ///< NULL: not given
} gn_file_options;

/// -o and -j have these letters as keys.
enum { GN_OPTION_FORMAT = 0x310, GN_OPTION_KERNEL };

// clang-format off
/// Rows of an argp table. `note` is the command's own part of a help text.
#define GN_THREADS_OPTION(note) \
    {"threads", 'j', "N", 0, "threads; 0 is one per processor" note " (default 0)", 0}
#define GN_KERNEL_OPTION(note) \
    {"kernel", GN_OPTION_KERNEL, "NAME", 0, "codec kernel: " GN_KERNEL_NAMES note " (default auto)", 0}
/// `what`: "FILE", "the files".
#define GN_FORMAT_OPTION(what) \
    {"format", GN_OPTION_FORMAT, "FORMAT", 0, \
     "format of " what ": auto (by name and first bytes), npy, f32, gn (default auto)", 0}
// clang-format on

/// Reads one option. False: `key` is another's. Exits with GN_EXIT_USAGE when the value is wrong.
bool gn_file_option_parse(int key, char *arg, struct argp_state *state, gn_file_options *options);

/// The same for a command with exactly one FILE, which becomes `input`.
bool gn_file_argument_parse(int key, char *arg, struct argp_state *state, gn_file_options *options);

#endif
