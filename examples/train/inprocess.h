// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_INPROCESS_H
#define GRADNIC_EXAMPLES_TRAIN_INPROCESS_H
/// `--nic in-process`: two NICs and the link between them, inside of a worker. It needs no TUN
/// device. The values that a worker sends become TCP segments. These go through the real transmit
/// and receive transforms, and come out as the far host would read them. Bytes are counted as on
/// the wire.

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "settings.h"

typedef struct gn_in_process gn_in_process;

typedef struct gn_in_process_stats {
    uint64_t packets;             ///< on the wire
    uint64_t payload_bytes;       ///< TCP payload as the worker sent it
    uint64_t wire_payload_bytes;  ///< as it crossed the wire, shim included
    uint64_t wire_bytes;          ///< whole IP packets on the wire
    uint64_t lost;                ///< segments that did not arrive whole: a bug
} gn_in_process_stats;

gn_status gn_in_process_new(gn_in_process **nic, const gn_train_settings *settings, gn_train_error *error);
void gn_in_process_free(gn_in_process *nic);

/// Sets this worker's rank. Each worker has a modelled link of its own. With `worker-aggregator`
/// all workers share the aggregator's one link, so each gets its part.
void gn_in_process_connect(gn_in_process *nic, const gn_train_settings *settings, int rank, int size);

/// For gn_comm_config.wire; the context is the gn_in_process. One thread at a time calls it.
void gn_in_process_wire(void *nic, float *values, size_t count);

/// For gn_comm_config.wire_plain: packets that NICs pass still cross the link.
void gn_in_process_wire_plain(void *nic, size_t bytes);

gn_in_process_stats gn_in_process_get_stats(const gn_in_process *nic);

#endif
