// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "net/escape.h"

static void print_help(const gn_command *table, const char *about, const char *program, FILE *out)
{
    fprintf(out, "Usage: %s COMMAND [OPTION...]\n%s\n\nCommands:\n", program, about);
    for (const gn_command *c = table; c->name; c++) fprintf(out, "  %-12s %s\n", c->name, c->summary);
    fprintf(out, "\n'%s COMMAND --help' describes one command.\n", program);
}

/// "help bench codec" -> "bench codec --help".
static void rewrite_help(int argc, char **argv)
{
    static char option[] = "--help";
    for (int i = 1; i < argc - 1; i++) argv[i] = argv[i + 1];
    argv[argc - 1] = option;
}

int gn_command_dispatch(const gn_command *table, const char *about, int argc, char **argv)
{
    argp_err_exit_status = GN_EXIT_USAGE;
    argp_program_version = "gradnic " GRADNIC_VERSION;
    if (argc < 2) {
        print_help(table, about, argv[0], stderr);
        return GN_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "help") && argc > 2) rewrite_help(argc, argv);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(table, about, argv[0], stdout);
        return GN_EXIT_OK;
    }
    for (const gn_command *c = table; c->name; c++) {
        if (strcmp(c->name, argv[1]) != 0) continue;
        static char joined[128];  // static, because argp keeps argv[0] in program_invocation_name
        char name[128];
        snprintf(name, sizeof name, "%s %s", argv[0], argv[1]);
        memcpy(joined, name, sizeof joined);
        argv[1] = joined;
        return c->run(argc - 1, argv + 1);
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        puts(argp_program_version);
        return GN_EXIT_OK;
    }
    char shown[256];
    fprintf(stderr, "%s: '%s' is not a command; '%s --help' lists them\n", argv[0],
            gn_escape(argv[1], "", shown, sizeof shown), argv[0]);
    return GN_EXIT_USAGE;
}
