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

/// Makes a network of what is in width[] and conv[].
static gn_status make(gn_mlp *mlp, unsigned layers, size_t batch_max)
{
    if (!batch_max) return GN_INVALID;
    mlp->layers = layers;
    mlp->batch_max = batch_max;
    size_t room = 0;
    for (unsigned l = 0; l <= layers; l++) {
        if (!mlp->width[l]) return GN_INVALID;
        if (!l) continue;
        mlp->offset[l] = mlp->offset[l - 1] + (gn_mlp_columns(mlp, l - 1) + 1) * gn_mlp_rows(mlp, l - 1);
        if (!mlp->conv[l - 1].channels_out) continue;
        const size_t needed = gn_conv_room(&mlp->conv[l - 1]);
        room = needed > room ? needed : room;
    }
    if (room && !(mlp->patches = new_floats(room))) goto no_memory;
    mlp->weights = new_floats(gn_mlp_parameters(mlp));
    mlp->gradient = new_floats(gn_mlp_parameters(mlp));
    if (!mlp->weights || !mlp->gradient) goto no_memory;
    for (unsigned l = 0; l <= layers; l++) {
        mlp->value[l] = new_floats(batch_max * mlp->width[l]);
        mlp->delta[l] = l ? new_floats(batch_max * mlp->width[l]) : NULL;
        if (!mlp->value[l] || (l && !mlp->delta[l])) goto no_memory;
    }
    if (!take_room_for_products(mlp)) goto no_memory;
    return GN_OK;
no_memory:
    gn_mlp_free(mlp);
    return GN_NO_MEMORY;
}

gn_status gn_mlp_init(gn_mlp *mlp, unsigned layers, const size_t *width, size_t batch_max)
{
    memset(mlp, 0, sizeof *mlp);
    if (layers < 1 || layers > GN_MLP_LAYERS_MAX) return GN_INVALID;
    memcpy(mlp->width, width, (layers + 1) * sizeof *width);
    return make(mlp, layers, batch_max);
}

gn_status gn_mlp_init_cnn(gn_mlp *mlp, size_t rows, size_t columns, size_t classes, size_t batch_max)
{
    memset(mlp, 0, sizeof *mlp);
    if (!rows || !columns) return GN_INVALID;
    const gn_conv first = {.channels_in = 1, .channels_out = 16, .rows = rows, .columns = columns, .stride = 1};
    const gn_conv second = {.channels_in = 16, .channels_out = 32, .rows = rows, .columns = columns, .stride = 2};
    const size_t width[GN_CNN_LAYERS + 1] = {
        rows * columns, first.channels_out * rows * columns,
        second.channels_out * gn_conv_rows_out(&second) * gn_conv_columns_out(&second), 128, classes};
    mlp->conv[0] = first;
    mlp->conv[1] = second;
    memcpy(mlp->width, width, sizeof width);
    return make(mlp, GN_CNN_LAYERS, batch_max);
}

void gn_mlp_free(gn_mlp *mlp)
{
    free(mlp->weights);
    free(mlp->gradient);
    free(mlp->patches);
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
        float limit = 1 / sqrtf((float)gn_mlp_columns(mlp, l));
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

static void products(gn_mlp *mlp, unsigned layer, size_t batch)
{
    size_t in = mlp->width[layer], out = mlp->width[layer + 1];
    const float *weights = mlp->weights + mlp->offset[layer], *bias = weights + in * out;
    float *y = mlp->value[layer + 1];
    for (size_t row = 0; row < batch; row++) memcpy(y + row * out, bias, out * sizeof *y);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)batch, (int)out, (int)in, 1, mlp->value[layer], (int)in,
                weights, (int)in, 1, y, (int)out);
}

void gn_mlp_forward(gn_mlp *mlp, size_t batch)
{
    for (unsigned l = 0; l < mlp->layers; l++) {
        const size_t in = mlp->width[l], out = mlp->width[l + 1];
        const gn_conv *conv = &mlp->conv[l];
        float *y = mlp->value[l + 1];
        if (!conv->channels_out) products(mlp, l, batch);
        for (size_t row = 0; conv->channels_out && row < batch; row++)
            gn_conv_forward(conv, mlp->weights + mlp->offset[l], mlp->value[l] + row * in, y + row * out, mlp->patches);
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

/// Of a fully connected layer.
static void backward_products(gn_mlp *mlp, unsigned layer, size_t batch)
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
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)batch, (int)in, (int)out, 1, delta, (int)out, weights,
                (int)in, 0, mlp->delta[layer], (int)in);
}

static void backward_convolution(gn_mlp *mlp, unsigned layer, size_t batch)
{
    const size_t in = mlp->width[layer], out = mlp->width[layer + 1];
    float *gradient = mlp->gradient + mlp->offset[layer];
    memset(gradient, 0, (mlp->offset[layer + 1] - mlp->offset[layer]) * sizeof *gradient);
    for (size_t row = 0; row < batch; row++)
        gn_conv_backward(&mlp->conv[layer], mlp->weights + mlp->offset[layer], mlp->value[layer] + row * in,
                         mlp->delta[layer + 1] + row * out, gradient, layer ? mlp->delta[layer] + row * in : NULL,
                         mlp->patches);
}

void gn_mlp_backward_layer(gn_mlp *mlp, unsigned layer, size_t batch)
{
    if (mlp->conv[layer].channels_out)
        backward_convolution(mlp, layer, batch);
    else
        backward_products(mlp, layer, batch);
    if (!layer) return;
    // ReLU's derivative.
    const float *x = mlp->value[layer];
    float *below = mlp->delta[layer];
    for (size_t i = 0; i < batch * mlp->width[layer]; i++) below[i] = x[i] > 0 ? below[i] : 0;
}
