// SPDX-License-Identifier: Apache-2.0
// Properties of aggregation, over random networks: whatever is lost, repeated, late or in another order, every contribution is added exactly once,
// every worker gets the same bits, they are the oracle's, everything ends, and nothing stays behind in a slot.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate_oracle.h"
#include "unit/suite.h"

enum { COUNT_MAX = 3000, CHUNKS_MAX = 500 };

/// The vector that a job is at.
typedef struct vector {
    size_t count;
    bool in_place;
    float *sent[NET_WORKERS], *got[NET_WORKERS];
} vector;

static net network;
static vector vectors[NET_JOBS];
static float *expected;
static uint64_t packets_wanted = 1000;  // of each configuration; more with GN_PROPERTY_PACKETS

static void setup(void)
{
    const char *more = getenv("GN_PROPERTY_PACKETS");
    if (more) packets_wanted = strtoull(more, NULL, 10);
    for (unsigned job = 0; job < NET_JOBS; job++)
        for (unsigned i = 0; i < NET_WORKERS; i++) {
            vectors[job].sent[i] = malloc(sizeof(float) * COUNT_MAX);
            vectors[job].got[i] = malloc(sizeof(float) * COUNT_MAX);
        }
    expected = malloc(sizeof(float) * COUNT_MAX);
}

static void teardown(void)
{
    for (unsigned job = 0; job < NET_JOBS; job++)
        for (unsigned i = 0; i < NET_WORKERS; i++) free(vectors[job].sent[i]), free(vectors[job].got[i]);
    free(expected);
}

/// Values of many kinds; `odd` per mille of those that have no integer.
static float value(net *n, unsigned kind, unsigned odd)
{
    static const float oddities[] = {NAN, INFINITY, -INFINITY, 3e38f, -1e30f};
    if (net_below(n, 1000) < odd) return oddities[net_below(n, 5)];
    const double unit = (double)(net_random(n) >> 11) / 9007199254740992.0 - 0.5;
    switch (kind) {
    case 0:
        return 0;
    case 1:
        return (float)(unit / 100);
    case 2:
        return (float)ldexp(unit, -130);  // subnormal
    case 3:
        return ldexpf(1, (int)net_below(n, 6) - 3);  // powers of two: a block's maximum
    case 4:
        return (float)(unit * 60);
    default:
        return (float)ldexp(unit, (int)net_below(n, 30) - 20);
    }
}

static void fill(net *n, vector *v)
{
    // Chunks without integers are left out where there is no time: rank 0 may hear of one last, and others' values have to come again.
    const bool plain = n->options.timeless;
    const unsigned kind = net_below(n, plain ? 5 : 6), odd = plain || net_below(n, 4) ? 0 : 1;
    const unsigned most = CHUNKS_MAX * n->options.packet_values;
    v->count = net_below(n, 8) ? 1 + net_below(n, most < COUNT_MAX ? most : COUNT_MAX) : 0;
    v->in_place = net_below(n, 2);
    for (unsigned rank = 0; rank < n->ranks; rank++)
        for (size_t i = 0; i < v->count; i++) v->sent[rank][i] = value(n, kind, odd);
}

static void post(net *n, unsigned job)
{
    vector *v = &vectors[job];
    float *send[NET_WORKERS];
    for (unsigned i = 0; i < n->ranks; i++) {
        send[i] = v->in_place ? v->got[i] : v->sent[i];
        memcpy(v->got[i], v->sent[i], sizeof(float) * v->count);
    }
    net_post(n, job, send, v->got, v->count);
}

