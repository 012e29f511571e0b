// SPDX-License-Identifier: Apache-2.0
// What happens to the values: error feedback, scale, values outside the codec's range, requests,
// memory.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "suite.h"
#include "switch_host.h"

enum { COUNT = 5000, STEPS = 12 };

typedef struct plan {
    gn_algorithm algorithm;
    gn_profile profile;
    int bound_exp;
    gn_scale scale;
    int scale_target;
    float magnitude;
} plan;

static switch_host switch_of_test;
static unsigned switch_values = 100;

static gn_comm *plan_init(int rank, const ranks *group, const plan *p)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.switch_address = switch_of_test.address;
    config.switch_values = switch_values;
    config.quantise = true;
    config.scale = p->scale;
    config.scale_target = (int8_t)p->scale_target;
    config.segment_bytes = 4096;
    RANK_CHECK(!gn_codec_init(&config.codec, p->profile, p->bound_exp));
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    return comm;
}

static void expect_good(gn_comm *comm, gn_status status)
{
    if (status) fprintf(stderr, "%s: %s\n", gn_status_string(status), gn_comm_last_error(comm));
    RANK_CHECK(!status);
}

static void check_exits(const ranks *group)
{
    for (int rank = 0; rank < group->size; rank++)
        ck_assert_msg(group->exits[rank] == 0 && group->reports[rank].hash == group->reports[0].hash,
                      "rank %d: exit %#x, hash %llx", rank, (unsigned)group->exits[rank],
                      (unsigned long long)group->reports[rank].hash);
}

static void run_plan(int size, rank_function function, plan *p, uint64_t *hash)
{
    ranks group;
    ranks_start(&group, size, function, p);
    ranks_wait(&group, 60);
    check_exits(&group);
    if (hash) *hash = group.reports[0].hash;
    ranks_free(&group);
}

// What was sent over all steps, plus what is left in the residuals, is what was given. Nothing is
// lost, only delayed.
static void run_feedback(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    float *send = malloc(COUNT * sizeof *send), *recv = malloc(COUNT * sizeof *recv),
          *residual = calloc(COUNT, sizeof *residual);
    float *residuals = malloc(COUNT * sizeof *residuals);
    double *given = calloc(COUNT, sizeof *given), *received = calloc(COUNT, sizeof *received);
    RANK_CHECK(send && recv && residual && residuals && given && received);
    for (int step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < COUNT; i++) {
            send[i] = p->magnitude * sample((uint64_t)(100 * step + rank), i);
            for (int r = 0; r < group->size; r++)
                given[i] += (double)(p->magnitude * sample((uint64_t)(100 * step + r), i));
        }
        gn_bucket bucket = {.send = send, .recv = recv, .count = COUNT, .op = GN_SUM, .residual = residual, .id = 7};
        expect_good(comm, gn_allreduce_bucket(comm, &bucket));
        for (size_t i = 0; i < COUNT; i++) received[i] += (double)recv[i];
        group->reports[rank].hash = group->reports[rank].hash * 31 + hash_values(recv, COUNT);
    }
    gn_comm_free(comm);

    // The residuals of all ranks, summed without loss of any that matters.
    ranks second = *group;
    gn_comm_config config = rank_config(rank, &second);
    comm = rank_init(rank, &second, &config);
    RANK_CHECK(comm);
    expect_good(comm, gn_allreduce(comm, residual, residuals, COUNT, GN_SUM));
    double step_size = ldexp(1, 1 - p->bound_exp) * (p->scale ? 0.25 * (double)p->magnitude : 1), worst = 0;
    for (size_t i = 0; i < COUNT; i++) {
        worst = fmax(worst, fabs(received[i] + (double)residuals[i] - given[i]));
        RANK_CHECK(fabs((double)residual[i]) <= step_size * 0.5001);
    }
    if (worst > 1e-5 * (double)p->magnitude) fprintf(stderr, "worst %g\n", worst);
    RANK_CHECK(worst <= 1e-5 * (double)p->magnitude);
    gn_comm_free(comm);
}

