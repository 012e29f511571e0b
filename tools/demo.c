// SPDX-License-Identifier: Apache-2.0
// gradnic demo: finds the script that makes namespaces, NICs and workers, and becomes it.
#include "commands.h"

#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/// Where the script is, seen from the folder of the program: installed, and in a checkout (build/PRESET/tools).
static const char *const places[] = {"../share/gradnic/demo-run", "../../../scripts/demo-run"};

static gn_message find_script(const char *folder, char path[PATH_MAX])
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char candidate[PATH_MAX + 64];
        snprintf(candidate, sizeof candidate, "%s/%s", folder, places[i]);
        if (realpath(candidate, path) && !access(path, X_OK)) return NULL;
    }
    return gn_message_format("demo-run is neither at %s/%s nor at %s/%s", folder, places[0], folder, places[1]);
}

int gn_command_demo(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--version")) {
        puts(argp_program_version);
        return GN_EXIT_OK;
    }
    const char *program = argv[0];
    char self[PATH_MAX], copy[PATH_MAX], script[PATH_MAX];
    if (!realpath("/proc/self/exe", self)) {
        gn_cli_error(program, "/proc/self/exe: %s", strerror(errno));
        return GN_EXIT_FAILED;
    }
    memcpy(copy, self, sizeof copy);
    gn_message wrong = find_script(dirname(copy), script);
    if (wrong) {
        gn_cli_error(program, "%s", wrong);
        return GN_EXIT_FAILED;
    }
    setenv("GRADNIC", self, 1);
    argv[0] = script;
    execv(script, argv);
    gn_cli_error(program, "%s: %s", script, strerror(errno));
    return GN_EXIT_FAILED;
}
