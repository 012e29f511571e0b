// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_CIRCLE_H
#define GRADNIC_RING_CIRCLE_H
/// Ranks that exchange with each other: all of a communicator, or a part of them (groups/groups.h).

#include <stdint.h>

#include "ring/message.h"

typedef struct gn_circle {
    int size, own;                ///< ranks; the position of this one, or -1
    int left, right;              ///< indices of the neighbours before and behind this rank
    int16_t index[GN_RANKS_MAX];  ///< of the neighbour at each position; -1: there is none
} gn_circle;

#endif