START_TEST(test_feedback_loses_nothing)
{
    for (gn_algorithm a = 0; a < GN_ALGORITHMS; a++) {
        plan p = {.algorithm = a, .profile = a ? GN_LATTICE : GN_DENSE, .bound_exp = 3, .magnitude = 1};
        run_plan(3, run_feedback, &p, NULL);
        p.scale = GN_SCALE_AUTO;
        p.magnitude = 0x1p-20f;
        run_plan(4, run_feedback, &p, NULL);
    }
}
END_TEST

// A gradient far below the bound becomes all zeros without a scale. With a scale, its error is
// relative to its RMS. Then come zeros, then values of quite another size, in the same bucket.
static void run_scale(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    float *values = malloc(COUNT * sizeof *values);
    RANK_CHECK(values);
    const float sizes[] = {0x1p-30f, 0x1p-30f, 0, 0, 0x1p-30f, 0x1p+20f, 0x1p+20f, 0x1p-126f, 0x1p-126f};
    for (size_t step = 0; step < sizeof sizes / sizeof *sizes; step++) {
        double squares = 0, worst = 0, rms;
        for (size_t i = 0; i < COUNT; i++) {
            values[i] = sizes[step] * sample((uint64_t)rank, i);
            squares += pow((double)values[i], 2);
        }
        rms = sqrt(squares / COUNT);
        gn_bucket bucket = {
            .send = values, .recv = values, .count = COUNT, .op = step & 1 ? GN_AVERAGE : GN_SUM, .id = 65535};
        expect_good(comm, gn_allreduce_bucket(comm, &bucket));
        // In step 5 the old scale makes more than 2^24 steps of a value. Such sums are rounded, and
        // depend on their order.
        if (step != 5) group->reports[rank].hash = group->reports[rank].hash * 31 + hash_values(values, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            double sum = 0;
            for (int r = 0; r < group->size; r++) sum += (double)(sizes[step] * sample((uint64_t)r, i));
            worst = fmax(worst, fabs((double)values[i] * (step & 1 ? group->size : 1) - sum));
        }
        // The exponent is that of the time before. It fits from the second time on. It also fits
        // after zeros, which do not change it.
        bool fits = step < 5 || step == 6;
        if (fits && worst > 2.1 * rms * group->size * ldexp(1, -p->bound_exp))
            fprintf(stderr, "step %zu: worst %g, rms %g\n", step, worst, rms);
        RANK_CHECK(!fits || worst <= 2.1 * rms * group->size * ldexp(1, -p->bound_exp));
        RANK_CHECK(isfinite(worst));
    }
    gn_comm_free(comm);
}

START_TEST(test_scale_makes_the_bound_relative)
{
    uint64_t hash[GN_ALGORITHMS];
    for (gn_algorithm a = 0; a < GN_ALGORITHMS; a++) {
        plan p = {.algorithm = a, .profile = a ? GN_LATTICE : GN_DENSE, .bound_exp = 4, .scale = GN_SCALE_AUTO};
        run_plan(3, run_scale, &p, &hash[a]);
    }
    ck_assert(hash[0] == hash[1] && hash[0] == hash[2]);
}
END_TEST

/// A step of values that grow, in bucket 3.
static uint64_t grown(gn_comm *comm, int rank, int step)
{
    float values[1000];
    for (size_t i = 0; i < 1000; i++) values[i] = sample((uint64_t)(rank + 10 * step), i) * ldexpf(1, 3 * step);
    const gn_bucket bucket = {.send = values, .recv = values, .count = 1000, .op = GN_SUM, .id = 3};
    expect_good(comm, gn_allreduce_bucket(comm, &bucket));
    return hash_values(values, 1000);
}

