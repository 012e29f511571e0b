// SPDX-License-Identifier: Apache-2.0
// What must hold in a switch whose slots belong to nobody, after each packet.
#include "aggregate_net.h"

#include <string.h>

#include "switch/shared.h"

static const gn_window *window_of(const gn_switch *sw, const gn_copy *copy)
{
    const gn_job_state *job = &sw->state->jobs[copy->job];
    return gn_state_windows(sw) + job->first + (copy->psn & (job->job.slots - 1u));
}

/// Checks a slot that is held. A chunk under way holds it, at its address. Its contributions are
/// nowhere else.
static void check_holder(const gn_switch *sw, uint32_t at)
{
    const gn_copy *copy = gn_state_copies(sw) + at;
    const gn_job_state *job = &sw->state->jobs[copy->job];
    SUITE_CHECK(job->used, "job->used");
    SUITE_CHECK(copy->state == GN_COPY_OPEN, "copy->state == GN_COPY_OPEN");
    SUITE_CHECK(gn_shared_address(sw, job->job.job, copy->psn) == at,
                "gn_shared_address(sw, job->job.job, copy->psn) == at");
    SUITE_CHECK(window_of(sw, copy)->psn == copy->psn, "window_of(sw, copy)->psn == copy->psn");
    SUITE_CHECK(!(window_of(sw, copy)->gone & copy->seen), "a contribution is at the switch and was sent on");
    SUITE_CHECK(copy->seen != 0, "copy->seen != 0");
}

/// Checks what has become of a slot that was held. It is still held, or its sums go to the
/// parameter server or the parent, or its chunk is finished.
static void check_change(const gn_switch *sw, const gn_copy *was, const gn_copy *is, const gn_action *actions,
                         unsigned count)
{
    if (is->state == GN_COPY_OPEN && is->psn == was->psn && is->job == was->job) {
        SUITE_CHECK(is->priority <= was->priority, "priority has risen while the slot was held");
        SUITE_CHECK((is->seen & was->seen) == was->seen, "a contribution has got lost");
        return;
    }
    if (window_of(sw, was)->psn != was->psn) return;  // a result has passed
    const gn_switch_job *job = &sw->state->jobs[was->job].job;
    for (unsigned i = 0; i < count; i++) {
        const gn_agg_packet *p = &actions[i].header;
        const uint64_t bits = job->has_parent ? p->bitmap >> job->parent_bit : p->bitmap;
        if (actions[i].kind == (job->has_parent ? GN_TO_PARENT : GN_TO_PS) && p->psn == was->psn &&
            actions[i].job_index == was->job && !actions[i].forward) {
            SUITE_CHECK(p->type == GN_AGG_EVICTED || (job->has_parent && p->type == GN_AGG_GRADIENT),
                        "p->type == GN_AGG_EVICTED || (job->has_parent && p->type == GN_AGG_GRADIENT)");
            SUITE_CHECK((bits & was->seen) == was->seen, "a contribution has got lost with its slot");
            SUITE_CHECK((window_of(sw, was)->gone & bits) == bits, "what has gone has been forgotten");
            SUITE_CHECK(p->priority <= was->priority, "priority has risen on the way up");
            return;
        }
    }
    ck_abort_msg("a slot was emptied, and its sums went nowhere");
}

/// Copies, and behind them windows, without what is ahead of them and behind.
void net_remember(const gn_switch *sw, void *before)
{
    const gn_switch_config *config = &sw->state->config;
    memcpy(before, gn_state_copies(sw),
           sizeof(gn_copy) * gn_state_copy_count(config) + sizeof(gn_window) * gn_state_window_count(config));
}

void net_check_shared(const gn_switch *sw, const void *before, const gn_action *actions, unsigned count)
{
    const size_t slots = gn_state_copy_count(&sw->state->config);
    const gn_copy *copies = before;
    const gn_window *windows = (const void *)(copies + slots);
    for (uint32_t i = 0; i < slots; i++) {
        const gn_copy *was = copies + i, *is = gn_state_copies(sw) + i;
        if (is->state != GN_COPY_EMPTY) check_holder(sw, i);
        if (was->state != GN_COPY_EMPTY) check_change(sw, was, is, actions, count);
    }
    for (size_t i = 0; i < gn_state_window_count(&sw->state->config); i++) {
        const gn_window *was = windows + i, *is = gn_state_windows(sw) + i;
        if (is->psn == was->psn) SUITE_CHECK((is->gone & was->gone) == was->gone, "what has gone has come back");
    }
}
