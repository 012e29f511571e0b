// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_EVICTED_H
#define GRADNIC_DRIVER_EVICTED_H
/// What the guard keeps of a flow whose entry had to make room: what it looked like, what it has
/// sent, and where that was cut. Its values may have left rounded, and what of them is sent again
/// must not leave in parts.

#include "driver/looks.h"
#include "driver/sent.h"

enum {
    GN_EVICTED_FLOWS = 65536,
    GN_EVICTED_CUTS = 4096  ///< of so many flows it is known where all of their cuts were
};

typedef struct gn_evicted_flow {
    uint64_t tag;   ///< a hash of the flow's key with a random key; not 0
    uint64_t seen;  ///< gn_now() of its last segment
    gn_looks verdict;
    gn_sent sent;
} gn_evicted_flow;

typedef struct gn_evicted gn_evicted;

/// @return NULL when out of memory
gn_evicted *gn_evicted_new(void);
void gn_evicted_free(gn_evicted *evicted);  ///< NULL allowed

/// Keeps a flow, perhaps in the place of one that was silent for longer. `cuts` count when it has
/// begun.
void gn_evicted_keep(gn_evicted *evicted, const gn_evicted_flow *flow, const gn_cuts *cuts);

/// Gives a flow back, and forgets it. `cuts` are written when it has begun. @return false when it
/// is not known
bool gn_evicted_take(gn_evicted *evicted, uint64_t tag, gn_evicted_flow *flow, gn_cuts *cuts);

/// Forgets all flows.
void gn_evicted_forget(gn_evicted *evicted);

#endif
