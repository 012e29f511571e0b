// SPDX-License-Identifier: Apache-2.0
// Everything that can happen to two workers with three chunks, two of them under way (each in a slot of its own, or both hashed to one slot that
// they share, with a parameter server; also at one or two leaves below a root, and to three workers at two leaves, where all switches share): packets arrive in any order, any one or two of them are lost or arrive twice, timers
// fire when nothing else can happen or (once) at any moment. All states that can be reached are visited; from each, every worker ends with the right
// bits, each contribution is added once, and no slot waits.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/switch.h>

#include "switch/format.h"
#include "switch/ps.h"
#include "switch/state.h"
#include "switch/worker.h"
#include "unit/suite.h"
#include "visited.h"

enum { WORKERS = 3, SWITCHES = 3, SLOTS = 2, VALUES = 2, COUNT = 5, FLIGHTS = 40, DATAGRAM = 96, MEMORY = 256 };
enum { TO_PS = -1, TO_SWITCH = -2, PARENT_PORT = 8, PS_PORT = 9 };

/// The last switch is the root; the others, if any, are leaves. A worker's number is its bit at the root.
typedef struct tree {
    unsigned switches, workers;
    unsigned first[SWITCHES];  ///< workers of each leaf are those from this one on
} tree;

static const tree alone = {1, 2, {0}}, one_leaf = {2, 2, {0}}, two_leaves = {3, 2, {0, 1}},
                  uneven_leaves = {3, 3, {0, 2}};

// Under a sanitizer a state takes ten times as long, and what it is to find does not depend on their number.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FEWER_FAULTS = 1 };
#else
enum { FEWER_FAULTS = 0 };
#endif

typedef struct flight {
    int8_t to;  // worker, TO_PS, or TO_SWITCH less the switch's number
    uint8_t port, bytes;
    uint8_t data[DATAGRAM];
    uint64_t digest;  // of all of it
} flight;

typedef struct small_worker {
    gn_worker state;
    gn_worker_slot slots[SLOTS];
    uint16_t due[SLOTS];
    int32_t integers[VALUES];
    float recv[COUNT];
} small_worker;

typedef struct small_ps {
    gn_ps state;
    gn_ps_entry entries[2 * SLOTS];
    int32_t sums[2 * SLOTS * VALUES];
    uint32_t due[2 * SLOTS];
} small_ps;

typedef struct small {
    small_worker worker[WORKERS];
    small_ps ps;
    uint64_t added;  // by switch 0
    uint64_t memory[SWITCHES]
                   [MEMORY / 8];  // the switches' slots; the rest of each memory, 90 KiB, is the same in all states
    uint8_t flights, faults,
        early;               // packets on their way; losses and repetitions left; timers that may still fire early
    flight flight[FLIGHTS];  // last, because those that are not there are not copied
} small;

static const float given[WORKERS][COUNT] = {{1, -2, 0.25f, 3, 1e-3f}, {0.5f, 2, -0.25f, 7, 31}, {4, 8, 0.5f, -5, 2}};
static const float given_odd[WORKERS][COUNT] = {
    {1, -2, 0.25f, 3e38f, 1e-3f}, {0.5f, 2, -0.25f, 3e38f, 31}, {4, 8, 0.5f, -5, 2}};
static const float (*values)[COUNT];
static float expected[COUNT];
static const tree *shape;
static gn_switch sw[SWITCHES];  // in the states that they were last put in
static size_t memory_bytes;     // of its slots
static visited_set visited;
static uint64_t ends, deepest;
static unsigned contributions;
static bool has_ps;  // memory is shared

static unsigned leaf_of(unsigned worker)
{
    unsigned leaf = shape->switches > 1 ? shape->switches - 2 : 0;
    while (shape->first[leaf] > worker) leaf--;
    return leaf;
}

/// Workers at a leaf, or below a root.
static unsigned workers_of(unsigned number)
{
    if (number + 1 == shape->switches) return shape->workers;
    return (number + 2 < shape->switches ? shape->first[number + 1] : shape->workers) - shape->first[number];
}

static void own_ps(small_ps *ps)
{
    ps->state.entries = ps->entries;
    ps->state.sums = ps->sums;
    ps->state.due = ps->due;
}

static uint64_t *added_by_first(void)
{
    return &sw[0].state->jobs[0].counters.added;
}

static void put_switches(const small *s)
{
    for (unsigned i = 0; i < shape->switches; i++) memcpy(gn_state_copies(&sw[i]), s->memory[i], memory_bytes);
    *added_by_first() = s->added;
}

