// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_GROUPS_GROUPS_H
#define GRADNIC_RING_GROUPS_GROUPS_H
/// Groups of ranks below one more level (INCEPTIONN, Fig. 1): who is in which circle, and an
/// allreduce over both levels.
///
/// Every rank has a connection with every other, as with `direct`. So all that holds for a
/// communicator holds here: one header for each collective, one deadline, one failure that names
/// one rank. Two ranks meet in one circle at most.

#include "ring/exchange.h"

struct gn_groups {
    uint16_t by;       ///< gn_grouping.by
    int count;         ///< of groups
    bool scattered;    ///< each rank of a group brings a part of the vector to the level above
    gn_circle inner;   ///< this rank's group
    gn_circle across;  ///< the level above; own < 0: this rank is not in it
    bool inner_coded;  ///< `library` compresses within a group
};

/// Finds the circles of this rank in the table, and says on rank 0 what was found.
gn_status gn_groups_make(gn_comm *comm, gn_error *error);

/// An allreduce over both levels.
gn_status gn_groups_run(gn_exchange *exchange);

#endif
