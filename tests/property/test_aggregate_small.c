// SPDX-License-Identifier: Apache-2.0
// Everything that can happen to two workers with three chunks, two of them under way. Each of the
// two has a slot of its own. Or both are hashed to one slot that they share, with a parameter
// server. Variants: one chunk at a time; one or two leaves below a root; three workers at two
// leaves, where all switches share.
//
// - Packets arrive in any order. Any one or two of them are lost or arrive twice.
// - Or hosts are held up once or twice. What they have to send is sent packet by packet, at any
//   later moment, and more may arrive before.
// - Timers fire when nothing else can happen or (once) at any moment.
//
// All states that can be reached are visited. From each, every worker ends with the right bits,
// each contribution is added once, and no slot waits.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "small_world.h"
#include "unit/suite.h"
#include "visited.h"

static const small_tree alone = {1, 2, 2, {0}}, one_slot = {1, 2, 1, {0}}, one_leaf = {2, 2, 2, {0}},
                        two_leaves = {3, 2, 2, {0, 1}}, uneven_leaves = {3, 3, 2, {0, 2}};

// Under a sanitizer a state takes ten times as long. What the sanitizer finds does not depend on
// the number of states.
enum { FEWER_FAULTS = SANITIZED };

/// One fault more, or one timer, where there is time for millions of states.
static unsigned more(void)
{
    return getenv("GN_PROPERTY_PACKETS") != NULL;
}

static const float given[WORKERS][COUNT] = {{1, -2, 0.25f, 3, 1e-3f}, {0.5f, 2, -0.25f, 7, 31}, {4, 8, 0.5f, -5, 2}};
static const float given_odd[WORKERS][COUNT] = {
    {1, -2, 0.25f, 3e38f, 1e-3f}, {0.5f, 2, -0.25f, 3e38f, 31}, {4, 8, 0.5f, -5, 2}};
// Both chunks of slot 0, one after the other.
static const float given_odd_twice[WORKERS][COUNT] = {{3e38f, -2, 0.25f, 3, 3e38f}, {0.5f, 2, -0.25f, 7, 31}};
static const float (*values)[COUNT];
static float expected[COUNT];
static visited_set visited;
static uint64_t ends, deepest;
static unsigned contributions;

