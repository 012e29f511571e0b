// SPDX-License-Identifier: Apache-2.0
#include "digits.h"

#include <math.h>
#include <string.h>

static gn_message load(gn_idx *idx, const char *path, unsigned dims)
{
    gn_message wrong = gn_idx_load(path, idx);
    if (wrong || idx->dims == dims) return wrong;
    return gn_message_format("%s: byte 3: %u dimensions where %s have %u", path, idx->dims,
                             dims == 1 ? "labels" : "images", dims);
}

static gn_message check_together(const gn_digits *digits, const char *images, const char *labels)
{
    if (gn_digits_pixels(digits) > GN_DIGITS_PIXELS_MAX)
        return gn_message_format("%s: images of %zux%zu pixels; at most %d pixels can be trained on", images,
                                 digits->rows, digits->columns, GN_DIGITS_PIXELS_MAX);
    if (digits->labels.count != digits->count)
        return gn_message_format("%s: %zu labels for the %zu images of %s", labels, digits->labels.count, digits->count,
                                 images);
    for (size_t i = 0; i < digits->count; i++)
        if (digits->labels.values[i] >= digits->classes)
            return gn_message_format("%s: label %zu is %u, expected less than %u (--classes)", labels, i,
                                     digits->labels.values[i], digits->classes);
    return NULL;
}

static void normalise(gn_digits *digits)
{
    uint64_t sum = 0, squares = 0;
    for (size_t i = 0; i < digits->images.count; i++) {
        const uint64_t p = digits->images.values[i];
        sum += p;
        squares += p * p;
    }
    const double n = (double)digits->images.count, mean = (double)sum / n;
    const double variance = (double)squares / n - mean * mean;
    digits->mean = (float)mean;
    digits->inverse = variance > 0 ? (float)(1 / sqrt(variance)) : 1.0f;
}

gn_message gn_digits_load(gn_digits *digits, const char *images, const char *labels, unsigned classes)
{
    memset(digits, 0, sizeof *digits);
    digits->classes = classes;
    gn_message wrong = load(&digits->images, images, 3);
    if (!wrong) wrong = load(&digits->labels, labels, 1);
    if (!wrong) {
        digits->count = digits->images.size[0];
        digits->rows = digits->images.size[1];
        digits->columns = digits->images.size[2];
        wrong = check_together(digits, images, labels);
    }
    if (wrong) {
        gn_digits_free(digits);
        return wrong;
    }
    normalise(digits);
    return NULL;
}

gn_message gn_digits_pair(const gn_digits *train, gn_digits *test)
{
    if (train->rows != test->rows || train->columns != test->columns)
        return gn_message_format("training images have %zux%zu pixels, test images %zux%zu", train->rows,
                                 train->columns, test->rows, test->columns);
    test->mean = train->mean;
    test->inverse = train->inverse;
    return NULL;
}

void gn_digits_free(gn_digits *digits)
{
    gn_idx_free(&digits->images);
    gn_idx_free(&digits->labels);
    memset(digits, 0, sizeof *digits);
}
