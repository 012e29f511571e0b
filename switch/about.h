// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_ABOUT_H
#define GRADNIC_SWITCH_ABOUT_H
/// One packet at a switch, and what the switch has found out about it. core.c finds it out. Then it
/// asks the memory mode (partitioned.h, shared.h) what to do.

#include "format.h"
#include "state.h"

typedef struct gn_about {
    gn_switch *sw;
    uint64_t now_ns;
    gn_agg_packet packet;
    size_t bytes;   ///< of the datagram
    uint16_t port;  ///< where it came in
    gn_job_state *job;
    unsigned job_index;
    uint32_t copy_index;
    gn_copy *copy;
    gn_window *window;  ///< not in mode partitioned
    gn_action *actions;
} gn_about;

/// Drops a packet of the job. The only action says so. @return 1
__attribute__((cold)) unsigned gn_job_drop(gn_job_state *job, gn_action *actions, gn_drop reason);

GN_INLINE unsigned gn_about_drop(const gn_about *a, gn_drop reason)
{
    return gn_job_drop(a->job, a->actions, reason);
}

/// Whether the packet can belong to the job at all. Its memory mode may still refuse it.
/// @return the reason to drop it, or GN_DROP_NONE
GN_INLINE gn_drop gn_about_fits_job(const gn_about *a)
{
    const gn_agg_packet *p = &a->packet;
    const gn_switch_job *job = &a->job->job;
    a->job->counters.packets++;
    if (p->gen != job->gen) return GN_DROP_GEN;
    if (!gn_psn_fits(p, job->slots)) return GN_DROP_SLOT;
    if (p->values > a->sw->state->config.slot_values) return GN_DROP_FORMAT;
    if (!gn_agg_in_blocks(job->format) && p->next != job->bound_exp) return GN_DROP_FORMAT;
    return GN_DROP_NONE;
}

/// Whether the packet's stream is in the exact codec. Streams between switches are. But where slots
/// are shared, a packet that no switch below has added is still a worker's.
GN_INLINE bool gn_about_is_exact(const gn_about *a)
{
    const gn_switch_job *job = &a->job->job;
    if (!a->packet.shimmed) return false;  // integers are what they are
    return job->level || (job->bits && a->packet.compressed && a->packet.profile == a->sw->exact[a->job_index].profile);
}

/// Adds the packet's values to its copy and counts them. `first`: it opens the copy.
/// @return the reason to drop it, or GN_DROP_NONE
GN_INLINE gn_drop gn_about_add(const gn_about *a, bool first)
{
    const gn_codec *codec = gn_state_codec(a->sw, a->job_index, gn_about_is_exact(a));
    const gn_added added = gn_copy_add(a->copy, gn_state_sums(a->sw, a->copy_index), &a->packet, a->job->job.format,
                                       codec, a->now_ns, first);
    if (added == GN_ADD_FORMAT) return GN_DROP_FORMAT;
    if (added == GN_ADD_STREAM) return GN_DROP_STREAM;
    a->job->counters.added++;
    a->job->counters.values += a->packet.values;
    return GN_DROP_NONE;
}

/// The packet has been added, and nothing is to be sent. @return 1
GN_INLINE unsigned gn_about_added(const gn_about *a)
{
    a->actions[0].kind = GN_TO_NOBODY;  // and no more than that: an action is large
    a->actions[0].reason = GN_DROP_NONE;
    return 1;
}

/// Makes `action` a packet of the switch's own about a copy of job `job_index`. A packet to the
/// parent or the parameter server has the bits that the sum stands for there. @return `action`
gn_action *gn_switch_say(const gn_switch *sw, gn_action *action, gn_action_kind kind, gn_agg_type type,
                         unsigned job_index, const gn_copy *copy, uint32_t sums_index);

/// The packet itself goes on, as the only action. @return 1
unsigned gn_about_forward(gn_about *a, gn_action_kind kind, uint16_t port, gn_agg_type type);

/// Whether the packet came from the child that it names, and is for this switch.
/// @return the reason to drop it, or GN_DROP_NONE
GN_INLINE gn_drop gn_about_from_child(const gn_about *a)
{
    const gn_agg_packet *p = &a->packet;
    const gn_switch_job *job = &a->job->job;
    if (p->level != job->level || p->fanin != gn_job_fanin(job) || !p->bitmap) return GN_DROP_LEVEL;
    const unsigned child = gn_job_child_of(job, p->bitmap);
    if (p->bitmap & ~gn_job_child_bits(job, child)) return GN_DROP_LEVEL;
    if (job->port[child] != a->port) return GN_DROP_PORT;
    a->job->counters.up_bytes += a->bytes;
    return GN_DROP_NONE;
}

#endif
