// SPDX-License-Identifier: Apache-2.0
// What engines.v sends and what it must get, as the C model says: frames of every profile, in beats. Usage: vectors DIRECTORY. Writes values.hex,
// streams.hex and back.hex there, of each a line a beat, {last, tuser, tkeep, tdata}; bytes that tkeep leaves out are 0.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/codec.h>

#include "host/splitmix.h"

enum { FRAMES = 400, COUNT_MAX = 300, BEAT = 32, BOUND_MAX = COUNT_MAX * 5 + 64 };

// `user`: {number of values, bound_exp, profile}, in every beat.
static void write_beats(FILE *out, const unsigned char *bytes, size_t count, unsigned long long user)
{
    for (size_t at = 0; at < count; at += BEAT) {
        const size_t rest = count - at, kept = rest < BEAT ? rest : BEAT;
        fprintf(out, "%x%09llx%08x", rest <= BEAT, user, kept == BEAT ? 0xffffffffu : (1u << kept) - 1);
        for (size_t i = BEAT; i--;) fprintf(out, "%02x", i < kept ? bytes[at + i] : 0u);
        fputc('\n', out);
    }
}

// Any sign and mantissa, around the bound; some far from it, or not finite.
static uint32_t value_near(int k, uint64_t *seed)
{
    const uint64_t r = splitmix64(seed);
    const int near = 127 - k + (int)(r >> 32 & 15) - 4;
    const uint32_t exponent = (r >> 40 & 31) == 0 ? (uint32_t)(r >> 45 & 255) : (uint32_t)near & 255;
    return exponent << 23 | ((uint32_t)r & 0x807fffffu);
}

static FILE *open_in(const char *directory, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) return NULL;
    FILE *file = fopen(path, "w");
    if (!file) perror(path);
    return file;
}

int main(int argc, char **argv)
{
    static const struct {
        gn_profile profile;
        int k;
    } settings[] = {{GN_PAPER, 10}, {GN_DENSE, 10},   {GN_LATTICE, 24}, {GN_DENSE, 23},
                    {GN_PAPER, 15}, {GN_LATTICE, -4}, {GN_DENSE, 6}};
    FILE *values_out = argc == 2 ? open_in(argv[1], "values.hex") : NULL;
    FILE *streams_out = values_out ? open_in(argv[1], "streams.hex") : NULL;
    FILE *back_out = streams_out ? open_in(argv[1], "back.hex") : NULL;
    if (!back_out) {
        fprintf(stderr, "usage: vectors DIRECTORY\n");
        return 2;
    }
    uint64_t seed = 1;
    for (unsigned n = 0; n < FRAMES; n++) {
        const unsigned which = (unsigned)(splitmix64(&seed) % (sizeof settings / sizeof *settings));
        const size_t count = 1 + splitmix64(&seed) % (n % 4 ? 40 : COUNT_MAX);
        const int k = settings[which].k;
        uint32_t values[COUNT_MAX], back[COUNT_MAX];
        unsigned char stream[BOUND_MAX];
        size_t bytes;
        gn_codec codec;
        for (size_t i = 0; i < count; i++) values[i] = value_near(k, &seed);
        if (gn_codec_init(&codec, settings[which].profile, k) != GN_OK ||
            gn_stream_encode(&codec, values, count, stream, sizeof stream, &bytes) != GN_OK ||
            gn_stream_decode(&codec, stream, bytes, back, count, NULL) != GN_OK) {
            fprintf(stderr, "vectors: the model refuses frame %u\n", n);
            return 1;
        }
        const unsigned long long user =
            (unsigned long long)count << 10 | (unsigned)(k & 255) << 2 | (unsigned)settings[which].profile;
        write_beats(values_out, (const unsigned char *)values, 4 * count, user);
        write_beats(streams_out, stream, bytes, user);
        write_beats(back_out, (const unsigned char *)back, 4 * count, user);
    }
    return fclose(values_out) || fclose(streams_out) || fclose(back_out);
}
