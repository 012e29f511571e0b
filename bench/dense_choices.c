// SPDX-License-Identifier: Apache-2.0
// What profile dense would be with one thing changed: the ratio of the same integers with other
// groups, classes and headers (docs/dense.md). Bits are counted, not written. The row of dense
// itself is compared with the codec's own bytes.
//
//   dense_choices [FILE...]        .npy, .f32, also .gz; default: the dumps in tests/data/gradients
#include <glob.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/codec.h>

#include "net/error.h"
#include "tools/files/values.h"
#include "tools/kit/cli.h"

enum { QUAD = 32, RUN = 256, RUN_BITS = 8, SINGLE_LARGEST = 16, MADE = 1 << 18 };
enum { PIECE = 65536 };  // values of a stream, as in gradnic ratio: both give the same ratios

// A format like dense. Widths are planes, of `lanes` bits each.
typedef struct choice {
    const char *name;
    unsigned lanes;        // values of a group
    unsigned header_bits;  // of a group
    unsigned quad;         // values under one header
    int unsigned_most;     // widest unsigned class
    bool every_width;      // else 1 to 8, 10, 12, 16
    bool runs;             // of quads of zeros
    bool single;           // a class of one byte: the one lane that is not zero, and its value
} choice;

static const choice choices[] = {
    {"dense", 8, 4, 32, 3, false, true, false},
    {"without unsigned classes", 8, 4, 32, 0, false, true, false},
    {"without runs of zeros", 8, 4, 32, 3, false, false, false},
    {"a one-byte class for one lane, not u3", 8, 4, 32, 2, false, true, true},
    {"every width, 5-bit classes", 8, 5, 32, 3, true, true, false},
    {"groups of 4", 4, 4, 32, 3, false, true, false},
    {"groups of 16", 16, 4, 32, 3, false, true, false},
    {"groups of 32", 32, 4, 32, 3, false, true, false},
    {"headers of 2 groups", 8, 4, 16, 3, false, true, false},
    {"headers of 8 groups", 8, 4, 64, 3, false, true, false},
};
enum { CHOICES = sizeof choices / sizeof *choices };

// The integers of a set of values; RAW where there is none.
typedef struct numbers {
    int32_t *q;
    size_t count;
} numbers;

static const int32_t RAW = INT32_MAX;

static unsigned signed_width(const choice *c, unsigned bits)
{
    const unsigned width = bits + 1;
    if (c->every_width || width <= 8) return width;
    return width <= 10 ? 10 : width <= 12 ? 12 : 16;
}

static unsigned group_bits(const choice *c, const int32_t *q)
{
    uint32_t all = 0;
    unsigned used = 0;
    bool negative = false, small = true;
    for (unsigned i = 0; i < c->lanes; i++) {
        if (q[i] == RAW) return 33 * c->lanes;
        all |= (uint32_t)(q[i] < 0 ? ~q[i] : q[i]);
        negative |= q[i] < 0;
        used += q[i] != 0;
        small &= abs(q[i]) <= SINGLE_LARGEST;
    }
    if (!used) return 0;
    const unsigned bits = all ? 32 - (unsigned)__builtin_clz(all) : 0;
    const bool fits = !negative && (int)bits <= c->unsigned_most;
    const unsigned planes = c->lanes * (fits ? bits : signed_width(c, bits));
    return c->single && used == 1 && small && planes > 8 ? 8 : planes;
}

// Bytes of one stream.
static uint64_t stream_bytes(const choice *c, numbers n)
{
    uint64_t bytes = 0, run = 0;
    const unsigned header = c->quad / c->lanes * c->header_bits;
    for (size_t at = 0; at < n.count; at += c->quad) {
        int32_t q[2 * QUAD] = {0};
        memcpy(q, n.q + at, (n.count - at < c->quad ? n.count - at : c->quad) * sizeof *q);
        unsigned payload = 0;
        for (unsigned g = 0; g < c->quad; g += c->lanes) payload += group_bits(c, q + g);
        run = payload || run == RUN ? 0 : run;
        if (payload || !c->runs)
            bytes += (header + payload + 7) / 8;
        else if (run++ == 0)
            bytes += (header + RUN_BITS + 7) / 8;
    }
    return bytes;
}

static uint64_t codec_bytes(gn_profile profile, int k, const float *values, size_t count)
{
    gn_codec codec;
    size_t bytes, room = gn_stream_bound(profile, count);
    void *stream = malloc(room + 1);
    if (!stream || gn_codec_init(&codec, profile, k) || gn_stream_encode(&codec, values, count, stream, room, &bytes)) {
        fprintf(stderr, "dense_choices: the codec failed\n");
        exit(1);
    }
    free(stream);
    return bytes;
}

