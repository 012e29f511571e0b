// SPDX-License-Identifier: Apache-2.0
#include "mirror.h"

#include "state.h"

static gn_copy *copy_of(const gn_switch *sw, const gn_mirrored *what)
{
    return gn_state_copies(sw) + 2u * what->slot + what->version;
}

/// Whether the packet was found to be from the child that it names.
static bool from_child(const gn_switch *sw, const gn_agg_packet *packet, gn_drop reason)
{
    if (reason == GN_DROP_FORMAT) return packet->values <= sw->state->config.slot_values;
    return reason == GN_DROP_NONE || reason == GN_DROP_STALE || reason == GN_DROP_EARLY || reason == GN_DROP_DUPLICATE;
}

static void enter_copy(gn_switch *sw, uint64_t now_ns, const gn_mirrored *what)
{
    gn_copy *copy = copy_of(sw, what);
    const bool first = copy->state == GN_COPY_EMPTY || copy->psn != what->psn;
    *copy = (gn_copy){.seen = what->seen,
                      .since_ns = first ? now_ns : copy->since_ns,
                      .psn = what->psn,
                      .values = what->values,
                      .state = what->whole ? GN_COPY_DONE : GN_COPY_OPEN,
                      .poison = what->poison,
                      .flags = what->flags,
                      .exponent = what->exponent,
                      .next = what->next,
                      .priority = what->priority};
}

void gn_mirror_enter(gn_switch *sw, uint64_t now_ns, size_t bytes, const gn_agg_packet *packet, const gn_mirrored *what)
{
    const bool nobodys = what->reason == GN_DROP_MALFORMED || what->reason == GN_DROP_JOB;
    gn_switch_counters *c = nobodys ? &sw->state->counters : &sw->state->jobs[what->job_index].counters;
    c->packets++;
    if (what->reason) c->drop[what->reason]++;
    if (!nobodys && from_child(sw, packet, what->reason)) c->up_bytes += bytes;
    if (what->reason) return;
    if (!what->added) {
        c->repeated++;
        return;
    }
    enter_copy(sw, now_ns, what);
    c->added++;
    c->values += packet->values;
    c->results += what->whole;
    c->overflows += what->whole && what->poison;
}

gn_mirrored gn_mirror_expected(const gn_switch *sw, const gn_mirrored *what)
{
    const gn_copy *copy = copy_of(sw, what);
    return (gn_mirrored){.added = what->added,
                         .job_index = what->job_index,
                         .slot = what->slot,
                         .version = what->version,
                         .whole = copy->state == GN_COPY_DONE,
                         .poison = copy->poison,
                         .seen = copy->seen,
                         .psn = copy->psn,
                         .values = copy->values,
                         .priority = copy->priority,
                         .flags = copy->flags,
                         .exponent = copy->exponent,
                         .next = copy->next};
}

int gn_mirror_job_index(const gn_switch *sw, uint16_t job)
{
    return sw->state->job_of[job] - 1;
}

uint32_t gn_mirror_first_slot(const gn_switch *sw, unsigned job_index)
{
    return sw->state->jobs[job_index].first / 2;
}

uint16_t gn_mirror_slot_values(const gn_switch *sw)
{
    return sw->state->config.slot_values;
}
