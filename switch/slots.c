// SPDX-License-Identifier: Apache-2.0
#include "slots.h"

void gn_worker_begin(gn_worker *w, gn_worker_slot *slot, gn_slot_phase phase)
{
    slot->phase = phase;
    slot->attempts = 0;
    slot->since_ns = GN_NEVER;
    slot->reminded = false;
    gn_worker_make_due(w, slot);
}

void gn_worker_advance(gn_worker *w, gn_worker_slot *slot, int8_t unit)
{
    slot->uses++;
    slot->unit = unit;
    slot->opens = false;
    if (slot->phase == GN_SLOT_LOOK) {
        gn_worker_begin(w, slot, GN_SLOT_DATA);
        return;
    }
    size_t first;
    const size_t count = gn_worker_chunk(w, slot->chunk, &first);
    if (w->config.after) w->config.after(w->config.context, first, count);
    w->remaining--;
    slot->chunk += w->config.slots;
    if (slot->chunk < w->chunks)
        gn_worker_begin(w, slot, GN_SLOT_DATA);
    else
        slot->phase = GN_SLOT_FREE;
}
