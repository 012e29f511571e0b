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
    /// How long the others may run on after one rank has failed, so that those that notice can say
    /// what they saw. The ranks that are left then are ended. 0: GN_LAUNCH_GRACE_MS
    unsigned grace_ms;
    /// How long the ranks may run on after a signal. 0: GN_LAUNCH_END_MS
    unsigned end_ms;
} gn_launch;

/// The ranks of a group notice in much less. Those that wait for a group to form would wait for the
/// whole of their timeout.
enum { GN_LAUNCH_GRACE_MS = 3000, GN_LAUNCH_END_MS = 2000 };

/// Forks a process for each rank and waits for all of them. A rank that is killed is named on
/// stderr. When several ranks print errors, the first is printed again at the end. No rank outlives
/// the caller, and no file stays behind. Signals that end a program, such as SIGINT, SIGTERM and
/// SIGUSR1, end the ranks, and then the caller. The calling process must have a single thread.
/// @return GN_EXIT_OK when every rank returned it; otherwise the status of the first rank that
/// failed, or GN_EXIT_FAILED if that rank was killed.
int gn_launch_ranks(const gn_launch *launch);

#endif
