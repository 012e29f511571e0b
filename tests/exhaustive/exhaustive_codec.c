// SPDX-License-Identifier: Apache-2.0
// Proof by enumeration, for a list of bounds. Every binary32 goes through the reference, which is
// compared with the oracle and checked for properties. It also goes through every kernel, whose
// bytes, values and quantiser must equal the reference's. docs/codec.md says what each property is.
//   exhaustive_codec [-j THREADS] [-m BITS | --all]      without: every sign and exponent with 2^16
//                                                        mantissas
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "enumerate.h"
#include "oracle.h"

enum { BLOCK = ENUMERATE_BLOCK, PIECE_MAX = 600, ALIGN = 64 };

typedef struct job {
    gn_codec reference;
    gn_profile profile;
    int k;
    unsigned mantissa_bits;
    atomic_bool failed;
    pthread_mutex_t lock;  // of what the blocks have found:
    uint64_t tags[4];
    double max_error;            // over finite values
    uint32_t decoded[2][65536];  // of every payload of tags 1 and 2
    bool stable[2][65536];       // its value, encoded and decoded again, is the same
} job;

// What one block has found.
typedef struct worker {
    job *job;
    uint64_t tags[4];
    double max_error;
} worker;

static void fail(job *j, const char *what, uint32_t bits, const char *kernel)
{
    if (!atomic_exchange(&j->failed, true))
        fprintf(stderr, "exhaustive: %s k=%d kernel %s: input %08" PRIx32 ": %s\n", gn_profile_name(j->profile), j->k,
                kernel, bits, what);
}

// ---- which values: by ascending index within a sign, |f| ascends

static uint64_t input_count(const job *j)
{
    return 1ull << (j->mantissa_bits + 9);
}

static uint32_t input(const job *j, uint64_t index)
{
    uint32_t high = (uint32_t)index;
    return enumerate_mantissa(j->mantissa_bits, high, (high * 0x9e3779b1u) >> 30);  // sign and exponent above it
}

// Another order, in which neighbours have nothing in common.
static uint32_t shuffled_input(const job *j, uint64_t index)
{
    return input(j, index * 0x9e3779b1u & (input_count(j) - 1));
}

// ---- the reference against the oracle, and its properties

static bool same(gn_code a, gn_code b)
{
    return a.tag == b.tag && a.payload == b.payload;
}

static gn_code negated(gn_profile profile, gn_code code)
{
    static const uint32_t sign[4] = {0, 0x80, 0x8000, 0x80000000};
    if (profile == GN_LATTICE && code.tag != 3)
        code.payload = (0 - code.payload) & (2 * sign[code.tag] - (code.tag != 0));
    else
        code.payload ^= sign[code.tag];
    return code;
}

static uint32_t decoded(const job *j, gn_code code)
{
    return code.tag == 0 ? 0 : code.tag == 3 ? code.payload : j->decoded[code.tag - 1][code.payload];
}

// One value and its negative.
static void check_value(worker *w, uint32_t bits, unsigned *last_tag)
{
    job *j = w->job;
    gn_code code = gn_lane_encode(&j->reference, bits);
    gn_code want = j->profile == GN_LATTICE ? oracle_lattice_encode(j->k, bits) : oracle_paper_encode(j->k, bits);
    if (!same(code, want)) fail(j, "not the oracle's code", bits, "reference");

    gn_code minus = gn_lane_encode(&j->reference, bits | 0x80000000);
    if (!same(minus, negated(j->profile, code))) fail(j, "property 3: -f is not f negated", bits, "reference");

    if (code.tag < *last_tag) fail(j, "property 5: the tag is not monotone", bits, "reference");
    *last_tag = code.tag;
    w->tags[code.tag] += 2;

    uint32_t back = decoded(j, code);
    if (code.tag == 3) {
        if (back != bits) fail(j, "tag 3 is not exact", bits, "reference");
        return;
    }
    if (code.tag && !j->stable[code.tag - 1][code.payload]) fail(j, "property 2: not idempotent", bits, "reference");
    double error = fabs((double)oracle_float(bits) - (double)oracle_float(back));
    if (error > w->max_error) w->max_error = error;
}

