// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_RESULT_OPTIONS_H
#define GRADNIC_TOOLS_KIT_RESULT_OPTIONS_H
/// Options about output: -q, -f and --json. They mean the same in every command. A command's argp
/// table has the rows that it takes.
///
/// A command that measures something prints a table. With --json it prints JSON instead. With
/// --json=FILE it writes the JSON to FILE and still prints the table:
///
///     gn_result_file file = {0};
///     if (gn_result_open(&file, &options, NULL, inputs, count, &error)) ...  // before it measures
///     if (!options.json) ... the table ...
///     if (gn_result_write(&file, &options, json, stdout, &error)) ...

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "net/error.h"
#include "output.h"

typedef struct gn_result_options {
    bool quiet;             ///< -q
    bool force;             ///< -f
    bool json;              ///< print JSON, and no table
    const char *json_file;  ///< write JSON to this file; NULL: to none
} gn_result_options;

/// -q and -f have these letters as keys. GN_OPTION_FORCE is --force where -f means something else.
enum { GN_OPTION_JSON = 0x300, GN_OPTION_FORCE };

// clang-format off
/// Rows of an argp table.
#define GN_QUIET_OPTION(group) \
    {"quiet", 'q', 0, 0, "print errors and what was asked for, nothing else", group}
#define GN_FORCE_OPTION(group) {"force", 'f', 0, 0, "overwrite existing files", group}
#define GN_FORCE_LONG_OPTION(group) {"force", GN_OPTION_FORCE, 0, 0, "overwrite existing files", group}
#define GN_JSON_OPTION(group) \
    {"json", GN_OPTION_JSON, "FILE", OPTION_ARG_OPTIONAL, \
     "print results as JSON; with =FILE write them there, and print text as well", group}
// clang-format on

/// Reads one option. False: `key` is another's.
bool gn_result_option_parse(int key, const char *arg, gn_result_options *options);

/// The file of --json=FILE, until it is complete.
typedef struct gn_result_file {
    gn_output *output;  ///< NULL: there is none
} gn_result_file;

/// Opens the file of --json=FILE, if there is one. The file may be none of the command's inputs,
/// nor `other`, which the command writes (NULL: none).
gn_status gn_result_open(gn_result_file *file, const gn_result_options *options, const char *other,
                         const char *const *inputs, size_t count, gn_error *error);

/// Prints `json` on `stream` or writes it to the file, as the options say, and closes the file.
/// Takes over `json`. NULL is the error "out of memory".
gn_status gn_result_write(gn_result_file *file, const gn_result_options *options, json_t *json, FILE *stream,
                          gn_error *error);

/// Removes an incomplete file.
void gn_result_abort(gn_result_file *file);

#endif
