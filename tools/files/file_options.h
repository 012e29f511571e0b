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
    // of a command that takes several files
    char **arguments;      ///< as given
    const char **paths;    ///< without ":NAME"
    const char **tensors;  ///< NAME of FILE:NAME; NULL: none
    size_t count;
    gn_result_options result;
    unsigned threads;  ///< 0: one per processor
    gn_values_choice choice;
    bool list;           ///< --list
    const char *kernel;  ///< NULL: not given
} gn_file_options;

/// -o and -j have these letters as keys.
enum { GN_OPTION_FORMAT = 0x310, GN_OPTION_KERNEL, GN_OPTION_TENSOR, GN_OPTION_LIST, GN_OPTION_CAST };

// clang-format off
/// Rows of an argp table. `note` is the command's own part of a help text.
#define GN_THREADS_OPTION(note) \
    {"threads", 'j', "N", 0, "threads; 0 is one per processor" note " (default 0)", 0}
#define GN_KERNEL_OPTION(note) \
    {"kernel", GN_OPTION_KERNEL, "NAME", 0, "codec kernel: " GN_KERNEL_NAMES note " (default auto)", 0}
/// `what`: "FILE", "the files".
#define GN_FORMAT_OPTION(what) \
    {"format", GN_OPTION_FORMAT, "FORMAT", 0, \
     "format of " what ": auto (by name and first bytes), " GN_FORMAT_NAMES " (default auto)", 0}
#define GN_TENSOR_OPTION \
    {"tensor", GN_OPTION_TENSOR, "NAME", 0, \
     "only the tensors with this name, or that match it, as 'layer1.*' (default all); FILE:NAME does the same", 0}
#define GN_LIST_OPTION \
    {"list", GN_OPTION_LIST, 0, 0, "list the tensors of the files with type and shape, and do nothing else", 0}
#define GN_CAST_OPTION \
    {"cast", GN_OPTION_CAST, 0, 0, "make float64 values beyond float32 infinite; without it such files are refused", 0}
// clang-format on

/// Reads one option. False: `key` is another's. Exits with GN_EXIT_USAGE when the value is wrong.
bool gn_file_option_parse(int key, char *arg, struct argp_state *state, gn_file_options *options);

/// The same for a command that takes several files, each FILE or FILE:NAME.
bool gn_file_arguments_parse(int key, char *arg, struct argp_state *state, gn_file_options *options);

/// Frees what gn_file_arguments_parse() made. The program's arguments stay.
void gn_file_arguments_free(gn_file_options *options);

/// What to read of file `index`.
gn_values_choice gn_file_choice(const gn_file_options *options, size_t index);

/// --list: prints the tensors of all files, as a table or as JSON. @return the exit status
int gn_file_list(const gn_file_options *options, const char *program);

/// The same for a command with exactly one FILE, which becomes `input`.
bool gn_file_argument_parse(int key, char *arg, struct argp_state *state, gn_file_options *options);

#endif