// Every code of tags 0 to 2, also those that no encoder makes: what it decodes to, and whether that
// is encoded to itself. (Property 2 is about values, hence about codes that an encoder makes.
// check_value() asks for those.)
static void check_codes(job *j)
{
    for (unsigned tag = 0; tag <= 2; tag++) {
        for (uint32_t payload = 0; payload < (tag == 0 ? 1u : tag == 1 ? 256u : 65536u); payload++) {
            gn_code code = {tag, payload};
            uint32_t once = gn_lane_decode(&j->reference, code);
            if (once != oracle_decode(j->profile, j->k, code))
                fail(j, "a code's value is not the oracle's", payload, "reference");
            uint32_t twice = gn_lane_decode(&j->reference, gn_lane_encode(&j->reference, once));
            if (tag) j->decoded[tag - 1][payload] = once, j->stable[tag - 1][payload] = once == twice;
            if (!tag && twice != once) fail(j, "property 2: not idempotent", once, "reference");
            double steps = (double)oracle_float(once) * ldexp(1, j->k - 1);
            if (j->profile == GN_LATTICE && steps != rint(steps))
                fail(j, "property 4: not a multiple of the step", once, "reference");
        }
    }
}

static void check_reference(worker *w, uint64_t first, uint64_t count)
{
    const job *j = w->job;
    unsigned last_tag = first ? gn_lane_encode(&j->reference, input(j, first - 1)).tag : 0;
    for (uint64_t i = 0; i < count; i++) check_value(w, input(j, first + i), &last_tag);
}

// ---- kernels against the reference

typedef struct buffers {
    uint8_t values[4 * PIECE_MAX + ALIGN], back[4 * PIECE_MAX + ALIGN];
    uint8_t stream[(PIECE_MAX / GN_GROUP + 1) * GN_RECORD_MAX + ALIGN],
        want_stream[(PIECE_MAX / GN_GROUP + 1) * GN_RECORD_MAX];
    float aligned[PIECE_MAX], quantised[PIECE_MAX], residual[PIECE_MAX];
    uint32_t want[PIECE_MAX];
} buffers;

static uint32_t want_residual(uint32_t bits, uint32_t back)
{
    return (bits & 0x7f800000) == 0x7f800000 ? 0 : oracle_bits(oracle_float(bits) - oracle_float(back));
}

static void check_piece(job *j, const gn_codec *codec, buffers *b, size_t count, unsigned shift, size_t want_bytes)
{
    const char *kernel = gn_codec_kernel_name(codec);
    uint8_t *values = b->values + shift % ALIGN, *stream = b->stream + shift * 5 % ALIGN,
            *back = b->back + shift * 11 % ALIGN;
    memcpy(values, b->aligned, 4 * count);
    size_t bytes = want_bytes;
    if (codec->kernel == j->reference.kernel) {  // has made that stream
        memcpy(stream, b->want_stream, bytes);
    } else {
        gn_status status = gn_stream_encode(codec, values, count, stream, gn_stream_bound(j->profile, count), &bytes);
        if (status != GN_OK || bytes != want_bytes || memcmp(stream, b->want_stream, bytes))
            fail(j, "stream with this first value differs from the reference", oracle_bits(b->aligned[0]), kernel);
    }
    if (gn_stream_decode(codec, stream, bytes, back, count, NULL) != GN_OK || memcmp(back, b->want, 4 * count))
        fail(j, "values decoded from the stream with this first value differ", oracle_bits(b->aligned[0]), kernel);
    gn_quantise(codec, b->aligned, b->quantised, b->residual, count);
    if (memcmp(b->quantised, b->want, 4 * count))
        fail(j, "piece with this first value: quantised differ", oracle_bits(b->aligned[0]), kernel);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = oracle_bits(b->aligned[i]);
        if (oracle_bits(b->residual[i]) != want_residual(bits, b->want[i])) fail(j, "residual differs", bits, kernel);
    }
}

// The values of one block in pieces of all lengths and at all alignments, through every kernel.
static void check_kernels(worker *w, uint64_t first, uint64_t count, buffers *b)
{
    job *j = w->job;
    unsigned piece = (unsigned)(first / BLOCK);
    for (size_t length; count && !j->failed; first += length, count -= length, piece++) {
        length = 1 + piece * 37 % PIECE_MAX;
        if (length > count) length = count;
        for (size_t i = 0; i < length; i++) {
            uint32_t bits = shuffled_input(j, first + i);
            b->aligned[i] = oracle_float(bits);
            b->want[i] = decoded(j, gn_lane_encode(&j->reference, bits));
        }
        size_t bytes = 0;
        if (gn_stream_encode(&j->reference, b->aligned, length, b->want_stream, sizeof b->want_stream, &bytes) != GN_OK)
            fail(j, "the reference does not encode", oracle_bits(b->aligned[0]), "reference");
        for (unsigned n = 0; gn_kernel_name(n); n++) {
            gn_codec codec;
            gn_codec_init_kernel(&codec, j->profile, j->k, gn_kernel_name(n));
            check_piece(j, &codec, b, length, piece, bytes);
        }
    }
}

