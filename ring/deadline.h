// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_DEADLINE_H
#define GRADNIC_RING_DEADLINE_H
/// The rule that says when a neighbour is given up. Pure functions, no clock, no I/O.

#include <stdbool.h>
#include <stdint.h>

/// What is known about a neighbour that is waited for.
typedef struct gn_watch {
    uint64_t silent;  ///< span since anything came from it, or since it took anything
    uint64_t still;   ///< span since data last moved between us and anyone
    bool left;        ///< it has said goodbye, and will not take part
    bool stuck;       ///< it says that it has sent data which has not come
} gn_watch;

/// The stronger the evidence, the larger.
typedef enum gn_evidence {
    GN_EVIDENCE_NONE = 0,
    GN_EVIDENCE_STILL,
    GN_EVIDENCE_STUCK,
    GN_EVIDENCE_SILENT,
    GN_EVIDENCE_LEFT
} gn_evidence;

typedef struct gn_suspicion {
    gn_evidence evidence;
    uint64_t silent;
} gn_suspicion;

/// `limit`: the deadline.
gn_suspicion gn_suspect(const gn_watch *watch, uint64_t limit);

/// Is `a` a better reason to give up than `b`? Of two neighbours that are silent, the one that has been so for longer is.
bool gn_suspicion_stronger(gn_suspicion a, gn_suspicion b);

#endif
