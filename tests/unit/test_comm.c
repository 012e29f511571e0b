// SPDX-License-Identifier: Apache-2.0
// The exchange gives the right sums, and the same bits at every rank.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "suite.h"
#include "switch_host.h"

/// How an exchange is configured; the codec's profile or none.
typedef struct style {
    const char *name;
    gn_algorithm algorithm;
    bool quantise, weights;
    gn_profile profile;
    int bound_exp;
    unsigned channels, loss;  // of the switch: per mille
} style;

static const style styles[] = {
    {"ring", GN_RING, false, false, GN_LATTICE, 0, 0, 0},
    {"ring dense", GN_RING, true, false, GN_DENSE, 10, 0, 0},
    {"ring dense 2^-4", GN_RING, true, false, GN_DENSE, 4, 0, 0},
    {"ring lattice", GN_RING, true, false, GN_LATTICE, 10, 0, 0},
    {"ring paper", GN_RING, true, false, GN_PAPER, 10, 0, 0},
    {"aggregator", GN_WORKER_AGGREGATOR, false, false, GN_LATTICE, 0, 0, 0},
    {"aggregator dense", GN_WORKER_AGGREGATOR, true, false, GN_DENSE, 10, 0, 0},
    {"aggregator dense weights", GN_WORKER_AGGREGATOR, true, true, GN_DENSE, 10, 0, 0},
    {"aggregator lattice", GN_WORKER_AGGREGATOR, true, false, GN_LATTICE, 10, 0, 0},
    {"aggregator paper", GN_WORKER_AGGREGATOR, true, false, GN_PAPER, 10, 0, 0},
    {"direct", GN_DIRECT, false, false, GN_LATTICE, 0, 0, 0},
    {"direct dense", GN_DIRECT, true, false, GN_DENSE, 10, 0, 0},
    {"direct dense 2^-4", GN_DIRECT, true, false, GN_DENSE, 4, 0, 0},
    {"direct lattice", GN_DIRECT, true, false, GN_LATTICE, 10, 0, 0},
    {"direct paper", GN_DIRECT, true, false, GN_PAPER, 10, 0, 0},
    {"auto", GN_AUTO, false, false, GN_LATTICE, 0, 0, 0},
    {"auto dense", GN_AUTO, true, false, GN_DENSE, 10, 0, 0},
    {"auto paper", GN_AUTO, true, false, GN_PAPER, 10, 0, 0},
    {"group-ring", GN_GROUP_RING, false, false, GN_LATTICE, 0, 0, 0},
    {"group-ring dense", GN_GROUP_RING, true, false, GN_DENSE, 10, 0, 0},
    {"group-ring lattice", GN_GROUP_RING, true, false, GN_LATTICE, 10, 0, 0},
    {"group-ring paper", GN_GROUP_RING, true, false, GN_PAPER, 10, 0, 0},
    {"group-aggregator", GN_GROUP_AGGREGATOR, false, false, GN_LATTICE, 0, 0, 0},
    {"group-aggregator dense", GN_GROUP_AGGREGATOR, true, false, GN_DENSE, 10, 0, 0},
    {"group-aggregator paper", GN_GROUP_AGGREGATOR, true, false, GN_PAPER, 10, 0, 0},
    {"aggregators", GN_AGGREGATORS, false, false, GN_LATTICE, 0, 0, 0},
    {"aggregators dense", GN_AGGREGATORS, true, false, GN_DENSE, 10, 0, 0},
    {"aggregators paper", GN_AGGREGATORS, true, false, GN_PAPER, 10, 0, 0},
    {"switch", GN_SWITCH, false, false, GN_LATTICE, 0, 1, 0},
    {"switch, 3 channels, loss", GN_SWITCH, false, false, GN_LATTICE, 0, 3, 5},
    {"switch dense", GN_SWITCH, true, false, GN_DENSE, 10, 1, 0},
    {"switch lattice, 2 channels, loss", GN_SWITCH, true, false, GN_LATTICE, 10, 2, 5},
};
static switch_host switch_of_test;

enum { STYLES = sizeof styles / sizeof *styles };

static gn_comm_config style_config(const style *s, int rank, const ranks *group)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = s->algorithm;
    config.aggregator_weights = s->weights;
    config.quantise = s->quantise;
    if (s->algorithm >= GN_GROUP_RING) config.groups = "2";  // with an odd size, one group is smaller
    config.switch_address = switch_of_test.address;
    config.switch_channels = s->channels;
    config.switch_values = s->channels > 1 ? 100 : 0;
    if (s->quantise) RANK_CHECK(!gn_codec_init(&config.codec, s->profile, s->bound_exp));
    return config;
}

/// What two NICs on the way do to a gradient.
static void as_nics_do(void *context, float *values, size_t count)
{
    gn_quantise(context, values, values, NULL, count);
}

/// Largest error that the sum of `size` contributions may have.
static double tolerance(const style *s, int size)
{
    if (!s->quantise) return 1e-5;
    if (s->profile != GN_PAPER) return size * ldexp(1, -s->bound_exp) + 1e-5;
    return 2 * size * ldexp(1, -7);  // paper: each hop cuts up to 2^-7
}

static double exact(size_t index, int size)
{
    double sum = 0;
    for (int rank = 0; rank < size; rank++) sum += (double)sample((uint64_t)rank, index);
    return sum;
}

