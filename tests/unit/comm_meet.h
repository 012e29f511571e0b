// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_COMM_MEET_H
#define GRADNIC_TESTS_COMM_MEET_H
/// Ranks that meet, add something up, and part.

#include <stdbool.h>

#include "comm_ranks.h"

typedef struct meeting_point {
    char where[128];
    uint16_t port;
    bool environment;
    const char *interface;  ///< NULL: by the route
    gn_algorithm algorithm;
} meeting_point;

/// What a rank does (rank_function). `argument` is a meeting_point.
void run_meet(int rank, const ranks *group, void *argument);

/// The same, over loopback, at the rendezvous of the group.
void meet_on_loopback(int rank, const ranks *group, gn_algorithm algorithm);

/// Starts the ranks, and waits at most so long. Fails unless all of them come to a good end.
/// ranks_free() is the caller's.
void all_end_well(ranks *group, int size, rank_function function, void *argument, double seconds);

#endif
