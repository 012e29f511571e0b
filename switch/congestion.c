// SPDX-License-Identifier: Apache-2.0
// How many chunks may be under way: additive increase, multiplicative decrease on marks (Lao et
// al., ATP, section 3.5).
//
// The window is a range of chunk numbers, from the oldest one without a result on. All workers have
// to send the same chunks. Windows that only count could be full of different chunks at different
// workers, and wait for each other for ever.
#include "slots.h"

/// Moves the end of the window, and makes the slots due that it held.
static void release(gn_worker *w)
{
    // A window of all slots is no window: each slot waits for its own results alone, and a lost
    // packet holds up nothing but its slot.
    const size_t limit = w->window >= w->config.slots ? w->chunks : w->base + (size_t)w->window;
    for (size_t chunk = w->limit; chunk < limit && chunk < w->chunks; chunk++) {
        gn_worker_slot *slot = &w->slots[chunk % w->config.slots];
        if (!slot->held || slot->chunk != chunk) continue;
        slot->held = false;
        gn_worker_make_due(w, slot);
    }
    w->limit = limit;
}

void gn_congestion_new(gn_worker *w)
{
    const bool narrow = w->config.first_window && w->config.first_window < w->config.slots;
    w->window = narrow ? w->config.first_window : w->config.slots;
}

void gn_congestion_begin(gn_worker *w)
{
    w->base = w->limit = w->cut_until = w->sent_until = 0;
    release(w);
}

bool gn_congestion_admits(gn_worker *w, gn_worker_slot *slot)
{
    slot->held = slot->since_ns == GN_NEVER && slot->chunk >= w->limit;
    slot->lags |= slot->held;
    return !slot->held;
}

void gn_congestion_result(gn_worker *w, size_t chunk, bool marked)
{
    w->stats.marked += marked;
    while (w->base < w->chunks && w->slots[w->base % w->config.slots].chunk > w->base) w->base++;
    if (!marked) {
        w->window += 1 / w->window;
        if (w->window > w->config.slots) w->window = w->config.slots;
    } else if (chunk >= w->cut_until) {
        w->window = w->window > 2 ? w->window / 2 : 1;
        w->cut_until = w->sent_until;
        w->stats.cuts++;
    }
    release(w);
}
