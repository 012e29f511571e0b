// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_DIGITS_H
#define GRADNIC_EXAMPLES_TRAIN_DIGITS_H
/// A labelled set of grey images: two IDX files that belong together.

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "idx.h"

enum { GN_DIGITS_PIXELS_MAX = 1 << 16 };  ///< of one image

typedef struct gn_digits {
    gn_idx images, labels;
    size_t count, rows, columns;
    unsigned classes;     ///< labels are 0 .. classes - 1
    float mean, inverse;  ///< a pixel p is fed to the network as (p - mean) * inverse
} gn_digits;

/// Loads both files and checks that they belong together. With `mean` and `inverse` the pixels of
/// this set have mean 0 and variance 1. A test set takes those of its training set: see
/// gn_digits_pair(). An error names the file and the field.
gn_status gn_digits_load(gn_digits *digits, const char *images, const char *labels, unsigned classes,
                         gn_train_error *error);

/// Checks that both have the same image size, and makes `test` use the normalisation of `train`.
gn_status gn_digits_pair(const gn_digits *train, gn_digits *test, gn_train_error *error);

void gn_digits_free(gn_digits *digits);

/// Pixels of one image.
static inline size_t gn_digits_pixels(const gn_digits *digits)
{
    return digits->rows * digits->columns;
}

#endif
