// SPDX-License-Identifier: Apache-2.0
#include "small_world.h"

#include <stdlib.h>
#include <string.h>

#include "switch/format.h"
#include "unit/suite.h"
#include "visited.h"

const small_tree *small_shape;
gn_switch small_switch[SWITCHES];
bool small_has_ps;
static size_t memory_bytes;  // of the slots

static unsigned leaf_of(unsigned worker)
{
    unsigned leaf = small_shape->switches > 1 ? small_shape->switches - 2 : 0;
    while (small_shape->first[leaf] > worker) leaf--;
    return leaf;
}

/// Workers at a leaf, or below a root.
static unsigned workers_of(unsigned number)
{
    if (number + 1 == small_shape->switches) return small_shape->workers;
    return (number + 2 < small_shape->switches ? small_shape->first[number + 1] : small_shape->workers) -
           small_shape->first[number];
}

static void own_ps(small_ps *ps)
{
    ps->state.entries = ps->entries;
    ps->state.sums = ps->sums;
    ps->state.due = ps->due;
}

static uint64_t *added_by_first(void)
{
    return &small_switch[0].state->jobs[0].counters.added;
}

uint64_t small_added(void)
{
    return *added_by_first();
}

void small_put_switches(const small *s)
{
    for (unsigned i = 0; i < small_shape->switches; i++)
        memcpy(gn_state_copies(&small_switch[i]), s->memory[i], memory_bytes);
    *added_by_first() = s->added;
}

static void get_switches(small *s)
{
    for (unsigned i = 0; i < small_shape->switches; i++)
        memcpy(s->memory[i], gn_state_copies(&small_switch[i]), memory_bytes);
    s->added = *added_by_first();
}

small *small_clone(const small *from)
{
    small *to = malloc(sizeof *to);
    SUITE_CHECK(to, "no memory");
    memcpy(to, from, offsetof(small, flight) + sizeof *from->flight * from->flights);
    own_ps(&to->ps);
    for (unsigned i = 0; i < WORKERS; i++) {
        small_worker *w = &to->worker[i];
        w->state.slots = w->slots;
        w->state.due = w->due;
        w->state.integers = w->integers;
        w->state.recv = w->recv;
        for (unsigned s = 0; s < SLOTS; s++) {
            if (!w->slots[s].leading) continue;
            const size_t bytes = gn_leading_bytes(&w->state.config);
            gn_leading *leading = malloc(bytes);
            SUITE_CHECK(leading, "no memory");
            memcpy(leading, w->slots[s].leading, bytes);
            w->slots[s].leading = leading;
        }
    }
    return to;
}

void small_discard(small *s)
{
    for (unsigned i = 0; i < WORKERS; i++)
        for (unsigned slot = 0; slot < SLOTS; slot++) gn_leader_free(s->worker[i].slots[slot].leading);
    free(s);
}

static void put(small *s, int to, unsigned port, const uint8_t *data, size_t bytes)
{
    SUITE_CHECK(s->flights < FLIGHTS && bytes <= DATAGRAM, "no room for a packet");
    small_flight *f = &s->flight[s->flights++];
    *f = (small_flight){.to = (int8_t)to, .port = (uint8_t)port, .bytes = (uint8_t)bytes};
    memcpy(f->data, data, bytes);
    f->digest = blend_bytes(0, f, offsetof(small_flight, data) + bytes);
}

// ---- hosts

static bool send_one(small *s, unsigned host)
{
    uint8_t out[DATAGRAM];
    const bool is_ps = host == PS;
    const size_t bytes = is_ps ? gn_ps_send(&s->ps.state, 0, out, sizeof out)
                               : gn_worker_send(&s->worker[host].state, 0, out, sizeof out);
    if (bytes && is_ps) put(s, TO_SWITCH - (int)small_shape->switches + 1, PS_PORT, out, bytes);
    if (bytes && !is_ps) put(s, TO_SWITCH - (int)leaf_of(host), host, out, bytes);
    return bytes;
}

