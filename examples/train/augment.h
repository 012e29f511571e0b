// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_AUGMENT_H
#define GRADNIC_EXAMPLES_TRAIN_AUGMENT_H
/// More images: copies that are shifted, rotated and scaled by small random amounts. A copy is a
/// pure function of seed, image and copy number. So an augmented set takes no memory, and every
/// rank sees the same copies.

#include <stddef.h>
#include <stdint.h>

#include "digits.h"

/// Writes the network's input for copy `copy` of image `index` to `out`: gn_digits_pixels()
/// floats. Copy 0 is the image itself. A pixel outside of the image is 0.
void gn_augment(const gn_digits *digits, size_t index, unsigned copy, uint64_t seed, float *out);

#endif
