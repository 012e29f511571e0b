// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allreduce.h"
#include "net/clock.h"
#include "tools/bench/bench.h"
#include "tools/kit/cli.h"
#include "tools/kit/command.h"
#include "tools/kit/launch.h"
#include "tools/kit/units.h"

typedef struct bench {
    const gn_allreduce_options *options;
    gn_comm *comm;   ///< the one that is measured
    gn_comm *side;   ///< for exact figures
    gn_comm *meets;  ///< for barriers: the quicker one
    int rank, size;
    gn_allreduce_data data;
    gn_allreduce_report report;
    gn_allreduce_model model;
    double *times;
} bench;

static int fail(const bench *b, gn_status status, const char *what, const gn_comm *comm)
{
    gn_cli_error(b->options->program, "rank %d: %s: %s: %s", b->rank, what, gn_status_string(status),
                 gn_comm_last_error(comm));
    return GN_EXIT_FAILED;
}

static double now(void)
{
    return gn_seconds(gn_now());
}

static int connect_side(bench *b, const char *rendezvous)
{
    const gn_comm_options *o = &b->options->comm;
    gn_comm_config config =
        gn_comm_options_config(o, b->rank, o->local_ranks ? (int)o->local_ranks : o->size, rendezvous);
    if (!config.interface && o->local_ranks) config.interface = "lo";
    // Messages beside the measurement are exact, and never compressed.
    gn_comm_config side = config;
    side.algorithm = GN_RING;
    side.quantise = false;
    side.scale = GN_SCALE_NONE;
    side.data_tos = 0;
    side.log = NULL;
    side.groups = NULL;
    side.group_offload = GN_OFFLOAD_AUTO;
    gn_status status = gn_comm_init(&b->side, &side);
    if (status) return fail(b, status, "setting up", NULL);
    b->rank = gn_comm_rank(b->side);
    b->size = gn_comm_size(b->side);
    config.aggregator_weights = b->options->weights;
    config.quantise = b->options->quantise;
    config.scale_target = (int8_t)b->options->scale_target;
    config.segment_bytes = b->options->segment;
    status = gn_comm_init(&b->comm, &config);
    // Where all are neighbours, they start closer together.
    const bool mesh = config.algorithm == GN_DIRECT || config.algorithm == GN_AUTO || gn_comm_options_grouped(o);
    b->meets = mesh ? b->comm : b->side;
    return status ? fail(b, status, "setting up", NULL) : GN_EXIT_OK;
}

/// Collects each rank's figure, at every rank.
static int gather(bench *b, double mine, double *all)
{
    float values[256] = {0};
    values[b->rank] = (float)mine;
    gn_status status = gn_allreduce(b->side, values, values, (size_t)b->size, GN_SUM);
    if (status) return fail(b, status, "comparing ranks", b->side);
    for (int rank = 0; rank < b->size; rank++) all[rank] = (double)values[rank];
    return GN_EXIT_OK;
}

static int largest(bench *b, double *value)
{
    double all[256];
    if (gather(b, *value, all)) return GN_EXIT_FAILED;
    for (int rank = 0; rank < b->size; rank++) *value = fmax(*value, all[rank]);
    return GN_EXIT_OK;
}

static int total(bench *b, double *value)
{
    double all[256], sum = 0;
    if (gather(b, *value, all)) return GN_EXIT_FAILED;
    for (int rank = 0; rank < b->size; rank++) sum += all[rank];
    *value = sum;
    return GN_EXIT_OK;
}

