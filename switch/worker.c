// SPDX-License-Identifier: Apache-2.0
// The worker's half of the protocol: which chunk is in which slot, what is due, what has come in.
#include "worker.h"

#include <stdlib.h>
#include <string.h>

#include "block_float.h"
#include "format.h"
#include "slots.h"

enum { ATTEMPTS_MAX = 20, ATTEMPTS_BEFORE_QUERY = 3 };

static bool possible(const gn_worker_config *c)
{
    if (!c->ranks || c->ranks > GN_WORKER_RANKS_MAX || c->rank >= c->ranks) return false;
    if (!c->children || c->children > GN_AGG_WORKERS_MAX || c->bit >= c->children) return false;
    if (!gn_slots_possible(c->slots) || (unsigned)c->mode >= GN_MEMORY_MODES) return false;
    return c->packet_values && c->packet_values <= GN_AGG_VALUES_MAX && (unsigned)c->format < GN_AGG_FORMATS;
}

gn_status gn_worker_new(gn_worker **result, const gn_worker_config *config)
{
    *result = NULL;
    if (!possible(config)) return GN_INVALID;
    gn_worker *w = calloc(1, sizeof *w);
    if (!w) return GN_NO_MEMORY;
    w->config = *config;
    w->rtt = gn_rtt_new(config->rto_min_ns, config->rto_max_ns);
    w->priority = config->priority;
    gn_congestion_new(w);
    gn_status status = gn_format_codec(config->format, config->bound_exp, &w->codec);
    w->slots = calloc(config->slots, sizeof *w->slots);
    w->due = calloc(config->slots, sizeof *w->due);
    w->integers = calloc(config->packet_values, sizeof *w->integers);
    if (!w->slots || !w->due || !w->integers) status = GN_NO_MEMORY;
    if (status) {
        gn_worker_free(w);
        return status;
    }
    w->next_deadline = GN_NEVER;
    *result = w;
    return GN_OK;
}

void gn_worker_free(gn_worker *w)
{
    if (!w) return;
    for (unsigned i = 0; w->slots && i < w->config.slots; i++) gn_leader_free(w->slots[i].leading);
    free(w->slots);
    free(w->due);
    free(w->integers);
    free(w);
}

gn_status gn_worker_post(gn_worker *w, const float *send, float *recv, size_t count)
{
    if (w->remaining || (count && (!send || !recv))) return GN_INVALID;
    w->send = send;
    w->recv = recv;
    w->count = count;
    w->halves = w->next_halves;
    // A vector in 32 bits fits the same packets.
    const bool wide = w->config.format == GN_AGG_HALF && !w->halves;
    w->chunk_values = (uint16_t)((w->config.packet_values + wide) / (1 + wide));
    w->chunks = w->remaining = count / w->chunk_values + (count % w->chunk_values != 0);
    gn_congestion_begin(w);
    for (size_t i = 0; i < w->chunks && i < w->config.slots; i++) {
        w->slots[i].chunk = i;
        w->slots[i].opens = true;
        gn_worker_begin(w, &w->slots[i], gn_agg_in_blocks(w->config.format) ? GN_SLOT_LOOK : GN_SLOT_DATA);
    }
    return GN_OK;
}

void gn_worker_set_halves(gn_worker *w, bool halves)
{
    w->next_halves = halves && w->config.format == GN_AGG_HALF;
}

void gn_worker_set_priority(gn_worker *w, uint16_t priority)
{
    w->priority = priority;
}

bool gn_worker_done(const gn_worker *w)
{
    return !w->remaining;
}

// ---- what goes out

/// The values of a chunk, for the packet of this slot. The packet may be the first to look at them.
static size_t look_at(gn_worker *w, const gn_worker_slot *slot, size_t chunk, size_t *first)
{
    const size_t count = gn_worker_chunk(w, chunk, first);
    if (slot->since_ns == GN_NEVER && w->config.before) w->config.before(w->config.context, *first, count);
    return count;
}

/// The values of which a chunk's stream is made.
static const float *stream_source(gn_worker *w, gn_worker_slot *slot)
{
    const gn_worker_config *c = &w->config;
    size_t first;
    const size_t count = gn_worker_chunk(w, slot->chunk, &first);
    if (slot->since_ns != GN_NEVER) return slot->plain ? slot->plain : w->send + first;
    slot->plain = c->plain ? c->plain(c->context, first, count) : NULL;
    if (!slot->plain) (void)look_at(w, slot, slot->chunk, &first);
    return slot->plain ? slot->plain : w->send + first;
}

