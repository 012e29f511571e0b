// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_EVIDENCE_H
#define GRADNIC_RING_EVIDENCE_H
/// The rule that says when a neighbour is given up. Pure functions.

#include <stdbool.h>
#include <stdint.h>

/// What is known about a neighbour that is waited for.
typedef struct gn_watch {
    uint64_t silent;  ///< span since anything came from it, or since it took anything
    uint64_t still;   ///< span since data last moved between this rank and anyone
    bool left;        ///< it has said goodbye, and will not take part
    bool stuck;       ///< it says that it has sent data that has not come
} gn_watch;

/// Why a neighbour is given up. The stronger the evidence, the larger.
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

/// `limit`: the span that a neighbour may be silent.
gn_suspicion gn_suspect(const gn_watch *watch, uint64_t limit);

/// Whether `a` is a better reason to give up than `b`. Of two neighbours that are silent, it is the
/// one that has been so for longer.
bool gn_suspicion_stronger(gn_suspicion a, gn_suspicion b);

#endif
