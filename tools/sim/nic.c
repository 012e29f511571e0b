// SPDX-License-Identifier: Apache-2.0
// gradnic sim nic: checks the options, and becomes the simulator. So wrong options are reported
// even without a simulator.
#include "sim.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "nic_options.h"
#include "tools/kit/beside.h"
#include "tools/kit/cli.h"
#include "tools/kit/command.h"

static gn_status become_simulator(char **argv, gn_error *error)
{
    char path[PATH_MAX];
    gn_status wrong = gn_beside_find("gradnic-sim-nic", "../libexec/gradnic/gradnic-sim-nic",
                                     "../sim/nic/gradnic-sim-nic", path, error);
    if (wrong)
        return gn_fail(
            error, GN_UNSUPPORTED,
            "%s: it was not built, because SystemC was not found; install libsystemc-dev (scripts/setup --rtl "
            "does) and build again",
            error->text);
    execv(path, argv);
    return gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
}

int gn_command_sim_nic(int argc, char **argv)
{
    gn_error error;
    gn_sim_nic_options options;
    char *words[argc + 1];  // a copy, because argp reorders argv
    memcpy(words, argv, sizeof words);
    gn_sim_nic_parse(&options, argc, argv);
    become_simulator(words, &error);
    gn_cli_error(words[0], "%s", error.text);
    return GN_EXIT_FAILED;
}