/// The unit that this worker proposes for a chunk. When there is no such chunk, it is one that has
/// no effect on others.
static int8_t proposal(gn_worker *w, const gn_worker_slot *slot, size_t chunk)
{
    if (chunk >= w->chunks) return GN_UNIT_MIN;
    size_t first;
    bool finite;
    const size_t count = look_at(w, slot, chunk, &first);
    return gn_block_unit(&w->codec, w->send + first, count, w->config.ranks, &finite);
}

static gn_agg_packet header_of(const gn_worker *w, const gn_worker_slot *slot, size_t values)
{
    const gn_worker_config *c = &w->config;
    return (gn_agg_packet){.type = GN_AGG_GRADIENT,
                           .flags = slot->attempts ? GN_AGG_RESENT | GN_AGG_LATE
                                    : slot->lags   ? GN_AGG_LATE
                                                   : 0,
                           .job = c->job,
                           .gen = c->gen,
                           .slot = (uint16_t)(slot - w->slots),
                           .version = slot->uses & 1,
                           .psn = gn_worker_psn(w, slot),
                           .bitmap = 1ull << c->bit,
                           .fanin = c->children,
                           .priority = w->priority,
                           .next = (int8_t)c->bound_exp,
                           .values = (uint16_t)values};
}

/// Whether to ask the parameter server: after some timeouts it sees to the rest.
static bool has_to_ask(const gn_worker *w, const gn_worker_slot *slot)
{
    return w->config.mode != GN_PARTITIONED && slot->phase != GN_SLOT_FLOAT && !slot->reminded &&
           slot->attempts >= ATTEMPTS_BEFORE_QUERY;
}

static size_t write_stored(gn_agg_packet *header, const float *values, size_t count, void *out, size_t capacity)
{
    header->shimmed = true;
    header->payload = (const uint8_t *)values;
    header->payload_bytes = count * sizeof *values;
    return gn_agg_write_again(header, out, capacity);
}

static size_t write_slot(gn_worker *w, gn_worker_slot *slot, void *out, size_t capacity)
{
    size_t first;
    const size_t count = gn_worker_chunk(w, slot->chunk, &first);
    gn_agg_packet header = header_of(w, slot, count);
    if (has_to_ask(w, slot)) {
        header.type = GN_AGG_QUERY;
        header.values = 0;
        w->stats.queries++;
        return gn_agg_write_words(&header, NULL, out, capacity);
    }
    if (slot->reminded) {
        header.type = GN_AGG_EVICTED;  // straight to the parameter server
        header.flags |= GN_AGG_RESENT | GN_AGG_LATE;
    }
    if (slot->phase == GN_SLOT_FLOAT) {
        header.flags |= GN_AGG_FLOAT;
        header.priority = w->config.rank;
        return gn_agg_write_words(&header, w->send + first, out, capacity);
    }
    if (!gn_agg_in_blocks(w->config.format)) {
        if (!w->config.nic && !w->config.stored)
            return gn_agg_write_stream(&header, &w->codec, NULL, stream_source(w, slot), out, capacity);
        look_at(w, slot, slot->chunk, &first);
        if (w->config.nic) return gn_agg_write_words(&header, w->send + first, out, capacity);
        return write_stored(&header, w->send + first, count, out, capacity);
    }
    if (slot->phase == GN_SLOT_LOOK) {
        header.values = 0;
        header.next = proposal(w, slot, slot->chunk);
        return gn_agg_write_words(&header, NULL, out, capacity);
    }
    header.exponent = slot->unit;
    header.next = proposal(w, slot, slot->chunk + w->config.slots);
    if (gn_block_to_integers(&w->codec, w->send + first, count, slot->unit, w->config.ranks, w->integers))
        return w->halves ? gn_agg_write_halves(&header, &w->codec, w->integers, out, capacity)
                         : gn_agg_write_words(&header, w->integers, out, capacity);
    header.flags |= GN_AGG_POISON;
    header.values = 0;
    return gn_agg_write_words(&header, NULL, out, capacity);
}

/// Whether the slot's time has passed, also by what is known of round trips by now. A timeout that
/// was set when round trips were shorter is put off: the window's first packets met no queue yet.
static bool is_late(const gn_worker *w, gn_worker_slot *slot, int64_t now_ns)
{
    if (slot->deadline_ns > now_ns) return false;
    slot->deadline_ns = slot->sent_ns + gn_rtt_timeout(&w->rtt, slot->attempts, slot->opens);
    return slot->deadline_ns <= now_ns;
}