uint64_t small_due(const small *s, unsigned host)
{
    const bool is_ps = host == PS;
    const gn_worker *w = &s->worker[is_ps ? 0 : host].state;
    const gn_ps *ps = &s->ps.state;
    const unsigned slots = small_shape->slots;
    uint64_t due = is_ps && ps->next_deadline == 0;  // a question makes it late at once
    for (unsigned i = 0; i < (is_ps ? ps->due_count : w->due_count); i++)
        due = due << 4 | 8 | (is_ps ? ps->due[(ps->due_first + i) % (2 * slots)] : w->due[(w->due_first + i) % slots]);
    return due;
}

/// Something may have become due. @return whether the host is held up now and was not before
static bool act(small *s, unsigned host, small_manner manner)
{
    if (s->held >> host & 1) return false;
    if (manner == SMALL_HOLDS && small_due(s, host)) {
        s->held |= (uint8_t)(1 << host);
        return true;
    }
    while (send_one(s, host)) continue;
    return false;
}

void small_send_one(small *s, unsigned host)
{
    send_one(s, host);
    if (!small_due(s, host)) s->held &= (uint8_t) ~(1 << host);
}

bool small_has_timer(const small *s, unsigned host)
{
    if (s->held >> host & 1) return false;
    if (host == PS) return small_has_ps && gn_ps_deadline(&s->ps.state) != GN_NEVER;
    return host < small_shape->workers && !gn_worker_done(&s->worker[host].state);
}

bool small_fire(small *s, unsigned host, small_manner manner)
{
    if (host == PS) {
        for (unsigned i = 0; i < 2 * SLOTS; i++) s->ps.entries[i].deadline_ns = 0;
        s->ps.state.next_deadline = 0;
    } else {
        small_worker *w = &s->worker[host];
        for (unsigned i = 0; i < SLOTS; i++) w->slots[i].deadline_ns = 0, w->slots[i].sent_ns = INT64_MIN / 2;
        w->state.next_deadline = 0;
    }
    send_one(s, host);
    return act(s, host, manner);
}

// ---- switches

/// A switch's port: a worker's number, or, at a root above leaves, a leaf's.
static void out_of_port(small *s, unsigned from, unsigned port, const uint8_t *out, size_t bytes)
{
    const unsigned root = small_shape->switches - 1;
    if (port == PS_PORT)
        put(s, TO_PS, 0, out, bytes);
    else if (port == PARENT_PORT)
        put(s, TO_SWITCH - (int)root, from, out, bytes);
    else if (root && from == root)
        put(s, TO_SWITCH - (int)port, PARENT_PORT, out, bytes);
    else
        put(s, (int)port, 0, out, bytes);
}

static void deliver_to_switch(small *s, const small_flight *f)
{
    uint8_t out[DATAGRAM];
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    const unsigned number = (unsigned)(TO_SWITCH - f->to);
    gn_switch *at = &small_switch[number];
    small_put_switches(s);
    const unsigned count = gn_switch_rx(at, 0, f->port, f->data, f->bytes, actions);
    for (unsigned i = 0; i < count; i++) {
        const gn_switch_job *job = gn_switch_job_at(at, 0);
        const size_t bytes = gn_action_write(at, &actions[i], out, sizeof out);
        if (actions[i].kind == GN_TO_GROUP)
            for (unsigned c = 0; c < job->children; c++) out_of_port(s, number, job->port[c], out, bytes);
        else if (actions[i].kind != GN_TO_NOBODY)
            out_of_port(s, number, actions[i].port, out, bytes);
    }
    get_switches(s);
}

bool small_deliver(small *s, const small_flight *f, small_manner manner)
{
    if (f->to <= TO_SWITCH) {
        deliver_to_switch(s, f);
        return false;
    }
    const unsigned host = f->to == TO_PS ? PS : (unsigned)f->to;
    if (host == PS)
        gn_ps_rx(&s->ps.state, 0, f->data, f->bytes);
    else
        gn_worker_rx(&s->worker[host].state, 0, f->data, f->bytes);
    return act(s, host, manner);
}

bool small_done(const small *s)
{
    for (unsigned i = 0; i < small_shape->workers; i++)
        if (!gn_worker_done(&s->worker[i].state)) return false;
    return true;
}