// A program that goes on from what it has saved sets the scales, too.
static void run_saved_scale(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    RANK_CHECK(gn_comm_scale(comm, 3) == GN_SCALE_UNSEEN && gn_comm_scale(NULL, 3) == GN_SCALE_UNSEEN);
    for (int step = 0; step < 2; step++) (void)grown(comm, rank, step);
    const int scale = gn_comm_scale(comm, 3);
    const uint64_t wanted = grown(comm, rank, 2);
    RANK_CHECK(gn_comm_scale(comm, 3) > scale && gn_comm_scale(comm, 65536) == GN_SCALE_UNSEEN);
    RANK_CHECK(gn_comm_set_scale(comm, 3, GN_SCALE_UNSEEN) == GN_OK && grown(comm, rank, 2) != wanted);
    RANK_CHECK(gn_comm_set_scale(comm, 3, scale) == GN_OK && grown(comm, rank, 2) == wanted);
    RANK_CHECK(gn_comm_set_scale(NULL, 3, 0) && gn_comm_set_scale(comm, 3, 129) && gn_comm_set_scale(comm, 3, -151));
    RANK_CHECK(strstr(gn_comm_last_error(comm), "called set_scale wrongly: the exponent is neither from -150 to 128"));
    RANK_CHECK(gn_comm_set_scale(comm, 65536, 0) == GN_INVALID);
    RANK_CHECK(strstr(gn_comm_last_error(comm), "called set_scale wrongly: bucket id is not below 65536"));
    RANK_CHECK(gn_comm_set_scale(comm, 3, rank) == GN_OK);
    float value = 1;
    const gn_bucket bucket = {.send = &value, .recv = &value, .count = 1, .op = GN_SUM, .id = 3};
    RANK_CHECK(gn_allreduce_bucket(comm, &bucket) == GN_MISMATCH && strstr(gn_comm_last_error(comm), "scale 2^"));
    gn_comm_free(comm);
}

START_TEST(test_scale_can_be_set)
{
    plan p = {.profile = GN_DENSE, .bound_exp = 4, .scale = GN_SCALE_AUTO};
    run_plan(2, run_saved_scale, &p, NULL);
}
END_TEST

// Values beyond 32767 steps, infinities and NaNs give the same bits everywhere. Finite sums are
// exact multiples of the step.
static void run_special(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    float values[64];
    for (int i = 0; i < 64; i++) values[i] = sample((uint64_t)rank, (size_t)i) * ldexpf(1, i - 12);
    values[60] = rank == 1 ? INFINITY : 1;
    values[61] = rank == 1 ? NAN : 1;
    values[62] = rank == 0 ? INFINITY : rank == 1 ? -INFINITY : 1;
    values[63] = -0.0f;
    expect_good(comm, gn_allreduce(comm, values, values, 64, GN_SUM));
    group->reports[rank].hash = hash_values(values, 64);
    RANK_CHECK(values[60] > 1e30f && isnan(values[61]) && isnan(values[62]) && values[63] == 0);
    float step = ldexpf(1, 1 - p->bound_exp);
    for (int i = 0; i < 60 && p->profile != GN_PAPER && !p->scale; i++) {
        double sum = 0, largest = 0, whole = (double)values[i] / (double)step;
        for (int r = 0; r < group->size; r++) {
            double value = (double)(sample((uint64_t)r, (size_t)i) * ldexpf(1, i - 12));
            sum += value;
            largest += fabs(value);
        }
        RANK_CHECK(whole == rint(whole));
        RANK_CHECK(fabs((double)values[i] - sum) <= group->size * (double)step / 2 + largest * 0x1p-22);
    }
    gn_comm_free(comm);
}