/// Whether all ranks have the same 64 bits. They travel in pieces that binary32 holds exactly.
static int same_everywhere(bench *b, uint64_t hash, bool *same)
{
    *same = true;
    for (int piece = 0; piece < 4; piece++) {
        double all[256];
        if (gather(b, (double)(hash >> (16 * piece) & 0xFFFF), all)) return GN_EXIT_FAILED;
        for (int rank = 0; rank < b->size; rank++) *same &= all[rank] == all[0];
    }
    return GN_EXIT_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Measures one operation, which all ranks start together.
static int once(bench *b, const void *send, void *recv, size_t count, double *seconds)
{
    gn_status status = gn_barrier(b->meets);
    if (status) return fail(b, status, "barrier", b->meets);
    double start = now();
    status = gn_allreduce_typed(b->comm, send, recv, count, b->options->type, b->options->op);
    *seconds = now() - start;
    return status ? fail(b, status, "allreduce", b->comm) : GN_EXIT_OK;
}

static int repeat(bench *b, void *send, void *recv, size_t count, gn_allreduce_result *result)
{
    const gn_allreduce_options *o = b->options;
    gn_comm_stats before = {0};
    for (unsigned i = 0; i < o->warmup + o->iterations; i++) {
        if (i == o->warmup) before = gn_comm_get_stats(b->comm);
        if (o->in_place) gn_allreduce_data_fill(&b->data, o->type, b->rank, recv, count);
        double seconds = 0;
        if (once(b, o->in_place ? recv : send, recv, count, &seconds)) return GN_EXIT_FAILED;
        if (i >= o->warmup) b->times[i - o->warmup] = seconds;
    }
    gn_comm_stats after = gn_comm_get_stats(b->comm);
    result->quantise = (after.quantise_seconds - before.quantise_seconds) / o->iterations;
    result->reduce = (after.reduce_seconds - before.reduce_seconds) / o->iterations;
    result->wait = (after.wait_seconds - before.wait_seconds) / o->iterations;
    result->sent = (double)(after.sent_bytes - before.sent_bytes) / o->iterations;
    result->received = (double)(after.received_bytes - before.received_bytes) / o->iterations;
    result->sent_wire = (double)(after.sent_wire_bytes - before.sent_wire_bytes) / o->iterations;
    result->received_wire = (double)(after.received_wire_bytes - before.received_wire_bytes) / o->iterations;
    result->group_sent = (double)(after.group_sent_bytes - before.group_sent_bytes) / o->iterations;
    result->group_sent_wire = (double)(after.group_sent_wire_bytes - before.group_sent_wire_bytes) / o->iterations;
    result->resent = (double)(after.resent_packets - before.resent_packets) / o->iterations;
    result->late = (double)(after.late_packets - before.late_packets) / o->iterations;
    result->fallback = (double)(after.fallback_chunks - before.fallback_chunks) / o->iterations;
    qsort(b->times, o->iterations, sizeof *b->times, compare_doubles);
    result->median = (b->times[(o->iterations - 1) / 2] + b->times[o->iterations / 2]) / 2;
    result->least = b->times[0];
    result->most = b->times[o->iterations - 1];
    return GN_EXIT_OK;
}

/// Every rank checks its share of the values. A hash of all values must be the same at all ranks.
static int check(bench *b, const void *recv, gn_allreduce_result *result)
{
    size_t count = result->count, share = count / (size_t)b->size, first = share * (size_t)b->rank;
    size_t last = b->rank == b->size - 1 ? count : first + share;
    double wrong = (double)gn_allreduce_data_check(&b->data, b->options, recv, first, last);
    if (total(b, &wrong) || same_everywhere(b, gn_allreduce_hash(recv, result->bytes), &result->identical))
        return GN_EXIT_FAILED;
    result->wrong = (uint64_t)wrong;
    return GN_EXIT_OK;
}

static int collect(bench *b, gn_allreduce_result *r)
{
    double *means[] = {&r->quantise,        &r->reduce,    &r->wait,          &r->sent,
                       &r->received,        &r->sent_wire, &r->received_wire, &r->group_sent,
                       &r->group_sent_wire, &r->resent,    &r->late,          &r->fallback};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        if (total(b, means[i])) return GN_EXIT_FAILED;
        *means[i] /= b->size;
    }
    return largest(b, &r->median) || largest(b, &r->least) || largest(b, &r->most);
}

static int measure(bench *b, uint64_t bytes, bool *good)
{
    const size_t width = gn_allreduce_width(b->options->type), count = bytes / width;
    gn_allreduce_result result = {.bytes = count * width, .count = count, .identical = true};
    void *recv = malloc(result.bytes + width), *send = b->options->in_place ? NULL : malloc(result.bytes + width);
    int status = GN_EXIT_OK;
    if (!recv || (!send && !b->options->in_place)) {
        gn_cli_error(b->options->program, "rank %d: no memory for %s", b->rank, gn_human_bytes(bytes).s);
        status = GN_EXIT_FAILED;
    }
    if (!status && send) gn_allreduce_data_fill(&b->data, b->options->type, b->rank, send, count);
    if (!status) memset(recv, 0, result.bytes);  // so that page faults are not measured
    if (!status) status = repeat(b, send, recv, count, &result);
    if (!status && b->options->check) status = check(b, recv, &result);
    if (!status) status = collect(b, &result);
    if (!status) {
        result.model = gn_allreduce_model_time(&b->model, b->options->comm.algorithm, b->size, (double)result.bytes);
        *good &= !result.wrong && result.identical;
        if (!b->rank) gn_allreduce_report_row(&b->report, &result);
    }
    free(send);
    free(recv);
    return status;
}

double gn_allreduce_model_time(const gn_allreduce_model *m, gn_algorithm algorithm, int size, double n)
{
    double p = size;
    const bool has_model = algorithm <= GN_AUTO;  // with groups it depends on where the slow links are
    if (size == 1 || !has_model) return 0;
    if (algorithm == GN_RING)
        return 2 * (p - 1) * m->latency + 2 * (p - 1) / p * n * m->byte + (p - 1) / p * n * m->add;
    if (algorithm == GN_DIRECT || algorithm == GN_AUTO)
        return 2 * m->latency + 2 * (p - 1) / p * n * m->byte + (p - 1) / p * n * m->add;
    // One packet goes to the switch and comes back; the others follow it.
    if (algorithm == GN_SWITCH) return 2 * m->latency + n * m->byte;
    return (1 + log2(p)) * m->latency + (p + log2(p)) * n * m->byte + (p - 1) * n * m->add;
}

enum { PROBE_RUNS = 9 };

