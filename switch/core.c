// SPDX-License-Identifier: Apache-2.0
// One packet: is it what it says, for whom, and which copy of which slot does it belong to? Everything is checked before anything is
// changed.
#include <string.h>

#include "state.h"

/// What a packet has been found to be about.
typedef struct about {
    gn_switch *sw;
    uint64_t now_ns;
    const gn_agg_packet *packet;
    gn_job_state *job;
    unsigned job_index;
    uint32_t copy_index;
    gn_copy *copy, *other;  ///< its copy, and the slot's other one
    gn_action *actions;
} about;

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
        [GN_DROP_STREAM] = "a compressed stream that is broken",
        [GN_DROP_UNEXPECTED] = "a result that nobody waits for",
    };
    return (unsigned)reason < GN_DROPS ? text[reason] : "unknown reason";
}

static unsigned drop(gn_switch_counters *counters, gn_action *actions, gn_drop reason)
{
    counters->drop[reason]++;
    actions[0] = (gn_action){.kind = GN_TO_NOBODY, .reason = reason};
    return 1;
}

static uint64_t everyone(const gn_switch_job *job)
{
    return job->children == 64 ? ~0ull : (1ull << job->children) - 1;
}

/// A packet of this switch's own about the copy: the first action, which is written in place, for it is large.
static gn_action *say(const about *a, gn_action_kind kind, gn_agg_type type)
{
    const gn_switch_job *job = &a->job->job;
    const gn_copy *copy = a->copy;
    const bool up = kind == GN_TO_PARENT;
    gn_action *action = a->actions;
    memset(action, 0, sizeof *action);
    action->kind = kind;
    action->port = job->parent_port;
    action->job_index = (uint16_t)a->job_index;
    action->slot_index = a->copy_index;
    gn_agg_packet *p = &action->header;
    p->type = (uint8_t)type;
    p->flags = (uint8_t)((copy->marked ? GN_AGG_ECN : 0) | (up && copy->poison ? GN_AGG_POISON : 0));
    p->job = job->job;
    p->gen = job->gen;
    p->slot = a->packet->slot;
    p->version = a->packet->version;
    p->psn = copy->psn;
    p->bitmap = up ? 1ull << job->parent_bit : everyone(job);
    p->level = (uint8_t)(job->level + up);
    p->fanin = up ? job->parent_fanin : job->children;
    p->exponent = copy->exponent;
    p->next = copy->next;
    p->values = copy->poison ? 0 : copy->values;
    return action;
}

/// The copy holds a result, or knows that there is none in integers.
static void tell_result(const about *a, gn_action_kind kind, uint16_t port)
{
    say(a, kind, a->copy->poison ? GN_AGG_OVERFLOW : GN_AGG_RESULT)->port = port;
}

/// All children have contributed.
static unsigned complete(about *a)
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

/// From a child that has contributed: what it waits for may have been lost.
static unsigned again(about *a, uint16_t port)
{
    gn_switch_counters *counters = &a->job->counters;
    if (a->copy->state == GN_COPY_DONE) {
        counters->repeated++;
        tell_result(a, GN_TO_PORT, port);
        return 1;
    }
    if (a->copy->state == GN_COPY_UP) {
        counters->partials_again++;
        say(a, GN_TO_PARENT, GN_AGG_GRADIENT)->header.flags |= GN_AGG_RESENT;
        return 1;
    }
    return drop(counters, a->actions, GN_DROP_DUPLICATE);
}

static bool fits_copy(const about *a)
{
    const gn_agg_packet *p = a->packet;
    const bool says_nothing = p->flags & GN_AGG_POISON, nothing_said = a->copy->poison && !a->copy->values;
    if (p->values != a->copy->values && !says_nothing && !nothing_said) return false;
    return a->job->job.format == GN_AGG_INT32 ? p->exponent == a->copy->exponent : true;
}

