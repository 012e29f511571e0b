// SPDX-License-Identifier: Apache-2.0
// The parameter server. Each slot has two entries: one for the chunk under way, one for the result
// before it.
#include "ps.h"

#include <stdlib.h>

#include "format.h"

enum { NEVER = -1, ATTEMPTS_MAX = 20 };

static bool possible(const gn_ps_config *c)
{
    return gn_slots_possible(c->slots) && c->children && c->children <= GN_AGG_WORKERS_MAX && c->level < 15 &&
           c->packet_values && c->packet_values <= GN_AGG_VALUES_MAX && (unsigned)c->format < GN_AGG_FORMATS;
}

gn_status gn_ps_new(gn_ps **result, const gn_ps_config *config)
{
    *result = NULL;
    if (!possible(config)) return GN_INVALID;
    gn_ps *ps = calloc(1, sizeof *ps);
    if (!ps) return GN_NO_MEMORY;
    const size_t entries = (size_t)2 * config->slots;
    ps->config = *config;
    ps->entries = calloc(entries, sizeof *ps->entries);
    ps->sums = calloc(entries * config->packet_values, sizeof *ps->sums);
    ps->due = calloc(entries, sizeof *ps->due);
    ps->spread = gn_rtt_new(config->rto_min_ns, config->rto_max_ns);
    ps->next_deadline = NEVER;
    gn_status status = gn_format_codec(config->format, config->bound_exp, &ps->codec);
    if (!status) status = gn_exact_codec(config->format, config->bound_exp, &ps->exact);
    if (!ps->entries || !ps->sums || !ps->due) status = GN_NO_MEMORY;
    if (status)
        gn_ps_free(ps);
    else
        *result = ps;
    return status;
}

void gn_ps_free(gn_ps *ps)
{
    if (!ps) return;
    free(ps->entries);
    free(ps->sums);
    free(ps->due);
    free(ps);
}

static int32_t *sums_of(const gn_ps *ps, const gn_ps_entry *entry)
{
    return ps->sums + (size_t)(entry - ps->entries) * ps->config.packet_values;
}

static uint64_t missing_from(const gn_ps *ps, const gn_ps_entry *entry)
{
    return gn_everyone(ps->config.children) & ~entry->copy.seen;
}

static void make_due(gn_ps *ps, gn_ps_entry *entry)
{
    if (entry->is_due) return;
    entry->is_due = true;
    ps->due[(ps->due_first + ps->due_count++) & (2u * ps->config.slots - 1)] = (uint32_t)(entry - ps->entries);
}

static void wait_for_more(gn_ps *ps, gn_ps_entry *entry, int64_t now_ns)
{
    entry->deadline_ns = now_ns + gn_rtt_timeout(&ps->spread, entry->attempts, false);
    if (ps->next_deadline == NEVER || entry->deadline_ns < ps->next_deadline) ps->next_deadline = entry->deadline_ns;
}

// ---- what comes in

/// All have contributed. From now on the entry answers, and never opens again for this chunk.
static void complete(gn_ps *ps, gn_ps_entry *entry, const gn_agg_packet *last, int64_t now_ns)
{
    const uint64_t everyone = gn_everyone(ps->config.children);
    if (last->bitmap == everyone) {
        ps->stats.whole++;
    } else {
        ps->stats.merged++;
        // A part that was sent again tells of a loss, and not of how far workers are apart.
        if (!entry->attempts && !(entry->copy.flags & GN_AGG_LATE))
            gn_rtt_measure(&ps->spread, now_ns, now_ns - (int64_t)entry->copy.since_ns);
    }
    ps->stats.overflows += entry->copy.poison;
    entry->copy.state = GN_COPY_DONE;
    // A RESULT has been told by the switch (GN_RESULTS_DIRECT).
    entry->told = last->type == GN_AGG_RESULT;
    entry->tell = entry->told ? 0 : everyone;
    entry->ask = 0;
    entry->ask_switch = false;
    make_due(ps, entry);
}

