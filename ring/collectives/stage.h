// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_COLLECTIVES_STAGE_H
#define GRADNIC_RING_COLLECTIVES_STAGE_H
/// Memory of a communicator for what is on its way.

#include "ring/group.h"

/// Room for `bytes` that lasts until the communicator is freed.
/// @return the room, or NULL when out of memory
void *gn_stage(gn_comm *comm, size_t bytes);

#endif
