// SPDX-License-Identifier: Apache-2.0
// Timing. memcpy and every subject run in turn, many times, so a disturbance hits all of them.
// The result is the median of each, in CPU time (stopwatch.h).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "net/clock.h"
#include "stopwatch.h"

enum { REPETITIONS_MAX = 1000, WARM_UP_NS = 2000000 };

size_t gn_bench_bound(const gn_bench_subject *subject, size_t piece)
{
    return subject->rival ? gn_rival_bound(subject->rival, piece) : gn_stream_bound(subject->codec.profile, piece);
}

// ---- one pass over all pieces

static bool compress_pass(const gn_bench_case *c, gn_bench_subject *s)
{
    s->packed_bytes = 0;
    for (size_t i = 0; i * c->piece < c->count; i++) {
        const float *values = c->values + i * c->piece;
        uint8_t *packed = c->packed + i * c->packed_stride;
        if (s->rival)
            c->packed_bytes[i] = gn_rival_compress(s->rival, values, c->piece, packed, c->packed_stride);
        else
            gn_stream_encode(&s->codec, values, c->piece, packed, c->packed_stride, &c->packed_bytes[i]);
        if (c->packed_bytes[i] == 0) return false;
        s->packed_bytes += c->packed_bytes[i];
    }
    return true;
}

static bool decompress_pass(const gn_bench_case *c, gn_bench_subject *s)
{
    for (size_t i = 0; i * c->piece < c->count; i++) {
        const uint8_t *packed = c->packed + i * c->packed_stride;
        float *back = c->back + i * c->piece;
        bool done = s->rival ? gn_rival_decompress(s->rival, packed, c->packed_bytes[i], back, c->piece)
                             : gn_stream_decode(&s->codec, packed, c->packed_bytes[i], back, c->piece, NULL) == GN_OK;
        if (!done) return false;
    }
    return true;
}

static bool memcpy_pass(const gn_bench_case *c, gn_bench_subject *s)
{
    (void)s;
    for (size_t i = 0; i < c->count; i += c->piece) memcpy(c->back + i, c->values + i, c->piece * sizeof *c->values);
    __asm__ volatile("" ::: "memory");  // the compiler must not drop the copies
    return true;
}

typedef bool pass_function(const gn_bench_case *c, gn_bench_subject *s);

// How many passes take long enough to measure.
static size_t passes_for(const gn_bench_case *c, gn_bench_subject *s, pass_function *pass)
{
    uint64_t begun = gn_now(), now;
    size_t passes = 0;
    do {
        pass(c, s);
        passes++;
        now = gn_now();
    } while (now - begun < WARM_UP_NS);
    return passes;
}

static gn_span timed(const gn_bench_case *c, gn_bench_subject *s, pass_function *pass, size_t passes)
{
    gn_stopwatch begun = gn_stopwatch_start();
    for (size_t i = 0; i < passes; i++) pass(c, s);
    return gn_stopwatch_stop(begun, passes);
}

// ---- all of them

typedef struct samples {
    gn_span compress[REPETITIONS_MAX], decompress[REPETITIONS_MAX];
    size_t compress_passes, decompress_passes;
    unsigned count;
    double spent;
} samples;

// Compresses and decompresses once, and checks the values: equal, or within the bound.
static gn_status check_subject(const gn_bench_case *c, gn_bench_subject *s, gn_error *error)
{
    memset(c->back, 0xff, c->count * sizeof *c->back);
    if (!compress_pass(c, s)) return gn_fail(error, GN_INVALID, "%s cannot compress these values", s->name);
    if (!decompress_pass(c, s)) return gn_fail(error, GN_INVALID, "%s cannot decompress its own output", s->name);
    s->max_error = 0;
    for (size_t i = 0; i < c->count; i++) {
        uint32_t before, after;
        memcpy(&before, &c->values[i], sizeof before);
        memcpy(&after, &c->back[i], sizeof after);
        if (before == after) continue;  // NaNs too
        double off = fabs((double)c->values[i] - (double)c->back[i]);
        if (!(off <= s->max_error)) s->max_error = off;  // a NaN stays
    }
    // Not an error for paper, whose bound is not strict, nor for zfp below binary32's precision.
    bool must_hold = s->rival ? !s->bounded : s->codec.profile != GN_PAPER;
    double allowed = s->bounded ? ldexp(1, -s->bound_exp) : 0;
    if (must_hold && !(s->max_error <= allowed))
        return gn_fail(error, GN_INVALID, "%s: values come back with an error of %g", s->name, s->max_error);
    return GN_OK;
}

static gn_status prepare(const gn_bench_case *c, gn_bench_subject *s, samples *t, gn_error *error)
{
    gn_status wrong = check_subject(c, s, error);
    if (wrong) return wrong;
    t->compress_passes = passes_for(c, s, compress_pass);
    t->decompress_passes = passes_for(c, s, decompress_pass);
    return GN_OK;
}

static void repeat(const gn_bench_case *c, gn_bench_subject *s, samples *t)
{
    if (t->count >= 3 && t->spent > c->seconds) return;
    uint64_t begun = gn_now();
    t->compress[t->count] = timed(c, s, compress_pass, t->compress_passes);
    t->decompress[t->count++] = timed(c, s, decompress_pass, t->decompress_passes);
    t->spent += gn_seconds(gn_now() - begun);
}

gn_status gn_bench_run(const gn_bench_case *c, gn_bench_subject *subjects, size_t subject_count, double *memcpy_seconds,
                       gn_error *error)
{
    samples *all = calloc(subject_count + 1, sizeof *all), *copies = &all[subject_count];
    if (!all) return gn_fail_memory(error);
    gn_status wrong = GN_OK;
    for (size_t i = 0; i < subject_count && !wrong; i++) wrong = prepare(c, &subjects[i], &all[i], error);
    if (wrong) goto out;

    unsigned repetitions = c->repetitions < REPETITIONS_MAX ? c->repetitions : REPETITIONS_MAX;
    copies->compress_passes = passes_for(c, NULL, memcpy_pass);
    for (unsigned r = 0; r < repetitions; r++) {
        copies->compress[copies->count++] = timed(c, NULL, memcpy_pass, copies->compress_passes);
        for (size_t i = 0; i < subject_count; i++) repeat(c, &subjects[i], &all[i]);
    }
    *memcpy_seconds = gn_span_median(copies->compress, copies->count).seconds;
    for (size_t i = 0; i < subject_count; i++) {
        gn_span compress = gn_span_median(all[i].compress, all[i].count);
        gn_span decompress = gn_span_median(all[i].decompress, all[i].count);
        subjects[i].repetitions = all[i].count;
        subjects[i].compress_seconds = compress.seconds, subjects[i].compress_ticks = compress.ticks;
        subjects[i].decompress_seconds = decompress.seconds, subjects[i].decompress_ticks = decompress.ticks;
    }
out:
    free(all);
    return wrong;
}
