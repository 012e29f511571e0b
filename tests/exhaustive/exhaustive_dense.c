// SPDX-License-Identifier: Apache-2.0
// Profile dense on every binary32, in each of the 32 places of a quad, through every kernel. What
// the values become is lattice's rule, which exhaustive_codec proves. Here the oracle gives the
// values, and a second writer the bytes.
//
// A place is a bit of a plane and a slot of the record. So the stream of the values gives the
// stream of the same values with rotated lanes: each plane is rotated. With rotated groups, the
// payloads and their classes change places.
//   exhaustive_dense [-j THREADS] [-m BITS | --all]      without: every sign and exponent with 2^16
//                                                        mantissas
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/dense_reference.h"
#include "enumerate.h"
#include "oracle.h"

enum { PIECE = 4096, QUADS = PIECE / DENSE_QUAD, STREAM_MAX = QUADS * DENSE_RECORD_MAX };

/// Which values share a quad. A value has the same place in all orders: the place follows from its
/// mantissa.
typedef enum order { ONE_EXPONENT, ONE_SIGN, EXPONENT_A_GROUP, EXPONENT_A_LANE, ORDERS } order;

typedef struct job {
    int k;
    order order;
    unsigned lanes, groups;  // rotations: by 0 to lanes - 1 lanes, each time by `groups` groups
    bool scalar;             // the reference kernel too: one value after the other, so one rotation will do
    unsigned mantissa_bits;
    atomic_uint_fast64_t classes[DENSE_CLASSES];  // groups
    atomic_uint_fast64_t sum;                     // of all values, as numbers: each came once
} job;

// The value in place `lane` of quad number `quad`. Each order is a bijection: over all quads and
// places, every value comes once.
static uint32_t value_at(const job *j, uint64_t quad, unsigned lane)
{
    static const uint8_t of_group[4] = {0, 1, 6, 14}, of_lane[8] = {0, 0, 0, 0, 1, 2, 0, 9};
    unsigned bits = j->mantissa_bits, high_bits = bits - 5;
    uint32_t high = (uint32_t)quad & ((1u << high_bits) - 1), sign = (uint32_t)(quad >> high_bits) & 1;
    uint32_t exponent = (uint32_t)(quad >> (high_bits + 1));
    if (j->order != ONE_SIGN) sign ^= 0xb2d64e19u >> lane & 1;
    if (j->order == EXPONENT_A_GROUP) exponent += of_group[lane / 8];
    if (j->order == EXPONENT_A_LANE) exponent += of_lane[lane % 8];
    uint32_t mantissa = (high << 5 | lane) * 0x9e3779b1u & ((1u << bits) - 1);
    mantissa = enumerate_mantissa(bits, mantissa, (mantissa ^ exponent) * 0x9e3779b1u >> 30);
    return sign << 31 | (exponent & 255) << 23 | mantissa;
}

// ---- a piece, and the same rotated

typedef struct piece {
    uint32_t values[PIECE], seen[PIECE];
    uint8_t stream[STREAM_MAX];
    size_t bytes;
} piece;

typedef struct buffers {
    piece straight, rotated;
    dense_lane lanes[PIECE];
    uint32_t back[PIECE];
    uint8_t stream[STREAM_MAX];
} buffers;

static void make_piece(job *j, uint64_t first_quad, piece *p, dense_lane *lanes)
{
    for (unsigned i = 0; i < PIECE; i++) {
        uint32_t bits = value_at(j, first_quad + i / DENSE_QUAD, i % DENSE_QUAD);
        gn_code code = oracle_lattice_encode(j->k, bits);
        int32_t q = code.tag == 1 ? (int8_t)code.payload : code.tag == 2 ? (int16_t)code.payload : 0;
        p->values[i] = bits;
        p->seen[i] = oracle_decode(GN_LATTICE, j->k, code);
        lanes[i] = (dense_lane){code.tag == 3, code.tag == 3 ? bits : (uint32_t)q};
    }
    p->bytes = dense_write(lanes, PIECE, p->stream, NULL);
    uint64_t sum = 0;
    for (unsigned i = 0; i < PIECE; i++) sum += p->values[i];
    atomic_fetch_add(&j->sum, sum);
}

static unsigned place(unsigned from, unsigned lanes, unsigned groups)
{
    return (from / 8 + groups) % 4 * 8 + (from + lanes) % 8;
}

static void rotate_record(const uint8_t *in, unsigned lanes, unsigned groups, uint8_t *out)
{
    unsigned header = in[0] | (unsigned)in[1] << 8, class[4];
    const uint8_t *payload[4], *next = in + 2;
    for (unsigned g = 0; g < 4; g++) {
        unsigned to = (g + groups) % 4;
        class[to] = header >> 4 * g & 15;
        payload[to] = next;
        next += dense_bytes[class[to]];
    }
    header = class[0] | class[1] << 4 | class[2] << 8 | class[3] << 12;
    *out++ = (uint8_t)header, *out++ = (uint8_t)(header >> 8);
    for (unsigned g = 0; g < 4; g++)
        for (unsigned b = 0; b < dense_bytes[class[g]]; b++)
            *out++ = (uint8_t)(payload[g][b] << lanes | payload[g][b] >> (8 - lanes));
}