/// The order in which packets were sent is of no meaning. Only the last ones are out of order.
static void sort_flights(small *s)
{
    for (unsigned i = 1; i < s->flights; i++) {
        const small_flight moving = s->flight[i];
        unsigned at = i;
        for (; at && memcmp(&s->flight[at - 1], &moving, offsetof(small_flight, digest)) > 0; at--)
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

/// What is not the same at all hosts that have sent all they could.
static uint64_t identity_of_held(const small *s, unsigned host)
{
    uint64_t id = blend(host, small_due(s, host));
    for (unsigned slot = 0; host != PS && slot < SLOTS; slot++) {
        const gn_worker_slot *x = &s->worker[host].slots[slot];
        id = blend(id, (uint64_t)x->is_due | (uint64_t)x->reminded << 1 | (uint64_t)(x->since_ns == GN_NEVER) << 2 |
                           (uint64_t)(x->attempts > 0) << 3);
    }
    return id;
}

/// What two states must have in common to have the same future. Times play no part here, and
/// counters do not either.
static uint64_t identity(small *s)
{
    small_put_switches(s);
    uint64_t id = blend(gn_switch_hash(&small_switch[0]),
                        (uint64_t)s->held << 24 | (uint64_t)s->faults << 16 | (uint64_t)s->early << 8 | s->flights);
    for (unsigned i = 1; i < small_shape->switches; i++) id = blend(id, gn_switch_hash(&small_switch[i]));
    sort_flights(s);
    for (unsigned i = 0; i < s->flights; i++) id = blend(id, s->flight[i].digest);
    if (small_has_ps) id = blend(id, identity_of_ps(&s->ps));
    for (unsigned i = 0; i < small_shape->workers; i++) {
        const small_worker *w = &s->worker[i];
        for (unsigned slot = 0; slot < SLOTS; slot++) {
            const gn_worker_slot *x = &w->slots[slot];
            const uint64_t mine = (uint64_t)x->phase | (uint64_t)x->uses << 4 | (uint64_t)x->chunk << 16 |
                                  (uint64_t)(uint8_t)x->unit << 24 | (uint64_t)x->tell_result << 40 |
                                  (uint64_t)(x->leading ? gn_leading_present(x->leading) + 1 : 0) << 41;
            id = blend(id, mine);
            // Questions to a parameter server are of no use where there is none.
            if (small_has_ps) id = blend(id, (x->attempts < 3 ? x->attempts : 3));
        }
        id = blend_bytes(id, w->recv, sizeof w->recv);
    }
    for (unsigned host = 0; s->held >> host; host++)
        if (s->held >> host & 1) id = blend(id, identity_of_held(s, host));
    return id ? id : 1;
}

static void check_end(const small *s)
{
    for (unsigned i = 0; i < small_shape->workers; i++) ck_assert_mem_eq(s->worker[i].recv, expected, sizeof expected);
    gn_slot_status status;
    small_put_switches(s);
    for (unsigned i = 0; i < small_shape->switches; i++)
        ck_assert_int_eq(gn_switch_waiting(&small_switch[i], 0, 0, &status), -1);
    if (!small_has_ps) ck_assert_uint_eq(small_added(), contributions);
    uint32_t psn;
    uint64_t missing;
    int64_t since;
    ck_assert(!small_has_ps || !gn_ps_waits_for(&s->ps.state, &psn, &missing, &since));
    ends++;
}

/// Once nothing is lost any more, all is done after as many timeouts as there are chunks on their
/// way.
static void check_that_it_ends(const small *from)
{
    small *s = small_clone(from);
    for (unsigned round = 0; !small_done(s); round++) {
        SUITE_CHECK(round < (small_has_ps ? 8 : 2) * (COUNT + small_shape->slots), "without any fault it does not end");
        for (unsigned host = 0; s->held; host++)
            while (s->held >> host & 1) small_send_one(s, host);
        while (s->flights) {
            const small_flight first = s->flight[0];
            memmove(s->flight, s->flight + 1, sizeof first * --s->flights);
            small_deliver(s, &first, SMALL_SENDS);
        }
        for (unsigned host = 0; host < HOSTS; host++)
            if (small_has_timer(s, host)) small_fire(s, host, SMALL_SENDS);
    }
    small_discard(s);
}

static void visit(small *s, uint64_t depth);

/// To the next state, by so many faults; or not, when it is none, or there are too many.
static void go_on(const small *s, small *next, uint64_t depth, int faults, bool is_one)
{
    if (is_one && faults <= s->faults) {
        next->faults = (uint8_t)(s->faults - faults);
        visit(next, depth + 1);
    }
    small_discard(next);
}

static void with_flight(const small *s, uint64_t depth, unsigned at, bool arrives, bool stays, small_manner manner)
{
    small *next = small_clone(s);
    const small_flight f = s->flight[at];
    if (!stays) next->flight[at] = next->flight[--next->flights];
    const bool holds = arrives && small_deliver(next, &f, manner);
    go_on(s, next, depth, (!arrives || stays) + holds, holds == manner);
}

static void with_timer(const small *s, uint64_t depth, unsigned host, small_manner manner)
{
    small *next = small_clone(s);
    if (s->flights || s->held) next->early--;
    const bool holds = small_fire(next, host, manner);
    go_on(s, next, depth, holds, holds == manner);
}

static void visit(small *s, uint64_t depth)
{
    if (!visited_add(&visited, identity(s))) return;
    if (depth > deepest) deepest = depth;
    if (small_done(s) && !s->flights && !s->held) {
        check_end(s);
        return;
    }
    check_that_it_ends(s);
    for (small_manner manner = SMALL_SENDS; manner <= (s->faults ? SMALL_HOLDS : SMALL_SENDS); manner++) {
        for (unsigned at = 0; at < s->flights; at++) {
            with_flight(s, depth, at, true, false, manner);
            if (!s->faults) continue;
            if (manner == SMALL_SENDS) with_flight(s, depth, at, false, false, manner);
            with_flight(s, depth, at, true, true, manner);
        }
        for (unsigned host = 0; host < HOSTS; host++)
            if (small_has_timer(s, host) && (s->early || !(s->flights || s->held))) with_timer(s, depth, host, manner);
    }
    for (unsigned host = 0; host < HOSTS; host++) {
        if (!(s->held >> host & 1)) continue;
        small *next = small_clone(s);
        small_send_one(next, host);
        visit(next, depth + 1);
        small_discard(next);
    }
}

static void explore(const small_tree *of, gn_memory_mode mode, gn_agg_format format, const float (*input)[COUNT],
                    unsigned faults, unsigned early)
{
    if (SANITIZED && faults > 1) faults--;  // the same code, a tenth of the states
    small *s = small_open(of, mode, format, input);
    ends = deepest = 0;
    visited = (visited_set){0};
    values = input;
    contributions = small_shape->workers * (format == GN_AGG_INT32 ? 3u + of->slots : 3u);
    for (unsigned i = 0; i < COUNT; i++) expected[i] = values[0][i] + values[1][i];
    for (unsigned i = 0; small_shape->workers > 2 && i < COUNT; i++) expected[i] += values[2][i];
    if (format != GN_AGG_INT32) {  // what has integers is rounded to 2^-9
        gn_codec codec;
        gn_codec_init(&codec, GN_DENSE, 10);
        float rounded[WORKERS][COUNT];
        for (unsigned w = 0; w < small_shape->workers; w++) gn_quantise(&codec, values[w], rounded[w], NULL, COUNT);
        for (unsigned i = 0; i < COUNT; i++)
            if (values[0][i / VALUES * VALUES] < 1e30f && values[0][i / VALUES * VALUES + (i < 4)] < 1e30f)
                expected[i] = rounded[0][i] + rounded[1][i] + (small_shape->workers > 2 ? rounded[2][i] : 0);
    }
    s->faults = (uint8_t)(faults > FEWER_FAULTS ? faults - FEWER_FAULTS : 0);
    s->early = (uint8_t)early;
    visit(s, 0);
    ck_assert_uint_gt(ends, 0);
    fprintf(stderr, "%llu states, %llu ends, longest way %llu\n", (unsigned long long)visited.count,
            (unsigned long long)ends, (unsigned long long)deepest);
    small_close(s);
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

START_TEST(overflow_twice_two_faults)
{
    explore(&alone, GN_PARTITIONED, GN_AGG_DENSE, given_odd_twice, 2, 0);
}
END_TEST

/// Uses of one slot, one after the other.
#define IN_ONE_SLOT(mode, MODE)                                                                                        \
    START_TEST(mode##_one_slot)                                                                                        \
    {                                                                                                                  \
        explore(&one_slot, MODE, GN_AGG_DENSE, given_odd_twice, 2, more());                                            \
        explore(&one_slot, MODE, GN_AGG_INT32, given, 2, more());                                                      \
    }                                                                                                                  \
    END_TEST

IN_ONE_SLOT(partitioned, GN_PARTITIONED)

#define IN_SHARED_MEMORY(mode, MODE)                                                                                   \
    IN_ONE_SLOT(mode, MODE)                                                                                            \
    START_TEST(mode##_two_faults)                                                                                      \
    {                                                                                                                  \
        explore(&alone, MODE, GN_AGG_DENSE, given, 2, 0);                                                              \
    }                                                                                                                  \
    END_TEST                                                                                                           \
    START_TEST(mode##_early_timer)                                                                                     \
    {                                                                                                                  \
        explore(&alone, MODE, GN_AGG_DENSE, given, more(), 1); /* with 1: a million states */                          \
    }                                                                                                                  \
    END_TEST                                                                                                           \
    START_TEST(mode##_int32_one_fault)                                                                                 \
    {                                                                                                                  \
        explore(&alone, MODE, GN_AGG_INT32, given, 1 + more(), 0);                                                     \
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
        if (!SANITIZED || more()) explore(&uneven_leaves, MODE, GN_AGG_INT32, given, more(), 0);                       \
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
    return RUN_TESTS(
        "aggregate_small", compressed_two_faults, compressed_early_timer, int32_two_faults, overflow_two_faults,
        overflow_twice_two_faults, partitioned_one_slot, shared_one_slot, preemptive_one_slot, shared_two_faults,
        shared_early_timer, shared_int32_one_fault, shared_overflow_one_fault, shared_one_leaf, shared_two_leaves,
        shared_three_workers, preemptive_two_faults, preemptive_early_timer, preemptive_int32_one_fault,
        preemptive_overflow_one_fault, preemptive_one_leaf, preemptive_two_leaves, preemptive_three_workers);
}
