// SPDX-License-Identifier: Apache-2.0
// Chunks that cannot be summed as integers. Every rank sends its values to rank 0, which adds them
// and sends everyone the sum. It adds them in the order of ranks, so the bits do not depend on
// which came first.
//
// There is room for one chunk a slot. When a slot's next chunk comes here, all ranks have
// contributed to it at the switch. So all have the result of the chunk before.
#include <stdlib.h>
#include <string.h>

#include "slots.h"

struct gn_leading {
    uint32_t uses;  ///< of the slot: this says which chunk it is
    unsigned values, present;
    bool done;
    /// GN_AGG_LATE: a part of it was late. GN_AGG_RESENT: the sum was asked for again. Such a sum
    /// does not tell how long answers take.
    uint8_t flags;
    bool has[GN_WORKER_RANKS_MAX];
    float sum[GN_AGG_VALUES_MAX];
    float part[];  ///< [ranks][packet_values]
};

void gn_leader_free(gn_leading *leading)
{
    free(leading);
}

size_t gn_leading_bytes(const gn_worker_config *config)
{
    return sizeof(gn_leading) + sizeof(float) * config->ranks * config->packet_values;
}

unsigned gn_leading_present(const gn_leading *leading)
{
    const unsigned asked = (leading->flags & GN_AGG_LATE) != 0 ? 1 + ((leading->flags & GN_AGG_RESENT) != 0) : 0;
    return leading->present + (asked << 9) + (leading->uses << 11);
}

bool gn_leader_must_ask(const gn_worker *w, const gn_worker_slot *slot)
{
    return slot->phase != GN_SLOT_FLOAT || w->config.rank;
}

/// The slot's room for its present chunk. @return NULL when out of memory
static gn_leading *place(gn_worker *w, gn_worker_slot *slot, unsigned values)
{
    if (!slot->leading) {
        slot->leading = malloc(gn_leading_bytes(&w->config));
        if (!slot->leading) return NULL;
    } else if (slot->leading->uses == slot->uses) {
        return slot->leading;
    }
    gn_leading *l = slot->leading;
    // The room held the chunk before. Everyone has its result, so a question that still comes is
    // late.
    slot->tell_result = false;
    l->uses = slot->uses;
    l->values = values;
    l->present = 0;
    l->done = false;
    l->flags = slot->lags ? GN_AGG_LATE : 0;
    memset(l->has, 0, sizeof l->has);
    return l;
}

static void add_all(const gn_worker *w, gn_leading *l)
{
    memcpy(l->sum, l->part, sizeof *l->sum * l->values);
    for (unsigned rank = 1; rank < w->config.ranks; rank++) {
        const float *part = l->part + (size_t)rank * w->config.packet_values;
        for (unsigned i = 0; i < l->values; i++) l->sum[i] += part[i];
    }
    l->done = true;
}

/// Takes the values of a rank. With the last of them, the chunk has its sum.
static void put(gn_worker *w, gn_worker_slot *slot, gn_leading *l, unsigned rank, const void *values)
{
    if (l->has[rank]) return;
    l->has[rank] = true;
    memcpy(l->part + (size_t)rank * w->config.packet_values, values, sizeof(float) * l->values);
    if (++l->present < w->config.ranks) return;
    add_all(w, l);
    size_t first;
    const size_t count = gn_worker_chunk(w, slot->chunk, &first);
    memcpy(w->recv + first, l->sum, sizeof(float) * count);
    w->stats.fallback_chunks++;
    slot->tell_result = true;
    gn_worker_make_due(w, slot);
    const size_t chunk = slot->chunk;
    gn_worker_advance(w, slot, slot->next_unit);
    gn_congestion_result(w, chunk, false);
}

void gn_leader_own(gn_worker *w, gn_worker_slot *slot)
{
    if (w->config.rank) return;
    size_t first;
    const size_t count = gn_worker_chunk(w, slot->chunk, &first);
    gn_leading *l = place(w, slot, (unsigned)count);
    if (l) put(w, slot, l, 0, w->send + first);
}

bool gn_leader_take(gn_worker *w, gn_worker_slot *slot, const gn_agg_packet *p)
{
    const unsigned rank = p->priority;
    if (w->config.rank || !(p->flags & GN_AGG_FLOAT) || !rank || rank >= w->config.ranks || p->shimmed) return false;
    gn_leading *l = slot->leading;
    // A rank that asks has not got the result.
    if (l && l->done && p->psn == p->slot + w->config.slots * l->uses) {
        l->flags = GN_AGG_RESENT | GN_AGG_LATE;
        slot->tell_result = true;
        gn_worker_make_due(w, slot);
        return true;
    }
    // Others may know of the overflow before this rank does. Until it does, they send again.
    if (slot->phase != GN_SLOT_FLOAT || p->psn != gn_worker_psn(w, slot)) return false;
    l = place(w, slot, p->values);
    if (!l || p->values != l->values) return false;
    if (!l->has[0]) gn_leader_own(w, slot);  // there was no memory for it before
    l->flags |= p->flags & GN_AGG_LATE;
    put(w, slot, l, rank, p->payload);
    return true;
}

size_t gn_leader_write(const gn_worker *w, const gn_worker_slot *slot, void *out, size_t capacity)
{
    const gn_leading *l = slot->leading;
    const uint16_t number = (uint16_t)(slot - w->slots);
    const gn_agg_packet header = {.type = GN_AGG_RESULT,
                                  .flags = GN_AGG_FLOAT | l->flags,
                                  .job = w->config.job,
                                  .gen = w->config.gen,
                                  .slot = number,
                                  .version = l->uses & 1,
                                  .psn = number + w->config.slots * l->uses,
                                  .bitmap = 1,
                                  .fanin = w->config.children,
                                  .next = (int8_t)w->config.bound_exp,
                                  .values = (uint16_t)l->values};
    return gn_agg_write_words(&header, l->sum, out, capacity);
}
