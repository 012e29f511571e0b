// SPDX-License-Identifier: Apache-2.0
#include "ring/collectives/stage.h"

#include <stdlib.h>

void *gn_stage(gn_comm *comm, size_t bytes)
{
    if (bytes <= comm->stage_bytes) return comm->stage;
    free(comm->stage);
    comm->stage_bytes = (bytes + 63) & ~(size_t)63;
    comm->stage = aligned_alloc(64, comm->stage_bytes);
    if (!comm->stage) comm->stage_bytes = 0;
    return comm->stage;
}
