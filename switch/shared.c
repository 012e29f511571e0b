// SPDX-License-Identifier: Apache-2.0
// Memory modes shared and preemptive: no slot belongs to a job.
//
// A chunk's number hashes to an address. The chunk's sums are there, or further up in parts: at the
// parameter server, or, below a root, at the parent or beyond. The job's window knows which
// contributions went where. So nothing is added twice, nothing waits in a slot for what has gone
// on, and nothing that is late takes a slot again.
//
// Bits stand for contributions. A switch sends sums of any of them to its parent, with the numbers
// that they have there.
#include "shared.h"

#include <string.h>

#include "format.h"

uint32_t gn_shared_address(const gn_switch *sw, uint16_t job, uint32_t psn)
{
    // Each step can be undone, so the chunks of one job fall on all addresses alike. The upper bits
    // of a product serve any number of slots.
    uint32_t x = psn ^ (uint32_t)job * 0x9e3779b1u;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    x ^= x >> 16;
    return (uint32_t)((uint64_t)x * sw->state->config.slots >> 32);
}

/// Whether the slot holds the packet's chunk.
static bool is_here(const gn_about *a)
{
    return a->copy->state == GN_COPY_OPEN && a->copy->job == a->job_index && a->copy->psn == a->packet.psn;
}

/// The same, also when its sum is whole and only its result frees the slot (GN_RESULTS_HELD).
static bool holds(const gn_about *a)
{
    return is_here(a) ||
           (a->copy->state == GN_COPY_UP && a->copy->job == a->job_index && a->copy->psn == a->packet.psn);
}

/// Whether the packet is of the chunk that is under way.
static bool is_current(const gn_about *a)
{
    return a->packet.psn == a->window->psn;
}

/// Whether the packet is of the chunk before. Its result has passed, but someone may have missed
/// it.
static bool is_previous(const gn_about *a)
{
    return a->window->begun && a->packet.psn == a->window->psn - a->job->job.slots;
}

static gn_window *window_of(const gn_about *a, const gn_copy *copy)
{
    const gn_job_state *job = &a->sw->state->jobs[copy->job];
    return gn_state_windows(a->sw) + job->first + (copy->psn & (job->job.slots - 1u));
}

static gn_action_kind upward(const gn_switch_job *job)
{
    return job->has_parent ? GN_TO_PARENT : GN_TO_PS;
}

/// Sends a sum to the parent, which adds it to others, or to the parameter server.
static unsigned send_up(gn_about *a, unsigned job_index, const gn_copy *copy, uint32_t sums_index)
{
    const gn_switch_job *job = &a->sw->state->jobs[job_index].job;
    gn_switch_say(a->sw, a->actions, upward(job), job->has_parent ? GN_AGG_GRADIENT : GN_AGG_EVICTED, job_index, copy,
                  sums_index);
    return 1;
}

/// What the slot holds goes up, and the slot is free. The sums stay where they are until the next
/// packet.
static unsigned give_up(gn_about *a)
{
    a->job->counters.partials++;
    send_up(a, a->job_index, a->copy, a->copy_index);
    a->window->gone |= a->copy->seen;
    *a->copy = (gn_copy){0};
    return 1;
}

/// The parameter server has all of the chunk, so nobody waits for any of it.
static void conclude(gn_about *a)
{
    const bool overflow = a->packet.type == GN_AGG_OVERFLOW;
    if (holds(a)) *a->copy = (gn_copy){0};
    *a->window = (gn_window){.psn = a->window->psn + a->job->job.slots, .begun = true, .poison = overflow};
    a->job->counters.results++;
    a->job->counters.overflows += overflow;
}

/// Whether a sum that is whole goes to the workers at once. The parameter server has to see to a
/// sum that came in parts, or that has no integers.
static bool is_direct(const gn_about *a)
{
    const gn_switch_job *job = &a->job->job;
    return a->sw->state->config.results == GN_RESULTS_DIRECT && !job->has_parent && !job->bits && !a->window->gone &&
           !a->copy->poison;
}

/// Tells all workers a sum, and the parameter server that they know it.
static unsigned tell(gn_about *a)
{
    gn_switch_say(a->sw, &a->actions[0], GN_TO_GROUP, GN_AGG_RESULT, a->job_index, a->copy, a->copy_index);
    gn_switch_say(a->sw, &a->actions[1], GN_TO_PS, GN_AGG_RESULT, a->job_index, a->copy, a->copy_index);
    conclude(a);
    return 2;
}

