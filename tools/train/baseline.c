// SPDX-License-Identifier: Apache-2.0
#include "baseline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline_round.h"
#include "tools/kit/units.h"

struct gn_baseline {
    gn_baseline_choice choice;
    uint64_t seed;
    uint64_t values, bits;  // of gradients so far, as sent
    float *residual;        // of error feedback
    float *whole;           // the weights before truncation
    float *room;            // for a tensor
    gn_rival_context *rival;
    uint8_t *packed;  // for gn_baseline_wire()
    size_t packed_bytes;
};

static bool read_number(const char *text, unsigned low, unsigned high, unsigned *number)
{
    uint64_t value;
    gn_error ignored;
    if (gn_parse_number(text, low, high, &value, &ignored)) return false;
    *number = (unsigned)value;
    return true;
}

static bool read_share(const char *text, double *share)
{
    char *end;
    const double percent = strtod(text, &end);
    *share = percent / 100;
    return end != text && !strcmp(end, "%") && percent > 0 && percent <= 100;
}

/// zstd:1 and its like, as `gradnic ratio` names them. zfp needs its bound.
static gn_status parse_rival(const char *text, const char *number, gn_baseline_choice *choice, gn_error *error)
{
    gn_rival_choice found[GN_RIVALS_MAX];
    size_t count;
    unsigned bound;
    const bool zfp = !strncmp(text, "zfp:", 4);
    if (!strcmp(text, "zfp") || (zfp && !read_number(number, 1, 30, &bound)))
        return gn_fail(error, GN_INVALID, "'%s': zfp needs its bound, as zfp:10 for 2^-10", text);
    const gn_status wrong = gn_parse_rivals(zfp ? "zfp" : text, found, &count, error);
    if (wrong) return wrong;
    if (count != 1) return gn_fail(error, GN_INVALID, "'%s' is not one compressor", text);
    choice->kind = GN_BASELINE_WIRE;
    choice->rival = found[0];
    choice->bound_exp = zfp ? (int)bound : 0;
    return GN_OK;
}

gn_status gn_baseline_parse(const char *text, gn_baseline_choice *choice, gn_error *error)
{
    static const struct {
        const char *name;
        gn_baseline_kind kind;
        bool gradients, weights;
        unsigned low, high;
    } kinds[] = {{"truncate", GN_BASELINE_TRUNCATE, true, false, 1, 31},
                 {"truncate-weights", GN_BASELINE_TRUNCATE, false, true, 1, 31},
                 {"truncate-both", GN_BASELINE_TRUNCATE, true, true, 1, 31},
                 {"topk", GN_BASELINE_TOP_K, true, false, 0, 0},
                 {"qsgd", GN_BASELINE_QSGD, true, false, 2, 16},
                 {"uniform", GN_BASELINE_UNIFORM, true, false, 2, 16}};
    *choice = (gn_baseline_choice){.kind = GN_BASELINE_NONE};
    if (strlen(text) >= sizeof choice->name) return gn_fail(error, GN_INVALID, "'%s' is too long", text);
    strcpy(choice->name, text);
    const char *number = strchr(text, ':');
    const size_t length = number ? (size_t)(number++ - text) : strlen(text);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strlen(kinds[i].name) != length || strncmp(kinds[i].name, text, length)) continue;
        choice->kind = kinds[i].kind;
        choice->gradients = kinds[i].gradients;
        choice->weights = kinds[i].weights;
        if (choice->kind == GN_BASELINE_TOP_K) {
            if (number && read_share(number, &choice->share)) return GN_OK;
            return gn_fail(error, GN_INVALID, "'%s': topk needs a part above 0%% and up to 100%%, as topk:1%%", text);
        }
        if (number && read_number(number, kinds[i].low, kinds[i].high, &choice->bits)) return GN_OK;
        return gn_fail(error, GN_INVALID, "'%s': %s needs bits, %u to %u, as %s:%u", text, kinds[i].name, kinds[i].low,
                       kinds[i].high, kinds[i].name, kinds[i].high / 2);
    }
    return parse_rival(text, number, choice, error);
}

bool gn_baseline_lossy_on_wire(const gn_baseline_choice *choice)
{
    return choice->kind == GN_BASELINE_WIRE && !choice->rival.rival->lossless;
}

