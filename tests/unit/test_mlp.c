// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "examples/train/augment.h"
#include "examples/train/mlp.h"
#include "examples/train/random.h"
#include "examples/train/sgd.h"
#include "suite.h"

static const uint8_t labels[] = {0, 2, 1, 2, 0, 1, 1};
enum { BATCH = sizeof labels };

static void fill_inputs(gn_mlp *mlp)
{
    gn_random random = gn_random_for(3, 1, 4);
    for (size_t i = 0; i < BATCH * mlp->width[0]; i++) mlp->value[0][i] = gn_random_uniform(&random, -2, 2);
}

static double loss_of(gn_mlp *mlp)
{
    gn_mlp_forward(mlp, BATCH);
    return gn_mlp_loss(mlp, labels, BATCH, NULL);
}

/// Compares with central differences. Where a step crosses a kink of ReLU, the loss has no
/// derivative. So a few parameters may be off. They are recognised because they disagree with
/// themselves at half the step.
static void compare_with_differences(gn_mlp *mlp, size_t every, double tolerance)
{
    gn_mlp_randomise(mlp, 5);
    for (size_t i = 0; i < gn_mlp_parameters(mlp); i++) mlp->weights[i] *= 2;  // so that every layer has a say
    fill_inputs(mlp);
    loss_of(mlp);
    gn_mlp_backward_begin(mlp, labels, BATCH);
    for (unsigned l = mlp->layers; l-- > 0;) gn_mlp_backward_layer(mlp, l, BATCH);
    size_t checked = 0, nonzero = 0, seen = 0;
    for (size_t i = 0; i < gn_mlp_parameters(mlp); i += every) {
        const float weight = mlp->weights[i];
        double slope[2];
        for (int half = 0; half < 2; half++) {
            const float step = half ? 0x1p-11f : 0x1p-10f;
            mlp->weights[i] = weight + step;
            const double above = loss_of(mlp);
            mlp->weights[i] = weight - step;
            slope[half] = (above - loss_of(mlp)) / (2 * (double)step);
        }
        mlp->weights[i] = weight;
        seen++;
        if (fabs(slope[0] - slope[1]) > 5e-4) continue;
        ck_assert_double_eq_tol((double)mlp->gradient[i], slope[1], tolerance);
        checked++;
        nonzero += fabs(slope[1]) > 5e-3;
    }
    ck_assert_uint_gt(checked, seen * 95 / 100);
    ck_assert_uint_gt(nonzero, 60);
    gn_mlp_free(mlp);
}

START_TEST(gradient_equals_finite_differences)
{
    gn_mlp mlp;
    ck_assert_int_eq(gn_mlp_init(&mlp, 5, (size_t[]){6, 9, 8, 9, 7, 3}, BATCH), GN_OK);
    ck_assert_uint_eq(gn_mlp_parameters(&mlp), 7 * 9 + 10 * 8 + 9 * 9 + 10 * 7 + 8 * 3);
    compare_with_differences(&mlp, 1, 1e-3);
}
END_TEST

// Images of 5 x 4, so that both sides end differently under the stride. A convolution
// uses a weight at each pixel, so kinks are near more often.
START_TEST(convolution_has_finite_differences)
{
    gn_mlp mlp;
    ck_assert_int_eq(gn_mlp_init_cnn(&mlp, 5, 4, 3, BATCH), GN_OK);
    ck_assert_uint_eq(mlp.width[2], 32 * 3 * 2);
    ck_assert_uint_eq(gn_mlp_parameters(&mlp), 10 * 16 + (16 * 9 + 1) * 32 + (32 * 3 * 2 + 1) * 128 + (128 + 1) * 3);
    compare_with_differences(&mlp, 7, 5e-3);
}
END_TEST

