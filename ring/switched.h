// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_SWITCHED_H
#define GRADNIC_RING_SWITCHED_H
/// The algorithm switch: what a communicator has beside its out-of-band connections. switched.c
/// joins and leaves, switched_run.c exchanges.

#include "ring/bootstrap/bootstrap.h"
#include "ring/pace.h"
#include "ring/tether.h"
#include "ring/worker_channel.h"

typedef struct gn_switched {
    char name[GN_ENDPOINT_TEXT];  ///< of the switch: its address
    gn_tether tether;
    unsigned channels;
    uint16_t packet_values;
    gn_worker_channel channel[GN_ADMISSION_STREAMS_MAX];
    int halt;           ///< eventfd: the channels' threads are to end...
    atomic_bool ended;  ///< ... with this
    int news;           ///< eventfd: the collective's thread is to look at the channels
    gn_pace pace;
    uint64_t finished;  ///< collectives through which all results are here
} gn_switched;

/// Joins the job at the switch with all other ranks, before gn_bootstrap_commit().
/// @return GN_OK, GN_IO, GN_INVALID (refused), GN_TIMEOUT, GN_PEER_LOST, ...
gn_status gn_switched_join(gn_comm *comm, gn_bootstrap *boot, gn_error *error);

/// Leaves. The job ends for all when one rank does. After a failure the switch is told of it.
/// Otherwise this waits until all ranks have their last results: at most for the timeout, and not
/// for ranks that have been silent for that long.
void gn_switched_leave(gn_comm *comm);

/// Closes everything. NULL is allowed.
void gn_switched_free(gn_switched *switched);

#endif
