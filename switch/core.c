// SPDX-License-Identifier: Apache-2.0
// The switch's entry: a packet comes in, actions come out. Here it is found out whether the packet
// is what it says, whose it is, and which copy of which slot it is for. Everything is checked
// before anything is changed.
#include "core.h"

#include <string.h>

#include "about.h"
#include "check.h"
#include "format.h"
#include "packet.h"
#include "partitioned.h"
#include "shared.h"
#include "usual.h"

const char *gn_drop_string(gn_drop reason)
{
    static const char *const text[GN_DROPS] = {
        [GN_DROP_NONE] = "not dropped",
        [GN_DROP_MALFORMED] = "malformed",
        [GN_DROP_TYPE] = "not a packet for a switch",
        [GN_DROP_JOB] = "no such job",
        [GN_DROP_GEN] = "from another start of the job",
        [GN_DROP_PORT] = "came from the wrong address",
        [GN_DROP_LEVEL] = "another level or number of workers",
        [GN_DROP_SLOT] = "slot and chunk do not match",
        [GN_DROP_STALE] = "of a chunk that everyone is done with",
        [GN_DROP_EARLY] = "more than one phase ahead",
        [GN_DROP_DUPLICATE] = "has been added already",
        [GN_DROP_FORMAT] = "another format, bound, exponent or number of values than the job's",
        [GN_DROP_STREAM] = "a corrupt compressed stream",
        [GN_DROP_UNEXPECTED] = "a result that nobody waits for",
    };
    return (unsigned)reason < GN_DROPS ? text[reason] : "unknown reason";
}

/// Values that the leader is to add, and its sums. They go past the slots.
static unsigned forward_floats(gn_about *a, bool overflowed)
{
    const gn_agg_packet *p = &a->packet;
    const gn_switch_job *job = &a->job->job;
    if (p->type != GN_AGG_GRADIENT && p->type != GN_AGG_RESULT) return gn_about_drop(a, GN_DROP_TYPE);
    if (!overflowed) return gn_about_drop(a, GN_DROP_UNEXPECTED);
    const bool from_parent = job->has_parent && a->port == job->parent_port, has_leader = job->leader < job->children;
    bool may = from_parent;
    if (p->type == GN_AGG_RESULT)
        may |= has_leader && a->port == job->port[job->leader];
    else
        for (unsigned i = 0; i < job->children; i++) may |= job->port[i] == a->port;
    if (!may || (from_parent && p->type == GN_AGG_GRADIENT && !has_leader)) return gn_about_drop(a, GN_DROP_PORT);
    gn_switch_counters *counters = &a->job->counters;
    counters->forwarded++;
    // Counted, because no slot shows that anyone waits.
    *(from_parent ? &counters->down_bytes : &counters->up_bytes) += a->bytes;
    if (p->type == GN_AGG_RESULT) {
        // Up to the root, which sends it to everyone.
        const bool up = job->has_parent && !from_parent;
        return gn_about_forward(a, up ? GN_TO_PARENT : GN_TO_GROUP, job->parent_port, p->type);
    }
    if (has_leader) return gn_about_forward(a, GN_TO_PORT, job->port[job->leader], p->type);
    return gn_about_forward(a, GN_TO_PARENT, job->parent_port, p->type);
}

/// Finds the copy that the packet is for, and without partitions its window.
static void find_copy(gn_about *a)
{
    const gn_agg_packet *p = &a->packet;
    if (gn_state_partitioned(&a->sw->state->config)) {
        gn_partitioned_find(a);
        return;
    }
    a->copy_index = gn_shared_address(a->sw, p->job, p->psn);
    a->copy = gn_state_copies(a->sw) + a->copy_index;
    a->window = gn_state_windows(a->sw) + a->job->first + p->slot;
}

