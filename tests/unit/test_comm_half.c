// SPDX-License-Identifier: Apache-2.0
// Vectors that travel to a switch in 16 bits: how exact they are, how many bytes they take, and
// what happens when a rank or the switch does not know of it.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "ring/collectives/types.h"
#include "suite.h"
#include "switch_host.h"

enum { SIZE = 3, COUNT = 40000, STEPS = 4, VALUES = 256 };

typedef struct plan {
    switch_host *host;
    gn_half half;
    gn_half of_one;  // what rank 1 has instead; GN_HALVES: the same
    gn_type type;
    gn_op op;
    bool odd;        // some chunks have a value without an integer
    float *results;  // shared: of the last step, widened
} plan;

static switch_host host;

static gn_comm *plan_init(int rank, const ranks *group, const plan *p)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = GN_SWITCH;
    config.switch_address = p->host->address;
    config.switch_channels = 2;
    // Vectors in 32 bits have half as many values in a packet, where there are both.
    config.switch_values = p->type == GN_F32 && p->half == GN_HALF_NONE ? VALUES / 2 : VALUES;
    config.switch_half = rank == 1 && p->of_one != GN_HALVES ? p->of_one : p->half;
    return rank_init(rank, group, &config);
}

/// Values of many magnitudes, as gradients have them. Those of a chunk differ by 2^20 and more.
static float value_of(const plan *p, int rank, int step, size_t i)
{
    if (p->odd && i % 5000 == 77) return i % 2 ? NAN : INFINITY;
    return ldexpf(sample((uint64_t)(10 * step + rank), i), (int)(i % 20) - 15);
}

static void fill(const plan *p, int rank, int step, uint8_t *to)
{
    for (size_t i = 0; i < COUNT; i++) {
        const float value = value_of(p, rank, step, i);
        gn_type_store(p->type, &value, to + i * gn_type_bytes(p->type), 1);
    }
}

static void run_plan(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    report *r = &group->reports[rank];
    gn_comm *comm = plan_init(rank, group, p);
    if (!comm) return;
    uint8_t *values = malloc(COUNT * sizeof(float));
    RANK_CHECK(values);
    for (int step = 0; step < STEPS; step++) {
        fill(p, rank, step, values);
        const gn_call call = {
            .collective = GN_ALLREDUCE, .type = p->type, .op = p->op, .send = values, .recv = values, .count = COUNT};
        const gn_status status = gn_comm_run(comm, &call);
        if (status) fprintf(stderr, "%s: %s\n", gn_status_string(status), gn_comm_last_error(comm));
        RANK_CHECK(!status);
        for (size_t i = 0; i < COUNT; i++) {
            uint32_t bits;
            float value;
            gn_type_load(p->type, values + i * gn_type_bytes(p->type), &value, 1);
            memcpy(&bits, &value, sizeof bits);
            r->hash = r->hash * 31 + bits;
            if (!rank) p->results[i] = value;
        }
    }
    const gn_comm_stats stats = gn_comm_get_stats(comm);
    r->values[0] = stats.sent_bytes + stats.received_bytes;
    r->values[1] = stats.fallback_chunks;
    gn_comm_free(comm);
}

/// What came of a plan: rank 0's account.
static report outcome_of(plan p)
{
    ranks group;
    ranks_start(&group, SIZE, run_plan, &p);
    ranks_wait(&group, 60);
    for (int rank = 0; rank < SIZE; rank++)
        ck_assert_msg(!group.exits[rank] && !group.reports[rank].status &&
                          group.reports[rank].hash == group.reports[0].hash,
                      "rank %d: exit %#x, %s", rank, (unsigned)group.exits[rank], group.reports[rank].text);
    const report r = group.reports[0];
    ranks_free(&group);
    return r;
}

static float *results[2];

static void setup(void)
{
    for (int i = 0; i < 2; i++) results[i] = ranks_share(COUNT * sizeof(float));
}