static void rotate(const piece *in, unsigned lanes, unsigned groups, piece *out)
{
    unsigned to[DENSE_QUAD];
    for (unsigned i = 0; i < DENSE_QUAD; i++) to[i] = place(i, lanes, groups);
    for (unsigned i = 0; i < PIECE; i++) {
        unsigned at = i / DENSE_QUAD * DENSE_QUAD + to[i % DENSE_QUAD];
        out->values[at] = in->values[i], out->seen[at] = in->seen[i];
    }
    out->bytes = in->bytes;
    for (size_t at = 0; at < in->bytes;) {
        const uint8_t *item = in->stream + at;
        size_t length = 3;
        if (item[0] || item[1]) {
            length = 2;
            for (unsigned g = 0; g < 4; g++) length += dense_bytes[item[g / 2] >> 4 * (g % 2) & 15];
            rotate_record(item, lanes, groups, out->stream + at);
        } else {
            memcpy(out->stream + at, item, length);
        }
        at += length;
    }
}

// ---- kernels

static void fail(const job *j, const char *what, uint32_t bits, const char *kernel)
{
    fprintf(stderr, "exhaustive: dense k=%d kernel %s: piece with first value %08x: %s\n", j->k, kernel, bits, what);
}

static bool check_kernel(const job *j, const gn_codec *codec, const piece *p, buffers *b, bool quantise)
{
    const char *kernel = gn_codec_kernel_name(codec), *wrong = NULL;
    size_t bytes;
    gn_status status = gn_stream_encode(codec, p->values, PIECE, b->stream, sizeof b->stream, &bytes);
    if (status != GN_OK || bytes != p->bytes || memcmp(b->stream, p->stream, bytes)) wrong = "its stream differs";
    if (gn_stream_decode(codec, p->stream, p->bytes, b->back, PIECE, NULL) != GN_OK ||
        memcmp(b->back, p->seen, sizeof b->back))
        wrong = "its values differ";
    if (quantise) {
        gn_quantise(codec, (const float *)(const void *)p->values, (float *)(void *)b->back, NULL, PIECE);
        if (memcmp(b->back, p->seen, sizeof b->back)) wrong = "it quantises to other values";
    }
    if (wrong) fail(j, wrong, p->values[0], kernel);
    return !wrong;
}

static void count_classes(job *j, const piece *p)
{
    gn_codec codec;
    gn_tally tally = {0};
    if (gn_codec_init(&codec, GN_DENSE, j->k) || gn_stream_tally(&codec, p->stream, p->bytes, PIECE, &tally)) return;
    for (int c = 0; c < DENSE_CLASSES; c++) atomic_fetch_add(&j->classes[c], tally.classes[c]);
}

static bool check_piece(job *j, uint64_t first_quad, buffers *b)
{
    bool good = true;
    make_piece(j, first_quad, &b->straight, b->lanes);
    count_classes(j, &b->straight);
    for (unsigned lanes = 0; lanes < j->lanes; lanes++) {
        rotate(&b->straight, lanes, j->groups, &b->rotated);
        for (unsigned n = 0; gn_kernel_name(n) && good; n++) {
            gn_codec codec;
            if (n == 0 && (lanes > 0 || !j->scalar)) continue;
            good = gn_codec_init_kernel(&codec, GN_DENSE, j->k, gn_kernel_name(n)) == GN_OK &&
                   check_kernel(j, &codec, &b->rotated, b, lanes == 0);
        }
    }
    return good;
}

static bool check_block(void *context, uint64_t block)
{
    buffers *b = malloc(sizeof *b);
    if (!b) abort();
    bool good = true;
    for (uint64_t i = 0; i < ENUMERATE_BLOCK / PIECE && good; i++)
        good = check_piece(context, block * (ENUMERATE_BLOCK / DENSE_QUAD) + i * QUADS, b);
    free(b);
    return good;
}

static bool run(const enumerate_options *o, job *j)
{
    static const char *const names[ORDERS] = {"one exponent", "one sign", "exponent a group", "exponent a lane"};
    char name[80];
    uint64_t inputs = 1ull << (j->mantissa_bits + 9), groups = 0;
    snprintf(name, sizeof name, "dense k %3d, %s a quad, %u rotations", j->k, names[j->order], j->lanes);
    if (!enumerate_wants(o, name)) return true;
    double seconds;
    bool good = enumerate(o, name, inputs, check_block, j, &seconds);
    printf("dense    k %3d  inputs %10llu  %-16s  groups by class", j->k, (unsigned long long)inputs, names[j->order]);
    for (int c = 0; c < DENSE_CLASSES; c++) {
        groups += j->classes[c];
        printf(" %llu", (unsigned long long)j->classes[c]);
    }
    good = good && groups == inputs / 8 &&
           (j->mantissa_bits < ENUMERATE_BITS_ALL || j->sum == (inputs - 1) * (inputs / 2));
    printf("  %.1f s  %s\n", seconds, good ? "ok" : "FAILED");
    fflush(stdout);
    return good;
}

int main(int argc, char **argv)
{
    static const int bounds[] = {-31, -4, 6, 8, 10, 12, 15, 24, 31};
    enumerate_options o = enumerate_parse(argc, argv, "Checks profile dense on every binary32.");
    bool ok = true;
    // At 2^-10 every value visits every place: there are four orders, each with its own rotation of
    // groups, and 8 rotations of lanes.
    for (unsigned i = 0; i < ORDERS; i++) {
        job j = {.k = 10, .order = i, .lanes = 8, .groups = i, .scalar = i == 0, .mantissa_bits = o.mantissa_bits};
        ok = run(&o, &j) && ok;
    }
    for (unsigned i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        if (bounds[i] == 10) continue;
        job j = {.k = bounds[i],
                 .order = i % ORDERS,
                 .lanes = 1,
                 .groups = i % 4,
                 .scalar = true,
                 .mantissa_bits = o.mantissa_bits};
        ok = run(&o, &j) && ok;
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