static void get_switches(small *s)
{
    for (unsigned i = 0; i < shape->switches; i++) memcpy(s->memory[i], gn_state_copies(&sw[i]), memory_bytes);
    s->added = *added_by_first();
}

static small *clone(const small *from)
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

static void discard(small *s)
{
    for (unsigned i = 0; i < WORKERS; i++)
        for (unsigned slot = 0; slot < SLOTS; slot++) gn_leader_free(s->worker[i].slots[slot].leading);
    free(s);
}

static void put(small *s, int to, unsigned port, const uint8_t *data, size_t bytes)
{
    SUITE_CHECK(s->flights < FLIGHTS && bytes <= DATAGRAM, "no room for a packet");
    flight *f = &s->flight[s->flights++];
    *f = (flight){.to = (int8_t)to, .port = (uint8_t)port, .bytes = (uint8_t)bytes};
    memcpy(f->data, data, bytes);
    f->digest = blend_bytes(0, f, offsetof(flight, data) + bytes);
}

static void collect(small *s, unsigned worker, int64_t now)
{
    uint8_t out[DATAGRAM];
    size_t bytes;
    while ((bytes = gn_worker_send(&s->worker[worker].state, now, out, sizeof out)))
        put(s, TO_SWITCH - (int)leaf_of(worker), worker, out, bytes);
}

static void collect_ps(small *s)
{
    uint8_t out[DATAGRAM];
    size_t bytes;
    while ((bytes = gn_ps_send(&s->ps.state, 0, out, sizeof out)))
        put(s, TO_SWITCH - (int)shape->switches + 1, PS_PORT, out, bytes);
}

/// A switch's port: a worker's number, or, at a root above leaves, a leaf's.
static void out_of_port(small *s, unsigned from, unsigned port, const uint8_t *out, size_t bytes)
{
    const unsigned root = shape->switches - 1;
    if (port == PS_PORT)
        put(s, TO_PS, 0, out, bytes);
    else if (port == PARENT_PORT)
        put(s, TO_SWITCH - (int)root, from, out, bytes);
    else if (root && from == root)
        put(s, TO_SWITCH - (int)port, PARENT_PORT, out, bytes);
    else
        put(s, (int)port, 0, out, bytes);
}

