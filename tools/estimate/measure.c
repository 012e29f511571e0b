// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "tools/files/values.h"

/// A sum of gradients on the lattice, as it is sent from rank to rank.
typedef struct sum {
    const gn_codec *codec;
    float *values, *decoded;
    uint8_t *stream;
    size_t count, room;
} sum;

static void free_sum(sum *s)
{
    free(s->values);
    free(s->decoded);
    free(s->stream);
}

static gn_status begin(sum *s, size_t count, gn_error *error)
{
    s->count = count;
    s->room = gn_stream_bound(s->codec->profile, count);
    s->values = calloc(count ? count : 1, sizeof *s->values);
    s->decoded = malloc((count ? count : 1) * sizeof *s->decoded);
    s->stream = malloc(s->room ? s->room : 1);
    return s->values && s->decoded && s->stream ? GN_OK : gn_fail_memory(error);
}

/// Adds one rank's gradient, rounded as the exchange rounds it. `*bytes`: of the new sum's stream.
static gn_status add(sum *s, const float *gradient, size_t *bytes, gn_error *error)
{
    gn_status status = gn_stream_encode(s->codec, gradient, s->count, s->stream, s->room, bytes);
    if (!status) status = gn_stream_decode(s->codec, s->stream, *bytes, s->decoded, s->count, NULL);
    for (size_t i = 0; i < s->count && !status; i++) s->values[i] += s->decoded[i];
    if (!status) status = gn_stream_encode(s->codec, s->values, s->count, s->stream, s->room, bytes);
    return status ? gn_fail(error, status, "%s", gn_status_string(status)) : GN_OK;
}

gn_status gn_estimate_measure(gn_setting *setting, const gn_codec *codec, char *const *files, int count,
                              gn_error *error)
{
    sum s = {.codec = codec};
    double ring = 0, bytes_before = 0;
    gn_status status = GN_OK;
    for (unsigned rank = 0; rank < setting->ranks && !status; rank++) {
        float *gradient = NULL;
        size_t values = 0, bytes = 0;
        const char *file = files[rank % (unsigned)count];
        status = (rank < (unsigned)count ? gn_values_load : gn_values_load_again)(file, GN_FORMAT_AUTO, &gradient,
                                                                                  &values, error);
        if (!status && !values) status = gn_fail(error, GN_INVALID, "%s: has no values", file);
        if (!status && !rank) status = begin(&s, values, error);
        if (!status && values != s.count)
            status = gn_fail(error, GN_INVALID, "%s: has %zu values, %s has %zu", file, values, files[0], s.count);
        if (!status) status = add(&s, gradient, &bytes, error);
        free(gradient);
        if (status) break;
        bytes_before = (double)s.count * sizeof(float);
        const double after = bytes ? (double)bytes : 1;
        // Reduce-scatter sends sums of 1 to N-1 gradients, all-gather N-1 times the whole sum.
        const bool last = rank + 1 == setting->ranks;
        ring += last ? after * (setting->ranks - 1) : after;
        if (!rank) setting->up_ratio = bytes_before / after;
        setting->down_ratio = bytes_before / after;
    }
    setting->bytes = bytes_before;
    if (!status) setting->ring_ratio = 2 * (setting->ranks - 1.0) * bytes_before / ring;
    free_sum(&s);
    return status;
}
