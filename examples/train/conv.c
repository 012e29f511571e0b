// SPDX-License-Identifier: Apache-2.0
#include "conv.h"

#include <string.h>

#include <cblas.h>

static size_t pixels_out(const gn_conv *conv)
{
    return gn_conv_rows_out(conv) * gn_conv_columns_out(conv);
}

size_t gn_conv_room(const gn_conv *conv)
{
    return gn_conv_fan_in(conv) * pixels_out(conv);
}

/// The input that tap (dy, dx) sees for output (row, column), or -1 outside of the image.
static ptrdiff_t seen(const gn_conv *conv, size_t row, size_t column, size_t dy, size_t dx)
{
    const size_t y = row * conv->stride + dy, x = column * conv->stride + dx;  // one more than they are
    if (y < 1 || y > conv->rows || x < 1 || x > conv->columns) return -1;
    return (ptrdiff_t)((y - 1) * conv->columns + x - 1);
}

/// Row (channel, tap) of `patches` has what this tap sees for each output.
static void gather(const gn_conv *conv, const float *image, float *patches)
{
    const size_t rows = gn_conv_rows_out(conv), columns = gn_conv_columns_out(conv);
    for (size_t c = 0; c < conv->channels_in; c++, image += conv->rows * conv->columns)
        for (size_t tap = 0; tap < GN_CONV_TAPS; tap++)
            for (size_t row = 0; row < rows; row++)
                for (size_t column = 0; column < columns; column++) {
                    const ptrdiff_t at = seen(conv, row, column, tap / GN_CONV_SIDE, tap % GN_CONV_SIDE);
                    *patches++ = at < 0 ? 0 : image[at];
                }
}

/// The reverse: adds each value of `patches` to the input that it came from.
static void scatter(const gn_conv *conv, const float *patches, float *image)
{
    const size_t rows = gn_conv_rows_out(conv), columns = gn_conv_columns_out(conv);
    memset(image, 0, conv->channels_in * conv->rows * conv->columns * sizeof *image);
    for (size_t c = 0; c < conv->channels_in; c++, image += conv->rows * conv->columns)
        for (size_t tap = 0; tap < GN_CONV_TAPS; tap++)
            for (size_t row = 0; row < rows; row++)
                for (size_t column = 0; column < columns; column++, patches++) {
                    const ptrdiff_t at = seen(conv, row, column, tap / GN_CONV_SIDE, tap % GN_CONV_SIDE);
                    if (at >= 0) image[at] += *patches;
                }
}

void gn_conv_forward(const gn_conv *conv, const float *weights, const float *x, float *y, float *patches)
{
    const size_t taps = gn_conv_fan_in(conv), out = conv->channels_out, pixels = pixels_out(conv);
    const float *bias = weights + out * taps;
    for (size_t o = 0; o < out; o++)
        for (size_t i = 0; i < pixels; i++) y[o * pixels + i] = bias[o];
    gather(conv, x, patches);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)out, (int)pixels, (int)taps, 1, weights, (int)taps,
                patches, (int)pixels, 1, y, (int)pixels);
}

void gn_conv_backward(const gn_conv *conv, const float *weights, const float *x, const float *delta, float *gradient,
                      float *below, float *patches)
{
    const size_t taps = gn_conv_fan_in(conv), out = conv->channels_out, pixels = pixels_out(conv);
    float *bias = gradient + out * taps;
    gather(conv, x, patches);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)out, (int)taps, (int)pixels, 1, delta, (int)pixels,
                patches, (int)pixels, 1, gradient, (int)taps);
    for (size_t o = 0; o < out; o++)
        for (size_t i = 0; i < pixels; i++) bias[o] += delta[o * pixels + i];
    if (!below) return;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)taps, (int)pixels, (int)out, 1, weights, (int)taps, delta,
                (int)pixels, 0, patches, (int)pixels);
    scatter(conv, patches, below);
}