/// All have contributed, here or on the way up.
static unsigned complete(gn_about *a)
{
    if (is_direct(a)) return tell(a);
    const gn_copy whole = *a->copy;
    const unsigned count = give_up(a);
    if (a->sw->state->config.results == GN_RESULTS_HELD) {
        *a->copy = whole;
        a->copy->state = GN_COPY_UP;
    }
    return count;
}

/// The packet itself goes up, with the bits that its contributions have there.
static unsigned pass_up(gn_about *a, gn_agg_type type)
{
    const gn_switch_job *job = &a->job->job;
    const unsigned count = gn_about_forward(a, upward(job), job->has_parent ? job->parent_port : job->ps_port, type);
    if (!job->has_parent) return count;
    a->actions[0].header.bitmap <<= job->parent_bit;
    a->actions[0].header.fanin = job->parent_fanin;
    return count;
}

/// A contribution that finds no slot, or does not need one. The parent may have a slot for it.
static unsigned to_ps(gn_about *a)
{
    if (is_current(a)) a->window->gone |= a->packet.bitmap & ~(is_here(a) ? a->copy->seen : 0);
    a->job->counters.to_ps++;
    const bool evicted = a->packet.type == GN_AGG_GRADIENT && !a->job->job.has_parent;
    return pass_up(a, evicted ? GN_AGG_EVICTED : a->packet.type);
}

/// The same for one of the chunk under way. If all are on the way up then but those in the slot,
/// nobody is to come any more who would send these on. Below the parameter server it asks for them,
/// once it has a part. A parent with a slot of its own does not tell it of any.
static unsigned to_ps_with_rest(gn_about *a)
{
    const unsigned count = to_ps(a);
    if (!a->job->job.has_parent || !is_here(a) ||
        (a->copy->seen | a->window->gone) != gn_everyone(gn_job_fanin(&a->job->job)))
        return count;
    a->actions += count;
    return count + give_up(a);
}

/// Adds the packet to its slot. `first`: it takes the slot.
static unsigned add(gn_about *a, bool first)
{
    const gn_drop wrong = gn_about_add(a, first);
    if (wrong) return gn_about_drop(a, wrong);
    if (first) {
        a->copy->job = (uint8_t)a->job_index;
        a->copy->priority = a->packet.priority;
    }
    const bool whole = (a->copy->seen | a->window->gone) == gn_everyone(gn_job_fanin(&a->job->job));
    return whole ? complete(a) : gn_about_added(a);
}

/// The packet's chunk takes the slot from the chunk that holds it.
static unsigned swap_out(gn_about *a)
{
    const gn_copy holder = *a->copy;
    const uint32_t spare = (uint32_t)gn_state_copy_count(&a->sw->state->config);
    memcpy(gn_state_sums(a->sw, spare), gn_state_sums(a->sw, a->copy_index), sizeof(int32_t) * holder.values);
    const unsigned count = add(a, true);
    // The packet was dropped, so the holder stays.
    if (a->copy->psn == holder.psn && a->copy->job == holder.job) return count;
    window_of(a, &holder)->gone |= holder.seen;
    a->sw->state->jobs[holder.job].counters.evictions++;
    return send_up(a, holder.job, &holder, spare);
}

/// Whether the packet's chunk is to have the slot that another one holds.
static bool takes_slot(gn_about *a)
{
    struct gn_switch_state *state = a->sw->state;
    switch (state->config.preempting) {
    case GN_PREEMPT_ALWAYS:
        return true;
    case GN_PREEMPT_ALTERNATELY:
        return ++state->collisions & 1;
    default:
        return a->packet.priority > a->copy->priority;
    }
}

/// Another chunk holds the slot.
static unsigned collide(gn_about *a)
{
    a->job->counters.collisions++;
    if (a->sw->state->config.mode == GN_PREEMPTIVE) {
        if (a->copy->state == GN_COPY_OPEN && takes_slot(a)) return swap_out(a);
        a->copy->priority >>= 1;  // nobody keeps a slot for long
    }
    return to_ps(a);
}

/// A packet that is not of the chunk under way. A child that missed the last result sends its
/// contribution again, and the parameter server remembers the result.
static unsigned late(gn_about *a)
{
    const bool asks = a->packet.type != GN_AGG_GRADIENT || a->packet.flags & GN_AGG_RESENT;
    if (is_previous(a) && asks) return to_ps(a);
    const bool earlier = (int32_t)(a->packet.psn - a->window->psn) < 0;
    return gn_about_drop(a, earlier ? GN_DROP_STALE : GN_DROP_EARLY);
}