/// A packet of a job that is here: its memory mode decides.
static unsigned dispatch(gn_about *a)
{
    const bool partitioned = gn_state_partitioned(&a->sw->state->config);
    const gn_drop wrong = gn_about_fits_job(a);
    if (wrong) return gn_about_drop(a, wrong);
    find_copy(a);
    if (a->packet.flags & GN_AGG_FLOAT)
        return forward_floats(a, partitioned ? gn_partitioned_overflowed(a) : gn_shared_overflowed(a));
    return partitioned ? gn_partitioned_rx(a) : gn_shared_rx(a);
}

/// Drops a packet that no job can be blamed for.
__attribute__((cold)) static unsigned drop(gn_switch *sw, gn_action *actions, gn_drop reason)
{
    sw->state->counters.packets++;
    sw->state->counters.drop[reason]++;
    actions[0] = (gn_action){.kind = GN_TO_NOBODY, .reason = reason};
    return 1;
}

unsigned gn_switch_rx_any(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram, size_t bytes,
                          gn_action *actions)
{
    gn_about a;  // the packet is read into it
    if (gn_agg_read(datagram, bytes, &a.packet)) return drop(sw, actions, GN_DROP_MALFORMED);
    const unsigned index = sw->state->job_of[a.packet.job];
    if (!index) return drop(sw, actions, GN_DROP_JOB);
    a.sw = sw;
    a.now_ns = now_ns;
    a.bytes = bytes;
    a.port = port;
    a.job = gn_state_job(sw, index - 1);
    a.job_index = index - 1;
    a.actions = actions;
    return dispatch(&a);
}

/// As gn_switch_rx(). `check` computes the CRC of a header.
GN_INLINE unsigned rx(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram, size_t bytes,
                      gn_action *actions, uint32_t (*check)(const uint8_t *header))
{
    unsigned count;
    if (gn_usual_rx(sw, now_ns, port, datagram, bytes, actions, check, &count)) return count;
    return gn_switch_rx_any(sw, now_ns, port, datagram, bytes, actions);
}

__attribute__((noinline)) static unsigned rx_anywhere(gn_switch *sw, uint64_t now_ns, uint16_t port,
                                                      const void *datagram, size_t bytes, gn_action *actions)
{
    return rx(sw, now_ns, port, datagram, bytes, actions, gn_agg_check);
}

#if defined(__x86_64__)
GN_PCLMUL static unsigned rx_pclmul(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram, size_t bytes,
                                    gn_action *actions)
{
    return rx(sw, now_ns, port, datagram, bytes, actions, gn_check_pclmul);
}
#endif

unsigned gn_switch_rx(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram, size_t bytes,
                      gn_action *actions)
{
#if defined(__x86_64__)
    if (gn_check_has_pclmul()) return rx_pclmul(sw, now_ns, port, datagram, bytes, actions);
#endif
    return rx_anywhere(sw, now_ns, port, datagram, bytes, actions);
}

size_t gn_action_write(const gn_switch *sw, const gn_action *action, void *out, size_t capacity)
{
    if (action->kind == GN_TO_NOBODY) return 0;
    const gn_agg_packet *p = &action->header;
    const gn_switch_job *job = &sw->state->jobs[action->job_index].job;
    if (action->forward) return gn_agg_write_again(p, out, capacity);
    const int32_t *sums = gn_state_sums(sw, action->slot_index);
    const bool down = action->kind == GN_TO_GROUP || action->kind == GN_TO_PORT;
    // Partial sums go up in 32 bits: so no tree of switches rounds more often than another.
    if (down && p->flags & GN_AGG_HALVES && p->values)
        return gn_agg_write_halves(p, &sw->codec[action->job_index], sums, out, capacity);
    if (gn_agg_in_blocks(job->format) || !p->values) return gn_agg_write_words(p, sums, out, capacity);
    const gn_codec *codec = gn_state_codec(sw, action->job_index, job->level || !down);
    return gn_agg_write_stream(p, codec, sums, NULL, out, capacity);
}
