// SPDX-License-Identifier: Apache-2.0
#include "become.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/kit/beside.h"
#include "tools/kit/cli.h"
#include "tools/kit/command.h"

int gn_sim_become(const char *folder, const char *name, char **argv, const char *without)
{
    gn_error error;
    char path[PATH_MAX], program[64], installed[128], checkout[128];
    snprintf(program, sizeof program, "gradnic-sim-%s", name);
    snprintf(installed, sizeof installed, "../libexec/gradnic/%s", program);
    snprintf(checkout, sizeof checkout, "../sim/%s/%s", folder, program);
    if (gn_beside_find(program, installed, checkout, path, &error)) {
        gn_cli_error(argv[0], "%s: %s", error.text, without);
        return GN_EXIT_FAILED;
    }
    execv(path, argv);
    gn_cli_error(argv[0], "%s: %s", path, strerror(errno));
    return GN_EXIT_FAILED;
}