/// A contribution to a copy that is open, or (`first`) that is to be opened.
static unsigned contribute(about *a, bool first)
{
    const gn_agg_packet *p = a->packet;
    gn_switch_counters *counters = &a->job->counters;
    gn_copy *copy = a->copy;
    const bool poison = p->flags & GN_AGG_POISON;
    if (!first && !fits_copy(a)) return drop(counters, a->actions, GN_DROP_FORMAT);

    gn_added added = poison ? GN_ADDED_POISON : GN_ADDED;
    if (!poison && p->values && (first || !copy->poison)) {
        added = gn_sums_add(gn_state_sums(a->sw, a->copy_index), p, &a->job->job, &a->sw->codec[a->job_index], first);
        if (added == GN_ADD_FORMAT) return drop(counters, a->actions, GN_DROP_FORMAT);
        if (added == GN_ADD_STREAM) return drop(counters, a->actions, GN_DROP_STREAM);
    }
    if (first)
        *copy = (gn_copy){.psn = p->psn,
                          .since_ns = a->now_ns,
                          .values = p->values,
                          .state = GN_COPY_OPEN,
                          .exponent = p->exponent,
                          .next = p->next};
    copy->seen |= p->bitmap;
    copy->poison |= added == GN_ADDED_POISON;
    copy->marked |= (p->flags & GN_AGG_ECN) != 0;
    if (!copy->values) copy->values = p->values;  // the first had only said that it is poisoned
    if (p->next > copy->next) copy->next = p->next;
    counters->added++;
    counters->values += p->values;
    if (copy->seen == everyone(&a->job->job)) return complete(a);
    a->actions[0] = (gn_action){.kind = GN_TO_NOBODY, .reason = GN_DROP_NONE};
    return 1;
}

/// Whether the copy may be given to chunk psn: it is the job's first there, or the next after one that everyone has the result of.
static bool may_open(const about *a)
{
    const uint32_t slots = a->job->job.slots, psn = a->packet->psn;
    if (!a->packet->version && a->copy->state == GN_COPY_EMPTY) return psn == a->packet->slot;
    const bool has_before = a->other->state == GN_COPY_DONE && a->other->psn + slots == psn;
    if (a->copy->state == GN_COPY_EMPTY) return has_before && psn == slots + a->packet->slot;
    return has_before && a->copy->state == GN_COPY_DONE;
}

static unsigned gradient(about *a, uint16_t port)
{
    const gn_agg_packet *p = a->packet;
    gn_switch_counters *counters = &a->job->counters;
    const gn_switch_job *job = &a->job->job;
    if (p->level != job->level || p->fanin != job->children) return drop(counters, a->actions, GN_DROP_LEVEL);
    if (p->bitmap & (p->bitmap - 1)) return drop(counters, a->actions, GN_DROP_LEVEL);
    if (job->port[__builtin_ctzll(p->bitmap)] != port) return drop(counters, a->actions, GN_DROP_PORT);
    counters->up_bytes += GN_AGG_HEADER + (p->shimmed ? 8u : 0u) + p->payload_bytes;
    if (a->copy->state != GN_COPY_EMPTY && a->copy->psn == p->psn)
        return a->copy->seen & p->bitmap ? again(a, port) : contribute(a, false);
    if (may_open(a)) return contribute(a, true);
    const bool earlier = a->copy->state != GN_COPY_EMPTY && (int32_t)(p->psn - a->copy->psn) < 0;
    return drop(counters, a->actions, earlier ? GN_DROP_STALE : GN_DROP_EARLY);
}

/// The parent's: the whole sum, or that there is none.
static unsigned result(about *a, uint16_t port)
{
    const gn_agg_packet *p = a->packet;
    gn_switch_counters *counters = &a->job->counters;
    const gn_switch_job *job = &a->job->job;
    gn_copy *copy = a->copy;
    if (!job->has_parent || port != job->parent_port) return drop(counters, a->actions, GN_DROP_PORT);
    if (p->level != job->level + 1) return drop(counters, a->actions, GN_DROP_LEVEL);
    if (copy->psn != p->psn || copy->state != GN_COPY_UP) return drop(counters, a->actions, GN_DROP_UNEXPECTED);
    const bool overflow = p->type == GN_AGG_OVERFLOW;
    if (!overflow) {
        if (copy->poison || p->values != copy->values) return drop(counters, a->actions, GN_DROP_FORMAT);
        gn_added added = GN_ADDED;
        if (p->values)
            added = gn_sums_add(gn_state_sums(a->sw, a->copy_index), p, job, &a->sw->codec[a->job_index], true);
        if (added == GN_ADD_FORMAT) return drop(counters, a->actions, GN_DROP_FORMAT);
        if (added != GN_ADDED) return drop(counters, a->actions, GN_DROP_STREAM);
    }
    counters->down_bytes += GN_AGG_HEADER + (p->shimmed ? 8u : 0u) + p->payload_bytes;
    counters->results++;
    counters->overflows += overflow;
    copy->poison = overflow;
    copy->state = GN_COPY_DONE;
    copy->exponent = p->exponent;
    copy->next = p->next;
    copy->marked |= (p->flags & GN_AGG_ECN) != 0;
    tell_result(a, GN_TO_GROUP, 0);
    return 1;
}

