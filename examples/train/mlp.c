// SPDX-License-Identifier: Apache-2.0
#include "mlp.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cblas.h>

#include "random.h"

enum { PURPOSE = 0x6d6c7021 };

static float *new_floats(size_t count)
{
    return calloc(count, sizeof(float));
}

/// Takes the buffer that OpenBLAS allocates at its first product and keeps. Where there is no room
/// for it (ulimit -v), OpenBLAS does not fail, but asks again for ever.
static bool take_room_for_products(gn_mlp *mlp)
{
    static atomic_bool found;
    const size_t bytes = ((size_t)GN_MLP_PRODUCT_MIB << 20) + 4096;
    if (found) return true;
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return false;
    munmap(room, bytes);
    gn_mlp_forward(mlp, mlp->batch_max);
    return found = true;
}

gn_status gn_mlp_init(gn_mlp *mlp, unsigned layers, const size_t *width, size_t batch_max)
{
    memset(mlp, 0, sizeof *mlp);
    if (layers < 1 || layers > GN_MLP_LAYERS_MAX || !batch_max) return GN_INVALID;
    mlp->layers = layers;
    mlp->batch_max = batch_max;
    for (unsigned l = 0; l <= layers; l++) {
        if (!width[l]) return GN_INVALID;
        mlp->width[l] = width[l];
        if (l) mlp->offset[l] = mlp->offset[l - 1] + (width[l - 1] + 1) * width[l];
    }
    mlp->weights = new_floats(gn_mlp_parameters(mlp));
    mlp->gradient = new_floats(gn_mlp_parameters(mlp));
    if (!mlp->weights || !mlp->gradient) goto no_memory;
    for (unsigned l = 0; l <= layers; l++) {
        mlp->value[l] = new_floats(batch_max * width[l]);
        mlp->delta[l] = l ? new_floats(batch_max * width[l]) : NULL;
        if (!mlp->value[l] || (l && !mlp->delta[l])) goto no_memory;
    }
    if (!take_room_for_products(mlp)) goto no_memory;
    return GN_OK;
no_memory:
    gn_mlp_free(mlp);
    return GN_NO_MEMORY;
}

void gn_mlp_free(gn_mlp *mlp)
{
    free(mlp->weights);
    free(mlp->gradient);
    for (unsigned l = 0; l <= GN_MLP_LAYERS_MAX; l++) {
        free(mlp->value[l]);
        free(mlp->delta[l]);
    }
    memset(mlp, 0, sizeof *mlp);
}

void gn_mlp_randomise(gn_mlp *mlp, uint64_t seed)
{
    for (unsigned l = 0; l < mlp->layers; l++) {
        gn_random random = gn_random_for(seed, PURPOSE, l);
        float limit = 1 / sqrtf((float)mlp->width[l]);
        for (size_t i = mlp->offset[l]; i < mlp->offset[l + 1]; i++)
            mlp->weights[i] = gn_random_uniform(&random, -limit, limit);
    }
}

static void relu(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) values[i] = values[i] > 0 ? values[i] : 0;
}

/// In place, row by row. It subtracts the largest logit, so no exponential overflows.
static void softmax(float *logits, size_t rows, size_t columns)
{
    for (; rows; rows--, logits += columns) {
        float largest = logits[0], sum = 0;
        for (size_t c = 1; c < columns; c++) largest = logits[c] > largest ? logits[c] : largest;
        for (size_t c = 0; c < columns; c++) sum += logits[c] = expf(logits[c] - largest);
        for (size_t c = 0; c < columns; c++) logits[c] /= sum;
    }
}

void gn_mlp_forward(gn_mlp *mlp, size_t batch)
{
    for (unsigned l = 0; l < mlp->layers; l++) {
        size_t in = mlp->width[l], out = mlp->width[l + 1];
        const float *weights = mlp->weights + mlp->offset[l], *bias = weights + in * out;
        float *y = mlp->value[l + 1];
        for (size_t row = 0; row < batch; row++) memcpy(y + row * out, bias, out * sizeof *y);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)batch, (int)out, (int)in, 1, mlp->value[l], (int)in,
                    weights, (int)in, 1, y, (int)out);
        if (l + 1 < mlp->layers)
            relu(y, batch * out);
        else
            softmax(y, batch, out);
    }
}

double gn_mlp_loss(const gn_mlp *mlp, const uint8_t *labels, size_t batch, size_t *correct)
{
    size_t classes = mlp->width[mlp->layers], right = 0;
    const float *p = mlp->value[mlp->layers];
    double sum = 0;
    for (size_t row = 0; row < batch; row++, p += classes) {
        size_t best = 0;
        for (size_t c = 1; c < classes; c++) best = p[c] > p[best] ? c : best;
        right += best == labels[row];
        sum -= log(fmax((double)p[labels[row]], 1e-30));
    }
    if (correct) *correct = right;
    return sum / (double)batch;
}

void gn_mlp_backward_begin(gn_mlp *mlp, const uint8_t *labels, size_t batch)
{
    size_t classes = mlp->width[mlp->layers];
    const float *p = mlp->value[mlp->layers];
    float *delta = mlp->delta[mlp->layers], share = 1 / (float)batch;
    for (size_t row = 0; row < batch; row++)
        for (size_t c = 0; c < classes; c++, p++) *delta++ = (*p - (c == labels[row] ? 1.0f : 0.0f)) * share;
}

void gn_mlp_backward_layer(gn_mlp *mlp, unsigned layer, size_t batch)
{
    size_t in = mlp->width[layer], out = mlp->width[layer + 1];
    const float *weights = mlp->weights + mlp->offset[layer];
    float *gradient = mlp->gradient + mlp->offset[layer], *bias = gradient + in * out;
    const float *delta = mlp->delta[layer + 1], *x = mlp->value[layer];
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)out, (int)in, (int)batch, 1, delta, (int)out, x, (int)in,
                0, gradient, (int)in);
    memset(bias, 0, out * sizeof *bias);
    for (size_t row = 0; row < batch; row++)
        for (size_t o = 0; o < out; o++) bias[o] += delta[row * out + o];
    if (!layer) return;
    float *below = mlp->delta[layer];
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)batch, (int)in, (int)out, 1, delta, (int)out, weights,
                (int)in, 0, below, (int)in);
    // ReLU's derivative.
    for (size_t i = 0; i < batch * in; i++) below[i] = x[i] > 0 ? below[i] : 0;
}
