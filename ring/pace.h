// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_PACE_H
#define GRADNIC_RING_PACE_H
/// How a job's time is divided between exchange and computation, as measured: what its priority at a switch follows from (gn_priority()). Pure
/// functions of the times given.

#include <stdint.h>

typedef struct gn_pace {
    double born;                        ///< of the job
    double began, ended;                ///< of the last exchange; 0: there was none
    double communication, computation;  ///< seconds, of late: what is long ago counts little
} gn_pace;

/// An exchange begins, after a pause in which the application has computed.
void gn_pace_begin(gn_pace *pace, double now);
void gn_pace_end(gn_pace *pace, double now);

/// Of the exchange that begins. `remaining`: seconds that the job still has to go; 0: not known, then as many as it has had. Layer `layer` of `layers`, 1 is
/// the front one; 0: not known.
uint16_t gn_pace_priority(const gn_pace *pace, double now, double remaining, unsigned layer, unsigned layers);

#endif
