// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_COMMAND_H
#define GRADNIC_TOOLS_KIT_COMMAND_H
/// A subcommand of the program: one file, one row in main.c's table. `argv[0]` is "gradnic NAME", which is
/// how argp and every error message name it.

/// Exit statuses of the program.
enum { GN_EXIT_OK = 0, GN_EXIT_FAILED = 1, GN_EXIT_USAGE = 2 };

typedef struct gn_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;  ///< one line for the list of commands
} gn_command;

/// Runs the command of `table` (ended by a NULL name) that argv[1] names, with argv shifted and argv[0] joined ("gradnic
/// bench" + "codec"). Prints the table for --help, an error and GN_EXIT_USAGE for an unknown name.
int gn_command_dispatch(const gn_command *table, const char *about, int argc, char **argv);

#endif
