// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_MLP_H
#define GRADNIC_EXAMPLES_TRAIN_MLP_H
/// A multi-layer perceptron: fully connected layers with ReLU between them, and softmax
/// cross-entropy at the end. With five layers and 500 hidden units it is the digit classifier
/// "HDC" of INCEPTIONN (MICRO 2018, section VII-A). Its first layers may be convolutions: see
/// gn_mlp_init_cnn().
///
/// Not thread-safe; one object for each rank. Arithmetic is binary32. The serial OpenBLAS
/// multiplies matrices, so the same seed gives the same bits on the same machine.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/status.h>

#include "conv.h"

enum {
    GN_MLP_LAYERS_MAX = 16,
    GN_CNN_LAYERS = 4,        ///< of gn_mlp_init_cnn()
    GN_MLP_PRODUCT_MIB = 128  ///< what OpenBLAS takes for itself
};

/// Layer l maps width[l] inputs to width[l + 1] outputs: y = W x + b. Its parameters are at
/// offset[l] of `weights`, and their gradient is at offset[l] of `gradient`: first W, with
/// gn_mlp_rows() rows of gn_mlp_columns(), then b, with a value a row.
typedef struct gn_mlp {
    unsigned layers;
    size_t batch_max;
    size_t width[GN_MLP_LAYERS_MAX + 1];
    size_t offset[GN_MLP_LAYERS_MAX + 1];  ///< offset[layers] is the number of parameters
    gn_conv conv[GN_MLP_LAYERS_MAX];       ///< channels_out 0: fully connected
    float *patches;                        ///< room for convolutions; NULL: there are none
    float *weights, *gradient;             ///< one flat vector each
    /// The caller fills value[0], the input, with batch_max rows of width[0]. value[l + 1] is
    /// layer l's output after ReLU or softmax.
    float *value[GN_MLP_LAYERS_MAX + 1];
    float *delta[GN_MLP_LAYERS_MAX + 1];  ///< of the loss, by layer l's output; [0] is unused
} gn_mlp;

/// Makes a network whose weights are zeros. `width` has layers + 1 entries. The caller frees with
/// gn_mlp_free().
/// @return GN_OK, GN_INVALID or GN_NO_MEMORY; the object is empty after an error
gn_status gn_mlp_init(gn_mlp *mlp, unsigned layers, const size_t *width, size_t batch_max);

/// The same for a small convolutional network on images of rows x columns: 16 channels, 32
/// channels of half the sides (stride 2), 128 units, and the classes.
gn_status gn_mlp_init_cnn(gn_mlp *mlp, size_t rows, size_t columns, size_t classes, size_t batch_max);
void gn_mlp_free(gn_mlp *mlp);

/// Makes weights and biases uniform in +-1/sqrt(inputs), from `seed` alone.
void gn_mlp_randomise(gn_mlp *mlp, uint64_t seed);

/// Computes value[1 .. layers] from the first `batch` rows of value[0]. The last has
/// probabilities.
void gn_mlp_forward(gn_mlp *mlp, size_t batch);

/// Call it after gn_mlp_forward(). `*correct` (may be NULL) is the number of correct rows.
/// @return mean cross-entropy
double gn_mlp_loss(const gn_mlp *mlp, const uint8_t *labels, size_t batch, size_t *correct);

/// Call it after gn_mlp_forward(). Prepares the backward pass of the mean cross-entropy over
/// `batch` rows.
void gn_mlp_backward_begin(gn_mlp *mlp, const uint8_t *labels, size_t batch);

/// Writes layer `layer`'s part of `gradient`. Call it from the last layer down to 0. The exchange
/// of a layer can start while the layers before it are computed.
void gn_mlp_backward_layer(gn_mlp *mlp, unsigned layer, size_t batch);

static inline size_t gn_mlp_parameters(const gn_mlp *mlp)
{
    return mlp->offset[mlp->layers];
}

/// W of a layer: a row for each output or output channel.
static inline size_t gn_mlp_rows(const gn_mlp *mlp, unsigned layer)
{
    return mlp->conv[layer].channels_out ? mlp->conv[layer].channels_out : mlp->width[layer + 1];
}

static inline size_t gn_mlp_columns(const gn_mlp *mlp, unsigned layer)
{
    return mlp->conv[layer].channels_out ? gn_conv_fan_in(&mlp->conv[layer]) : mlp->width[layer];
}

#endif