/// The results of all ranks must be equal. Ranks 1 and up compare their hash with rank 0's through
/// the exchange's own shared reports.
static void one_case(gn_comm *comm, const style *s, size_t count, gn_op op, bool in_place, uint64_t *hash)
{
    int rank = gn_comm_rank(comm), size = gn_comm_size(comm);
    float *send = malloc((count + 1) * sizeof *send), *recv = in_place ? send : malloc((count + 1) * sizeof *recv);
    RANK_CHECK(send && recv);
    for (size_t i = 0; i < count; i++) send[i] = sample((uint64_t)rank, i);
    recv[count] = 12345;
    gn_status status = gn_allreduce(comm, send, recv, count, op);
    if (status) fprintf(stderr, "rank %d: %s: %s\n", rank, gn_status_string(status), gn_comm_last_error(comm));
    RANK_CHECK(!status);
    RANK_CHECK(recv[count] == 12345);
    double divisor = op == GN_AVERAGE ? size : 1;
    for (size_t i = 0; i < count; i++) {
        double wrong = fabs((double)recv[i] * divisor - exact(i, size));
        if (wrong > tolerance(s, size))
            fprintf(stderr, "%s: size %d, count %zu, value %zu: error %g\n", s->name, size, count, i, wrong);
        RANK_CHECK(wrong <= tolerance(s, size));
    }
    for (size_t i = 0; !in_place && i < count; i++) RANK_CHECK(send[i] == sample((uint64_t)rank, i));
    *hash = *hash * 31 + hash_values(recv, count);
    if (!in_place) free(recv);
    free(send);
}

typedef struct matrix {
    const style *style;
    bool wire;
} matrix;

static void run_matrix(int rank, const ranks *group, void *argument)
{
    const matrix *m = argument;
    gn_comm_config config = style_config(m->style, rank, group);
    config.segment_bytes = 4096;  // many segments with few values
    if (m->wire) config.wire = as_nics_do, config.wire_context = &config.codec;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    size_t n = (size_t)group->size;
    const size_t counts[] = {0, 1, 2, n - 1, n, n + 1, 1000, 1024, 4099, 70001};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int kind = 0; kind < 4; kind++)
            one_case(comm, m->style, counts[c], kind & 1 ? GN_AVERAGE : GN_SUM, kind & 2, &group->reports[rank].hash);
    RANK_CHECK(!gn_barrier(comm));
    if (m->style->algorithm == GN_SWITCH) RANK_CHECK(gn_comm_get_stats(comm).received_bytes > 0);  // one rank's, too
    gn_comm_free(comm);
}

static void check_all_equal(const ranks *group, const char *what)
{
    for (int rank = 0; rank < group->size; rank++) {
        ck_assert_msg(group->exits[rank] == 0, "%s, size %d: rank %d: wait status %#x: %s", what, group->size, rank,
                      (unsigned)group->exits[rank], group->reports[rank].text);
        ck_assert_msg(group->reports[rank].hash == group->reports[0].hash, "%s, size %d: rank %d differs from rank 0",
                      what, group->size, rank);
    }
}

START_TEST(test_sums_and_equal_bits)
{
    matrix m = {.style = &styles[_i]};
    const bool switched = m.style->algorithm == GN_SWITCH;
    if (switched) switch_start(&switch_of_test, &(switch_faults){.loss = m.style->loss});
    for (int size = 1; size <= RANKS_MAX; size += SANITIZED || m.style->loss ? 3 : 1) {  // what is lost takes its time
        for (int wire = 0; wire <= (m.style->quantise && !switched && (size == 3 || size == 4)); wire++) {
            ranks group;
            m.wire = wire;
            ranks_start(&group, size, run_matrix, &m);
            ranks_wait(&group, 60);
            check_all_equal(&group, m.style->name);
            ranks_free(&group);
        }
    }
    if (switched) switch_stop(&switch_of_test, SIGKILL);
}
END_TEST

static void run_one(int rank, const ranks *group, void *argument)
{
    gn_comm_config config = style_config(argument, rank, group);
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    for (size_t count = 1; count < 200000; count = count * 7 + 3)
        one_case(comm, argument, count, GN_SUM, true, &group->reports[rank].hash);
    gn_comm_free(comm);
}

static const style *find_style(const char *name)
{
    for (const style *s = styles; s < styles + STYLES; s++)
        if (!strcmp(s->name, name)) return s;
    ck_abort_msg("no style '%s'", name);
}

// Once values are quantised, sums depend neither on the way they are made nor on how the values are
// written down.
START_TEST(test_algorithms_give_the_same_bits)
{
    switch_start(&switch_of_test, &(switch_faults){.loss = 5});
    for (int size = 2; size <= 5; size += SANITIZED ? 3 : 1) {
        enum { SAME = 8 };
        uint64_t hash[SAME];
        static const char *const same[SAME] = {
            "ring dense",   "aggregator dense", "ring lattice", "aggregator lattice",
            "direct dense", "direct lattice",   "switch dense", "switch lattice, 2 channels, loss"};
        for (int i = 0; i < SAME; i++) {
            const style *one = find_style(same[i]);
            ranks group;
            ranks_start(&group, size, run_one, (void *)(uintptr_t)one);
            ranks_wait(&group, 60);
            check_all_equal(&group, one->name);
            hash[i] = group.reports[0].hash;
            ranks_free(&group);
            ck_assert_msg(hash[i] == hash[0], "size %d: %s and %s differ", size, same[i], same[0]);
        }
    }
    switch_stop(&switch_of_test, SIGKILL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm");
    TCase *sums = tcase_create("sums");
    tcase_set_timeout(sums, 120);
    tcase_add_loop_test(sums, test_sums_and_equal_bits, 0, STYLES);
    tcase_add_test(sums, test_algorithms_give_the_same_bits);
    suite_add_tcase(suite, sums);
    return suite_run(suite);
}
