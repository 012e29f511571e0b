// SPDX-License-Identifier: Apache-2.0
// Compressors that a training is compared with (tools/train/baseline*).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "tools/train/baseline.h"
#include "tools/train/baseline_round.h"

enum { COUNT = 2000 };

static void fill(float values[COUNT], uint64_t seed)
{
    gn_random random = gn_random_for(seed, 1, 1);
    for (size_t i = 0; i < COUNT; i++) values[i] = gn_random_uniform(&random, -1, 1);
}

START_TEST(truncation_clears_low_bits)
{
    float values[] = {1.9999999f, -0x1.8p-100f, 0, 3};
    ck_assert_uint_eq(gn_baseline_truncate(values, 4, 16), 4 * 16);
    ck_assert_float_eq(values[0], 0x1.fep0f);
    ck_assert_float_eq(values[1], -0x1.8p-100f);
    ck_assert_float_eq(values[3], 3);
    ck_assert_uint_eq(gn_baseline_truncate(values, 4, 24), 4 * 8);  // the exponent's last bit goes, too
    ck_assert_float_eq(values[0], 0x1p-1f);
    ck_assert_float_eq(values[3], 2);
}
END_TEST

START_TEST(top_k_keeps_the_largest)
{
    float values[COUNT], before[COUNT], room[COUNT];
    for (unsigned percent = 1; percent <= 100; percent += 9) {
        fill(values, percent);
        memcpy(before, values, sizeof before);
        const size_t k = COUNT * percent / 100;
        ck_assert_uint_eq(gn_baseline_top_k(values, COUNT, percent / 100.0, room), 64 * k);
        size_t kept = 0;
        float least = 2, largest_gone = 0;
        for (size_t i = 0; i < COUNT; i++) {
            ck_assert(values[i] == 0 || values[i] == before[i]);
            kept += values[i] != 0;
            if (values[i] != 0)
                least = fminf(least, fabsf(values[i]));
            else
                largest_gone = fmaxf(largest_gone, fabsf(before[i]));
        }
        ck_assert_uint_eq(kept, k);
        ck_assert(least >= largest_gone);
    }
}
END_TEST

START_TEST(top_k_of_equal_values)
{
    float values[] = {1, -1, 1, 1, 2, 0, 1, -1}, room[8];
    ck_assert_uint_eq(gn_baseline_top_k(values, 8, 0.375, room), 3 * 64);
    const float expected[] = {1, -1, 0, 0, 2, 0, 0, 0};
    ck_assert_mem_eq(values, expected, sizeof values);
    float zeros[3] = {0}, one[] = {5};
    ck_assert_uint_eq(gn_baseline_top_k(zeros, 3, 0.01, room), 64);
    ck_assert_uint_eq(gn_baseline_top_k(one, 1, 0.01, room), 64);
    ck_assert_float_eq(one[0], 5);
    ck_assert_uint_eq(gn_baseline_top_k(one, 0, 0.5, room), 0);
}
END_TEST

/// The mean over many draws is the value, and each draw is a level.
START_TEST(qsgd_is_right_on_average)
{
    const float values[] = {0.5f, -0.25f, 0.1f, 0};
    double sum[4] = {0}, norm = sqrt(0.25 + 0.0625 + 0.01);
    gn_random random = gn_random_for(1, 2, 3);
    enum { DRAWS = 20000 };
    for (int n = 0; n < DRAWS; n++) {
        float drawn[4];
        memcpy(drawn, values, sizeof drawn);
        ck_assert_uint_eq(gn_baseline_qsgd(drawn, 4, 4, &random), 32 + 4 * 4);
        for (int i = 0; i < 4; i++) {
            const double level = (double)drawn[i] / norm * 7;
            ck_assert_double_eq_tol(level, rint(level), 1e-5);
            sum[i] += (double)drawn[i];
        }
    }
    for (int i = 0; i < 4; i++) ck_assert_double_eq_tol(sum[i] / DRAWS, (double)values[i], 0.002);
    float many[GN_QSGD_BUCKET + 1];
    memset(many, 0, sizeof many);
    many[GN_QSGD_BUCKET] = 3;  // its own bucket, so it is its norm
    ck_assert_uint_eq(gn_baseline_qsgd(many, GN_QSGD_BUCKET + 1, 2, &random), 2 * 32 + 2 * (GN_QSGD_BUCKET + 1));
    ck_assert_float_eq(many[GN_QSGD_BUCKET], 3);
    ck_assert_float_eq(many[0], 0);
}
END_TEST

START_TEST(uniform_rounds_to_nearest)
{
    float values[] = {7, -3.4f, 3.6f, 0.4f};
    ck_assert_uint_eq(gn_baseline_uniform(values, 4, 4), 32 + 16);
    const float expected[] = {7, -3, 4, 0};
    for (int i = 0; i < 4; i++) ck_assert_float_eq(values[i], expected[i]);
    float zeros[2] = {0};
    gn_baseline_uniform(zeros, 2, 4);
    ck_assert_float_eq(zeros[0], 0);
}
END_TEST