/// The same sums in 32 bits and as `half` says, over a switch that loses `loss` per mille.
static void compare(plan p, unsigned loss, report account[2])
{
    switch_start(&host, &(switch_faults){.loss = loss});
    p.host = &host;
    p.of_one = GN_HALVES;
    for (int i = 0; i < 2; i++) {
        plan mine = p;
        if (!i) mine.half = GN_HALF_NONE;
        mine.results = results[i];
        account[i] = outcome_of(mine);
    }
    switch_stop(&host, SIGKILL);
}

START_TEST(sums_of_f16_are_the_same_bits)
{
    report account[2];
    compare((plan){.half = _i ? GN_HALF_ALL : GN_HALF_TYPES, .type = GN_F16}, _i ? 5 : 0, account);
    ck_assert_uint_eq(account[0].hash, account[1].hash);
    if (!_i) ck_assert_uint_lt(account[1].values[0], account[0].values[0] * 6 / 10);
}
END_TEST

START_TEST(f32_stays_as_it_is_unless_asked)
{
    report account[2];
    compare((plan){.half = GN_HALF_TYPES, .type = GN_F32}, 0, account);
    ck_assert_uint_eq(account[0].hash, account[1].hash);
    // all of them, there and back; on a busy machine some are sent again
    ck_assert_uint_ge(account[1].values[0], 2 * sizeof(float) * STEPS * COUNT);
}
END_TEST

/// Every sum of f32 is within the bound of docs/switch.md.
START_TEST(f32_in_16_bits_keeps_the_bound)
{
    report account[2];
    const plan p = {.half = GN_HALF_ALL, .type = GN_F32};
    compare(p, _i ? 5 : 0, account);
    if (!_i) ck_assert_uint_lt(account[1].values[0], account[0].values[0] * 6 / 10);
    for (size_t first = 0; first < COUNT; first += VALUES / 2) {
        // The unit is that of the larger of two chunks at most.
        double largest = 0;
        for (size_t i = first < VALUES ? 0 : first - VALUES; i < first + VALUES && i < COUNT; i++)
            for (int rank = 0; rank < SIZE; rank++)
                largest = fmax(largest, fabs((double)value_of(&p, rank, STEPS - 1, i)));
        for (size_t i = first; i < first + VALUES / 2 && i < COUNT; i++) {
            double sum = 0, sizes = 0;
            for (int rank = 0; rank < SIZE; rank++) {
                sum += (double)value_of(&p, rank, STEPS - 1, i);
                sizes += fabs((double)value_of(&p, rank, STEPS - 1, i));
            }
            const double units = 2 * largest * 4 * 0x1p-30, bound = (sizes + fabs(sum)) * 0x1.01p-11 + SIZE * units;
            const double error = fabs((double)results[1][i] - sum);
            ck_assert_msg(error <= bound, "value %zu: %g off, bound %g", i, error, bound);
        }
    }
}
END_TEST

/// An average rounds once more where the number of ranks is not a power of two.
START_TEST(averages_of_bf16_and_f16)
{
    const gn_type type = _i ? GN_F16 : GN_BF16;
    const double last = _i ? 0x1p-10 : 0x1p-7;  // a unit in the last place, of values from 1 to 2
    report account[2];
    compare((plan){.half = GN_HALF_TYPES, .type = type, .op = GN_AVERAGE}, 0, account);
    for (size_t i = 0; i < COUNT; i++) {
        const double a = (double)results[0][i], b = (double)results[1][i];
        ck_assert_msg(fabs(a - b) <= fabs(a) * last + 0x1p-24, "value %zu: %g, not %g", i, b, a);
    }
}
END_TEST

