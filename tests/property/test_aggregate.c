// SPDX-License-Identifier: Apache-2.0
// Properties of aggregation, over random networks. Packets are lost, repeated, late or in another
// order. Workers begin and hosts send at any time. These always hold:
// - Every contribution is added exactly once.
// - Every worker gets the same bits, and they are the oracle's.
// - Everything ends, and nothing stays behind in a slot.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate_oracle.h"
#include "net/splitmix.h"
#include "unit/suite.h"

enum { COUNT_MAX = 3000, CHUNKS_MAX = 200, AT_ONCE = 2 };
enum {
    NETWORKS_MIN = 3,
    NETWORK_PACKETS = 20000
};  // of each configuration: at least so many, with so many packets at most

typedef struct vector {
    size_t count;
    bool in_place, halves;  ///< halves: it travels in 16 bits
    float *sent[NET_WORKERS], *got[NET_WORKERS];
} vector;

/// A job's vectors, one after the other: number i is at[i % AT_ONCE]. A worker begins the next when
/// it has all of one, so some are ahead of others. They are ahead by at most one: no part of the
/// next vector is whole without the others.
typedef struct progress {
    vector at[AT_ONCE];
    unsigned made, checked;        ///< how many there are; how many all workers have the sums of
    unsigned posted[NET_WORKERS];  ///< how many each worker has begun
    uint64_t contributions;        ///< to those that have been checked
} progress;

static net network;
static progress progress_of[NET_JOBS];
static float *expected;
static uint64_t packets_wanted = SANITIZED ? 300 : 1000;  // of each configuration; more with GN_PROPERTY_PACKETS

static float **buffer(unsigned number)
{
    const unsigned rank = number / 2 % NET_WORKERS, at = number / 2 / NET_WORKERS;
    vector *v = &progress_of[at / AT_ONCE].at[at % AT_ONCE];
    return number % 2 ? &v->got[rank] : &v->sent[rank];
}

enum { BUFFERS = 2 * NET_WORKERS * AT_ONCE * NET_JOBS };

static void setup(void)
{
    const char *more = getenv("GN_PROPERTY_PACKETS");
    if (more) packets_wanted = strtoull(more, NULL, 10);
    for (unsigned i = 0; i < BUFFERS; i++) *buffer(i) = malloc(sizeof(float) * COUNT_MAX);
    expected = malloc(sizeof(float) * COUNT_MAX);
}

static void teardown(void)
{
    for (unsigned i = 0; i < BUFFERS; i++) free(*buffer(i));
    free(expected);
}

/// Values of many kinds; of those that have no integer about one in `odd` (0: none).
static float value(net *n, unsigned kind, unsigned odd)
{
    static const float oddities[] = {NAN, INFINITY, -INFINITY, 3e38f, -1e30f};
    if (odd && !net_below(n, odd)) return oddities[net_below(n, 5)];
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
    // Where there is no time, chunks without integers are left out. Rank 0 may hear of one last,
    // and others' values then have to come again.
    const bool plain = n->options.timeless;
    const unsigned kind = net_below(n, plain ? 5 : 6);
    const unsigned chunk = n->ranks * n->options.packet_values;  // values of all workers
    const unsigned odd = plain || net_below(n, 2) ? 0 : chunk << 2 * net_below(n, 3);
    // Much loss makes for so many packets a chunk that fewer chunks are enough.
    const unsigned most = (n->options.loss > 100 ? CHUNKS_MAX / 4u : CHUNKS_MAX) * n->options.packet_values;
    v->count = net_below(n, 8) ? 1 + net_below(n, most < COUNT_MAX ? most : COUNT_MAX) : 0;
    v->in_place = net_below(n, 2);
    v->halves = n->options.format == GN_AGG_HALF && net_below(n, 3);
    for (unsigned rank = 0; rank < n->ranks; rank++)
        for (size_t i = 0; i < v->count; i++) v->sent[rank][i] = value(n, kind, odd);
}

