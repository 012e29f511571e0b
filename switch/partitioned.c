// SPDX-License-Identifier: Apache-2.0
// Memory mode partitioned: packets from the parent, and contributions that come again.
#include "partitioned.h"

#include <string.h>

/// Sends the sum to a parent that may have it already.
static unsigned partial_again(const gn_about *a, gn_agg_type type)
{
    a->job->counters.partials_again++;
    gn_switch_say(a->sw, a->actions, GN_TO_PARENT, type, a->job_index, a->copy, a->copy_index)->header.flags |=
        GN_AGG_RESENT | GN_AGG_LATE;
    return 1;
}

unsigned gn_partitioned_again(const gn_about *a)
{
    if (a->copy->state == GN_COPY_UP) return partial_again(a, GN_AGG_GRADIENT);
    if (a->copy->state != GN_COPY_DONE) return gn_about_drop(a, GN_DROP_DUPLICATE);
    a->job->counters.repeated++;
    gn_action *action = gn_partitioned_tell(a, GN_TO_PORT);
    action->port = a->port;
    action->header.flags |= GN_AGG_RESENT;
    return 1;
}

/// Puts the parent's sums in place of this switch's own. A part of them may turn out to have no
/// integer. Then the own ones stay, for the parent may still need them.
static gn_added take_sums(const gn_about *a)
{
    const gn_agg_packet *p = &a->packet;
    const gn_codec *codec = gn_state_codec(a->sw, a->job_index, true);
    int32_t *own = gn_state_sums(a->sw, a->copy_index), fresh[GN_AGG_VALUES_MAX];
    const bool sure = !p->shimmed && !p->halves;
    const gn_added added = gn_sums_add(sure ? own : fresh, p, a->job->job.format, codec, true);
    if (!sure && added == GN_ADDED) memcpy(own, fresh, sizeof *own * p->values);
    return added;
}

/// From the parent: the whole sum, or that there is none. Or its parameter server asks for this
/// switch's part.
static unsigned from_parent(const gn_about *a)
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
        const gn_added added = p->values ? take_sums(a) : GN_ADDED;
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
    // The parent had to be asked again: how long that took says nothing about a round trip.
    gn_partitioned_tell(a, GN_TO_GROUP)->header.flags |= p->flags & GN_AGG_RESENT;
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
        return gn_partitioned_gradient(a);
    case GN_AGG_RESULT:
    case GN_AGG_OVERFLOW:
    case GN_AGG_REMIND_WORKER:
        return from_parent(a);
    default:
        return gn_about_drop(a, GN_DROP_TYPE);
    }
}