// Adds the bytes of every choice, and of lattice, for one set of values.
static void measure(int k, const float *values, size_t count, uint64_t bytes[CHOICES + 1])
{
    gn_codec codec;
    float *quantised = malloc((count + 1) * sizeof *quantised);
    numbers n = {malloc((count + 1) * sizeof *n.q), count};
    if (!quantised || !n.q || gn_codec_init(&codec, GN_DENSE, k)) exit(1);
    gn_quantise(&codec, values, quantised, NULL, count);
    for (size_t i = 0; i < count; i++) {
        const float q = ldexpf(quantised[i], k - 1);
        n.q[i] = fabsf(q) <= 32767 ? (int32_t)q : RAW;
    }
    const uint64_t dense = stream_bytes(&choices[0], n);
    if (dense != codec_bytes(GN_DENSE, k, values, count)) {
        fprintf(stderr, "dense_choices: dense is not what is counted here\n");
        exit(1);
    }
    for (size_t c = 0; c < CHOICES; c++) bytes[c] += stream_bytes(&choices[c], n);
    bytes[CHOICES] += codec_bytes(GN_LATTICE, k, values, count);
    free(n.q);
    free(quantised);
}

// ---- values

// One column: a bound and what was added up.
typedef struct column {
    const char *title;
    int k;
    uint64_t values, bytes[CHOICES + 1];
} column;

static column columns[] = {{"k = 6", 6, 0, {0}}, {"8", 8, 0, {0}},       {"10", 10, 0, {0}},      {"12", 12, 0, {0}},
                           {"15", 15, 0, {0}},   {"sparse", 10, 0, {0}}, {"outlier", 10, 0, {0}}, {"raw", 10, 0, {0}}};
enum { DUMPS = 5, COLUMNS = sizeof columns / sizeof *columns };

static void add(column *c, const float *values, size_t count)
{
    for (size_t at = 0; at < count; at += PIECE)
        measure(c->k, values + at, count - at < PIECE ? count - at : PIECE, c->bytes);
    c->values += count;
}

// sparse: one value in 32 is one step, the others are zero. outlier: one value in 8 is out of
// range, the others are zero. raw: all are out of range.
static void add_made(void)
{
    float *values = calloc(MADE, sizeof *values);
    if (!values) exit(1);
    uint32_t state = 1;
    for (size_t i = 0; i < MADE; i += 32) {
        state = state * 1664525 + 1013904223;
        values[i + (state >> 27)] = state & 1 << 20 ? 0x1p-9f : -0x1p-9f;
    }
    add(&columns[DUMPS], values, MADE);
    for (size_t i = 0; i < MADE; i++) values[i] = i % 8 == 3 ? 1000.0f : 0;
    add(&columns[DUMPS + 1], values, MADE);
    for (size_t i = 0; i < MADE; i++) values[i] = 1000.0f;
    add(&columns[DUMPS + 2], values, MADE);
    free(values);
}

static void print_row(const char *name, size_t row)
{
    printf("%-38s", name);
    for (size_t i = 0; i < COLUMNS; i++)
        printf("  %7.2f", 4 * (double)columns[i].values / (double)columns[i].bytes[row]);
    putchar('\n');
}

int main(int argc, char **argv)
{
    gn_error error;
    glob_t dumps = {0};
    if (argc < 2 && glob(GN_GRADIENTS "/*.npy.gz", 0, NULL, &dumps)) return 1;
    char **files = argc < 2 ? dumps.gl_pathv : argv + 1;
    for (size_t f = 0; files[f]; f++) {
        float *values;
        size_t count;
        gn_status wrong = gn_values_load(files[f], GN_FORMAT_AUTO, &values, &count, &error);
        if (wrong) gn_cli_error("dense_choices", "%s", error.text);
        if (wrong) return 1;
        for (size_t c = 0; c < DUMPS; c++) add(&columns[c], values, count);
        free(values);
    }
    add_made();
    printf("%-38s", "ratio");
    for (size_t i = 0; i < COLUMNS; i++) printf("  %7s", columns[i].title);
    putchar('\n');
    for (size_t c = 0; c < CHOICES; c++) print_row(choices[c].name, c);
    print_row("lattice", CHOICES);
    if (argc < 2) globfree(&dumps);
    return 0;
}
