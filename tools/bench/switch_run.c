// SPDX-License-Identifier: Apache-2.0
// The core alone, in one thread and without a network. gn_switch_rx() gets every datagram of a
// load, gn_action_write() writes the results. The plain addition, adding, and adding with results
// run in turn, so a disturbance hits all of them.
#include <stdlib.h>
#include <string.h>

#include <gradnic/switch.h>

#include "net/clock.h"
#include "switch.h"

enum { ROUNDS_MAX = 1000, WARM_UP_NS = 2000000, OUTPUTS = 16 };

typedef struct run {
    const gn_bench_load *load;
    gn_switch sw;
    gn_switch_job job;
    gn_codec codec;  ///< with the chosen kernel
    void *memory;
    int32_t *sums;     ///< of the plain addition, as many as in the switch
    uint8_t *outputs;  ///< results, one after the other
    size_t output_room;
    size_t result_bytes;
} run;

static gn_status begin_job(run *r, gn_error *error)
{
    gn_switch_remove_job(&r->sw, r->job.job);
    if (gn_switch_add_job(&r->sw, &r->job)) return gn_fail(error, GN_INVALID, "the switch refuses the job");
    r->sw.codec[0] = r->codec;
    return GN_OK;
}

static gn_status prepare(run *r, const char *kernel, gn_error *error)
{
    const gn_bench_load *load = r->load;
    const gn_switch_config config = {.slots = load->slots, .slot_values = load->values, .jobs = 1};
    const gn_profile profile = load->format == GN_AGG_LATTICE ? GN_LATTICE : GN_DENSE;
    if (gn_codec_init_kernel(&r->codec, profile, load->bound_exp, kernel))
        return gn_fail(error, GN_INVALID, "kernel '%s' does not have profile %s", kernel, gn_profile_name(profile));
    r->job = (gn_switch_job){.job = 1,
                             .gen = 1,
                             .format = load->format,
                             .bound_exp = load->bound_exp,
                             .slots = (uint16_t)load->slots,
                             .children = (uint8_t)load->workers};
    for (unsigned i = 0; i < load->workers; i++) r->job.port[i] = (uint16_t)i;
    const size_t bytes = gn_switch_bytes(&config);
    r->output_room = (gn_agg_bound(load->values) + GN_BENCH_LINE - 1) / GN_BENCH_LINE * GN_BENCH_LINE;
    const size_t sums_bytes = (size_t)2 * load->slots * load->values * sizeof *r->sums;
    r->memory = gn_bench_lines(bytes);
    r->sums = gn_bench_lines(sums_bytes);
    r->outputs = gn_bench_lines(OUTPUTS * r->output_room);
    if (!r->memory || !r->sums || !r->outputs) return gn_fail_memory(error);
    memset(r->sums, 0, sums_bytes);
    if (gn_switch_init(&r->sw, &config, r->memory, bytes)) return gn_fail(error, GN_INVALID, "the switch cannot start");
    return begin_job(r, error);
}

// ---- one pass over all datagrams

static void plain_pass(run *r)
{
    const gn_bench_load *load = r->load;
    for (size_t i = 0; i < load->count; i++) {
        const gn_bench_datagram *d = &load->datagrams[i];
        const uint8_t *words = load->format == GN_AGG_INT32
                                   ? load->bytes + d->at + GN_AGG_HEADER
                                   : (const uint8_t *)(load->data[d->worker] + (size_t)d->chunk * load->values);
        // The switch uses copy (psn / slots) mod 2 of slot psn mod slots. `slots` is a power of
        // two.
        const size_t copy = 2 * (d->chunk & (load->slots - 1)) + ((d->chunk & load->slots) != 0);
        gn_bench_plain_add(r->sums + copy * load->values, words, load->values);
    }
    __asm__ volatile("" ::: "memory");  // the compiler must not drop the sums
}

/// Prefetches as a host does that receives datagrams in batches. While it handles one, it
/// prefetches bytes that begin 2 KiB further on, or behind this one if it is longer. It
/// prefetches as many bytes as this one has, at most 1 KiB; the hardware fetches the rest. It
/// does not for data that is in a cache anyway.
static void expect_next(const gn_bench_load *load, const gn_bench_datagram *d)
{
    enum { LINE = 64, AHEAD = 2048, MOST = 1024 };
    if (!load->prefetch) return;
    const size_t begin = d->at + (d->bytes > AHEAD ? d->bytes : AHEAD);
    size_t end = begin + (d->bytes < MOST ? d->bytes : MOST);
    if (end > load->used) end = load->used;
    for (size_t at = begin; at < end; at += LINE) {
        __builtin_prefetch(load->bytes + at);
        __asm__ volatile("");  // otherwise the compiler drops the loop
    }
}

