// SPDX-License-Identifier: Apache-2.0
#include "ratio_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void gn_ratio_input_add(gn_ratio_input *input, const float *values, size_t count)
{
    input->values += count;
    for (size_t i = 0; i < count; i++) {
        const double magnitude = fabs((double)values[i]);
        if (!isfinite(magnitude)) {
            input->not_finite++;
            continue;
        }
        input->zeros += magnitude == 0;
        if (magnitude > input->largest) input->largest = magnitude;
        input->sum_squares += magnitude * magnitude;
        input->sum_magnitudes += magnitude;
    }
}

void gn_ratio_input_merge(gn_ratio_input *input, const gn_ratio_input *more)
{
    input->values += more->values;
    input->zeros += more->zeros;
    input->not_finite += more->not_finite;
    if (more->largest > input->largest) input->largest = more->largest;
    input->sum_squares += more->sum_squares;
    input->sum_magnitudes += more->sum_magnitudes;
}

void gn_ratio_errors_add(gn_ratio_stats *stats, const float *values, const float *decoded, size_t count, double bound)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) continue;
        double error = (double)decoded[i] - (double)values[i];
        if (isnan(error)) error = INFINITY;  // a finite value became NaN
        const double magnitude = fabs(error);
        if (magnitude > stats->max_error) stats->max_error = magnitude;
        stats->above_bound += magnitude > bound;
        stats->sum_error += error;
        stats->sum_error_squares += error * error;
        stats->sum_magnitudes += fabs((double)decoded[i]);
    }
}

void gn_ratio_stats_merge(gn_ratio_stats *stats, const gn_ratio_stats *more)
{
    stats->packed_bytes += more->packed_bytes;
    gn_tally_add(&stats->tally, &more->tally);
    if (more->max_error > stats->max_error) stats->max_error = more->max_error;
    stats->sum_error += more->sum_error;
    stats->sum_error_squares += more->sum_error_squares;
    stats->sum_magnitudes += more->sum_magnitudes;
    stats->above_bound += more->above_bound;
}

struct gn_ratio_scratch {
    const gn_ratio_subject *subjects;
    size_t count;
    gn_rival_context **rivals;  // by subject; NULL for gradnic's codecs
    size_t packed_room;
    uint8_t *packed;
    float *decoded;
};

static bool scratch_fill(gn_ratio_scratch *s)
{
    s->rivals = calloc(s->count + 1, sizeof(gn_rival_context *));
    s->decoded = malloc(GN_RATIO_BLOCK * sizeof *s->decoded);
    if (!s->rivals || !s->decoded) return false;
    for (size_t i = 0; i < s->count; i++) {
        const gn_ratio_subject *subject = &s->subjects[i];
        const bool is_rival = subject->kind == GN_RATIO_RIVAL;
        if (is_rival && !(s->rivals[i] = gn_rival_context_new(&subject->choice, subject->bound_exp))) return false;
        const size_t room = is_rival ? gn_rival_bound(s->rivals[i], GN_RATIO_BLOCK)
                                     : gn_stream_bound(subject->codec.profile, GN_RATIO_BLOCK);
        if (room > s->packed_room) s->packed_room = room;
    }
    s->packed = malloc(s->packed_room + 1);
    return s->packed != NULL;
}

gn_ratio_scratch *gn_ratio_scratch_new(const gn_ratio_subject *subjects, size_t count)
{
    gn_ratio_scratch *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->subjects = subjects;
    s->count = count;
    if (scratch_fill(s)) return s;
    gn_ratio_scratch_free(s);
    return NULL;
}

void gn_ratio_scratch_free(gn_ratio_scratch *s)
{
    if (!s) return;
    for (size_t i = 0; s->rivals && i < s->count; i++) gn_rival_context_free(s->rivals[i]);
    free(s->rivals);
    free(s->packed);
    free(s->decoded);
    free(s);
}

static gn_status measure_codec(gn_ratio_scratch *s, const gn_codec *codec, const float *values, size_t count,
                               gn_ratio_stats *stats, gn_error *error)
{
    size_t bytes;
    gn_status status = gn_stream_encode(codec, values, count, s->packed, s->packed_room, &bytes);
    if (!status) status = gn_stream_tally(codec, s->packed, bytes, count, &stats->tally);
    if (!status) status = gn_stream_decode(codec, s->packed, bytes, s->decoded, count, NULL);
    if (status) return gn_fail(error, status, "%s: %s", gn_profile_name(codec->profile), gn_status_string(status));
    stats->packed_bytes = bytes;
    gn_ratio_errors_add(stats, values, s->decoded, count, ldexp(1, -codec->bound_exp));
    return GN_OK;
}

static gn_status measure_rival(gn_ratio_scratch *s, size_t i, const float *values, size_t count, gn_ratio_stats *stats,
                               gn_error *error)
{
    const gn_ratio_subject *subject = &s->subjects[i];
    const size_t bytes = gn_rival_compress(s->rivals[i], values, count, s->packed, s->packed_room);
    if (!bytes || !gn_rival_decompress(s->rivals[i], s->packed, bytes, s->decoded, count))
        return gn_fail(error, GN_INVALID, "%s failed on its own output", subject->choice.name);
    stats->packed_bytes = bytes;
    if (subject->choice.rival->lossless && memcmp(values, s->decoded, count * sizeof *values) != 0)
        return gn_fail(error, GN_INVALID, "%s is lossless, but gave other values back", subject->choice.name);
    gn_ratio_errors_add(stats, values, s->decoded, count, ldexp(1, -subject->bound_exp));
    return GN_OK;
}

static void count_integers(gn_ratio_scratch *s, const gn_ratio_subject *subject, const float *values, size_t count)
{
    gn_quantise(&subject->codec, values, s->decoded, NULL, count);
    gn_integer_counts_add(subject->histogram, s->decoded, count, subject->bound_exp);
}

gn_status gn_ratio_measure(gn_ratio_scratch *s, const float *values, size_t count, gn_ratio_stats *stats,
                           gn_error *error)
{
    for (size_t i = 0; i < s->count; i++) {
        const gn_ratio_subject *subject = &s->subjects[i];
        stats[i] = (gn_ratio_stats){0};
        gn_status wrong = GN_OK;
        if (subject->kind == GN_RATIO_RIVAL)
            wrong = measure_rival(s, i, values, count, &stats[i], error);
        else if (subject->kind == GN_RATIO_CODEC)
            wrong = measure_codec(s, &subject->codec, values, count, &stats[i], error);
        else
            count_integers(s, subject, values, count);
        if (wrong) return wrong;
    }
    return GN_OK;
}
