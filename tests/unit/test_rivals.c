// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "tools/codec/rivals.h"
#include "tools/files/values.h"

static gn_error error;  // of the last failure

START_TEST(every_rival_restores_a_gradient)
{
    float *values = NULL;
    size_t count = 0;
    ck_assert_int_eq(
        gn_values_load(GN_TEST_DATA "/gradients/mlp-it1000-w0.npy.gz", GN_FORMAT_AUTO, &values, &count, &error), GN_OK);
    ck_assert_uint_gt(count, 50000);
    gn_rival_choice choices[GN_RIVALS_MAX];
    size_t rivals = 0;
    ck_assert_int_eq(gn_parse_rivals("all", choices, &rivals, &error), GN_OK);
    ck_assert_uint_ge(rivals, 1);
    static const size_t counts[] = {1, 3, 4, 362, 50000};
    float *out = malloc(count * sizeof *out);
    for (size_t p = 0; p < rivals; p++) {
        gn_rival_context *context = gn_rival_context_new(&choices[p], 10);
        ck_assert_ptr_nonnull(context);
        for (size_t c = 0; c < 2 * sizeof counts / sizeof *counts; c++) {  // twice: a context is used again
            const size_t n = counts[c % 5], capacity = gn_rival_bound(context, n);
            void *packed = malloc(capacity);
            const size_t bytes = gn_rival_compress(context, values, n, packed, capacity);
            ck_assert_msg(bytes && bytes <= capacity, "%s, %zu values", choices[p].name, n);
            memset(out, 0xff, n * sizeof *out);
            ck_assert(gn_rival_decompress(context, packed, bytes, out, n));
            if (choices[p].rival->lossless) ck_assert_int_eq(memcmp(values, out, n * sizeof *out), 0);
            for (size_t i = 0; i < n; i++) ck_assert(fabsf(values[i] - out[i]) <= 0x1p-10f);
            if (choices[p].rival->lossless) ck_assert(!gn_rival_decompress(context, packed, bytes - 1, out, n));
            free(packed);
        }
        gn_rival_context_free(context);
    }
    free(out);
    free(values);
}
END_TEST

START_TEST(lists_of_rivals)
{
    gn_rival_choice choices[GN_RIVALS_MAX];
    size_t n = 0;
    ck_assert_int_eq(gn_parse_rivals("none", choices, &n, &error), GN_OK);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(gn_parse_rivals("zlib:9,zlib", choices, &n, &error), GN_OK);
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(choices[0].name, "zlib:9");
    ck_assert_str_eq(choices[1].name, "zlib:6");
    ck_assert_int_ne(gn_parse_rivals("zlib:10", choices, &n, &error), GN_OK);
    ck_assert_int_ne(gn_parse_rivals("", choices, &n, &error), GN_OK);
    ck_assert_int_ne(gn_parse_rivals("rar", choices, &n, &error), GN_OK);
    ck_assert_int_ne(gn_parse_rivals("zfp:1", choices, &n, &error), GN_OK);
    unsigned available = 0;
    for (unsigned i = 0; gn_rival_at(i); i++) {
        available += gn_rival_at(i)->available;
        const bool missing = strstr(gn_rivals_missing(), gn_rival_at(i)->name) != NULL;
        ck_assert(missing != gn_rival_at(i)->available);
    }
    ck_assert_int_eq(gn_parse_rivals("all", choices, &n, &error), GN_OK);
    ck_assert_uint_eq(n, available);
}
END_TEST

int main(void)
{
    return RUN_TESTS("rivals", every_rival_restores_a_gradient, lists_of_rivals);
}
