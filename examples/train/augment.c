// SPDX-License-Identifier: Apache-2.0
#include "augment.h"

#include <math.h>

#include "random.h"

enum { PURPOSE = 0x61756721 };

// The largest changes: enough for a new image, too little to make a 6 of a 9.
static const float rotation_max = 0.22f;  // radians: 12 degrees
static const float scale_max = 0.12f;     // of the size
static const float shift_max = 0.09f;     // of the image's width or height

typedef struct gn_affine {
    float xx, xy, x0, yx, yy, y0;
} gn_affine;

/// Maps a pixel of the copy to its place in the source: rotation and scale about the centre, then
/// a shift.
static gn_affine draw_affine(const gn_digits *digits, gn_random *random)
{
    float angle = gn_random_uniform(random, -rotation_max, rotation_max);
    float scale_x = 1 + gn_random_uniform(random, -scale_max, scale_max);
    float scale_y = 1 + gn_random_uniform(random, -scale_max, scale_max);
    float width = (float)digits->columns, height = (float)digits->rows;
    float shift_x = width * gn_random_uniform(random, -shift_max, shift_max);
    float shift_y = height * gn_random_uniform(random, -shift_max, shift_max);
    float centre_x = (width - 1) / 2, centre_y = (height - 1) / 2;
    gn_affine a = {.xx = cosf(angle) * scale_x,
                   .xy = -sinf(angle) * scale_x,
                   .yx = sinf(angle) * scale_y,
                   .yy = cosf(angle) * scale_y};
    a.x0 = centre_x + shift_x - a.xx * centre_x - a.xy * centre_y;
    a.y0 = centre_y + shift_y - a.yx * centre_x - a.yy * centre_y;
    return a;
}

static float pixel(const gn_digits *digits, const uint8_t *image, long x, long y)
{
    if (x < 0 || y < 0 || x >= (long)digits->columns || y >= (long)digits->rows) return 0;
    return image[(size_t)y * digits->columns + (size_t)x];
}

static float bilinear(const gn_digits *digits, const uint8_t *image, float x, float y)
{
    float left = floorf(x), top = floorf(y), fx = x - left, fy = y - top;
    long ix = (long)left, iy = (long)top;
    float upper = pixel(digits, image, ix, iy) * (1 - fx) + pixel(digits, image, ix + 1, iy) * fx;
    float lower = pixel(digits, image, ix, iy + 1) * (1 - fx) + pixel(digits, image, ix + 1, iy + 1) * fx;
    return upper * (1 - fy) + lower * fy;
}

void gn_augment(const gn_digits *digits, size_t index, unsigned copy, uint64_t seed, float *out)
{
    size_t pixels = gn_digits_pixels(digits);
    const uint8_t *image = digits->images.values + index * pixels;
    if (!copy) {
        for (size_t i = 0; i < pixels; i++) out[i] = ((float)image[i] - digits->mean) * digits->inverse;
        return;
    }
    gn_random random = gn_random_for(seed, PURPOSE + (uint64_t)copy, index);
    gn_affine a = draw_affine(digits, &random);
    for (size_t row = 0; row < digits->rows; row++) {
        for (size_t column = 0; column < digits->columns; column++) {
            float x = (float)column, y = (float)row;
            float p = bilinear(digits, image, a.xx * x + a.xy * y + a.x0, a.yx * x + a.yy * y + a.y0);
            *out++ = (p - digits->mean) * digits->inverse;
        }
    }
}
