// SPDX-License-Identifier: Apache-2.0
#include "digits.h"

#include <math.h>
#include <string.h>

static gn_status load(gn_idx *idx, const char *path, unsigned dims, gn_train_error *error)
{
    gn_status wrong = gn_idx_load(path, idx, error);
    if (wrong || idx->dims == dims) return wrong;
    return gn_train_fail(error, GN_INVALID, "%s: byte 3: %u dimensions where %s have %u", path, idx->dims,
                         dims == 1 ? "labels" : "images", dims);
}

static gn_status check_together(const gn_digits *digits, const char *images, const char *labels, gn_train_error *error)
{
    if (gn_digits_pixels(digits) > GN_DIGITS_PIXELS_MAX)
        return gn_train_fail(error, GN_INVALID, "%s: images of %zux%zu pixels; at most %d pixels can be trained on",
                             images, digits->rows, digits->columns, GN_DIGITS_PIXELS_MAX);
    if (digits->labels.count != digits->count)
        return gn_train_fail(error, GN_INVALID, "%s: %zu labels for the %zu images of %s", labels, digits->labels.count,
                             digits->count, images);
    for (size_t i = 0; i < digits->count; i++)
        if (digits->labels.values[i] >= digits->classes)
            return gn_train_fail(error, GN_INVALID, "%s: label %zu is %u, expected less than %u (--classes)", labels, i,
                                 digits->labels.values[i], digits->classes);
    return GN_OK;
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

gn_status gn_digits_load(gn_digits *digits, const char *images, const char *labels, unsigned classes,
                         gn_train_error *error)
{
    memset(digits, 0, sizeof *digits);
    digits->classes = classes;
    gn_status wrong = load(&digits->images, images, 3, error);
    if (!wrong) wrong = load(&digits->labels, labels, 1, error);
    if (!wrong) {
        digits->count = digits->images.size[0];
        digits->rows = digits->images.size[1];
        digits->columns = digits->images.size[2];
        wrong = check_together(digits, images, labels, error);
    }
    if (wrong) {
        gn_digits_free(digits);
        return wrong;
    }
    normalise(digits);
    return GN_OK;
}

gn_status gn_digits_pair(const gn_digits *train, gn_digits *test, gn_train_error *error)
{
    if (train->rows != test->rows || train->columns != test->columns)
        return gn_train_fail(error, GN_INVALID, "training images have %zux%zu pixels, test images %zux%zu", train->rows,
                             train->columns, test->rows, test->columns);
    test->mean = train->mean;
    test->inverse = train->inverse;
    return GN_OK;
}

void gn_digits_free(gn_digits *digits)
{
    gn_idx_free(&digits->images);
    gn_idx_free(&digits->labels);
    memset(digits, 0, sizeof *digits);
}