/// A part of a chunk that is under way. `first`: nothing of the chunk is here yet.
static bool merge(gn_ps *ps, gn_ps_entry *entry, const gn_agg_packet *p, int64_t now_ns, bool first)
{
    gn_copy *copy = &entry->copy;
    const uint64_t had = first ? 0 : copy->seen, both = had & p->bitmap;
    if (both && !(p->bitmap & ~had)) {
        ps->stats.duplicates++;
        return false;
    }
    if (both && !gn_copy_fits(copy, p, ps->config.format)) return false;
    // Two sums that share a contribution cannot be added, and neither can be taken apart. The
    // larger one stays.
    if (both && __builtin_popcountll(p->bitmap) <= __builtin_popcountll(had)) {
        ps->stats.overlaps++;
        entry->ask |= p->bitmap & ~had;
        make_due(ps, entry);
        return true;
    }
    const gn_codec *codec = p->compressed && p->profile == ps->exact.profile ? &ps->exact : &ps->codec;
    const gn_copy before = *copy;
    const gn_added added =
        gn_copy_add(copy, sums_of(ps, entry), p, ps->config.format, codec, (uint64_t)now_ns, !had || both);
    if (added == GN_ADD_FORMAT || added == GN_ADD_STREAM) return false;
    if (both) {
        ps->stats.overlaps++;
        copy->since_ns = before.since_ns;
        copy->flags |= before.flags;
        entry->ask |= had & ~p->bitmap;
        make_due(ps, entry);
    }
    entry->ask &= ~copy->seen;
    if (!missing_from(ps, entry)) complete(ps, entry, p, now_ns);
    return true;
}

/// A worker has waited for long, so the first reminder goes out now.
static bool hurry(gn_ps *ps, gn_ps_entry *entry)
{
    if (entry->attempts) return false;
    entry->deadline_ns = 0;
    ps->next_deadline = 0;
    return true;
}

/// The first that is heard of a chunk: a part of it, or a question.
static bool open_entry(gn_ps *ps, gn_ps_entry *entry, const gn_agg_packet *p, int64_t now_ns)
{
    if (p->type == GN_AGG_QUERY)
        entry->copy = (gn_copy){.psn = p->psn, .since_ns = (uint64_t)now_ns, .state = GN_COPY_OPEN};
    const uint64_t tell = entry->tell;  // of the chunk before, whose result all have
    entry->attempts = 0;
    entry->tell = 0;
    if (p->type == GN_AGG_QUERY) return hurry(ps, entry);
    if (!merge(ps, entry, p, now_ns, true)) {
        entry->tell = tell;
        return false;
    }
    if (entry->copy.state == GN_COPY_OPEN) wait_for_more(ps, entry, now_ns);
    return true;
}

/// A packet that is well-formed: is it for this server, and what comes of it?
static bool take(gn_ps *ps, int64_t now_ns, const gn_agg_packet *p)
{
    const gn_ps_config *c = &ps->config;
    if (p->job != c->job || p->gen != c->gen || p->level != c->level || p->fanin != c->children) return false;
    const bool told = p->type == GN_AGG_RESULT && p->bitmap == gn_everyone(c->children);
    if (p->type != GN_AGG_EVICTED && p->type != GN_AGG_QUERY && !told) return false;
    if (!p->bitmap || p->flags & GN_AGG_FLOAT || p->values > c->packet_values) return false;
    if (!gn_psn_fits(p, c->slots) || (!gn_agg_in_blocks(c->format) && p->next != c->bound_exp)) return false;
    gn_ps_entry *entry = &ps->entries[2u * p->slot + p->version];
    const gn_ps_entry *other = &ps->entries[(2u * p->slot + p->version) ^ 1u];
    if (entry->copy.state == GN_COPY_EMPTY || entry->copy.psn != p->psn)
        return gn_copy_may_open(&entry->copy, &other->copy, c->slots, p->psn) && open_entry(ps, entry, p, now_ns);
    if (entry->copy.state == GN_COPY_DONE) {
        if (told) return false;
        entry->tell |= p->bitmap;
        make_due(ps, entry);
        return true;
    }
    return p->type == GN_AGG_QUERY ? hurry(ps, entry) : merge(ps, entry, p, now_ns, false);
}

bool gn_ps_rx(gn_ps *ps, int64_t now_ns, const void *datagram, size_t bytes)
{
    gn_agg_packet packet;
    ps->stats.received++;
    ps->stats.in_bytes += bytes;
    const bool taken = !gn_agg_parse(datagram, bytes, &packet) && take(ps, now_ns, &packet);
    ps->stats.ignored += !taken;
    return taken;
}

// ---- what goes out

/// Chunks that have been incomplete for too long: the switch is asked for what it holds. From the
/// second time on the workers are asked, too.
static void expire(gn_ps *ps, int64_t now_ns)
{
    if (ps->next_deadline == NEVER || now_ns < ps->next_deadline) return;
    ps->next_deadline = NEVER;
    for (unsigned i = 0; i < 2u * ps->config.slots; i++) {
        gn_ps_entry *entry = &ps->entries[i];
        if (entry->copy.state != GN_COPY_OPEN) continue;
        if (entry->deadline_ns <= now_ns) {
            if (entry->attempts++) entry->ask = missing_from(ps, entry);
            if (entry->attempts > ATTEMPTS_MAX) entry->attempts = ATTEMPTS_MAX;
            entry->ask_switch = true;
            make_due(ps, entry);
            wait_for_more(ps, entry, now_ns);
        } else if (ps->next_deadline == NEVER || entry->deadline_ns < ps->next_deadline) {
            ps->next_deadline = entry->deadline_ns;
        }
    }
}

