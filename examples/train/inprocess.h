// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_INPROCESS_H
#define GRADNIC_EXAMPLES_TRAIN_INPROCESS_H
/// `--nic in-process`: what two NICs and the link between them would do to the gradients that a worker sends, where no TUN
/// device may be made. Values become TCP segments, go through the real transmit and receive transforms, and come out as the far
/// host would read them. Bytes are counted as on the wire.

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
    uint64_t lost;                ///< segments that did not arrive whole: a bug, the values stayed as they were
} gn_in_process_stats;

gn_status gn_in_process_new(gn_in_process **nic, const gn_train_settings *settings, gn_train_error *error);
void gn_in_process_free(gn_in_process *nic);

/// Tells it who this worker is. The modelled links are the workers' own; the aggregator of `worker-aggregator` receives from
/// all others over its one link, so each of them gets its share of that.
void gn_in_process_connect(gn_in_process *nic, const gn_train_settings *settings, int rank, int size);

/// gn_comm_config.wire; the context is the gn_in_process. Called by one thread at a time.
void gn_in_process_wire(void *nic, float *values, size_t count);

/// gn_comm_config.wire_plain: what NICs leave alone still crosses the link.
void gn_in_process_wire_plain(void *nic, size_t bytes);

gn_in_process_stats gn_in_process_get_stats(const gn_in_process *nic);

#endif
