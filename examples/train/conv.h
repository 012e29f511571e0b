// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_CONV_H
#define GRADNIC_EXAMPLES_TRAIN_CONV_H
/// A convolution of 3 x 3 with zeros around the image, as products of matrices. An image is a
/// plane of rows x columns for each channel, one after the other.

#include <stddef.h>

enum { GN_CONV_SIDE = 3, GN_CONV_TAPS = GN_CONV_SIDE * GN_CONV_SIDE };

/// What goes in and comes out. `stride` 2 halves both sides, rounded up.
typedef struct gn_conv {
    size_t channels_in, channels_out;  ///< channels_out 0: not a convolution
    size_t rows, columns;              ///< of an input plane
    size_t stride;
} gn_conv;

static inline size_t gn_conv_rows_out(const gn_conv *conv)
{
    return (conv->rows + conv->stride - 1) / conv->stride;
}

static inline size_t gn_conv_columns_out(const gn_conv *conv)
{
    return (conv->columns + conv->stride - 1) / conv->stride;
}

/// Weights of one output channel: GN_CONV_TAPS for each input channel.
static inline size_t gn_conv_fan_in(const gn_conv *conv)
{
    return conv->channels_in * GN_CONV_TAPS;
}

/// Values of the matrix `patches` that the functions below need as room.
size_t gn_conv_room(const gn_conv *conv);

/// y = W x + b of one image. W has a row of gn_conv_fan_in() for each output channel, then b.
void gn_conv_forward(const gn_conv *conv, const float *weights, const float *x, float *y, float *patches);

/// Adds one image's part to `gradient`, which is laid out as the weights. `below` (NULL: not
/// wanted) gets the derivative by x.
void gn_conv_backward(const gn_conv *conv, const float *weights, const float *x, const float *delta, float *gradient,
                      float *below, float *patches);

#endif
