// SPDX-License-Identifier: Apache-2.0
// Memory modes shared and preemptive: slots belong to nobody. A chunk's sums are at the address that its number hashes to, or in parts at the parameter
// server; the window of its job knows who has contributed where, so nothing is added twice, nothing waits in a slot for what has gone, and
// nothing late takes a slot again.
#include <string.h>

#include "about.h"
#include "format.h"

uint32_t gn_state_address(const gn_switch *sw, uint16_t job, uint32_t psn)
{
    // Each step can be undone, so one job's chunks fall on all addresses alike; then the upper bits of a product, for any number of slots.
    uint32_t x = psn ^ (uint32_t)job * 0x9e3779b1u;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    x ^= x >> 16;
    return (uint32_t)((uint64_t)x * sw->state->config.slots >> 32);
}

/// The slot holds the packet's chunk.
static bool is_here(const gn_about *a)
{
    return a->copy->state == GN_COPY_OPEN && a->copy->job == a->job_index && a->copy->psn == a->packet->psn;
}

static bool is_current(const gn_about *a)
{
    return a->packet->psn == a->window->psn;
}

/// The last chunk whose result has passed: someone may not have got it.
static bool is_previous(const gn_about *a)
{
    return a->window->begun && a->packet->psn == a->window->psn - a->job->job.slots;
}

static gn_window *window_of(const gn_about *a, const gn_copy *copy)
{
    const gn_job_state *job = &a->sw->state->jobs[copy->job];
    return gn_state_windows(a->sw) + job->first + (copy->psn & (job->job.slots - 1u));
}

/// What the slot holds goes to the parameter server, and the slot is free. The sums stay where they are until the next packet.
static unsigned give_up(gn_about *a)
{
    a->job->counters.partials++;
    gn_about_say(a, GN_TO_PS, GN_AGG_EVICTED, a->job_index, a->copy, a->copy_index);
    a->window->gone |= a->copy->seen;
    *a->copy = (gn_copy){0};
    return 1;
}

/// A contribution that finds no slot, or has no use for one.
static unsigned to_ps(gn_about *a)
{
    if (is_current(a) && !(is_here(a) && a->copy->seen & a->packet->bitmap)) a->window->gone |= a->packet->bitmap;
    a->job->counters.to_ps++;
    const uint8_t type = a->packet->type;
    return gn_about_forward(a, GN_TO_PS, a->job->job.ps_port, type == GN_AGG_GRADIENT ? GN_AGG_EVICTED : type);
}

static unsigned add(gn_about *a, bool first)
{
    const gn_drop wrong = gn_about_add(a, first);
    if (wrong) return gn_about_drop(a, wrong);
    if (first) {
        a->copy->job = (uint8_t)a->job_index;
        a->copy->priority = a->packet->priority;
    }
    const bool whole = (a->copy->seen | a->window->gone) == gn_everyone(a->job->job.children);
    return whole ? give_up(a) : gn_about_added(a);
}

/// The slot's holder loses it to the packet's chunk.
static unsigned swap_out(gn_about *a)
{
    const gn_copy holder = *a->copy;
    const uint32_t spare = (uint32_t)gn_state_copy_count(&a->sw->state->config);
    memcpy(gn_state_sums(a->sw, spare), gn_state_sums(a->sw, a->copy_index), sizeof(int32_t) * holder.values);
    const unsigned count = add(a, true);
    if (a->copy->psn == holder.psn && a->copy->job == holder.job) return count;  // dropped: the holder stays
    window_of(a, &holder)->gone |= holder.seen;
    a->sw->state->jobs[holder.job].counters.evictions++;
    gn_about_say(a, GN_TO_PS, GN_AGG_EVICTED, holder.job, &holder, spare);
    return 1;
}

static unsigned collide(gn_about *a)
{
    a->job->counters.collisions++;
    if (a->sw->state->config.mode == GN_PREEMPTIVE) {
        if (a->packet->priority > a->copy->priority) return swap_out(a);
        a->copy->priority >>= 1;  // who holds a slot for long does not keep it
    }
    return to_ps(a);
}

