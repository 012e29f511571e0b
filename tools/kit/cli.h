// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_CLI_H
#define GRADNIC_TOOLS_KIT_CLI_H
/// What a command says on stderr. A function that can fail returns a gn_status and fills a
/// gn_error (net/error.h). The command prints it, once:
///
///     gn_error error;
///     if (gn_values_open(&values, path, format, &error)) gn_cli_error(argv[0], "%s", error.text);
///
/// Values of options are checked within the argp parser: see option_values.h.

#include <stdbool.h>
#include <stdio.h>

#include "net/error.h"

/// Prints "PROGRAM: text" and a newline on stderr. `program` is the command's argv[0] ("gradnic
/// ratio"). Clears a progress line first. Any thread.
void gn_cli_error(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// gn_cli_error() of this process, and of those that it forks, fills `first` (first_error.h) from
/// now on. NULL: no more.
struct gn_first_error;
void gn_cli_keep_first(struct gn_first_error *first);

/// The same, for something that stops nothing: "PROGRAM: note: text".
void gn_cli_note(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Whether `stream` may be coloured: it is a terminal, TERM is not "dumb", and NO_COLOR is not set.
bool gn_cli_colour(FILE *stream);

#endif