/// Median time of a ring on the side communicator.
static int probe(bench *b, float *values, size_t count, double *seconds)
{
    double times[PROBE_RUNS];
    for (int i = 0; i < PROBE_RUNS; i++) {
        gn_status status = gn_barrier(b->side);
        double start = now();
        if (!status) status = gn_allreduce(b->side, values, values, count, GN_SUM);
        times[i] = now() - start;
        if (status) return fail(b, status, "measuring the link", b->side);
    }
    qsort(times, PROBE_RUNS, sizeof *times, compare_doubles);
    *seconds = times[PROBE_RUNS / 2];
    return largest(b, seconds);
}

/// Measures the latency with a ring over one value for each rank, the link's speed with one over
/// 1 MiB, and additions in memory.
static int calibrate(bench *b)
{
    const gn_allreduce_options *o = b->options;
    enum { COUNT = 1 << 18 };
    float *values = calloc(COUNT, sizeof *values), *other = calloc(COUNT, sizeof *other);
    double shortest = 0, longest = 0, hops = 2.0 * (b->size - 1);
    int status = values && other ? GN_EXIT_OK : GN_EXIT_FAILED;
    if (status)
        gn_cli_error(o->program, "rank %d: no memory for %s", b->rank, gn_human_bytes(2 * COUNT * sizeof *values).s);
    if (!status && b->size > 1)
        status = probe(b, values, (size_t)b->size, &shortest) || probe(b, values, COUNT, &longest);
    if (!status && b->size > 1) {
        double start = now();
        for (int turn = 0; turn < 8; turn++)
            for (size_t i = 0; i < COUNT; i++) values[i] += other[i] + (float)turn;
        b->model.add = (now() - start) / (8.0 * COUNT * sizeof *values);
        b->model.latency = o->delay_given ? gn_seconds(o->delay_ns) : shortest / hops;
        double carried = hops / b->size * COUNT * sizeof *values;
        b->model.byte =
            o->rate_bits ? 8 / (double)o->rate_bits : fmax(0, (longest - shortest) / carried - b->model.add / 2);
        status = largest(b, &b->model.add) || largest(b, &b->model.latency) || largest(b, &b->model.byte);
    }
    free(values);
    free(other);
    return status;
}

static int run(bench *b)
{
    gn_error error;
    const gn_allreduce_options *o = b->options;
    bool good = true;
    gn_status wrong = gn_allreduce_data_load(&b->data, o->input, b->size, &error);
    b->times = calloc(o->iterations, sizeof *b->times);
    if (!wrong && !b->times) wrong = gn_fail_memory(&error);
    if (wrong || !b->times) {
        gn_cli_error(o->program, "rank %d: %s", b->rank, error.text);
        return GN_EXIT_FAILED;
    }
    if (calibrate(b)) return GN_EXIT_FAILED;
    b->report = (gn_allreduce_report){.options = o, .size = b->size};
    wrong = b->rank ? GN_OK : gn_allreduce_report_start(&b->report, &b->model, &error);
    if (wrong) {
        gn_comm_abort(b->side, error.text);
        gn_cli_error(o->program, "%s", error.text);
        return GN_EXIT_FAILED;
    }
    for (uint64_t bytes = o->begin; bytes <= o->end; bytes = bytes ? bytes * o->factor : 4)
        if (measure(b, bytes, &good)) return GN_EXIT_FAILED;
    gn_status status = gn_barrier(b->side);
    if (status) return fail(b, status, "barrier", b->side);
    wrong = b->rank ? GN_OK : gn_allreduce_report_end(&b->report, &b->model, &error);
    if (wrong) gn_cli_error(o->program, "%s", error.text);
    if (!good && !b->rank) gn_cli_error(o->program, "some results are wrong, or differ between ranks");
    return good && !wrong ? GN_EXIT_OK : GN_EXIT_FAILED;
}

int gn_allreduce_rank(const gn_allreduce_options *options, int rank, const char *rendezvous)
{
    bench b = {.options = options, .rank = rank};
    int status = connect_side(&b, rendezvous);
    if (!status) status = run(&b);
    gn_result_abort(&b.report.file);
    json_decref(b.report.rows);
    gn_allreduce_data_free(&b.data);
    free(b.times);
    gn_comm_free(b.comm);
    gn_comm_free(b.side);
    return status;
}

static int launched(unsigned rank, const char *rendezvous, void *context)
{
    return gn_allreduce_rank(context, (int)rank, rendezvous);
}

int gn_command_bench_allreduce(int argc, char **argv)
{
    gn_allreduce_options options;
    gn_allreduce_parse(&options, argc, argv);
    const gn_comm_options *comm = &options.comm;
    if (!options.result.quiet) options.comm.teller = argv[0];
    gn_comm_options_say(comm, argv[0], options.result.quiet);
    if (!comm->local_ranks) return gn_allreduce_rank(&options, comm->rank, comm->rendezvous);
    gn_launch launch = {.program = argv[0], .ranks = comm->local_ranks, .run = launched, .context = &options};
    return gn_launch_ranks(&launch);
}