static void open_ps(small *s, gn_agg_format format)
{
    gn_ps *ps;
    const gn_ps_config config = {.job = 1,
                                 .gen = 1,
                                 .format = format,
                                 .bound_exp = 10,
                                 .slots = (uint16_t)small_shape->slots,
                                 .packet_values = VALUES,
                                 .children = (uint8_t)small_shape->workers};
    ck_assert_int_eq(gn_ps_new(&ps, &config), GN_OK);
    s->ps.state = *ps;
    gn_ps_free(ps);
    own_ps(&s->ps);
}

static void open_switch(unsigned number, const gn_switch_config *config, gn_agg_format format)
{
    const unsigned root = small_shape->switches - 1;
    const bool is_root = number == root, above_leaves = is_root && root;
    const size_t bytes = gn_switch_bytes(config);
    void *memory = malloc(bytes);
    ck_assert(memory);
    ck_assert_int_eq(gn_switch_init(&small_switch[number], config, memory, bytes), GN_OK);
    memory_bytes = bytes - (size_t)((char *)gn_state_copies(&small_switch[number]) - (char *)memory);
    SUITE_CHECK(memory_bytes <= MEMORY, "the slots take %zu bytes", memory_bytes);
    gn_switch_job job = {.job = 1,
                         .gen = 1,
                         .format = format,
                         .bound_exp = 10,
                         .slots = (uint16_t)small_shape->slots,
                         .children = (uint8_t)(above_leaves ? root : workers_of(number)),
                         .has_parent = !is_root,
                         .parent_port = PARENT_PORT,
                         .parent_bit = (uint8_t)small_shape->first[number],
                         .parent_fanin = (uint8_t)small_shape->workers,
                         .leader = number && !is_root ? GN_AGG_WORKERS_MAX : 0,
                         .ps_port = PS_PORT,
                         .bits = (uint8_t)(above_leaves ? small_shape->workers : 0)};
    for (unsigned i = 0; i < job.children; i++) {
        job.port[i] = (uint16_t)(above_leaves ? i : small_shape->first[number] + i);
        job.first_bit[i] = (uint8_t)(above_leaves ? small_shape->first[i] : 0);
    }
    ck_assert_int_eq(gn_switch_add_job(&small_switch[number], &job), GN_OK);
}

static void open_worker(small *s, unsigned i, gn_memory_mode mode, gn_agg_format format, const float *values)
{
    gn_worker *w;
    const gn_worker_config mine = {.job = 1,
                                   .gen = 1,
                                   .rank = (uint16_t)i,
                                   .ranks = (uint16_t)small_shape->workers,
                                   .bit = (uint8_t)(i - small_shape->first[leaf_of(i)]),
                                   .children = (uint8_t)workers_of(leaf_of(i)),
                                   .format = format,
                                   .bound_exp = 10,
                                   .slots = (uint16_t)small_shape->slots,
                                   .packet_values = VALUES,
                                   .mode = mode,
                                   .priority = (uint16_t)(2 + i)};
    ck_assert_int_eq(gn_worker_new(&w, &mine), GN_OK);
    small_worker *into = &s->worker[i];
    into->state = *w;
    into->state.slots = into->slots;
    into->state.due = into->due;
    into->state.integers = into->integers;
    gn_worker_free(w);
    ck_assert_int_eq(gn_worker_post(&into->state, values, into->recv, COUNT), GN_OK);
}

small *small_open(const small_tree *shape, gn_memory_mode mode, gn_agg_format format, const float (*values)[COUNT])
{
    small_shape = shape;
    small_has_ps = mode != GN_PARTITIONED;
    const gn_switch_config config = {.slots = small_has_ps ? 1 : shape->slots,
                                     .slot_values = VALUES,
                                     .jobs = 1,
                                     .mode = mode,
                                     .windows = shape->slots};
    small *s = calloc(1, sizeof *s);
    ck_assert(s);
    for (unsigned i = 0; i < shape->switches; i++) open_switch(i, &config, format);
    get_switches(s);
    if (small_has_ps) open_ps(s, format);
    for (unsigned i = 0; i < shape->workers; i++) open_worker(s, i, mode, format, values[i]);
    for (unsigned i = 0; i < shape->workers; i++) act(s, i, SMALL_SENDS);
    return s;
}

void small_close(small *s)
{
    small_discard(s);
    for (unsigned i = 0; i < small_shape->switches; i++) free(small_switch[i].state);
}
