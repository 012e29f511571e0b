// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_SLOTS_H
#define GRADNIC_SWITCH_SLOTS_H
/// A worker's slots: what the protocol (worker.c), the window (congestion.c) and rank 0's sums
/// (leader.c) do with them. What every packet needs is inline.

#include "worker.h"

/// The number of the chunk that a slot has.
static inline uint32_t gn_worker_psn(const gn_worker *w, const gn_worker_slot *slot)
{
    return (uint32_t)(slot - w->slots) + w->config.slots * slot->uses;
}

/// The number of values of a chunk, and the index of the first one.
static inline size_t gn_worker_chunk(const gn_worker *w, size_t chunk, size_t *first)
{
    *first = chunk * w->chunk_values;
    const size_t left = w->count - *first;
    return left < w->chunk_values ? left : w->chunk_values;
}

/// Queues the slot for gn_worker_send(), unless it is queued already.
static inline void gn_worker_make_due(gn_worker *w, gn_worker_slot *slot)
{
    if (slot->is_due) return;
    slot->is_due = true;
    const unsigned at = (w->due_first + w->due_count++) % w->config.slots;
    w->due[at] = (uint16_t)(slot - w->slots);
}

/// The slot's chunk, which has not been sent in this phase, is due.
void gn_worker_begin(gn_worker *worker, gn_worker_slot *slot, gn_slot_phase phase);

/// The slot's chunk has its result: on to the next one. `unit` is what was agreed for it.
void gn_worker_advance(gn_worker *worker, gn_worker_slot *slot, int8_t unit);

#endif
