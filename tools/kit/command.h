// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_COMMAND_H
#define GRADNIC_TOOLS_KIT_COMMAND_H
/// A subcommand of the program: one row in main.c's table. Its `argv[0]` is "gradnic NAME", so
/// argp and every error name it like that.

/// Exit statuses of the program.
enum { GN_EXIT_OK = 0, GN_EXIT_FAILED = 1, GN_EXIT_USAGE = 2, GN_EXIT_SIGNAL = 128 /* and its number */ };

typedef struct gn_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;  ///< one line for the list of commands
} gn_command;

/// Runs the command that argv[1] names. `table` ends with a NULL name. The command gets argv from
/// there on, with argv[0] joined ("gradnic bench" + "codec"). --help prints the table. An unknown
/// name is an error.
/// @return exit status
int gn_command_dispatch(const gn_command *table, const char *about, int argc, char **argv);

#endif
