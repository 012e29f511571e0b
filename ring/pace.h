// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_PACE_H
#define GRADNIC_RING_PACE_H
/// How the time of a job divides into exchange and computation, as measured. Its priority at a
/// switch follows from that (gn_priority()). Pure functions of the times that they are given.

#include <stdint.h>

typedef struct gn_pace {
    uint64_t born;                        ///< when the job began
    uint64_t began, ended;                ///< when the last exchange did; 0: there was none
    uint64_t communication, computation;  ///< spans of late: those that are long ago count little
} gn_pace;

/// An exchange begins, after a pause in which the application has computed.
void gn_pace_begin(gn_pace *pace, uint64_t now);
/// An exchange ends.
void gn_pace_end(gn_pace *pace, uint64_t now);

/// The priority of the exchange that begins.
/// `remaining`: span that the job still has to go; 0: not known, then as long as it has run.
/// `layer` is one of `layers`, and 1 is the front one; 0: not known.
uint16_t gn_pace_priority(const gn_pace *pace, uint64_t now, uint64_t remaining, unsigned layer, unsigned layers);

#endif
