// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_SWITCHED_H
#define GRADNIC_RING_SWITCHED_H
/// The algorithm switch: what a communicator has beside its out-of-band connections. switched.c comes and goes, switched_run.c exchanges.

#include "pace.h"
#include "route.h"
#include "tether.h"
#include "worker_channel.h"

typedef struct gn_switched {
    char name[GN_ENDPOINT_TEXT];  ///< of the switch: its address
    gn_tether tether;
    unsigned channels;
    uint16_t packet_values;
    gn_worker_channel channel[GN_ADMISSION_STREAMS_MAX];
    int halt, news;     ///< eventfds: for the parts' threads to end; for the collective's thread to look at them
    atomic_bool ended;  ///< with `halt`
    gn_pace pace;
    uint64_t finished;  ///< collectives through which all results are here
} gn_switched;

/// Joins the job at the switch, with all other ranks. Before gn_bootstrap_commit(). @return GN_IO, GN_INVALID (refused), GN_TIMEOUT, ...
struct gn_bootstrap;
gn_status gn_switched_join(gn_comm *comm, struct gn_bootstrap *boot, gn_error *error);

/// The job ends for everyone when one leaves. After a failure the switch is told of it; otherwise waits until all have their last results, at most the
/// deadline, and for nobody who has been silent that long.
void gn_switched_leave(gn_comm *comm);

/// Closes everything. NULL allowed.
void gn_switched_free(gn_switched *switched);

#endif