/// Makes the slots due whose time has passed.
static void expire(gn_worker *w, int64_t now_ns)
{
    if (w->next_deadline == GN_NEVER || now_ns < w->next_deadline) return;
    int64_t next = GN_NEVER;
    for (unsigned i = 0; i < w->config.slots; i++) {
        gn_worker_slot *slot = &w->slots[i];
        if (slot->phase == GN_SLOT_FREE || slot->is_due || slot->held || !gn_leader_must_ask(w, slot)) continue;
        if (is_late(w, slot, now_ns)) {
            if (slot->attempts < ATTEMPTS_MAX) slot->attempts++;
            gn_worker_make_due(w, slot);
        } else if (next == GN_NEVER || slot->deadline_ns < next) {
            next = slot->deadline_ns;
        }
    }
    w->next_deadline = next;
}

static void remind_at(gn_worker *w, int64_t ns)
{
    if (w->next_deadline == GN_NEVER || ns < w->next_deadline) w->next_deadline = ns;
}

static void note_sent(gn_worker *w, gn_worker_slot *slot, int64_t now_ns)
{
    if (slot->since_ns == GN_NEVER) slot->since_ns = now_ns;
    if (slot->chunk >= w->sent_until) w->sent_until = slot->chunk + 1;
    slot->sent_ns = now_ns;
    slot->deadline_ns = now_ns + gn_rtt_timeout(&w->rtt, slot->attempts, slot->opens);
    remind_at(w, slot->deadline_ns);
    w->stats.resent += slot->attempts > 0;
}

/// Writes what a due slot has to send. @return its bytes; 0: nothing
static size_t write_due(gn_worker *w, gn_worker_slot *slot, int64_t now_ns, void *out, size_t capacity)
{
    const bool has_sent = slot->phase != GN_SLOT_FREE && slot->since_ns != GN_NEVER;
    if (slot->tell_result) {
        slot->tell_result = false;
        const size_t bytes = gn_leader_write(w, slot, out, capacity);
        if (has_sent)
            remind_at(w, slot->deadline_ns);  // it may have been due for both
        else if (slot->phase != GN_SLOT_FREE)
            gn_worker_make_due(w, slot);  // its next chunk has not gone out yet
        return bytes;
    }
    if (slot->phase == GN_SLOT_FREE || !gn_leader_must_ask(w, slot) || !gn_congestion_admits(w, slot)) return 0;
    const size_t bytes = write_slot(w, slot, out, capacity);
    if (!slot->reminded)
        note_sent(w, slot, now_ns);
    else
        remind_at(w, slot->deadline_ns);
    w->stats.reminded += slot->reminded;
    slot->reminded = false;
    return bytes;
}

size_t gn_worker_send(gn_worker *w, int64_t now_ns, void *out, size_t capacity)
{
    expire(w, now_ns);
    while (w->due_count) {
        gn_worker_slot *slot = &w->slots[w->due[w->due_first]];
        w->due_first = (w->due_first + 1) % w->config.slots;
        w->due_count--;
        slot->is_due = false;
        const size_t bytes = write_due(w, slot, now_ns, out, capacity);
        if (!bytes) continue;
        w->stats.sent++;
        w->stats.up_bytes += bytes;
        return bytes;
    }
    return 0;
}

int64_t gn_worker_deadline(const gn_worker *w)
{
    return w->remaining ? w->next_deadline : GN_NEVER;
}

// ---- what comes in

/// An answer tells how long answers take if nothing has held it up: no recovery, here or at another
/// worker, and no worker that had not begun. It tells so even when this worker has asked again
/// meanwhile: so a timeout that was too short grows. A sum of the leader does not tell in that case
/// (Karn's rule).
static void measure(gn_worker *w, gn_worker_slot *slot, const gn_agg_packet *p, int64_t now_ns)
{
    slot->lags = p->flags & GN_AGG_RESENT;
    if (slot->opens || p->flags & (GN_AGG_RESENT | GN_AGG_LATE) || (slot->phase == GN_SLOT_FLOAT && slot->attempts))
        return;
    gn_rtt_measure(&w->rtt, now_ns, now_ns - slot->since_ns);
    w->stats.late += slot->attempts;
}

/// Puts the words of a packet's halves into w->integers. @return false when a half has none
static bool take_halves(gn_worker *w, const gn_agg_packet *p)
{
    memset(w->integers, 0, sizeof *w->integers * p->values);
    return !gn_words_add_halves(&w->codec, p->payload, w->integers, p->values);
}