/// What was removed comes later: after the second step the sums of what went in and out are the
/// same but for one residual.
START_TEST(feedback_keeps_what_was_removed)
{
    gn_error why;
    gn_train_error error;
    gn_baseline_choice choice;
    ck_assert_int_eq(gn_baseline_parse("topk:50%", &choice, &why), GN_OK);
    choice.feedback = true;
    gn_baseline *baseline;
    ck_assert_int_eq(gn_baseline_new(&baseline, &choice, 1, &error), GN_OK);
    gn_mlp mlp;
    ck_assert_int_eq(gn_mlp_init(&mlp, 1, (size_t[]){2, 2}, 1), GN_OK);
    const float given[] = {1, 2, 3, 4, 5, 6};
    memcpy(mlp.gradient, given, sizeof given);
    ck_assert_int_eq(gn_baseline_gradient(baseline, &mlp, 1, 0, &error), GN_OK);
    const float first[] = {0, 0, 3, 4, 0, 6}, second[] = {0, 4, 0, 4, 10, 0};
    ck_assert_mem_eq(mlp.gradient, first, sizeof first);
    memcpy(mlp.gradient, given, sizeof given);
    ck_assert_int_eq(gn_baseline_gradient(baseline, &mlp, 2, 0, &error), GN_OK);
    ck_assert_mem_eq(mlp.gradient, second, sizeof second);
    ck_assert_double_eq(gn_baseline_ratio(baseline), 1);
    gn_baseline_free(baseline);
    gn_mlp_free(&mlp);
}
END_TEST

/// Workers see truncated weights, and updates add up in whole ones.
START_TEST(truncated_weights_are_updated_whole)
{
    gn_error why;
    gn_train_error error;
    gn_baseline_choice choice;
    ck_assert_int_eq(gn_baseline_parse("truncate-weights:16", &choice, &why), GN_OK);
    gn_baseline *baseline;
    ck_assert_int_eq(gn_baseline_new(&baseline, &choice, 1, &error), GN_OK);
    gn_mlp mlp;
    ck_assert_int_eq(gn_mlp_init(&mlp, 1, (size_t[]){1, 1}, 1), GN_OK);
    mlp.weights[0] = 1;
    for (int step = 1; step <= 8; step++) {
        mlp.gradient[0] = 0.123f;
        ck_assert_int_eq(gn_baseline_gradient(baseline, &mlp, 1, 0, &error), GN_OK);
        ck_assert_float_eq(mlp.gradient[0], 0.123f);
        mlp.weights[0] += 0x1p-10f;
        ck_assert_int_eq(gn_baseline_updated(baseline, &mlp, &error), GN_OK);
        ck_assert_float_eq(mlp.weights[0], step < 8 ? 1 : 1 + 0x1p-7f);
    }
    gn_baseline_free(baseline);
    gn_mlp_free(&mlp);
}
END_TEST

START_TEST(names)
{
    gn_error error;
    gn_baseline_choice choice;
    static const char *const good[] = {"truncate:16", "truncate-both:31", "topk:0.5%", "topk:100%",
                                       "qsgd:4",      "uniform:2",        "zlib:6"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_int_eq(gn_baseline_parse(good[i], &choice, &error), GN_OK);
        ck_assert_str_eq(choice.name, good[i]);
    }
    static const char *const bad[][2] = {{"truncate", "truncate needs bits, 1 to 31"},
                                         {"truncate:32", "truncate needs bits, 1 to 31"},
                                         {"topk:1", "above 0% and up to 100%"},
                                         {"topk:0%", "above 0% and up to 100%"},
                                         {"topk:101%", "above 0% and up to 100%"},
                                         {"qsgd:1", "qsgd needs bits, 2 to 16"},
                                         {"uniform:17", "uniform needs bits, 2 to 16"},
                                         {"truncate-gradients:1", "not a compressor"},
                                         {"none", "not one compressor"},
                                         {"all", "not one compressor"},
                                         {"zfp", "zfp needs its bound"},
                                         {"zfp:31", "zfp needs its bound"},
                                         {"", "not a compressor"},
                                         {"topk:1.0000000000000000000001%", "too long"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(gn_baseline_parse(bad[i][0], &choice, &error), GN_INVALID);
        ck_assert_msg(strstr(error.text, bad[i][1]) != NULL, "%s: %s", bad[i][0], error.text);
    }
}
END_TEST

/// What comes out is what went in, and the bytes are fewer.
START_TEST(software_on_the_way)
{
    gn_error why;
    gn_train_error error;
    gn_baseline_choice choice;
    ck_assert_int_eq(gn_baseline_parse("zlib:1", &choice, &why), GN_OK);
    ck_assert(!gn_baseline_lossy_on_wire(&choice));
    gn_baseline *baseline;
    ck_assert_int_eq(gn_baseline_new(&baseline, &choice, 1, &error), GN_OK);
    float values[COUNT], before[COUNT];
    fill(values, 9);
    gn_baseline_truncate(values, COUNT, 20);
    memcpy(before, values, sizeof before);
    const size_t bytes = gn_baseline_wire(baseline, values, COUNT);
    ck_assert_uint_gt(bytes, COUNT);
    ck_assert_uint_lt(bytes, COUNT * 2);
    ck_assert_mem_eq(values, before, sizeof before);
    ck_assert_uint_eq(gn_baseline_wire(baseline, values, 0), 0);
    gn_baseline_free(baseline);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("baselines");
    TCase *tcase = tcase_create("baselines");
    tcase_add_test(tcase, truncation_clears_low_bits);
    tcase_add_test(tcase, top_k_keeps_the_largest);
    tcase_add_test(tcase, top_k_of_equal_values);
    tcase_add_test(tcase, qsgd_is_right_on_average);
    tcase_add_test(tcase, uniform_rounds_to_nearest);
    tcase_add_test(tcase, feedback_keeps_what_was_removed);
    tcase_add_test(tcase, truncated_weights_are_updated_whole);
    tcase_add_test(tcase, names);
    tcase_add_test(tcase, software_on_the_way);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
