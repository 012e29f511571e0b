// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_PARTITIONED_H
#define GRADNIC_SWITCH_PARTITIONED_H
/// Memory mode partitioned: each job has slots of its own, in two copies. A result stays in its
/// copy until all have contributed to the other one. The way of a contribution is here, inline; the
/// rest is in partitioned.c.

#include "about.h"

/// A packet without FLOAT: what comes of it, as gn_switch_rx() returns it.
unsigned gn_partitioned_rx(gn_about *a);

/// Whether the packet's chunk is known to have no sum of integers. Then its values go past the
/// slots as binary32.
bool gn_partitioned_overflowed(const gn_about *a);

/// A child contributes again: what it waits for may have been lost. `a` need not have the packet.
__attribute__((cold)) unsigned gn_partitioned_again(const gn_about *a);

/// The copy that the packet is for.
GN_INLINE void gn_partitioned_find(gn_about *a)
{
    a->copy_index = a->job->first + 2u * a->packet.slot + a->packet.version;
    a->copy = gn_state_copies(a->sw) + a->copy_index;
}

/// The slot's other copy.
GN_INLINE const gn_copy *gn_partitioned_beside(const gn_about *a)
{
    return gn_state_copies(a->sw) + (a->copy_index ^ 1u);
}

/// Tells what the copy knows: the result, or that there is none in integers.
GN_INLINE gn_action *gn_partitioned_tell(const gn_about *a, gn_action_kind kind)
{
    const gn_agg_type type = a->copy->poison ? GN_AGG_OVERFLOW : GN_AGG_RESULT;
    return gn_switch_say(a->sw, a->actions, kind, type, a->job_index, a->copy, a->copy_index);
}

/// All children have contributed.
GN_INLINE unsigned gn_partitioned_complete(const gn_about *a)
{
    gn_switch_counters *counters = &a->job->counters;
    if (a->job->job.has_parent) {
        a->copy->state = GN_COPY_UP;
        counters->partials++;
        gn_switch_say(a->sw, a->actions, GN_TO_PARENT, GN_AGG_GRADIENT, a->job_index, a->copy, a->copy_index);
    } else {
        a->copy->state = GN_COPY_DONE;
        counters->results++;
        counters->overflows += a->copy->poison;
        gn_partitioned_tell(a, GN_TO_GROUP);
    }
    return 1;
}

/// A contribution to a copy that is open. `first`: the contribution opens it.
GN_INLINE unsigned gn_partitioned_contribute(const gn_about *a, bool first)
{
    const uint64_t everyone = gn_everyone(a->job->job.children);
    const gn_drop wrong = gn_about_add(a, first);
    if (wrong) return gn_about_drop(a, wrong);
    // For a parent that preempts.
    if (a->packet.priority > a->copy->priority) a->copy->priority = a->packet.priority;
    return a->copy->seen == everyone ? gn_partitioned_complete(a) : gn_about_added(a);
}

/// A GRADIENT without FLOAT: what comes of it, as gn_switch_rx() returns it.
GN_INLINE unsigned gn_partitioned_gradient(const gn_about *a)
{
    const gn_agg_packet *p = &a->packet;
    const gn_drop wrong = gn_about_from_child(a);
    if (wrong) return gn_about_drop(a, wrong);
    const bool opened = a->copy->state != GN_COPY_EMPTY && a->copy->psn == p->psn;
    if (opened && a->copy->seen & p->bitmap)
        return gn_partitioned_again(&(gn_about){.sw = a->sw,
                                                .port = a->port,
                                                .job = a->job,
                                                .job_index = a->job_index,
                                                .copy_index = a->copy_index,
                                                .copy = a->copy,
                                                .actions = a->actions});
    if (opened) return gn_partitioned_contribute(a, false);
    if (gn_copy_may_open(a->copy, gn_partitioned_beside(a), a->job->job.slots, p->psn))
        return gn_partitioned_contribute(a, true);
    const bool earlier = a->copy->state != GN_COPY_EMPTY && (int32_t)(p->psn - a->copy->psn) < 0;
    return gn_about_drop(a, earlier ? GN_DROP_STALE : GN_DROP_EARLY);
}

#endif