START_TEST(test_special_values)
{
    for (int size = 2; size <= 4; size++)
        for (gn_algorithm a = 0; a < GN_ALGORITHMS; a++)
            for (gn_profile profile = a == GN_SWITCH ? GN_LATTICE : GN_PAPER; profile < GN_PROFILE_COUNT; profile++)
                for (int scale = 0; scale < 2; scale++) {
                    plan p = {.algorithm = a,
                              .profile = profile,
                              .bound_exp = 10,
                              .scale = scale ? GN_SCALE_AUTO : GN_SCALE_NONE};
                    run_plan(size, run_special, &p, NULL);
                }
}
END_TEST

// Between the largest value that is coded and the next one. What is nearer to 32767 steps is coded.
// What is nearer to 32768 travels as it is, and so has to be rounded before. A tie goes to the even
// one. What rounding removed is in the residual.
static void run_edge(int rank, const ranks *group, void *argument)
{
    static const float sizes[] = {32766.75f, 32767, 32767.25f, 32767.5f, 32767.75f, 32768, 32768.25f},
                       whole[] = {32767, 32767, 32767, 32768, 32768, 32768, 32768};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    const float step = ldexpf(1, 1 - p->bound_exp);
    for (int alone = 0; alone < 2 * SIZES; alone++) {  // one at a time, too: others must not make up for it
        float values[2 * SIZES] = {0}, sums[2 * SIZES], residual[2 * SIZES] = {0};
        for (int i = 0; i < 2 * SIZES; i++)
            if (!alone || i == alone) values[i] = (i & 1 ? -step : step) * sizes[i / 2];
        const gn_bucket bucket = {.send = values, .recv = sums, .count = 2 * SIZES, .op = GN_SUM, .residual = residual};
        expect_good(comm, gn_allreduce_bucket(comm, &bucket));
        for (int i = 0; i < 2 * SIZES; i++) {
            const float one = !alone || i == alone ? (i & 1 ? -step : step) * whole[i / 2] : 0;
            RANK_CHECK(sums[i] == (float)group->size * one);
            RANK_CHECK(residual[i] == values[i] - one);
        }
    }
    gn_comm_free(comm);
}

START_TEST(test_values_at_the_edge_of_the_code)
{
    for (gn_algorithm a = 0; a < GN_ALGORITHMS; a++)
        for (gn_profile profile = GN_LATTICE; profile < GN_PROFILE_COUNT; profile++) {
            plan p = {.algorithm = a, .profile = profile, .bound_exp = 10};
            run_plan(2, run_edge, &p, NULL);
        }
}
END_TEST

// Requests run in the order in which they were started, also with blocking calls between them.
static void run_requests(int rank, const ranks *group, void *argument)
{
    (void)argument;
    enum { REQUESTS = 20 };
    gn_comm_config config = rank_config(rank, group);
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    float *values[REQUESTS], one = 1;
    gn_request *requests[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        size_t count = (size_t)(i * 997 + 1);
        values[i] = malloc(count * sizeof(float));
        for (size_t j = 0; j < count; j++) values[i][j] = (float)(rank + i);
        gn_bucket bucket = {.send = values[i], .recv = values[i], .count = count, .op = GN_SUM, .id = (uint32_t)i};
        expect_good(comm, gn_iallreduce(comm, &bucket, &requests[i]));
    }
    expect_good(comm, gn_allreduce(comm, &one, &one, 1, GN_SUM));  // behind all of them
    RANK_CHECK(one == (float)group->size);
    for (int i = REQUESTS - 1; i >= 0; i--) {
        bool done;
        expect_good(comm, gn_test(requests[i], &done));
        RANK_CHECK(done);
        for (int j = 0; j < i * 997 + 1; j++)
            RANK_CHECK(values[i][j] == (float)(group->size * (group->size - 1) / 2 + group->size * i));
        free(values[i]);
    }
    expect_good(comm, gn_barrier(comm));
    gn_comm_stats stats = gn_comm_get_stats(comm);
    RANK_CHECK(group->size == 1 || (stats.sent_bytes > 0 && stats.received_bytes > 0 && stats.total_seconds > 0));
    if (group->size > 1) {
        gn_comm_free(comm);
        return;
    }
    gn_bucket bad = {.send = &one, .recv = &one, .count = 1, .op = GN_SUM, .id = 65536};
    gn_request *request = requests[0];
    RANK_CHECK(gn_iallreduce(comm, &bad, &request) == GN_INVALID && !request);
    RANK_CHECK(strstr(gn_comm_last_error(comm), "bucket id is not below 65536"));
    gn_comm_free(comm);
}

