// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_LAUNCH_H
#define GRADNIC_TOOLS_KIT_LAUNCH_H
/// Local ranks: `-N 4` of the commands that need several workers on one machine.

#include "cli.h"

typedef struct gn_launch {
    const char *program;  ///< argv[0], for messages
    unsigned ranks;       ///< at least 1
    /// A rank's whole life, in a process of its own; its result is the process' exit status. `rendezvous`
    /// ("file:///...") is for gn_comm_config.
    int (*run)(unsigned rank, const char *rendezvous, void *context);
    void *context;
    /// How long the others may live on once one rank has failed, so that each of them can say what it saw: the
    /// communicator's deadline and some more. Whoever is left then is killed.
    unsigned grace_ms;
} gn_launch;

/// Forks the ranks and waits for all of them. A rank that fails or is killed is named on stderr. No rank outlives the caller,
/// and nothing stays behind in the file system: also on SIGINT, SIGTERM and SIGHUP, which are passed on to the ranks and then
/// take the caller too. Call it while the process has a single thread.
/// @return GN_EXIT_OK when every rank returned it; otherwise the status of the first that failed, GN_EXIT_FAILED if it was killed.
int gn_launch_ranks(const gn_launch *launch);

#endif