/// What is not of the chunk under way. Who has not got the last result sends its contribution again: the parameter server remembers it.
static unsigned late(gn_about *a)
{
    const bool asks = a->packet->type != GN_AGG_GRADIENT || a->packet->flags & GN_AGG_RESENT;
    if (is_previous(a) && asks) return to_ps(a);
    const bool earlier = (int32_t)(a->packet->psn - a->window->psn) < 0;
    return gn_about_drop(a, earlier ? GN_DROP_STALE : GN_DROP_EARLY);
}

static unsigned gradient(gn_about *a)
{
    const gn_agg_packet *p = a->packet;
    const uint64_t bit = p->bitmap;
    if (a->window->gone & bit) return p->flags & GN_AGG_RESENT ? to_ps(a) : gn_about_drop(a, GN_DROP_DUPLICATE);
    if (is_here(a)) return a->copy->seen & bit ? gn_about_drop(a, GN_DROP_DUPLICATE) : add(a, false);
    if ((a->window->gone | bit) == gn_everyone(a->job->job.children)) return to_ps(a);  // nobody else is to come
    return a->copy->state == GN_COPY_EMPTY ? add(a, true) : collide(a);
}

/// A contribution, a question, or a contribution that the parameter server has asked for.
static unsigned from_child(gn_about *a)
{
    const gn_drop wrong = gn_about_from_child(a);
    if (wrong) return gn_about_drop(a, wrong);
    if (!is_current(a)) return late(a);
    if (a->packet->type == GN_AGG_GRADIENT) return gradient(a);
    if (a->packet->type == GN_AGG_EVICTED) return to_ps(a);
    return gn_about_forward(a, GN_TO_PS, a->job->job.ps_port, a->packet->type);
}

/// The parameter server has all of the chunk: nothing of it is waited for any more.
static void conclude(gn_about *a)
{
    const bool overflow = a->packet->type == GN_AGG_OVERFLOW;
    if (is_here(a)) *a->copy = (gn_copy){0};
    *a->window = (gn_window){.psn = a->window->psn + a->job->job.slots, .begun = true, .poison = overflow};
    a->job->counters.results++;
    a->job->counters.overflows += overflow;
}

static unsigned from_ps(gn_about *a)
{
    const gn_agg_packet *p = a->packet;
    const gn_switch_job *job = &a->job->job;
    if (a->port != job->ps_port) return gn_about_drop(a, GN_DROP_PORT);
    if (p->level != job->level || p->fanin != job->children) return gn_about_drop(a, GN_DROP_LEVEL);
    if (p->type == GN_AGG_REMIND_SWITCH) {
        if (!is_here(a)) return gn_about_drop(a, GN_DROP_UNEXPECTED);
        a->job->counters.fetched++;
        return give_up(a);
    }
    if (!p->bitmap || !(is_current(a) || is_previous(a))) return gn_about_drop(a, GN_DROP_UNEXPECTED);
    a->job->counters.down_bytes += a->bytes;
    if (p->type != GN_AGG_REMIND_WORKER) {
        if (is_current(a))
            conclude(a);
        else
            a->job->counters.repeated++;
    }
    const bool one = !(p->bitmap & (p->bitmap - 1));
    return gn_about_forward(a, one ? GN_TO_PORT : GN_TO_GROUP, one ? job->port[__builtin_ctzll(p->bitmap)] : 0,
                            p->type);
}

bool gn_shared_overflowed(const gn_about *a)
{
    return is_previous(a) && a->window->poison;
}

unsigned gn_shared_rx(gn_about *a)
{
    // Streams that go on are not looked into here; but none that is one is longer than this, and nobody has room for more.
    if (a->bytes > gn_agg_bound(a->packet->values)) return gn_about_drop(a, GN_DROP_STREAM);
    switch (a->packet->type) {
    case GN_AGG_GRADIENT:
    case GN_AGG_EVICTED:
    case GN_AGG_QUERY:
        return from_child(a);
    case GN_AGG_RESULT:
    case GN_AGG_OVERFLOW:
    case GN_AGG_REMIND_SWITCH:
    case GN_AGG_REMIND_WORKER:
        return from_ps(a);
    default:
        return gn_about_drop(a, GN_DROP_TYPE);
    }
}