static void deliver(small *s, const flight *f)
{
    if (f->to >= 0) {
        gn_worker_rx(&s->worker[f->to].state, 0, f->data, f->bytes);
        collect(s, (unsigned)f->to, 0);
        return;
    }
    if (f->to == TO_PS) {
        gn_ps_rx(&s->ps.state, 0, f->data, f->bytes);
        collect_ps(s);
        return;
    }
    uint8_t out[DATAGRAM];
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    const unsigned number = (unsigned)(TO_SWITCH - f->to);
    gn_switch *at = &sw[number];
    put_switches(s);
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

/// The order in which packets were sent is of no meaning. Only the last ones are out of order.
static void sort_flights(small *s)
{
    for (unsigned i = 1; i < s->flights; i++) {
        const flight moving = s->flight[i];
        unsigned at = i;
        for (; at && memcmp(&s->flight[at - 1], &moving, offsetof(flight, digest)) > 0; at--)
            s->flight[at] = s->flight[at - 1];
        s->flight[at] = moving;
    }
}

static uint64_t identity_of_ps(const small_ps *ps)
{
    uint64_t id = 0;
    for (unsigned i = 0; i < 2 * SLOTS; i++) {
        const gn_ps_entry *e = &ps->entries[i];
        const gn_copy *c = &e->copy;
        if (c->state == GN_COPY_EMPTY) continue;
        id = blend(id, (uint64_t)i << 56 | (uint64_t)c->psn << 24 | (uint64_t)c->state << 16 | c->seen << 8 | e->tell);
        id = blend(id, (uint64_t)c->poison << 40 | (uint64_t)(uint8_t)c->exponent << 32 |
                           (uint64_t)(uint8_t)c->next << 24 | e->ask << 16 | (uint64_t)e->ask_switch << 8 |
                           (e->attempts < 2 ? e->attempts : 2));
        if (!c->poison) id = blend_bytes(id, ps->sums + i * VALUES, sizeof *ps->sums * c->values);
    }
    return id;
}

/// What two states must have in common to have the same future: not times, which play no part here, nor counters.
static uint64_t identity(small *s)
{
    put_switches(s);
    uint64_t id = blend(gn_switch_hash(&sw[0]), (uint64_t)s->faults << 16 | (uint64_t)s->early << 8 | s->flights);
    for (unsigned i = 1; i < shape->switches; i++) id = blend(id, gn_switch_hash(&sw[i]));
    sort_flights(s);
    for (unsigned i = 0; i < s->flights; i++) id = blend(id, s->flight[i].digest);
    if (has_ps) id = blend(id, identity_of_ps(&s->ps));
    for (unsigned i = 0; i < shape->workers; i++) {
        const small_worker *w = &s->worker[i];
        for (unsigned slot = 0; slot < SLOTS; slot++) {
            const gn_worker_slot *x = &w->slots[slot];
            const uint64_t mine = (uint64_t)x->phase | (uint64_t)x->uses << 4 | (uint64_t)x->chunk << 16 |
                                  (uint64_t)(uint8_t)x->unit << 24 | (uint64_t)x->tell_result << 40 |
                                  (uint64_t)(x->leading ? gn_leading_present(x->leading) + 1 : 0) << 41;
            id = blend(id, mine);
            // Questions to a parameter server are of no use where there is none.
            if (has_ps) id = blend(id, (x->attempts < 3 ? x->attempts : 3));
        }
        id = blend_bytes(id, w->recv, sizeof w->recv);
    }
    return id ? id : 1;
}

static bool done(const small *s)
{
    for (unsigned i = 0; i < shape->workers; i++)
        if (!gn_worker_done(&s->worker[i].state)) return false;
    return true;
}

static void check_end(const small *s)
{
    for (unsigned i = 0; i < shape->workers; i++) ck_assert_mem_eq(s->worker[i].recv, expected, sizeof expected);
    gn_slot_status status;
    put_switches(s);
    for (unsigned i = 0; i < shape->switches; i++) ck_assert_int_eq(gn_switch_waiting(&sw[i], 0, 0, &status), -1);
    if (!has_ps) ck_assert_uint_eq(*added_by_first(), contributions);
    uint32_t psn;
    uint64_t missing;
    int64_t since;
    ck_assert(!has_ps || !gn_ps_waits_for(&s->ps.state, &psn, &missing, &since));
    ends++;
}

static void fire(small *s, unsigned worker)
{
    gn_worker *w = &s->worker[worker].state;
    for (unsigned i = 0; i < SLOTS; i++)
        s->worker[worker].slots[i].deadline_ns = 0, s->worker[worker].slots[i].sent_ns = INT64_MIN / 2;
    w->next_deadline = 0;
    collect(s, worker, 0);
}

static bool ps_has_timer(const small *s)
{
    return has_ps && gn_ps_deadline(&s->ps.state) != GN_NEVER;
}

static void fire_ps(small *s)
{
    for (unsigned i = 0; i < 2 * SLOTS; i++) s->ps.entries[i].deadline_ns = 0;
    s->ps.state.next_deadline = 0;
    collect_ps(s);
}

/// Once nothing is lost any more, all is done after as many timeouts as there are chunks on their way.
static void check_that_it_ends(const small *from)
{
    small *s = clone(from);
    for (unsigned round = 0; !done(s); round++) {
        SUITE_CHECK(round < (has_ps ? 8 : 2) * (COUNT + SLOTS), "without any fault it does not end");
        while (s->flights) {
            const flight first = s->flight[0];
            memmove(s->flight, s->flight + 1, sizeof first * --s->flights);
            deliver(s, &first);
        }
        for (unsigned worker = 0; worker < shape->workers; worker++)
            if (!gn_worker_done(&s->worker[worker].state)) fire(s, worker);
        if (ps_has_timer(s)) fire_ps(s);
    }
    discard(s);
}

static void visit(small *s, uint64_t depth);

static void with_flight(const small *s, uint64_t depth, unsigned at, bool arrives, bool stays)
{
    small *next = clone(s);
    const flight f = s->flight[at];
    if (!stays) next->flight[at] = next->flight[--next->flights];
    if (arrives) deliver(next, &f);
    if (!arrives || stays) next->faults--;
    visit(next, depth + 1);
    discard(next);
}

static void visit(small *s, uint64_t depth)
{
    if (!visited_add(&visited, identity(s))) return;
    if (depth > deepest) deepest = depth;
    if (done(s) && !s->flights) {
        check_end(s);
        return;
    }
    check_that_it_ends(s);
    for (unsigned at = 0; at < s->flights; at++) {
        with_flight(s, depth, at, true, false);
        if (!s->faults) continue;
        with_flight(s, depth, at, false, false);
        with_flight(s, depth, at, true, true);
    }
    for (unsigned timer = 0; timer <= shape->workers; timer++) {
        const bool runs = timer < shape->workers ? !gn_worker_done(&s->worker[timer].state) : ps_has_timer(s);
        if (!runs || (s->flights && !s->early)) continue;
        small *next = clone(s);
        if (s->flights) next->early--;
        if (timer < shape->workers)
            fire(next, timer);
        else
            fire_ps(next);
        visit(next, depth + 1);
        discard(next);
    }
}

static void open_ps(small *s, gn_agg_format format)
{
    gn_ps *ps;
    const gn_ps_config config = {.job = 1,
                                 .gen = 1,
                                 .format = format,
                                 .bound_exp = 10,
                                 .slots = SLOTS,
                                 .packet_values = VALUES,
                                 .children = (uint8_t)shape->workers};
    ck_assert_int_eq(gn_ps_new(&ps, &config), GN_OK);
    s->ps.state = *ps;
    gn_ps_free(ps);
    own_ps(&s->ps);
}

static void open_switch(unsigned number, const gn_switch_config *config, gn_agg_format format)
{
    const unsigned root = shape->switches - 1;
    const bool is_root = number == root, above_leaves = is_root && root;
    const size_t bytes = gn_switch_bytes(config);
    void *memory = malloc(bytes);
    ck_assert(memory);
    ck_assert_int_eq(gn_switch_init(&sw[number], config, memory, bytes), GN_OK);
    memory_bytes = bytes - (size_t)((char *)gn_state_copies(&sw[number]) - (char *)memory);
    SUITE_CHECK(memory_bytes <= MEMORY, "the slots take %zu bytes", memory_bytes);
    gn_switch_job job = {.job = 1,
                         .gen = 1,
                         .format = format,
                         .bound_exp = 10,
                         .slots = SLOTS,
                         .children = (uint8_t)(above_leaves ? root : workers_of(number)),
                         .has_parent = !is_root,
                         .parent_port = PARENT_PORT,
                         .parent_bit = (uint8_t)shape->first[number],
                         .parent_fanin = (uint8_t)shape->workers,
                         .leader = number && !is_root ? GN_AGG_WORKERS_MAX : 0,
                         .ps_port = PS_PORT,
                         .bits = (uint8_t)(above_leaves ? shape->workers : 0)};
    for (unsigned i = 0; i < job.children; i++) {
        job.port[i] = (uint16_t)(above_leaves ? i : shape->first[number] + i);
        job.first_bit[i] = (uint8_t)(above_leaves ? shape->first[i] : 0);
    }
    ck_assert_int_eq(gn_switch_add_job(&sw[number], &job), GN_OK);
}

static void explore(const tree *of, gn_memory_mode mode, gn_agg_format format, const float (*input)[COUNT],
                    unsigned faults, unsigned early)
{
    shape = of;
    has_ps = mode != GN_PARTITIONED;
    const gn_switch_config config = {
        .slots = has_ps ? 1 : SLOTS, .slot_values = VALUES, .jobs = 1, .mode = mode, .windows = SLOTS};
    small *s = calloc(1, sizeof *s);
    ck_assert(s);
    ends = deepest = 0;
    visited = (visited_set){0};
    for (unsigned i = 0; i < shape->switches; i++) open_switch(i, &config, format);
    get_switches(s);
    if (has_ps) open_ps(s, format);
    values = input;
    contributions = shape->workers * (format == GN_AGG_INT32 ? 3u + SLOTS : 3u);
    for (unsigned i = 0; i < COUNT; i++) expected[i] = values[0][i] + values[1][i];
    for (unsigned i = 0; shape->workers > 2 && i < COUNT; i++) expected[i] += values[2][i];
    if (format != GN_AGG_INT32) {  // what has integers is rounded to 2^-9
        gn_codec codec;
        gn_codec_init(&codec, GN_DENSE, 10);
        float rounded[WORKERS][COUNT];
        for (unsigned w = 0; w < shape->workers; w++) gn_quantise(&codec, values[w], rounded[w], NULL, COUNT);
        for (unsigned i = 0; i < COUNT; i++)
            if (values[0][i / VALUES * VALUES] < 1e30f && values[0][i / VALUES * VALUES + (i < 4)] < 1e30f)
                expected[i] = rounded[0][i] + rounded[1][i] + (shape->workers > 2 ? rounded[2][i] : 0);
    }
    for (unsigned i = 0; i < shape->workers; i++) {
        gn_worker *w;
        const gn_worker_config mine = {.job = 1,
                                       .gen = 1,
                                       .rank = (uint16_t)i,
                                       .ranks = (uint16_t)shape->workers,
                                       .bit = (uint8_t)(i - shape->first[leaf_of(i)]),
                                       .children = (uint8_t)workers_of(leaf_of(i)),
                                       .format = format,
                                       .bound_exp = 10,
                                       .slots = SLOTS,
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
        ck_assert_int_eq(gn_worker_post(&into->state, values[i], into->recv, COUNT), GN_OK);
    }
    s->faults = (uint8_t)(faults > FEWER_FAULTS ? faults - FEWER_FAULTS : 0);
    s->early = (uint8_t)early;
    for (unsigned i = 0; i < shape->workers; i++) collect(s, i, 0);
    visit(s, 0);
    ck_assert_uint_gt(ends, 0);
    fprintf(stderr, "%llu states, %llu ends, longest way %llu\n", (unsigned long long)visited.count,
            (unsigned long long)ends, (unsigned long long)deepest);
    discard(s);
    for (unsigned i = 0; i < shape->switches; i++) free(sw[i].state);
    free(visited.id);
}

START_TEST(compressed_two_faults)
{
    explore(&alone, GN_PARTITIONED, GN_AGG_DENSE, given, 2, 0);
}
END_TEST

START_TEST(compressed_early_timer)
{
    explore(&alone, GN_PARTITIONED, GN_AGG_DENSE, given, 1, 1);
}
END_TEST

START_TEST(int32_two_faults)
{
    explore(&alone, GN_PARTITIONED, GN_AGG_INT32, given, 2, 0);
}
END_TEST

START_TEST(overflow_two_faults)
{
    explore(&alone, GN_PARTITIONED, GN_AGG_DENSE, given_odd, 2, 0);
}
END_TEST

#define IN_SHARED_MEMORY(mode, MODE)                                                                                   \
    START_TEST(mode##_two_faults)                                                                                      \
    {                                                                                                                  \
        explore(&alone, MODE, GN_AGG_DENSE, given, 2, 0);                                                              \
    }                                                                                                                  \
    END_TEST                                                                                                           \
    START_TEST(mode##_early_timer)                                                                                     \
    {                                                                                                                  \
        explore(&alone, MODE, GN_AGG_DENSE, given, getenv("GN_PROPERTY_PACKETS") ? 1 : 0,                              \
                1); /* with 1: a million states */                                                                     \
    }                                                                                                                  \
    END_TEST                                                                                                           \
    START_TEST(mode##_int32_one_fault)                                                                                 \
    {                                                                                                                  \
        explore(&alone, MODE, GN_AGG_INT32, given, 1, 0);                                                              \
    }                                                                                                                  \
    END_TEST                                                                                                           \
    START_TEST(mode##_one_leaf)                                                                                        \
    {                                                                                                                  \
        explore(&one_leaf, MODE, GN_AGG_LATTICE, given, 2, 0);                                                         \
    }                                                                                                                  \
    END_TEST                                                                                                           \
    START_TEST(mode##_two_leaves)                                                                                      \
    {                                                                                                                  \
        explore(&two_leaves, MODE, GN_AGG_DENSE, given, 1, 0);                                                         \
        explore(&two_leaves, MODE, GN_AGG_DENSE, given_odd, 1, 0);                                                     \
    }                                                                                                                  \
    END_TEST                                                                                                           \
    START_TEST(mode##_three_workers)                                                                                   \
    {                                                                                                                  \
        explore(&uneven_leaves, MODE, GN_AGG_INT32, given, getenv("GN_PROPERTY_PACKETS") ? 1 : 0, 0);                  \
    }                                                                                                                  \
    END_TEST                                                                                                           \
    START_TEST(mode##_overflow_one_fault)                                                                              \
    {                                                                                                                  \
        explore(&alone, MODE, GN_AGG_DENSE, given_odd, 1, 0);                                                          \
    }                                                                                                                  \
    END_TEST

IN_SHARED_MEMORY(shared, GN_SHARED)
IN_SHARED_MEMORY(preemptive, GN_PREEMPTIVE)

int main(void)
{
    return RUN_TESTS("aggregate_small", compressed_two_faults, compressed_early_timer, int32_two_faults,
                     overflow_two_faults, shared_two_faults, shared_early_timer, shared_int32_one_fault,
                     shared_overflow_one_fault, shared_one_leaf, shared_two_leaves, shared_three_workers,
                     preemptive_two_faults, preemptive_early_timer, preemptive_int32_one_fault,
                     preemptive_overflow_one_fault, preemptive_one_leaf, preemptive_two_leaves,
                     preemptive_three_workers);
}