/// Values that are to be added by the leader, and its sums: past the slots.
static unsigned forward(about *a, uint16_t port)
{
    const gn_agg_packet *p = a->packet;
    gn_switch_counters *counters = &a->job->counters;
    const gn_switch_job *job = &a->job->job;
    if (a->copy->psn != p->psn || !a->copy->poison) return drop(counters, a->actions, GN_DROP_UNEXPECTED);
    const bool from_parent = job->has_parent && port == job->parent_port, has_leader = job->leader < job->children;
    bool may = from_parent;
    if (p->type == GN_AGG_RESULT)
        may |= has_leader && port == job->port[job->leader];
    else
        for (unsigned i = 0; i < job->children; i++) may |= job->port[i] == port;
    if (!may || (from_parent && p->type == GN_AGG_GRADIENT && !has_leader))
        return drop(counters, a->actions, GN_DROP_PORT);
    gn_action action = {.kind = GN_TO_PORT, .job_index = (uint16_t)a->job_index, .header = *p, .forward = true};
    if (p->type == GN_AGG_RESULT) {
        // Up to the root, which gives it to everyone.
        action.kind = job->has_parent && !from_parent ? GN_TO_PARENT : GN_TO_GROUP;
        action.port = job->parent_port;
    } else if (has_leader) {
        action.port = job->port[job->leader];
    } else {
        action.kind = GN_TO_PARENT;
        action.port = job->parent_port;
    }
    counters->forwarded++;
    a->actions[0] = action;
    return 1;
}

static unsigned dispatch(about *a, uint16_t port)
{
    const gn_agg_packet *p = a->packet;
    gn_switch_counters *counters = &a->job->counters;
    const gn_switch_job *job = &a->job->job;
    counters->packets++;
    if (p->gen != job->gen) return drop(counters, a->actions, GN_DROP_GEN);
    if (p->slot != (p->psn & (job->slots - 1u)) || p->version != ((p->psn & job->slots) != 0))
        return drop(counters, a->actions, GN_DROP_SLOT);
    if (p->values > a->sw->state->config.slot_values) return drop(counters, a->actions, GN_DROP_FORMAT);
    if (job->format != GN_AGG_INT32 && p->next != job->bound_exp) return drop(counters, a->actions, GN_DROP_FORMAT);
    const uint32_t copy = 2u * p->slot + p->version;
    a->copy_index = a->job->first_copy + copy;
    a->copy = gn_state_copies(a->sw) + a->copy_index;
    a->other = gn_state_copies(a->sw) + (a->copy_index ^ 1u);
    if (p->flags & GN_AGG_FLOAT)
        return p->type == GN_AGG_GRADIENT || p->type == GN_AGG_RESULT ? forward(a, port)
                                                                      : drop(counters, a->actions, GN_DROP_TYPE);
    if (p->type == GN_AGG_GRADIENT) return gradient(a, port);
    if (p->type == GN_AGG_RESULT || p->type == GN_AGG_OVERFLOW) return result(a, port);
    return drop(counters, a->actions, GN_DROP_TYPE);
}

unsigned gn_switch_rx(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram, size_t bytes,
                      gn_action *actions)
{
    gn_agg_packet packet;
    gn_switch_counters *counters = &sw->state->counters;
    counters->packets++;
    if (gn_agg_parse(datagram, bytes, &packet)) return drop(counters, actions, GN_DROP_MALFORMED);
    const unsigned index = sw->state->job_of[packet.job];
    if (!index) return drop(counters, actions, GN_DROP_JOB);
    about a = {.sw = sw,
               .now_ns = now_ns,
               .packet = &packet,
               .job = &sw->state->jobs[index - 1],
               .job_index = index - 1,
               .actions = actions};
    return dispatch(&a, port);
}

size_t gn_action_write(const gn_switch *sw, const gn_action *action, void *out, size_t capacity)
{
    if (action->kind == GN_TO_NOBODY) return 0;
    const gn_agg_packet *p = &action->header;
    const gn_switch_job *job = &sw->state->jobs[action->job_index].job;
    if (action->forward) return gn_agg_write_words(p, p->payload, out, capacity);
    const int32_t *sums = gn_state_sums(sw, action->slot_index);
    if (job->format == GN_AGG_INT32 || !p->values) return gn_agg_write_words(p, sums, out, capacity);
    return gn_agg_write_stream(p, &sw->codec[action->job_index], sums, NULL, out, capacity);
}
