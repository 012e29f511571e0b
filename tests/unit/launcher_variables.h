// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_LAUNCHER_VARIABLES_H
#define GRADNIC_TESTS_LAUNCHER_VARIABLES_H
/// For tests that play a launcher: the tests themselves may run below one.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/// Removes all variables that launchers set.
static inline void forget_launchers(void)
{
    static const char *const prefixes[] = {"RANK=",
                                           "WORLD_SIZE=",
                                           "MASTER_",
                                           "GRADNIC_MASTER_PORT=",
                                           "GRADNIC_JOB=",
                                           "OMPI_",
                                           "PMI_",
                                           "PMIX_",
                                           "MPI_LOCAL",
                                           "SLURM_",
                                           "TORCHELASTIC_",
                                           "LOCAL_RANK=",
                                           "LOCAL_WORLD_SIZE="};
    char name[256];
    for (char **entry = environ; *entry;) {
        const char *sign = strchr(*entry, '=');
        bool launchers = false;
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            launchers |= !strncmp(*entry, prefixes[i], strlen(prefixes[i]));
        if (!launchers || !sign || (size_t)(sign - *entry) >= sizeof name) {
            entry++;
            continue;
        }
        memcpy(name, *entry, (size_t)(sign - *entry));
        name[sign - *entry] = 0;
        unsetenv(name);
        entry = environ;
    }
}

#endif
