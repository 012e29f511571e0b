// SPDX-License-Identifier: Apache-2.0
// Memory mode partitioned: each job has slots of its own, in two copies. A result stays in its copy until all have contributed to the other one.
#include "about.h"
#include "format.h"

static gn_action *say(const gn_about *a, gn_action_kind kind, gn_agg_type type)
{
    return gn_about_say(a, kind, type, a->job_index, a->copy, a->copy_index);
}

/// The copy holds a result, or knows that there is none in integers.
static void tell_result(const gn_about *a, gn_action_kind kind, uint16_t port)
{
    say(a, kind, a->copy->poison ? GN_AGG_OVERFLOW : GN_AGG_RESULT)->port = port;
}

/// All children have contributed.
static unsigned complete(gn_about *a)
{
    gn_switch_counters *counters = &a->job->counters;
    if (a->job->job.has_parent) {
        a->copy->state = GN_COPY_UP;
        counters->partials++;
        say(a, GN_TO_PARENT, GN_AGG_GRADIENT);
    } else {
        a->copy->state = GN_COPY_DONE;
        counters->results++;
        counters->overflows += a->copy->poison;
        tell_result(a, GN_TO_GROUP, 0);
    }
    return 1;
}

/// To a parent that may have had it already.
static unsigned partial_again(gn_about *a, gn_agg_type type)
{
    a->job->counters.partials_again++;
    say(a, GN_TO_PARENT, type)->header.flags |= GN_AGG_RESENT | GN_AGG_LATE;
    return 1;
}

/// From a child that has contributed: what it waits for may have been lost.
static unsigned again(gn_about *a)
{
    if (a->copy->state == GN_COPY_UP) return partial_again(a, GN_AGG_GRADIENT);
    if (a->copy->state != GN_COPY_DONE) return gn_about_drop(a, GN_DROP_DUPLICATE);
    a->job->counters.repeated++;
    tell_result(a, GN_TO_PORT, a->port);
    a->actions[0].header.flags |= GN_AGG_RESENT;
    return 1;
}

/// A contribution to a copy that is open, or (`first`) that is to be opened.
static unsigned contribute(gn_about *a, bool first)
{
    const gn_drop wrong = gn_about_add(a, first);
    if (wrong) return gn_about_drop(a, wrong);
    if (a->packet.priority > a->copy->priority) a->copy->priority = a->packet.priority;  // for a parent that preempts
    return a->copy->seen == gn_everyone(a->job->job.children) ? complete(a) : gn_about_added(a);
}

static unsigned gradient(gn_about *a)
{
    const gn_agg_packet *p = &a->packet;
    const gn_drop wrong = gn_about_from_child(a);
    if (wrong) return gn_about_drop(a, wrong);
    const bool opened = a->copy->state != GN_COPY_EMPTY && a->copy->psn == p->psn;
    if (opened && a->copy->seen & p->bitmap) return again(a);
    if (opened || gn_copy_may_open(a->copy, a->other, a->job->job.slots, p)) return contribute(a, !opened);
    const bool earlier = a->copy->state != GN_COPY_EMPTY && (int32_t)(p->psn - a->copy->psn) < 0;
    return gn_about_drop(a, earlier ? GN_DROP_STALE : GN_DROP_EARLY);
}

/// The parent's: the whole sum, or that there is none; or its parameter server asks for this switch's part.
static unsigned from_parent(gn_about *a)
{
    const gn_agg_packet *p = &a->packet;
    gn_switch_counters *counters = &a->job->counters;
    const gn_switch_job *job = &a->job->job;
    gn_copy *copy = a->copy;
    if (!job->has_parent || a->port != job->parent_port) return gn_about_drop(a, GN_DROP_PORT);
    if (p->level != job->level + 1) return gn_about_drop(a, GN_DROP_LEVEL);
    if (copy->psn != p->psn || copy->state != GN_COPY_UP) return gn_about_drop(a, GN_DROP_UNEXPECTED);
    if (p->type == GN_AGG_REMIND_WORKER) return partial_again(a, GN_AGG_EVICTED);
    const bool overflow = p->type == GN_AGG_OVERFLOW;
    if (!overflow) {
        if (copy->poison || p->values != copy->values) return gn_about_drop(a, GN_DROP_FORMAT);
        gn_added added = GN_ADDED;
        if (p->values)
            added = gn_sums_add(gn_state_sums(a->sw, a->copy_index), p, job->format,
                                gn_state_codec(a->sw, a->job_index, true), true);
        if (added == GN_ADD_FORMAT) return gn_about_drop(a, GN_DROP_FORMAT);
        if (added != GN_ADDED) return gn_about_drop(a, GN_DROP_STREAM);
    }
    counters->down_bytes += a->bytes;
    counters->results++;
    counters->overflows += overflow;
    copy->poison = overflow;
    copy->state = GN_COPY_DONE;
    copy->exponent = p->exponent;
    copy->next = p->next;
    copy->flags |= p->flags & GN_COPY_FLAGS;
    tell_result(a, GN_TO_GROUP, 0);
    return 1;
}

bool gn_partitioned_overflowed(const gn_about *a)
{
    return a->copy->psn == a->packet.psn && a->copy->poison;
}

unsigned gn_partitioned_rx(gn_about *a)
{
    switch (a->packet.type) {
    case GN_AGG_GRADIENT:
        return gradient(a);
    case GN_AGG_RESULT:
    case GN_AGG_OVERFLOW:
    case GN_AGG_REMIND_WORKER:
        return from_parent(a);
    default:
        return gn_about_drop(a, GN_DROP_TYPE);
    }
}