static bool same(float a, float b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static void check_results(const net *n, const vector *v)
{
    oracle_sum(n, v->sent, v->count, expected);
    for (size_t i = 0; i < v->count; i++)
        if (!same(v->got[0][i], expected[i]))
            ck_abort_msg("value %zu of %zu: %a instead of %a", i, v->count, (double)v->got[0][i], (double)expected[i]);
    for (unsigned rank = 1; rank < n->ranks; rank++)
        ck_assert_msg(!memcmp(v->got[rank], v->got[0], sizeof(float) * v->count), "rank %u has other bits than rank 0",
                      rank);
}

static void check_rest(net *n)
{
    net_drain(n);
    for (unsigned i = 0; i < n->switches; i++)
        for (unsigned job = 0; job < n->options.jobs; job++) {
            gn_slot_status status;
            ck_assert_int_eq(gn_switch_waiting(&n->sw[i], job, 0, &status), -1);
        }
    for (unsigned job = 0; job < n->options.jobs; job++) {
        uint32_t psn;
        uint64_t missing;
        int64_t since;
        ck_assert(!n->job[job].ps || !gn_ps_waits_for(n->job[job].ps, &psn, &missing, &since));
    }
}

/// Where nothing is swapped out, every contribution is added at a leaf, once.
static void check_added(const net *n, unsigned job, uint64_t contributions)
{
    if (n->place[0].mode != GN_PARTITIONED) return;
    uint64_t sum = 0;
    for (unsigned i = 0; i < n->options.leaves; i++) sum += gn_switch_job_counters(&n->sw[i], job)->added;
    ck_assert_uint_eq(sum, contributions);
}

static uint64_t contributions_of(const net *n, const vector *v)
{
    const net_options *o = &n->options;
    const size_t chunks = (v->count + o->packet_values - 1) / o->packet_values;
    const size_t looks = o->format != GN_AGG_INT32 ? 0 : chunks < o->slots ? chunks : o->slots;
    return n->ranks * (chunks + looks);
}

/// What is there for losses was of no use, and did nothing.
static void check_no_recovery(const net *n)
{
    for (unsigned job = 0; job < n->options.jobs; job++) {
        for (unsigned rank = 0; rank < n->ranks; rank++) {
            const gn_worker_stats worker = gn_worker_get_stats(n->job[job].worker[rank]);
            ck_assert(!worker.resent && !worker.ignored && !worker.queries && !worker.reminded);
        }
        if (!n->job[job].ps) continue;
        const gn_ps_stats ps = gn_ps_get_stats(n->job[job].ps);
        ck_assert(!ps.reminders_switch && !ps.reminders_worker && !ps.overlaps && !ps.duplicates && !ps.answers);
        ck_assert_uint_eq(ps.ignored, 0);
        ck_assert_uint_eq(ps.sent, ps.whole + ps.merged);
    }
}

/// Vectors of random lengths through one network, each job at its own pace. Jobs begin anew at any moment, `restarts` times in all.
static void run(const net_options *options, unsigned restarts)
{
    net *n = &network;
    uint64_t contributions[NET_JOBS] = {0};
    net_open(n, options);
    for (unsigned job = 0; job < options->jobs; job++) fill(n, &vectors[job]), post(n, job);
    bool busy = true;
    while (busy) {
        net_step(n);
        busy = false;
        for (unsigned job = 0; job < options->jobs; job++) {
            vector *v = &vectors[job];
            if (restarts && v->count != SIZE_MAX && !net_below(n, 200)) {
                restarts--;
                net_restart(n, job);
                contributions[job] = 0;
                post(n, job);
            }
            if (net_done(n, job) && v->count != SIZE_MAX) {
                check_results(n, v);
                contributions[job] += contributions_of(n, v);
                check_added(n, job, contributions[job]);
                v->count = SIZE_MAX;
            }
            if (v->count == SIZE_MAX && n->delivered < packets_wanted) fill(n, v), post(n, job);
            busy |= v->count != SIZE_MAX;
        }
    }
    check_rest(n);
    if (options->timeless) check_no_recovery(n);
    net_close(n);
}

/// Trees of one to three levels. Where slots are shared, from level `share_from` on.
static const struct {
    unsigned leaves, mids, workers, jobs, share_from;
} shapes[] = {{1, 0, 1, 1, 0}, {1, 0, 2, 1, 0}, {1, 0, 4, 2, 0}, {2, 0, 1, 1, 1}, {2, 0, 2, 2, 1},
              {3, 0, 4, 1, 1}, {1, 0, 3, 4, 0}, {4, 2, 2, 2, 2}, {2, 0, 1, 1, 0}, {2, 0, 2, 2, 0},
              {3, 0, 4, 1, 0}, {2, 0, 3, 4, 0}, {4, 2, 2, 1, 0}, {4, 2, 3, 2, 0}, {4, 2, 1, 2, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes, PARTITIONED_SHAPES = 8 };

/// What happens to a network: packets lost and repeated, per mille; jobs that begin anew.
typedef struct trouble {
    unsigned loss, repeat, restarts;
    bool timeless;
} trouble;

static void run_all(gn_memory_mode mode, const trouble *t)
{
    static const uint16_t slots[] = {1, 2, 8}, sizes[] = {1, 7, 64, 256}, arrays[] = {1, 2, 5, 16, 64};
    uint64_t seed = 1;
    for (size_t shape = 0; shape < (mode == GN_PARTITIONED ? PARTITIONED_SHAPES : SHAPES); shape++)
        for (gn_agg_format format = 0; format < GN_AGG_FORMATS; format++, seed++)
            run(&(net_options){.mode = mode,
                               .jobs = shapes[shape].jobs,
                               .leaves = shapes[shape].leaves,
                               .mids = shapes[shape].mids,
                               .share_from = shapes[shape].share_from,
                               .workers = shapes[shape].workers,
                               .format = format,
                               .bound_exp = 10,
                               .slots = slots[seed % 3],
                               .packet_values = sizes[seed % 4],
                               .array = arrays[seed % 5],
                               .loss = t->loss,
                               .repeat = t->repeat,
                               .mark = seed % 2 ? 100 : 0,
                               .timeless = t->timeless,
                               .seed = seed},
                t->restarts);
}

#define IN_MODE(name, MODE, ...)                                                                                       \
    START_TEST(name)                                                                                                   \
    {                                                                                                                  \
        run_all(MODE, &(trouble){__VA_ARGS__});                                                                        \
    }                                                                                                                  \
    END_TEST
#define IN_EACH_MODE(name, ...)                                                                                        \
    IN_MODE(partitioned_##name, GN_PARTITIONED, __VA_ARGS__)                                                           \
    IN_MODE(shared_##name, GN_SHARED, __VA_ARGS__)                                                                     \
    IN_MODE(preemptive_##name, GN_PREEMPTIVE, __VA_ARGS__)

IN_EACH_MODE(without_loss, .loss = 0)
IN_EACH_MODE(without_timers, .timeless = true)
IN_EACH_MODE(with_loss_and_repetition, .loss = 50, .repeat = 50)
IN_EACH_MODE(when_a_third_is_lost, .loss = 330, .repeat = 100)
IN_EACH_MODE(with_restarts, .loss = 50, .repeat = 50, .restarts = 20)

int main(void)
{
    return RUN_SUITE("aggregate", setup, teardown, partitioned_without_loss, partitioned_with_loss_and_repetition,
                     partitioned_when_a_third_is_lost, partitioned_with_restarts, partitioned_without_timers,
                     shared_without_loss, shared_with_loss_and_repetition, shared_when_a_third_is_lost,
                     shared_with_restarts, shared_without_timers, preemptive_without_loss,
                     preemptive_with_loss_and_repetition, preemptive_when_a_third_is_lost, preemptive_with_restarts,
                     preemptive_without_timers);
}