START_TEST(test_requests_run_in_order)
{
    for (int size = 1; size <= 4; size++) run_plan(size, run_requests, NULL, NULL);
}
END_TEST

// 8 MiB are promised. A sanitizer has its shadow of the vector itself besides.
enum { LIMIT_KIB = SANITIZED ? 1 << 20 : 7 << 10, MEMORY_COUNT = SANITIZED ? 1 << 20 : 24 << 20 };

/// KiB of the program and its libraries that are in memory. They come as they are used, and belong
/// to nobody's buffers.
static long code_kib(void)
{
    char line[128];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) (void)sscanf(line, "RssFile: %ld", &kib);
    RANK_CHECK(status && !fclose(status) && kib > 0);
    return kib;
}

// Beyond the caller's buffers, whatever the count.
static void run_memory(int rank, const ranks *group, void *argument)
{
    plan *p = argument;
    size_t count = MEMORY_COUNT;
    float *values = calloc(count, sizeof *values);
    for (size_t i = 0; i < count; i += 1024) values[i] = 1;
    struct rusage before, after;
    const long code = code_kib();
    getrusage(RUSAGE_SELF, &before);
    gn_comm *comm = plan_init(rank, group, p);
    expect_good(comm, gn_allreduce(comm, values, values, count, GN_SUM));
    getrusage(RUSAGE_SELF, &after);
    const long more = after.ru_maxrss - before.ru_maxrss - (code_kib() - code);
    group->reports[rank].values[0] = more > 0 ? (uint64_t)more : 0;
    RANK_CHECK(values[1024] == (float)group->size && values[1] == 0);
    gn_comm_free(comm);
}

START_TEST(test_memory_does_not_grow_with_count)
{
    switch_values = 0;
    for (gn_algorithm a = 0; a < GN_ALGORITHMS; a++) {
        plan p = {.algorithm = a, .profile = GN_DENSE, .bound_exp = 10, .scale = GN_SCALE_AUTO};
        ranks group;
        ranks_start(&group, 4, run_memory, &p);
        ranks_wait(&group, 60);
        for (int rank = 0; rank < 4; rank++) {
            ck_assert_int_eq(group.exits[rank], 0);
            ck_assert_msg(group.reports[rank].values[0] < LIMIT_KIB, "rank %d used %llu KiB more", rank,
                          (unsigned long long)group.reports[rank].values[0]);
        }
        ranks_free(&group);
    }
}
END_TEST

static void start_switch(void)
{
    switch_start(&switch_of_test, NULL);
}

static void stop_switch(void)
{
    switch_stop(&switch_of_test, SIGKILL);
}

int main(void)
{
    Suite *suite = suite_create("comm values");
    TCase *values = tcase_create("values");
    tcase_set_timeout(values, 100);
    tcase_add_checked_fixture(values, start_switch, stop_switch);
    tcase_add_test(values, test_feedback_loses_nothing);
    tcase_add_test(values, test_scale_makes_the_bound_relative);
    tcase_add_test(values, test_scale_can_be_set);
    tcase_add_test(values, test_special_values);
    tcase_add_test(values, test_values_at_the_edge_of_the_code);
    tcase_add_test(values, test_requests_run_in_order);
    tcase_add_test(values, test_memory_does_not_grow_with_count);
    suite_add_tcase(suite, values);
    return suite_run(suite);
}