/// A contribution to the chunk under way.
static unsigned gradient(gn_about *a)
{
    const gn_agg_packet *p = &a->packet;
    const uint64_t here = is_here(a) ? a->copy->seen : 0, known = a->window->gone | here;
    if (!(p->bitmap & ~known)) {
        // What went on may have been lost further up.
        const bool again = p->flags & GN_AGG_RESENT && p->bitmap & ~here;
        return again ? to_ps(a) : gn_about_drop(a, GN_DROP_DUPLICATE);
    }
    // A sum, and a part of it came before it: the parameter server sorts it out.
    if (p->bitmap & known) return to_ps_with_rest(a);
    if (here) return add(a, false);
    if ((known | p->bitmap) == gn_everyone(gn_job_fanin(&a->job->job)))
        return to_ps(a);  // it needs no slot: nobody else is to come
    return a->copy->state == GN_COPY_EMPTY ? add(a, true) : collide(a);
}

/// From a child: a contribution, a question, or a contribution that the parameter server asked for.
static unsigned from_child(gn_about *a)
{
    const gn_drop wrong = gn_about_from_child(a);
    if (wrong) return gn_about_drop(a, wrong);
    if (!is_current(a)) return late(a);
    if (a->packet.type == GN_AGG_GRADIENT) return gradient(a);
    return a->packet.type == GN_AGG_EVICTED ? to_ps_with_rest(a) : pass_up(a, a->packet.type);
}

/// Sends the packet to the children that have these bits.
static unsigned pass_down(gn_about *a, uint64_t bits)
{
    const gn_switch_job *job = &a->job->job;
    const unsigned child = bits ? gn_job_child_of(job, bits) : 0;
    const bool one = bits && !(bits & ~gn_job_child_bits(job, child));
    const unsigned count =
        gn_about_forward(a, one ? GN_TO_PORT : GN_TO_GROUP, one ? job->port[child] : 0, a->packet.type);
    a->actions[0].header.bitmap = bits;
    a->actions[0].header.fanin = (uint16_t)gn_job_fanin(job);
    return count;
}

/// The parameter server wants what slots hold, here and below.
static unsigned fetch(gn_about *a, uint64_t bits)
{
    unsigned count = 0;
    if (is_here(a)) {
        a->job->counters.fetched++;
        count = give_up(a);
        a->actions[0].header.type = GN_AGG_EVICTED;  // no other slot on the way is to take it
        a->actions++;
    }
    if (a->job->job.bits && is_current(a)) {
        gn_about_forward(a, GN_TO_GROUP, 0, a->packet.type);
        a->actions[0].header.bitmap = bits;
        a->actions[0].header.fanin = a->job->job.bits;
        count++;
    }
    return count ? count : gn_about_drop(a, GN_DROP_UNEXPECTED);
}

/// From the parameter server, through the parent if there is one.
static unsigned from_above(gn_about *a)
{
    const gn_agg_packet *p = &a->packet;
    const gn_switch_job *job = &a->job->job;
    if (a->port != (job->has_parent ? job->parent_port : job->ps_port)) return gn_about_drop(a, GN_DROP_PORT);
    if (p->level != job->level || p->fanin != (job->has_parent ? job->parent_fanin : gn_job_fanin(job)))
        return gn_about_drop(a, GN_DROP_LEVEL);
    const uint64_t bits = (job->has_parent ? p->bitmap >> job->parent_bit : p->bitmap) & gn_everyone(gn_job_fanin(job));
    if (p->type == GN_AGG_REMIND_SWITCH) return fetch(a, bits);
    if (!bits || !(is_current(a) || is_previous(a))) return gn_about_drop(a, GN_DROP_UNEXPECTED);
    a->job->counters.down_bytes += a->bytes;
    if (p->type != GN_AGG_REMIND_WORKER) {
        if (is_current(a))
            conclude(a);
        else
            a->job->counters.repeated++;
    }
    return pass_down(a, bits);
}

bool gn_shared_overflowed(const gn_about *a)
{
    return is_previous(a) && a->window->poison;
}

unsigned gn_shared_rx(gn_about *a)
{
    // A stream that goes on is not decoded here. But no stream is longer than this, and no receiver
    // has room for more.
    if (a->bytes > gn_agg_bound(a->packet.values)) return gn_about_drop(a, GN_DROP_STREAM);
    switch (a->packet.type) {
    case GN_AGG_GRADIENT:
    case GN_AGG_EVICTED:
    case GN_AGG_QUERY:
        return from_child(a);
    case GN_AGG_RESULT:
    case GN_AGG_OVERFLOW:
    case GN_AGG_REMIND_SWITCH:
    case GN_AGG_REMIND_WORKER:
        return from_above(a);
    default:
        return gn_about_drop(a, GN_DROP_TYPE);
    }
}