static gn_agg_packet header_of(const gn_ps *ps, const gn_ps_entry *entry, gn_agg_type type, uint64_t bitmap)
{
    const gn_copy *copy = &entry->copy;
    return (gn_agg_packet){.type = (uint8_t)type,
                           .flags = (uint8_t)(copy->flags | (entry->attempts ? GN_AGG_LATE : 0)),
                           .job = ps->config.job,
                           .gen = ps->config.gen,
                           .slot = (uint16_t)((entry - ps->entries) / 2),
                           .version = (entry - ps->entries) & 1,
                           .psn = copy->psn,
                           .bitmap = bitmap,
                           .level = ps->config.level,
                           .fanin = ps->config.children,
                           .exponent = copy->exponent,
                           .next = gn_agg_in_blocks(ps->config.format) ? copy->next : (int8_t)ps->config.bound_exp,
                           .values = type == GN_AGG_RESULT ? copy->values : 0};
}

/// Writes the result for everyone, or for one of those who have asked.
static size_t write_result(gn_ps *ps, gn_ps_entry *entry, void *out, size_t capacity)
{
    const bool all = entry->tell == gn_everyone(ps->config.children);
    const uint64_t whom = all ? entry->tell : entry->tell & -entry->tell;
    entry->tell &= ~whom;
    ps->stats.answers += !all;
    const gn_agg_type type = entry->copy.poison ? GN_AGG_OVERFLOW : GN_AGG_RESULT;
    gn_agg_packet header = header_of(ps, entry, type, whom);
    // Even when everyone has asked, it does not tell how long an answer takes.
    if (entry->told) header.flags |= GN_AGG_RESENT;
    entry->told = true;
    const int32_t *sums = sums_of(ps, entry);
    if (header.flags & GN_AGG_HALVES && header.values)
        return gn_agg_write_halves(&header, &ps->codec, sums, out, capacity);
    if (gn_agg_in_blocks(ps->config.format) || !header.values) return gn_agg_write_words(&header, sums, out, capacity);
    const gn_codec *codec = ps->config.level ? &ps->exact : &ps->codec;
    return gn_agg_write_stream(&header, codec, sums, NULL, out, capacity);
}

/// Asks the switch first, then the workers.
static size_t write_question(gn_ps *ps, gn_ps_entry *entry, void *out, size_t capacity)
{
    gn_agg_packet header = header_of(ps, entry, GN_AGG_REMIND_SWITCH, entry->copy.seen);
    if (entry->ask_switch) {
        entry->ask_switch = false;
        ps->stats.reminders_switch++;
    } else {
        header.type = GN_AGG_REMIND_WORKER;
        header.bitmap = entry->ask;
        entry->ask = 0;
        ps->stats.reminders_worker++;
    }
    return gn_agg_write_words(&header, NULL, out, capacity);
}

size_t gn_ps_send(gn_ps *ps, int64_t now_ns, void *out, size_t capacity)
{
    expire(ps, now_ns);
    while (ps->due_count) {
        gn_ps_entry *entry = &ps->entries[ps->due[ps->due_first]];
        size_t bytes = 0;
        if (entry->tell)
            bytes = write_result(ps, entry, out, capacity);
        else if (entry->ask_switch || entry->ask)
            bytes = write_question(ps, entry, out, capacity);
        if (!entry->tell && !entry->ask_switch && !entry->ask) {
            ps->due_first = (ps->due_first + 1) & (2u * ps->config.slots - 1);
            ps->due_count--;
            entry->is_due = false;
        }
        if (!bytes) continue;
        ps->stats.sent++;
        ps->stats.out_bytes += bytes;
        return bytes;
    }
    return 0;
}

int64_t gn_ps_deadline(const gn_ps *ps)
{
    return ps->next_deadline;
}

bool gn_ps_waits_for(const gn_ps *ps, uint32_t *psn, uint64_t *missing, int64_t *since_ns)
{
    const gn_ps_entry *oldest = NULL;
    for (unsigned i = 0; i < 2u * ps->config.slots; i++) {
        const gn_ps_entry *entry = &ps->entries[i];
        if (entry->copy.state != GN_COPY_OPEN) continue;
        if (!oldest || entry->copy.since_ns < oldest->copy.since_ns) oldest = entry;
    }
    if (!oldest) return false;
    *psn = oldest->copy.psn;
    *missing = missing_from(ps, oldest);
    *since_ns = (int64_t)oldest->copy.since_ns;
    return true;
}

gn_ps_stats gn_ps_get_stats(const gn_ps *ps)
{
    gn_ps_stats stats = ps->stats;
    stats.smoothed_spread_ns = ps->spread.smoothed_ns;
    return stats;
}
