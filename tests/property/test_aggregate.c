// SPDX-License-Identifier: Apache-2.0
// Properties of aggregation, over random networks: whatever is lost, repeated, late or in another order, every contribution is added exactly once,
// every worker gets the same bits, they are the oracle's, everything ends, and nothing stays behind in a slot.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate_oracle.h"
#include "unit/suite.h"

enum { COUNT_MAX = 3000 };

static net network;
static float *sent[NET_WORKERS], *got[NET_WORKERS], *expected;
static uint64_t packets_wanted = 1000;  // of each configuration; more with GN_PROPERTY_PACKETS

static void setup(void)
{
    const char *more = getenv("GN_PROPERTY_PACKETS");
    if (more) packets_wanted = strtoull(more, NULL, 10);
    for (unsigned i = 0; i < NET_WORKERS; i++) {
        sent[i] = malloc(sizeof(float) * COUNT_MAX);
        got[i] = malloc(sizeof(float) * COUNT_MAX);
    }
    expected = malloc(sizeof(float) * COUNT_MAX);
}

static void teardown(void)
{
    for (unsigned i = 0; i < NET_WORKERS; i++) free(sent[i]), free(got[i]);
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

static void fill(net *n, size_t count)
{
    const unsigned kind = net_below(n, 6), odd = net_below(n, 4) ? 0 : 1;
    for (unsigned rank = 0; rank < n->ranks; rank++)
        for (size_t i = 0; i < count; i++) sent[rank][i] = value(n, kind, odd);
}

static bool same(float a, float b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static void check_results(const net *n, size_t count)
{
    const size_t fallbacks = oracle_sum(n, sent, count, expected);
    (void)fallbacks;
    for (size_t i = 0; i < count; i++)
        if (!same(got[0][i], expected[i]))
            ck_abort_msg("value %zu of %zu: %a instead of %a", i, count, (double)got[0][i], (double)expected[i]);
    for (unsigned rank = 1; rank < n->ranks; rank++)
        ck_assert_msg(!memcmp(got[rank], got[0], sizeof(float) * count), "rank %u has other bits than rank 0", rank);
}

static void check_rest(net *n)
{
    net_drain(n);
    for (unsigned i = 0; i < n->switches; i++) {
        gn_slot_status status;
        ck_assert_int_eq(gn_switch_waiting(&n->sw[i], 0, 0, &status), -1);
    }
}

static uint64_t added(const net *n)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < n->options.leaves; i++) sum += gn_switch_job_counters(&n->sw[i], 0)->added;
    return sum;
}

/// Some vectors of random lengths through one network.
static void run(const net_options *options)
{
    net *n = &network;
    net_open(n, options);
    uint64_t contributions = 0;
    while (n->delivered < packets_wanted) {
        const size_t count = net_below(n, 8) ? 1 + net_below(n, COUNT_MAX) : 0;
        fill(n, count);
        const bool in_place = net_below(n, 2);
        float *send[NET_WORKERS];
        for (unsigned i = 0; i < n->ranks; i++) {
            send[i] = in_place ? got[i] : sent[i];
            memcpy(got[i], sent[i], sizeof(float) * count);
        }
        net_allreduce(n, send, got, count);
        check_results(n, count);
        const size_t chunks = (count + options->packet_values - 1) / options->packet_values;
        const size_t looks = options->format != GN_AGG_INT32 ? 0 : chunks < options->slots ? chunks : options->slots;
        contributions += n->ranks * (chunks + looks);
        ck_assert_uint_eq(added(n), contributions);
    }
    check_rest(n);
    net_close(n);
}

static const struct {
    unsigned leaves, workers;
} shapes[] = {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 2}, {3, 4}};

static void run_all(unsigned loss, unsigned repeat)
{
    static const uint16_t slots[] = {1, 2, 8}, sizes[] = {1, 7, 64, 256};
    uint64_t seed = 1;
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
        for (gn_agg_format format = 0; format < GN_AGG_FORMATS; format++, seed++)
            run(&(net_options){.leaves = shapes[shape].leaves,
                               .workers = shapes[shape].workers,
                               .format = format,
                               .bound_exp = 10,
                               .slots = slots[seed % 3],
                               .packet_values = sizes[seed % 4],
                               .loss = loss,
                               .repeat = repeat,
                               .seed = seed});
}

START_TEST(sums_without_loss)
{
    run_all(0, 0);
}
END_TEST

START_TEST(sums_with_loss_and_repetition)
{
    run_all(50, 50);
}
END_TEST

START_TEST(sums_when_a_third_is_lost)
{
    run_all(330, 100);
}
END_TEST

int main(void)
{
    return RUN_SUITE("aggregate", setup, teardown, sums_without_loss, sums_with_loss_and_repetition,
                     sums_when_a_third_is_lost);
}