static bool same(float a, float b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static void check_results(const net *n, const vector *v)
{
    oracle_sum(n, v->sent, v->count, v->halves, expected);
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

static uint64_t contributions_of(const net *n, const vector *v)
{
    const net_options *o = &n->options;
    const size_t full = oracle_chunk(n, v->halves), chunks = (v->count + full - 1) / full;
    const size_t looks = !gn_agg_in_blocks(o->format) ? 0 : chunks < o->slots ? chunks : o->slots;
    return n->ranks * (chunks + looks);
}

/// Where nothing is swapped out, every contribution is added at a leaf, once. Some may belong to
/// the vector that is not checked yet.
static void check_added(const net *n, unsigned job)
{
    const progress *p = &progress_of[job];
    uint64_t sum = 0;
    bool ahead = false;
    if (n->place[0].mode != GN_PARTITIONED) return;
    for (unsigned i = 0; i < n->options.leaves; i++) sum += gn_switch_job_counters(&n->sw[i], job)->added;
    for (unsigned rank = 0; rank < n->ranks; rank++) ahead |= p->posted[rank] > p->checked;
    ck_assert_uint_ge(sum, p->contributions);
    if (!ahead) ck_assert_uint_eq(sum, p->contributions);
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

static bool may_post(const net *n, unsigned job, unsigned rank)
{
    const progress *p = &progress_of[job];
    if (p->posted[rank] == p->checked + AT_ONCE || !gn_worker_done(n->job[job].worker[rank])) return false;
    return p->posted[rank] < p->made || n->delivered < n->options.packets;
}

static void post(net *n, unsigned job, unsigned rank)
{
    progress *p = &progress_of[job];
    vector *v = &p->at[p->posted[rank] % AT_ONCE];
    if (p->posted[rank]++ == p->made) fill(n, v), p->made++;
    memcpy(v->got[rank], v->sent[rank], sizeof(float) * v->count);
    gn_worker_set_halves(n->job[job].worker[rank], v->halves);
    net_post(n, job, rank, v->in_place ? v->got[rank] : v->sent[rank], v->got[rank], v->count);
}

/// Lets one worker that may do so begin its next vector, if it is its time. When nothing else can
/// happen, all of them begin.
static void post_some(net *n)
{
    const bool all = net_idle(n);
    const unsigned job = net_below(n, n->options.jobs), rank = net_below(n, n->ranks);
    if (!all && !net_below(n, 4) && may_post(n, job, rank)) post(n, job, rank);
    for (unsigned j = 0; all && j < n->options.jobs; j++)
        for (unsigned i = 0; i < n->ranks; i++)
            if (may_post(n, j, i)) post(n, j, i);
}

static bool all_have(const net *n, unsigned job, unsigned number)
{
    const unsigned *posted = progress_of[job].posted;
    for (unsigned rank = 0; rank < n->ranks; rank++)
        if (posted[rank] <= number || (posted[rank] == number + 1 && !gn_worker_done(n->job[job].worker[rank])))
            return false;
    return true;
}

/// Looks at what all workers have the sums of.
static void conclude(net *n, unsigned job)
{
    progress *p = &progress_of[job];
    while (p->checked < p->made && all_have(n, job, p->checked)) {
        const vector *v = &p->at[p->checked % AT_ONCE];
        check_results(n, v);
        p->contributions += contributions_of(n, v);
        p->checked++;
        check_added(n, job);
    }
}

static void restart(net *n, unsigned job)
{
    progress *p = &progress_of[job];
    net_restart(n, job);
    p->contributions = 0;
    for (unsigned rank = 0; rank < n->ranks; rank++) p->posted[rank] = p->checked;
}

/// Sends vectors of random lengths through one network, each job and each worker at its own pace.
/// Jobs begin anew at any moment, `restarts` times in all.
static void run(const net_options *options, unsigned restarts)
{
    net *n = &network;
    net_open(n, options);
    for (unsigned job = 0; job < options->jobs; job++) {
        progress *p = &progress_of[job];
        p->made = p->checked = 0;
        p->contributions = 0;
        memset(p->posted, 0, sizeof p->posted);
    }
    for (bool busy = true; busy;) {
        post_some(n);
        net_step(n);
        busy = false;
        for (unsigned job = 0; job < options->jobs; job++) {
            const progress *p = &progress_of[job];
            if (restarts && p->checked < p->made && !net_below(n, 200)) restarts--, restart(n, job);
            conclude(n, job);
            busy |= p->checked < p->made || n->delivered < options->packets;
        }
    }
    check_rest(n);
    if (options->timeless) check_no_recovery(n);
    net_close(n);
}

/// Trees of one to three levels. Where slots are shared, from level `share_from` on.
static const struct {
    unsigned leaves, mids, workers, jobs, share_from;
} shapes[] = {{1, 0, 1, 1, 0}, {1, 0, 2, 1, 0}, {1, 0, 4, 2, 0}, {2, 0, 1, 1, 1}, {2, 0, 2, 2, 1}, {3, 0, 4, 1, 1},
              {1, 0, 3, 4, 0}, {4, 2, 2, 2, 2}, {4, 2, 3, 1, 2}, {2, 0, 1, 1, 0}, {2, 0, 2, 2, 0}, {3, 0, 4, 1, 0},
              {2, 0, 3, 4, 0}, {4, 2, 2, 1, 0}, {4, 2, 3, 2, 0}, {4, 2, 1, 2, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes, PARTITIONED_SHAPES = 9 };

/// What happens to a network: packets lost and repeated, per mille; jobs that begin anew.
typedef struct trouble {
    unsigned loss, repeat, restarts;
    bool timeless;
} trouble;

#define ONE_OF(array) ((array)[splitmix64(seed) % (sizeof(array) / sizeof *(array))])

/// A network of this shape; the rest of it is random.
static net_options draw(gn_memory_mode mode, size_t shape, gn_agg_format format, const trouble *t, uint64_t *seed)
{
    static const uint16_t slots[] = {1, 2, 8}, sizes[] = {1, 7, 64, 256}, arrays[] = {1, 2, 5, 16, 64};
    static const unsigned paces[] = {20, 100, 300, 900}, marks[] = {0, 100}, slow[] = {0, 50, 200};
    const uint64_t fair = packets_wanted / NETWORKS_MIN;
    return (net_options){.mode = mode,
                         .jobs = shapes[shape].jobs,
                         .leaves = shapes[shape].leaves,
                         .mids = shapes[shape].mids,
                         .share_from = shapes[shape].share_from,
                         .workers = shapes[shape].workers,
                         .format = format,
                         .bound_exp = 10,
                         .slots = ONE_OF(slots),
                         .packet_values = ONE_OF(sizes),
                         .array = ONE_OF(arrays),
                         .loss = t->loss,
                         .repeat = t->repeat,
                         .mark = ONE_OF(marks),
                         .slow = ONE_OF(slow),
                         .pace = ONE_OF(paces),
                         .timeless = t->timeless,
                         .packets = fair < NETWORK_PACKETS ? fair : NETWORK_PACKETS,
                         .seed = splitmix64(seed)};
}

enum { LEVELS = 3 };

static void add_account(net_account *to, const net_account *a)
{
    to->lost += a->lost, to->repeated += a->repeated, to->restarts += a->restarts;
    to->between += a->between, to->fallbacks += a->fallbacks, to->told_again += a->told_again;
}

/// Whether what was to be tried has happened, in this format and with so many levels.
static void check_account(const net_account *a, const trouble *t)
{
    ck_assert_uint_gt(a->between, 0);
    ck_assert(t->timeless || a->fallbacks > 0);
    ck_assert(!t->loss || (a->lost > 0 && a->told_again > 0));
    ck_assert(!t->repeat || a->repeated > 0);
    ck_assert(!t->restarts || a->restarts > 0);
}

static void run_all(gn_memory_mode mode, const trouble *t)
{
    net_account account[GN_AGG_FORMATS][LEVELS] = {0};
    const uint64_t kind = (uint64_t)mode << 40 | (uint64_t)t->loss << 24 | t->restarts << 16 | t->timeless << 15;
    for (unsigned shape = 0; shape < (mode == GN_PARTITIONED ? PARTITIONED_SHAPES : SHAPES); shape++)
        for (gn_agg_format format = 0; format < GN_AGG_FORMATS; format++) {
            uint64_t seed = kind | shape << 4 | format;
            uint64_t delivered = 0;
            for (unsigned networks = 0; networks < NETWORKS_MIN || delivered < packets_wanted; networks++) {
                const net_options options = draw(mode, shape, format, t, &seed);
                run(&options, t->restarts);
                delivered += network.delivered;
                add_account(&account[format][network.place[network.switches - 1].level], &network.account);
            }
        }
    for (gn_agg_format format = 0; format < GN_AGG_FORMATS; format++)
        for (unsigned level = 0; level < LEVELS; level++) check_account(&account[format][level], t);
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