/// Writes the sums of a packet to recv. @return false when it does not hold what it should
static bool take_values(gn_worker *w, const gn_worker_slot *slot, const gn_agg_packet *p)
{
    size_t first;
    const size_t count = gn_worker_chunk(w, slot->chunk, &first);
    float *recv = w->recv + first;
    if (p->values != count) return false;
    if (p->compressed)
        return p->profile == w->codec.profile && p->next == w->codec.bound_exp && !gn_agg_in_blocks(w->config.format) &&
               gn_stream_decode(&w->codec, p->payload, p->payload_bytes, recv, count, NULL) == GN_OK;
    if (gn_agg_in_blocks(w->config.format) && !(p->flags & GN_AGG_FLOAT)) {
        if (p->exponent != slot->unit || p->shimmed || p->halves != w->halves) return false;
        if (p->halves && !take_halves(w, p)) return false;
        gn_block_to_floats(&w->codec, p->halves ? (const void *)w->integers : p->payload, count, slot->unit, recv);
    } else {
        memcpy(recv, p->payload, sizeof *recv * count);
    }
    return true;
}

static bool take_result(gn_worker *w, gn_worker_slot *slot, const gn_agg_packet *p, int64_t now_ns)
{
    const bool is_float = p->flags & GN_AGG_FLOAT;
    if (is_float != (slot->phase == GN_SLOT_FLOAT)) return false;
    if (slot->phase == GN_SLOT_LOOK ? p->values != 0 : !take_values(w, slot, p)) return false;
    measure(w, slot, p, now_ns);
    w->stats.fallback_chunks += is_float;
    const size_t chunk = slot->chunk;
    gn_worker_advance(w, slot, is_float ? slot->next_unit : p->next);
    gn_congestion_result(w, chunk, p->flags & GN_AGG_ECN);
    return true;
}

/// The chunk leaves in binary32, and so its values have to be made after all.
static void make_whole(gn_worker *w, gn_worker_slot *slot)
{
    size_t first;
    const size_t count = gn_worker_chunk(w, slot->chunk, &first);
    slot->plain = NULL;
    if (w->config.before) w->config.before(w->config.context, first, count);
}

static bool take_overflow(gn_worker *w, gn_worker_slot *slot, const gn_agg_packet *p, int64_t now_ns)
{
    if (slot->phase != GN_SLOT_DATA) return false;
    measure(w, slot, p, now_ns);
    slot->next_unit = p->next;
    if (slot->plain) make_whole(w, slot);
    gn_worker_begin(w, slot, GN_SLOT_FLOAT);
    gn_leader_own(w, slot);
    return true;
}

/// The parameter server misses this worker's contribution. It does not ask for a chunk that has a
/// result, for it has that result itself.
static bool take_reminder(gn_worker *w, gn_worker_slot *slot, const gn_agg_packet *p)
{
    if (w->config.mode == GN_PARTITIONED || slot->phase == GN_SLOT_FLOAT || slot->is_due) return false;
    if (!(p->bitmap >> w->config.bit & 1)) return false;
    slot->reminded = true;
    gn_worker_make_due(w, slot);
    return true;
}

static bool take(gn_worker *w, int64_t now_ns, const gn_agg_packet *p)
{
    if (p->job != w->config.job || p->gen != w->config.gen || p->slot >= w->config.slots) return false;
    gn_worker_slot *slot = &w->slots[p->slot];
    if (p->type == GN_AGG_GRADIENT) return gn_leader_take(w, slot, p);
    if (slot->phase == GN_SLOT_FREE || slot->since_ns == GN_NEVER || p->psn != gn_worker_psn(w, slot)) return false;
    if (p->type == GN_AGG_RESULT) return take_result(w, slot, p, now_ns);
    if (p->type == GN_AGG_REMIND_WORKER) return take_reminder(w, slot, p);
    return p->type == GN_AGG_OVERFLOW && take_overflow(w, slot, p, now_ns);
}

bool gn_worker_rx(gn_worker *w, int64_t now_ns, const void *datagram, size_t bytes)
{
    gn_agg_packet packet;
    w->stats.received++;
    const bool taken = !gn_agg_parse(datagram, bytes, &packet) && take(w, now_ns, &packet);
    w->stats.ignored += !taken;
    if (taken) w->stats.down_bytes += bytes;
    return taken;
}

bool gn_worker_waits_for(const gn_worker *w, uint32_t *psn, int64_t *since_ns)
{
    const gn_worker_slot *oldest = NULL;
    for (unsigned i = 0; i < w->config.slots; i++) {
        const gn_worker_slot *slot = &w->slots[i];
        if (slot->phase == GN_SLOT_FREE || slot->since_ns == GN_NEVER) continue;
        if (!oldest || slot->since_ns < oldest->since_ns) oldest = slot;
    }
    if (!oldest) return false;
    *psn = gn_worker_psn(w, oldest);
    *since_ns = oldest->since_ns;
    return true;
}

gn_worker_stats gn_worker_get_stats(const gn_worker *w)
{
    gn_worker_stats stats = w->stats;
    stats.smoothed_rtt_ns = w->rtt.smoothed_ns;
    stats.window = w->window;
    return stats;
}
