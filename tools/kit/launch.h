// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_LAUNCH_H
#define GRADNIC_TOOLS_KIT_LAUNCH_H
/// Local ranks: `-N 4` of the commands that need several workers on one machine. Each rank is a
/// process.

typedef struct gn_launch {
    const char *program;  ///< argv[0], for messages
    unsigned ranks;       ///< at least 1
    /// A rank's whole life, in a process of its own. Its result is the process' exit status.
    /// `rendezvous` ("file:///...") is for gn_comm_config.
    int (*run)(unsigned rank, const char *rendezvous, void *context);
    void *context;
    /// How long the others may run on after one rank has failed, so that each can say what it
    /// saw: the communicator's deadline and some more. Ranks that are left then are killed.
    unsigned grace_ms;
} gn_launch;

/// Forks a process for each rank and waits for all of them. A rank that is killed is named on
/// stderr. No rank outlives the caller, and no file stays behind. SIGINT, SIGTERM and SIGHUP end
/// the ranks, and then the caller. The calling process must have a single thread.
/// @return GN_EXIT_OK when every rank returned it; otherwise the status of the first rank that
/// failed, or GN_EXIT_FAILED if that rank was killed.
int gn_launch_ranks(const gn_launch *launch);

#endif