// ---- a block

static bool check_block(void *context, uint64_t block)
{
    job *j = context;
    worker w = {.job = j};
    buffers *b = malloc(sizeof *b);
    if (!b) abort();
    if (block < input_count(j) / BLOCK / 2) check_reference(&w, block * BLOCK, BLOCK);  // both signs at once
    check_kernels(&w, block * BLOCK, BLOCK, b);
    free(b);
    pthread_mutex_lock(&j->lock);
    for (int t = 0; t < 4; t++) j->tags[t] += w.tags[t];
    j->max_error = fmax(j->max_error, w.max_error);
    pthread_mutex_unlock(&j->lock);
    return !j->failed;
}

// Supremum of |f - decode(encode(f))| of finite |f| < 1. Tag 0 drops what is below 2^-k. Tag 1 has
// 7 bits. It drops altogether what lies between 2^-k and 2^-7, as far as the class reaches
// (2^-floor(k/2)). Tag 2 has 15 bits.
static double paper_supremum(int k)
{
    double zero = ldexp(1, -k), one = fmin(0x1p-7, ldexp(1, -(k / 2))), two = 0x1p-15;
    return fmax(zero, fmax(one, two));
}

static void check_error(job *j, double error)
{
    double eps = ldexp(1, -j->k);
    if (j->profile == GN_LATTICE) {
        if (error > eps) fail(j, "property 1: the error exceeds the bound", 0, "reference");
        return;
    }
    // Property 1 does not hold for paper beyond k = 7; this is how far it is off.
    double supremum = paper_supremum(j->k);
    if (!(error < supremum && error > 0.99 * supremum))
        fail(j, "the largest error is not what analysis says", 0, "reference");
    if ((supremum <= eps) != (j->k <= 7)) fail(j, "property 1 should hold up to k = 7 only", 0, "reference");
}

static bool run(gn_profile profile, int k, const enumerate_options *o)
{
    static job j;  // large
    char name[40];
    double seconds;
    snprintf(name, sizeof name, "%s k %d", gn_profile_name(profile), k);
    if (!enumerate_wants(o, name)) return true;
    j.profile = profile, j.k = k, j.mantissa_bits = o->mantissa_bits;
    j.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    memset(j.tags, 0, sizeof j.tags);
    j.max_error = 0;
    if (gn_codec_init_kernel(&j.reference, profile, k, "scalar") != GN_OK) return false;
    check_codes(&j);
    enumerate(o, name, input_count(&j), check_block, &j, &seconds);
    if (j.tags[0] + j.tags[1] + j.tags[2] + j.tags[3] != input_count(&j)) fail(&j, "not every input was tried", 0, "-");
    check_error(&j, j.max_error);
    printf("%-8s k %3d  inputs %10" PRIu64 "  tags %10" PRIu64 " %9" PRIu64 " %9" PRIu64 " %10" PRIu64
           "  largest error %.6g bounds  %.1f s  %s\n",
           gn_profile_name(profile), k, input_count(&j), j.tags[0], j.tags[1], j.tags[2], j.tags[3],
           j.max_error * ldexp(1, k), seconds, j.failed ? "FAILED" : "ok");
    fflush(stdout);
    return !j.failed;
}

int main(int argc, char **argv)
{
    static const int lattice[] = {-31, -4, 6, 8, 10, 12, 15, 24, 31}, paper[] = {1, 6, 7, 8, 10, 12, 15, 24, 126};
    enumerate_options o = enumerate_parse(argc, argv, "Checks profiles lattice and paper on every binary32.");
    bool ok = true;
    for (size_t i = 0; i < sizeof lattice / sizeof *lattice; i++) ok = run(GN_LATTICE, lattice[i], &o) && ok;
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) ok = run(GN_PAPER, paper[i], &o) && ok;
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