gn_status gn_baseline_new(gn_baseline **result, const gn_baseline_choice *choice, uint64_t seed, gn_train_error *error)
{
    *result = NULL;
    if (choice->kind == GN_BASELINE_NONE) return GN_OK;
    gn_baseline *b = calloc(1, sizeof *b);
    if (!b) return gn_train_fail(error, GN_NO_MEMORY, "out of memory for --baseline");
    b->choice = *choice;
    b->seed = seed;
    *result = b;
    if (choice->kind != GN_BASELINE_WIRE) return GN_OK;
    b->rival = gn_rival_context_new(&choice->rival, choice->bound_exp);
    if (b->rival) return GN_OK;
    gn_baseline_free(b);
    *result = NULL;
    return gn_train_fail(error, GN_NO_MEMORY, "out of memory for %s", choice->name);
}

void gn_baseline_free(gn_baseline *b)
{
    if (!b) return;
    gn_rival_context_free(b->rival);
    free(b->residual);
    free(b->whole);
    free(b->room);
    free(b->packed);
    free(b);
}

size_t gn_baseline_wire(void *baseline, float *values, size_t count)
{
    gn_baseline *b = baseline;
    if (!count) return 0;
    const size_t bound = gn_rival_bound(b->rival, count);
    if (bound > b->packed_bytes) {
        uint8_t *grown = realloc(b->packed, bound);
        if (!grown) return 0;
        b->packed = grown;
        b->packed_bytes = bound;
    }
    const size_t bytes = gn_rival_compress(b->rival, values, count, b->packed, b->packed_bytes);
    return bytes && gn_rival_decompress(b->rival, b->packed, bytes, values, count) ? bytes : 0;
}

/// Makes what is needed on first use, when the size is known.
static gn_status prepare(gn_baseline *b, const gn_mlp *mlp, gn_train_error *error)
{
    const size_t bytes = gn_mlp_parameters(mlp) * sizeof(float);
    if (b->room) return GN_OK;
    b->room = malloc(bytes);
    if (b->choice.feedback) b->residual = calloc(1, bytes);
    if (b->choice.weights) b->whole = malloc(bytes);
    if (!b->room || (b->choice.feedback && !b->residual) || (b->choice.weights && !b->whole))
        return gn_train_fail(error, GN_NO_MEMORY, "out of memory for --baseline %s", b->choice.name);
    if (b->whole) memcpy(b->whole, mlp->weights, bytes);
    return GN_OK;
}

static uint64_t round_tensor(gn_baseline *b, float *values, size_t count, gn_random *random)
{
    const gn_baseline_choice *choice = &b->choice;
    if (choice->kind == GN_BASELINE_TRUNCATE) return gn_baseline_truncate(values, count, choice->bits);
    if (choice->kind == GN_BASELINE_TOP_K) return gn_baseline_top_k(values, count, choice->share, b->room);
    if (choice->kind == GN_BASELINE_QSGD) return gn_baseline_qsgd(values, count, choice->bits, random);
    return gn_baseline_uniform(values, count, choice->bits);
}

gn_status gn_baseline_gradient(gn_baseline *b, gn_mlp *mlp, uint64_t step, int rank, gn_train_error *error)
{
    if (b->choice.kind == GN_BASELINE_WIRE) return GN_OK;
    const gn_status wrong = prepare(b, mlp, error);
    if (wrong) return wrong;
    const size_t all = gn_mlp_parameters(mlp);
    if (b->whole) memcpy(mlp->weights, b->whole, all * sizeof(float));  // the update is of these
    if (!b->choice.gradients) return GN_OK;
    if (b->residual)
        for (size_t i = 0; i < all; i++) b->residual[i] = mlp->gradient[i] += b->residual[i];
    gn_random random = gn_random_for(b->seed, (uint64_t)rank, step);
    for (unsigned l = 0; l < mlp->layers; l++) {
        const size_t weights = gn_mlp_rows(mlp, l) * gn_mlp_columns(mlp, l);
        float *tensor = mlp->gradient + mlp->offset[l];
        b->bits += round_tensor(b, tensor, weights, &random);
        b->bits += round_tensor(b, tensor + weights, gn_mlp_rows(mlp, l), &random);
    }
    b->values += all;
    if (b->residual)
        for (size_t i = 0; i < all; i++) b->residual[i] -= mlp->gradient[i];
    return GN_OK;
}

gn_status gn_baseline_updated(gn_baseline *b, gn_mlp *mlp, gn_train_error *error)
{
    if (!b->choice.weights) return GN_OK;
    const gn_status wrong = prepare(b, mlp, error);
    if (wrong) return wrong;
    memcpy(b->whole, mlp->weights, gn_mlp_parameters(mlp) * sizeof(float));
    gn_baseline_truncate(mlp->weights, gn_mlp_parameters(mlp), b->choice.bits);
    return GN_OK;
}

double gn_baseline_ratio(const gn_baseline *b)
{
    return b->bits ? 32.0 * (double)b->values / (double)b->bits : 0;
}