/// The output for one pixel that is 1, in the middle of an image: what the weights say, turned.
START_TEST(convolution_of_one_pixel)
{
    const gn_conv conv = {.channels_in = 1, .channels_out = 1, .rows = 3, .columns = 3, .stride = 1};
    const float weights[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, x[9] = {[4] = 1};
    float y[9], patches[81];
    ck_assert_uint_eq(gn_conv_room(&conv), 81);
    gn_conv_forward(&conv, weights, x, y, patches);
    for (unsigned i = 0; i < 9; i++) ck_assert_float_eq(y[i], 10 + (float)(9 - i));
}
END_TEST

START_TEST(no_images)
{
    gn_mlp mlp;
    ck_assert_int_eq(gn_mlp_init_cnn(&mlp, 0, 4, 3, 1), GN_INVALID);
    ck_assert_int_eq(gn_mlp_init_cnn(&mlp, 4, 0, 3, 1), GN_INVALID);
    ck_assert_int_eq(gn_mlp_init_cnn(&mlp, 4, 4, 0, 1), GN_INVALID);
    ck_assert_int_eq(gn_mlp_init_cnn(&mlp, 4, 4, 3, 0), GN_INVALID);
}
END_TEST

START_TEST(softmax_takes_any_logit)
{
    gn_mlp mlp;
    size_t correct;
    ck_assert_int_eq(gn_mlp_init(&mlp, 1, (size_t[]){1, 3}, 2), GN_OK);
    mlp.weights[0] = 1000, mlp.weights[1] = -1000, mlp.weights[2] = 0;
    mlp.value[0][0] = 1, mlp.value[0][1] = 0;
    gn_mlp_forward(&mlp, 2);
    ck_assert_float_eq(mlp.value[1][0], 1);
    ck_assert_float_eq_tol(mlp.value[1][3], 1.0f / 3, 1e-6f);
    const double loss = gn_mlp_loss(&mlp, (uint8_t[]){0, 1}, 2, &correct);
    ck_assert_double_eq_tol(loss, log(3) / 2, 1e-6);
    ck_assert_uint_eq(correct, 1);  // of equal logits the first counts
    ck_assert(isfinite(gn_mlp_loss(&mlp, (uint8_t[]){1, 1}, 2, NULL)));
    gn_mlp_free(&mlp);
}
END_TEST

START_TEST(impossible_networks)
{
    gn_mlp mlp;
    ck_assert_int_eq(gn_mlp_init(&mlp, 0, (size_t[]){3}, 1), GN_INVALID);
    ck_assert_int_eq(gn_mlp_init(&mlp, GN_MLP_LAYERS_MAX + 1, (size_t[GN_MLP_LAYERS_MAX + 2]){1}, 1), GN_INVALID);
    ck_assert_int_eq(gn_mlp_init(&mlp, 1, (size_t[]){3, 0}, 1), GN_INVALID);
    ck_assert_int_eq(gn_mlp_init(&mlp, 1, (size_t[]){3, 2}, 0), GN_INVALID);
}
END_TEST

// With little address space OpenBLAS would ask for its buffer again and again.
START_TEST(no_room_for_products)
{
    gn_mlp mlp;
    unsigned long pages;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert(file && fscanf(file, "%lu", &pages) == 1 && !fclose(file));
    struct rlimit limit = {.rlim_cur = pages * (rlim_t)getpagesize() + ((rlim_t)64 << 20), .rlim_max = RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_int_eq(gn_mlp_init(&mlp, 1, (size_t[]){64, 10}, 7), GN_NO_MEMORY);
    gn_mlp_free(&mlp);  // as who frees all that it has, whether or not it came to be
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_int_eq(gn_mlp_init(&mlp, 1, (size_t[]){64, 10}, 7), GN_OK);
    gn_mlp_free(&mlp);
}
END_TEST

START_TEST(same_seed_same_bits)
{
    gn_mlp a, b;
    const size_t width[] = {64, 100, 50, 10};
    ck_assert_int_eq(gn_mlp_init(&a, 3, width, 7), GN_OK);
    ck_assert_int_eq(gn_mlp_init(&b, 3, width, 7), GN_OK);
    gn_mlp_randomise(&a, 1);
    gn_mlp_randomise(&b, 1);
    fill_inputs(&a);
    fill_inputs(&b);
    ck_assert(loss_of(&a) == loss_of(&b));
    ck_assert_mem_eq(a.weights, b.weights, gn_mlp_parameters(&a) * sizeof(float));
    gn_mlp_randomise(&b, 2);
    ck_assert_mem_ne(a.weights, b.weights, gn_mlp_parameters(&a) * sizeof(float));
    gn_mlp_free(&a);
    gn_mlp_free(&b);
}
END_TEST

START_TEST(sgd_by_hand)
{
    const gn_sgd sgd = {.rate = 0.5f, .momentum = 0.25f, .weight_decay = 0.125f};
    float weights[] = {8, -8}, velocity[] = {4, 0};
    const float gradient[] = {1, 2};
    gn_sgd_step(&sgd, weights, velocity, gradient, 2);
    ck_assert(velocity[0] == 2 && velocity[1] == 0.5f);  // 1 + (1 + 1) / 2; (2 - 1) / 2
    ck_assert(weights[0] == 6 && weights[1] == -8.5f);
}
END_TEST

static gn_digits digits;

static void load_digits(void)
{
    gn_train_error error;
    ck_assert_int_eq(gn_digits_load(&digits, GN_TEST_DATA "/digits-train-images-idx3-ubyte.gz",
                                    GN_TEST_DATA "/digits-train-labels-idx1-ubyte.gz", 10, &error),
                     GN_OK);
}

static void free_digits(void)
{
    gn_digits_free(&digits);
}

START_TEST(copies_are_functions_of_seed_image_and_copy)
{
    float a[64], b[64];
    gn_augment(&digits, 17, 3, 9, a);
    gn_augment(&digits, 16, 5, 8, b);
    gn_augment(&digits, 17, 3, 9, b);
    ck_assert_mem_eq(a, b, sizeof a);
    gn_augment(&digits, 17, 3, 10, b);
    ck_assert_mem_ne(a, b, sizeof a);
    gn_augment(&digits, 17, 4, 9, b);
    ck_assert_mem_ne(a, b, sizeof a);
    gn_augment(&digits, 18, 3, 9, b);
    ck_assert_mem_ne(a, b, sizeof a);
}
END_TEST

START_TEST(copy_0_is_the_image)
{
    float out[64];
    gn_augment(&digits, 17, 0, 9, out);
    for (size_t i = 0; i < 64; i++)
        ck_assert_float_eq(out[i], ((float)digits.images.values[17 * 64 + i] - digits.mean) * digits.inverse);
}
END_TEST

/// A copy is another picture of the same digit. On the whole it is nearer to its own image than to
/// the next one, but never equal.
START_TEST(copies_stay_near_their_image)
{
    size_t nearer = 0;
    enum { IMAGES = 200 };
    for (size_t i = 0; i < IMAGES; i++) {
        float copy[64], own[64], other[64];
        double to_own = 0, to_other = 0;
        gn_augment(&digits, i, 1 + (unsigned)i % 24, 1, copy);
        gn_augment(&digits, i, 0, 1, own);
        gn_augment(&digits, i + 1, 0, 1, other);
        for (size_t p = 0; p < 64; p++) {
            ck_assert(copy[p] >= (0 - digits.mean) * digits.inverse - 1e-4f);
            ck_assert(copy[p] <= (255 - digits.mean) * digits.inverse + 1e-4f);
            to_own += pow((double)(copy[p] - own[p]), 2);
            to_other += pow((double)(copy[p] - other[p]), 2);
        }
        ck_assert(to_own > 0);
        nearer += to_own < to_other;
    }
    ck_assert_uint_gt(nearer, IMAGES * 9 / 10);
}
END_TEST

/// Of a white image: where a copy is darker, its border has come in. The figures are those that the
/// documents' trainings had.
START_TEST(copies_of_a_white_image)
{
    uint8_t image[64];
    memset(image, 255, sizeof image);
    gn_digits white = {.rows = 8, .columns = 8, .inverse = 1.0f / 255};
    white.images.values = image;
    enum { COPIES = 500 };
    double sum[4] = {0};  // of the columns and rows at the edges: left, right, top, bottom
    for (unsigned copy = 1; copy <= COPIES; copy++) {
        float out[64];
        gn_augment(&white, 0, copy, 3, out);
        for (size_t i = 0; i < 8; i++) {
            sum[0] += (double)out[8 * i];
            sum[1] += (double)out[8 * i + 7];
            sum[2] += (double)out[i];
            sum[3] += (double)out[56 + i];
        }
    }
    const double expected[4] = {0.720340, 0.756573, 0.742005, 0.732035};
    for (int e = 0; e < 4; e++) ck_assert_double_eq_tol(sum[e] / (8 * COPIES), expected[e], 1e-4);
}
END_TEST

START_TEST(random_numbers)
{
    gn_random random = {0};
    ck_assert_uint_eq(gn_random_next(&random),
                      0xe220a8397b1dcdafu);  // the generator's published first outputs for seed 0
    ck_assert_uint_eq(gn_random_next(&random), 0x6e789e6aa1b965f4u);
    double sum = 0;
    unsigned hits[7] = {0};
    for (int i = 0; i < 70000; i++) {
        const float u = gn_random_uniform(&random, -1, 3);
        ck_assert(u >= -1 && u < 3);
        sum += (double)u;
        hits[gn_random_below(&random, 7)]++;
    }
    ck_assert_double_eq_tol(sum / 70000, 1, 0.02);
    for (int i = 0; i < 7; i++) ck_assert(hits[i] > 9600 && hits[i] < 10400);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mlp");
    TCase *tcase = tcase_create("mlp");
    tcase_add_unchecked_fixture(tcase, load_digits, free_digits);
    tcase_add_test(tcase, gradient_equals_finite_differences);
    tcase_add_test(tcase, convolution_has_finite_differences);
    tcase_add_test(tcase, convolution_of_one_pixel);
    tcase_add_test(tcase, no_images);
    tcase_add_test(tcase, softmax_takes_any_logit);
    tcase_add_test(tcase, impossible_networks);
    tcase_add_test(tcase, no_room_for_products);
    tcase_add_test(tcase, same_seed_same_bits);
    tcase_add_test(tcase, sgd_by_hand);
    tcase_add_test(tcase, copies_are_functions_of_seed_image_and_copy);
    tcase_add_test(tcase, copy_0_is_the_image);
    tcase_add_test(tcase, copies_stay_near_their_image);
    tcase_add_test(tcase, copies_of_a_white_image);
    tcase_add_test(tcase, random_numbers);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
