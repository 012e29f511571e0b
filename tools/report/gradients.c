// SPDX-License-Identifier: Apache-2.0
#include "gradients.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/files/values.h"

enum { BLOCK = 1 << 16 };

static const int bounds[] = {6, 8, 10, 12};

gn_status gn_gradients_init(gn_gradients *gradients, gn_error *error)
{
    memset(gradients, 0, sizeof *gradients);
    for (gn_profile p = 0; p < GN_PROFILE_COUNT; p++) {
        for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
            gn_codec codec;
            const gn_status status = gn_codec_init(&codec, p, bounds[b]);
            if (status || gradients->codecs == GN_TALLIES_MAX)
                return gn_fail(error, status, "%s: %s", gn_profile_name(p), gn_status_string(status));
            gradients->codec[gradients->codecs++].codec = codec;
        }
    }
    return GN_OK;
}

static void count_binades(gn_gradients *gradients, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i] == 0) {
            gradients->zeros++;
            continue;
        }
        int exponent = isfinite(values[i]) ? ilogbf(values[i]) : GN_BINADE_HIGH;
        if (exponent < GN_BINADE_LOW) exponent = GN_BINADE_LOW;
        if (exponent > GN_BINADE_HIGH) exponent = GN_BINADE_HIGH;
        gradients->binade[exponent - GN_BINADE_LOW]++;
    }
    gradients->values += count;
}

static gn_status add_block(gn_gradients *gradients, const float *values, size_t count, uint8_t *stream, size_t room,
                           gn_error *error)
{
    count_binades(gradients, values, count);
    for (size_t i = 0; i < gradients->codecs; i++) {
        gn_codec_tally *c = &gradients->codec[i];
        size_t bytes;
        gn_status status = gn_stream_encode(&c->codec, values, count, stream, room, &bytes);
        if (!status) status = gn_stream_tally(&c->codec, stream, bytes, count, &c->tally);
        if (status) return gn_fail(error, status, "%s", gn_status_string(status));
    }
    return GN_OK;
}

void gn_codec_widths(const gn_codec_tally *tally, double share[GN_WIDTHS])
{
    const gn_tally *t = &tally->tally;
    const bool dense = tally->codec.profile == GN_DENSE;
    const double all = (double)(dense ? t->groups : t->values);
    uint64_t count[GN_WIDTHS] = {0};
    if (dense)  // classes 0; 1 to 11; 12 to 14; 15
        for (unsigned class = 0; class < GN_CLASS_COUNT; class ++)
            count[(class > 0) + (class > 11) + (class > 14)] += t->classes[class];
    else
        memcpy(count, t->tags, sizeof count);
    for (int width = 0; width < GN_WIDTHS; width++) share[width] = all > 0 ? (double)count[width] / all : 0;
}

static size_t largest_stream(const gn_gradients *gradients)
{
    size_t most = 0;
    for (size_t i = 0; i < gradients->codecs; i++) {
        const size_t bound = gn_stream_bound(gradients->codec[i].codec.profile, BLOCK);
        most = bound > most ? bound : most;
    }
    return most;
}

gn_status gn_gradients_add(gn_gradients *gradients, const char *path, gn_error *error)
{
    const size_t room = largest_stream(gradients);
    float *block = malloc(BLOCK * sizeof *block);
    uint8_t *stream = malloc(room + 1);  // never 0
    gn_values *values = NULL;
    gn_status wrong = block && stream ? gn_values_open(&values, path, GN_FORMAT_AUTO, error) : gn_fail_memory(error);
    for (size_t got = 1; !wrong && got;) {
        wrong = gn_values_read(values, block, BLOCK, &got, error);
        if (!wrong && got) wrong = add_block(gradients, block, got, stream, room, error);
    }
    gn_values_close(values);
    free(stream);
    free(block);
    return wrong;
}
