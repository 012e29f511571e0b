// SPDX-License-Identifier: Apache-2.0
// Random groups that run random calls, against an oracle that shares nothing with the library. It
// knows what each element has to be: inputs are such that sums are exact, in any order.
// GN_SEED begins elsewhere, GN_SEEDS tries more. A failure names its seed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "suite.h"

enum { MOST = 40000, CALLS = 16, FEW = 300 };

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;  // SplitMix64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static unsigned below(uint64_t *state, unsigned n)
{
    return (unsigned)(next(state) % n);
}

// What ranks give -----------------------------------------------------------------------------

typedef struct trial {
    uint64_t seed;
    int size;
    gn_comm_config config;
} trial;

typedef struct job {
    gn_call call;
    uint64_t seed;
    bool started;  ///< and waited for
} job;

/// Whether the codec rounds what this call sums.
static bool rounds(const trial *t, const gn_call *call)
{
    const bool sums =
        call->collective == GN_ALLREDUCE || call->collective == GN_REDUCE_SCATTER || call->collective == GN_REDUCE;
    const bool floats = call->type == GN_F32 || call->type == GN_BF16 || call->type == GN_F16;
    return t->config.quantise && sums && floats && (call->op == GN_SUM || call->op == GN_AVERAGE);
}

static float from_bf16(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static double from_f16(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}

/// Bits of the float of few digits that this is.
static uint16_t to_f16(double value)
{
    if (value == 0) return 0;
    const int exponent = ilogb(value);
    const unsigned fraction = (unsigned)ldexp(fabs(value), 10 - exponent) & 1023;
    return (uint16_t)((value < 0 ? 0x8000u : 0) | (unsigned)(exponent + 15) << 10 | fraction);
}

static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/// Element `i` of rank `rank`: a number of at most 7 bits, over 8. With a codec it is not one of
/// its steps.
static double given(const trial *t, const job *j, int rank, size_t i)
{
    uint64_t state = j->seed + 1000003 * (uint64_t)(rank + 1) + i * 0x1000193;
    const int number = (int)below(&state, 255) - 127;
    switch (j->call.type) {
    case GN_U8:
        return number & 255;
    case GN_I32:
        return number * (double)(1 << 24);
    case GN_I64:
        return number * (double)(1ull << 40);
    default:
        return rounds(t, &j->call) && j->call.type == GN_F32 ? (float)(number * 0.037) : number / 8.0;
    }
}

static void put(gn_type type, void *vector, size_t i, double value)
{
    switch (type) {
    case GN_F32:
        ((float *)vector)[i] = (float)value;
        break;
    case GN_BF16:
        ((uint16_t *)vector)[i] = to_bf16((float)value);
        break;
    case GN_F16:
        ((uint16_t *)vector)[i] = to_f16(value);
        break;
    case GN_F64:
        ((double *)vector)[i] = value;
        break;
    case GN_I32:
        ((int32_t *)vector)[i] = (int32_t)value;
        break;
    case GN_I64:
        ((int64_t *)vector)[i] = (int64_t)value;
        break;
    default:
        ((uint8_t *)vector)[i] = (uint8_t)value;
    }
}

static double get(gn_type type, const void *vector, size_t i)
{
    switch (type) {
    case GN_F32:
        return (double)((const float *)vector)[i];
    case GN_BF16:
        return (double)from_bf16(((const uint16_t *)vector)[i]);
    case GN_F16:
        return from_f16(((const uint16_t *)vector)[i]);
    case GN_F64:
        return ((const double *)vector)[i];
    case GN_I32:
        return ((const int32_t *)vector)[i];
    case GN_I64:
        return (double)((const int64_t *)vector)[i];
    default:
        return ((const uint8_t *)vector)[i];
    }
}

// What has to come out ------------------------------------------------------------------------

/// Rounded to so many bits behind the first, to nearest, ties to even.
static double rounded(double value, int digits, int least)
{
    if (value == 0) return 0;
    const int exponent = ilogb(value), unit = (exponent < least ? least : exponent) - digits;
    return ldexp(rint(ldexp(value, -unit)), unit);
}

static double combined(const trial *t, const job *j, size_t i)
{
    const gn_call *call = &j->call;
    const double step = ldexp(1, 1 - t->config.codec.bound_exp);
    double result = 0;
    for (int rank = 0; rank < t->size; rank++) {
        double value = given(t, j, rank, i);
        if (rounds(t, call)) value = rint(value / step) * step;
        if (!rank)
            result = value;
        else if (call->op == GN_MIN || call->op == GN_MAX)
            result = call->op == GN_MIN ? fmin(result, value) : fmax(result, value);
        else
            result += value;
    }
    if (call->type == GN_F64) return call->op == GN_AVERAGE ? result / t->size : result;
    if (call->type == GN_U8) return (double)((unsigned)result & 255);
    if (call->type == GN_I32) return (double)(int32_t)(uint32_t)(uint64_t)(int64_t)result;
    if (call->type == GN_I64) return result;
    if (call->op == GN_AVERAGE) result = (double)((float)result / (float)t->size);
    if (call->type == GN_BF16) return rounded(result, 7, -126);
    return call->type == GN_F16 ? rounded(result, 10, -14) : result;
}

/// Elements that `rank` has of the result.
static size_t length_of(const trial *t, const gn_call *call, int rank)
{
    if (call->collective == GN_ALL_GATHER) return call->count * (size_t)t->size;
    return call->collective == GN_REDUCE && rank != call->root ? 0 : call->count;
}

static double wanted(const trial *t, const job *j, int rank, size_t i)
{
    switch (j->call.collective) {
    case GN_REDUCE_SCATTER:
        return combined(t, j, (size_t)rank * j->call.count + i);
    case GN_ALL_GATHER:
        return given(t, j, (int)(i / j->call.count), i % j->call.count);
    case GN_BROADCAST:
        return given(t, j, j->call.root, i);
    default:
        return combined(t, j, i);
    }
}

// Trials --------------------------------------------------------------------------------------

static trial make_trial(uint64_t seed)
{
    static const gn_algorithm ways[] = {GN_RING,       GN_WORKER_AGGREGATOR, GN_DIRECT,     GN_AUTO,
                                        GN_GROUP_RING, GN_GROUP_AGGREGATOR,  GN_AGGREGATORS};
    static const size_t segments[] = {0, 4096, 65536};
    uint64_t state = seed;
    trial t = {.seed = seed, .size = 1 + (int)below(&state, 5), .config = gn_comm_config_default()};
    t.config.algorithm = ways[below(&state, sizeof ways / sizeof *ways)];
    if (t.config.algorithm >= GN_GROUP_RING) t.config.groups = "2";
    t.config.segment_bytes = segments[below(&state, 3)];
    t.config.no_shared_memory = below(&state, 3) == 0;
    t.config.quantise = below(&state, 4) != 0;
    if (!t.config.quantise) return t;
    t.config.offload = below(&state, 3) ? GN_OFFLOAD_LIBRARY : GN_OFFLOAD_NONE;
    const gn_profile profile = below(&state, 2) ? GN_DENSE : GN_LATTICE;
    ck_assert_int_eq(gn_codec_init(&t.config.codec, profile, 4 + (int)below(&state, 9)), GN_OK);
    return t;
}

static job make_job(const trial *t, uint64_t *state)
{
    static const gn_collective all[] = {GN_ALLREDUCE,      GN_ALLREDUCE, GN_ALLREDUCE, GN_REDUCE_SCATTER,
                                        GN_REDUCE_SCATTER, GN_REDUCE,    GN_BROADCAST, GN_ALL_GATHER};
    static const gn_type types[] = {GN_F32, GN_F32, GN_F32, GN_BF16, GN_F16, GN_F64, GN_I32, GN_I64, GN_U8};
    static const gn_op ops[] = {GN_SUM, GN_SUM, GN_AVERAGE, GN_MIN, GN_MAX};
    job j = {.seed = next(state), .started = below(state, 4) == 0};
    j.call.collective = all[below(state, 8)];
    j.call.type = types[below(state, 9)];
    j.call.op = ops[below(state, 5)];
    const bool floats = j.call.type <= GN_F64;
    if (j.call.op == GN_AVERAGE && !floats) j.call.op = GN_SUM;
    j.call.root = (int)below(state, (unsigned)t->size);
    const bool blocks = j.call.collective == GN_REDUCE_SCATTER || j.call.collective == GN_ALL_GATHER;
    const unsigned most = MOST / (blocks ? (unsigned)t->size : 1), magnitude = 1u << below(state, 16);
    j.call.count = 1 + below(state, magnitude < most ? magnitude : most);
    return j;
}

static void run_job(gn_comm *comm, const trial *t, job *j, int rank, int number)
{
    gn_call *call = &j->call;
    static double send[MOST], recv[MOST];  // room for the widest type
    const size_t inputs = call->count * (call->collective == GN_REDUCE_SCATTER ? (size_t)t->size : 1);
    const bool in_place = call->collective == GN_BROADCAST || (call->collective == GN_ALLREDUCE && j->seed & 1);
    memset(recv, 0xA5, sizeof recv);
    call->recv = recv;
    call->send = in_place ? recv : send;
    for (size_t i = 0; i < inputs; i++) put(call->type, in_place ? recv : send, i, given(t, j, rank, i));
    gn_request *request;
    const gn_status status = j->started ? gn_comm_start(comm, call, &request) : gn_comm_run(comm, call);
    RANK_CHECK(status == GN_OK);
    if (j->started) RANK_CHECK(gn_wait(request) == GN_OK);
    for (size_t i = 0; i < length_of(t, call, rank); i++) {
        const double got = get(call->type, recv, i), want = wanted(t, j, rank, i);
        if (got == want) continue;
        fprintf(stderr,
                "GN_SEED=%llu, call %d: rank %d of %d, %s, %s of %zu %s, %s: element %zu is %a in place of %a\n",
                (unsigned long long)t->seed, number, rank, t->size, gn_algorithm_name(t->config.algorithm),
                gn_collective_name(call->collective), call->count, gn_type_name(call->type), gn_op_name(call->op), i,
                got, want);
        _exit(9);
    }
}

static void run_trial(int rank, const ranks *group, void *argument)
{
    const trial *t = argument;
    gn_comm_config config = t->config;
    const gn_comm_config own = rank_config(rank, group);
    config.rank = own.rank, config.size = own.size, config.rendezvous = own.rendezvous;
    config.interface = own.interface, config.timeout_ms = own.timeout_ms;
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "GN_SEED=%llu: %s\n", (unsigned long long)t->seed, group->reports[rank].text);
    RANK_CHECK(comm);
    uint64_t state = t->seed ^ 0x5EED;
    for (int i = 0; i < CALLS; i++) {
        job j = make_job(t, &state);
        run_job(comm, t, &j, rank, i);
    }
    gn_comm_free(comm);
}

START_TEST(every_element_is_what_it_has_to_be)
{
    const char *first = getenv("GN_SEED"), *many = getenv("GN_SEEDS");
    const uint64_t from = first ? strtoull(first, NULL, 10) : 1;
    const uint64_t count = many ? strtoull(many, NULL, 10) : first ? 1 : FEW;
    ck_assert_uint_ge(count, 1);
    for (uint64_t seed = from; seed < from + count; seed++) {
        trial t = make_trial(seed);
        ranks_run(t.size, run_trial, &t, 60);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm seeds");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 3000);
    tcase_add_test(tcase, every_element_is_what_it_has_to_be);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
