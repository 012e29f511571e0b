// SPDX-License-Identifier: Apache-2.0
// What a switch does with a packet in any memory mode: drop it, answer it, or send it on.
#include "about.h"

unsigned gn_job_drop(gn_job_state *job, gn_action *actions, gn_drop reason)
{
    job->counters.drop[reason]++;
    actions[0] = (gn_action){.kind = GN_TO_NOBODY, .reason = reason};
    return 1;
}

gn_action *gn_switch_say(const gn_switch *sw, gn_action *action, gn_action_kind kind, gn_agg_type type,
                         unsigned job_index, const gn_copy *copy, uint32_t sums_index)
{
    const gn_switch_job *job = &gn_state_job(sw, job_index)->job;
    const bool up = kind == GN_TO_PARENT, to_ps = kind == GN_TO_PS;
    // To the parent, a whole sum is one contribution, this switch's.
    const bool as_one = gn_state_partitioned(&sw->state->config);
    *action =
        (gn_action){.kind = kind,
                    .port = to_ps ? job->ps_port
                            : up  ? job->parent_port
                                  : 0,
                    .job_index = (uint16_t)job_index,
                    .slot_index = sums_index,
                    .header = {.type = (uint8_t)type,
                               .flags = (uint8_t)(copy->flags | ((up || to_ps) && copy->poison ? GN_AGG_POISON : 0)),
                               .job = job->job,
                               .gen = job->gen,
                               .slot = (uint16_t)(copy->psn & (job->slots - 1u)),
                               .version = (copy->psn & job->slots) != 0,
                               .psn = copy->psn,
                               .bitmap = up      ? (as_one ? 1 : copy->seen) << job->parent_bit
                                         : to_ps ? copy->seen
                                                 : gn_everyone(job->children),
                               .level = (uint8_t)(job->level + (up && as_one)),
                               .fanin = (uint16_t)(up ? job->parent_fanin : gn_job_fanin(job)),
                               .priority = up || to_ps ? copy->priority : 0,
                               .exponent = copy->exponent,
                               .next = copy->next,
                               .values = copy->poison ? 0 : copy->values}};
    return action;
}

unsigned gn_about_forward(gn_about *a, gn_action_kind kind, uint16_t port, gn_agg_type type)
{
    a->actions[0] = (gn_action){
        .kind = kind, .port = port, .job_index = (uint16_t)a->job_index, .header = a->packet, .forward = true};
    a->actions[0].header.type = (uint8_t)type;
    return 1;
}