static void add_pass(run *r)
{
    gn_error error;
    const gn_bench_load *load = r->load;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    begin_job(r, &error);
    for (size_t i = 0; i < load->count; i++) {
        const gn_bench_datagram *d = &load->datagrams[i];
        expect_next(load, d);
        gn_switch_rx(&r->sw, i, d->worker, load->bytes + d->at, d->bytes, actions);
    }
}

static void whole_pass(run *r)
{
    gn_error error;
    const gn_bench_load *load = r->load;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    size_t output = 0;
    begin_job(r, &error);
    for (size_t i = 0; i < load->count; i++) {
        const gn_bench_datagram *d = &load->datagrams[i];
        expect_next(load, d);
        const unsigned count = gn_switch_rx(&r->sw, i, d->worker, load->bytes + d->at, d->bytes, actions);
        for (unsigned a = 0; a < count; a++) {
            if (actions[a].kind == GN_TO_NOBODY) continue;
            gn_action_write(&r->sw, &actions[a], r->outputs + output * r->output_room, r->output_room);
            output = (output + 1) % OUTPUTS;
        }
    }
}

/// Checks that every chunk has one result, and the right one.
static gn_status check_pass(run *r, gn_error *error)
{
    const gn_bench_load *load = r->load;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    size_t results = 0;
    gn_status wrong = begin_job(r, error);
    for (size_t i = 0; i < load->count && !wrong; i++) {
        const gn_bench_datagram *d = &load->datagrams[i];
        const unsigned count = gn_switch_rx(&r->sw, i, d->worker, load->bytes + d->at, d->bytes, actions);
        for (unsigned a = 0; a < count && !wrong; a++) {
            if (actions[a].kind == GN_TO_NOBODY && !actions[a].reason) continue;
            if (actions[a].kind != GN_TO_GROUP)
                return gn_fail(error, GN_INVALID, "a packet of chunk %u: %s", d->chunk,
                               gn_drop_string(actions[a].reason));
            const size_t bytes = gn_action_write(&r->sw, &actions[a], r->outputs, r->output_room);
            wrong = gn_bench_load_check(load, d->chunk, r->outputs, bytes, error);
            r->result_bytes += bytes;
            results++;
        }
    }
    if (!wrong && results != load->chunks)
        wrong = gn_fail(error, GN_INVALID, "%zu results of %zu chunks", results, load->chunks);
    return wrong;
}

// ---- timing

typedef void pass_function(run *r);
enum { PASSES = 3 };
static pass_function *const passes[PASSES] = {plain_pass, add_pass, whole_pass};

/// How many passes take long enough to measure.
static size_t passes_for(run *r, pass_function *pass)
{
    const uint64_t begun = gn_now();
    size_t count = 0;
    do {
        pass(r);
        count++;
    } while (gn_now() - begun < WARM_UP_NS);
    return count;
}

static int compare_numbers(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return numbers[count / 2];
}

static void measure(run *r, unsigned rounds, gn_bench_switch_result *result)
{
    static gn_span spans[PASSES][ROUNDS_MAX];
    static double shares[2][ROUNDS_MAX];
    size_t counts[PASSES];
    if (rounds > ROUNDS_MAX) rounds = ROUNDS_MAX;
    for (unsigned p = 0; p < PASSES; p++) counts[p] = passes_for(r, passes[p]);
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned p = 0; p < PASSES; p++) {
            const gn_stopwatch begun = gn_stopwatch_start();
            for (size_t i = 0; i < counts[p]; i++) passes[p](r);
            spans[p][round] = gn_stopwatch_stop(begun, counts[p]);
        }
        for (unsigned p = 1; p < PASSES; p++) shares[p - 1][round] = spans[0][round].seconds / spans[p][round].seconds;
    }
    result->add_share = median(shares[0], rounds);
    result->whole_share = median(shares[1], rounds);
    result->plain = gn_span_median(spans[0], rounds);
    result->add = gn_span_median(spans[1], rounds);
    result->whole = gn_span_median(spans[2], rounds);
}

gn_status gn_bench_switch_run(const gn_bench_load *load, const char *kernel, unsigned rounds,
                              gn_bench_switch_result *result, gn_error *error)
{
    run r = {.load = load};
    gn_status wrong = prepare(&r, kernel, error);
    if (!wrong) wrong = check_pass(&r, error);
    if (!wrong) measure(&r, rounds, result);
    result->result_bytes = r.result_bytes;
    result->kernel = gn_codec_kernel_name(&r.codec);
    free(r.memory), free(r.sums), free(r.outputs);
    return wrong;
}