START_TEST(values_without_integers_go_to_rank_0)
{
    report account[2];
    compare((plan){.half = GN_HALF_TYPES, .type = GN_F16, .odd = true}, 0, account);
    ck_assert_uint_gt(account[1].values[1], 0);
    for (size_t i = 77; i < COUNT; i += 5000)
        ck_assert(i % 2 ? isnan(results[1][i]) : isinf(results[1][i]) && results[1][i] > 0);
}
END_TEST

/// All ranks say the same words.
static void expect(plan p, const switch_faults *faults, gn_status status, const char *one, const char *other)
{
    ranks group;
    switch_start(&host, faults);
    p.host = &host;
    p.results = results[0];
    ranks_start(&group, SIZE, run_plan, &p);
    ranks_wait(&group, 60);
    for (int rank = 0; rank < SIZE; rank++) {
        const report *r = &group.reports[rank];
        ck_assert_int_eq(group.exits[rank], 0);
        // When rank 0 has ended already, nobody tells a rank that comes later.
        if (rank && r->status == GN_TIMEOUT && status == GN_MISMATCH && strstr(r->text, "no fresh file")) continue;
        ck_assert_msg(r->status == status && strstr(r->text, one) && strstr(r->text, other), "rank %d: %s: %s", rank,
                      gn_status_string(r->status), r->text);
    }
    ranks_free(&group);
    switch_stop(&host, SIGKILL);
}

START_TEST(ranks_that_disagree_are_named)
{
    expect((plan){.half = GN_HALF_TYPES, .of_one = GN_HALF_ALL}, NULL, GN_MISMATCH, "switch half types",
           "switch half all");
}
END_TEST

START_TEST(a_switch_that_does_not_know_it_is_named)
{
    const switch_faults faults = {.refuse = "sent JOIN with format 3: want 0 to 2"};
    expect((plan){.half = GN_HALF_TYPES, .of_one = GN_HALVES}, &faults, GN_INVALID, "want 0 to 2",
           "(a switch that does not know 16-bit values: update it, or leave switch_half off)");
}
END_TEST

/// A rank dies while values are on their way in 16 bits.
static void run_until_lost(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    report *r = &group->reports[rank];
    gn_comm *comm = plan_init(rank, group, p);
    if (!comm) return;
    float *values = calloc(COUNT, sizeof *values);
    for (int i = 0; !r->status; i++) {
        if (i == 5 && rank == 1) kill(getpid(), SIGKILL);
        r->status = gn_allreduce(comm, values, values, COUNT, GN_SUM);
    }
    snprintf(r->text, sizeof r->text, "%s", gn_comm_last_error(comm));
    gn_comm_free(comm);
}

START_TEST(a_rank_that_dies_is_named)
{
    ranks group;
    switch_start(&host, NULL);
    plan p = {.host = &host, .half = GN_HALF_ALL, .of_one = GN_HALVES};
    ranks_start(&group, SIZE, run_until_lost, &p);
    ranks_wait(&group, 30);
    for (int rank = 0; rank < SIZE; rank += 2)
        ck_assert_msg(group.reports[rank].status == GN_PEER_LOST && strstr(group.reports[rank].text, "rank 1 "),
                      "rank %d: %s", rank, group.reports[rank].text);
    ranks_free(&group);
    switch_stop(&host, SIGKILL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm half");
    TCase *cases = tcase_create("all");
    tcase_set_timeout(cases, 100);
    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_loop_test(cases, sums_of_f16_are_the_same_bits, 0, 2);
    tcase_add_test(cases, f32_stays_as_it_is_unless_asked);
    tcase_add_loop_test(cases, f32_in_16_bits_keeps_the_bound, 0, 2);
    tcase_add_loop_test(cases, averages_of_bf16_and_f16, 0, 2);
    tcase_add_test(cases, values_without_integers_go_to_rank_0);
    tcase_add_test(cases, ranks_that_disagree_are_named);
    tcase_add_test(cases, a_switch_that_does_not_know_it_is_named);
    tcase_add_test(cases, a_rank_that_dies_is_named);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
