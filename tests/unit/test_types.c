// SPDX-License-Identifier: Apache-2.0
// Elements of vectors: every 16-bit float there and back, rounding, and what is computed.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ring/collectives/types.h"
#include "suite.h"

/// Bits of the exponent and of the mantissa.
typedef struct form {
    gn_type type;
    int exponent, mantissa;
} form;

static const form forms[] = {{GN_F16, 5, 10}, {GN_BF16, 8, 7}};

/// The value of a 16-bit float, from its definition.
static double value_of(const form *f, unsigned bits)
{
    const int exponent = (int)(bits >> f->mantissa) & ((1 << f->exponent) - 1), bias = (1 << (f->exponent - 1)) - 1;
    const int mantissa = (int)bits & ((1 << f->mantissa) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << f->exponent) - 1) return mantissa ? NAN : sign * INFINITY;
    if (!exponent) return sign * ldexp(mantissa, 1 - bias - f->mantissa);
    return sign * ldexp(mantissa + (1 << f->mantissa), exponent - bias - f->mantissa);
}

static unsigned narrow(const form *f, float value)
{
    uint16_t bits;
    gn_type_store(f->type, &value, &bits, 1);
    return bits;
}

static float widen(const form *f, unsigned half)
{
    const uint16_t bits = (uint16_t)half;
    float value;
    gn_type_load(f->type, &bits, &value, 1);
    return value;
}

START_TEST(there_and_back)
{
    const form *f = &forms[_i];
    for (unsigned bits = 0; bits < 65536; bits++) {
        const double value = value_of(f, bits);
        const float wide = widen(f, bits);
        if (isnan(value)) {
            ck_assert(isnan(wide) && isnan(widen(f, narrow(f, wide))));
            continue;
        }
        ck_assert_msg((double)wide == value && !signbit(wide) == !signbit(value), "%#x: %g", bits, (double)wide);
        ck_assert_uint_eq(narrow(f, wide), bits);
    }
}
END_TEST

// Between two neighbours the middle goes to the even one, and its neighbours to the nearer one.
START_TEST(nearest_even)
{
    const form *f = &forms[_i];
    const unsigned infinite = ((1u << f->exponent) - 1) << f->mantissa;
    for (unsigned bits = 0; bits < infinite; bits++) {
        // What would be the next number, were the exponent not at its end.
        const double here = value_of(f, bits), below = bits ? value_of(f, bits - 1) : 0;
        const double next = bits + 1 < infinite ? value_of(f, bits + 1) : here + (here - below);
        const float middle = (float)((here + next) / 2);
        if ((double)middle * 2 != here + next) continue;  // bfloat16's subnormals are near binary32's
        for (unsigned sign = 0; sign <= 0x8000; sign += 0x8000) {
            const float way = sign ? -1 : 1;
            ck_assert_uint_eq(narrow(f, way * middle), sign | (bits + (bits & 1)));
            ck_assert_uint_eq(narrow(f, way * nextafterf(middle, 0)), sign | bits);
            ck_assert_uint_eq(narrow(f, way * nextafterf(middle, INFINITY)), sign | (bits + 1));
        }
    }
    ck_assert_uint_eq(narrow(f, 3.4e38f), f->type == GN_F16 ? infinite : 0x7F80u);
    ck_assert_uint_eq(narrow(f, -INFINITY), 0x8000 | infinite);
    ck_assert_uint_eq(narrow(f, -1e-45f), 0x8000);
}
END_TEST

// Many at a time, in any number: the same bits, a NaN's too, as one at a time.
START_TEST(many)
{
    const form *f = &forms[_i];
    static uint16_t halves[65536], back[65536];
    static float wide[65536], values[65536];
    for (unsigned i = 0; i < 65536; i++) {
        const uint32_t bits = i * 0x9E3779B9u ^ i << 5;
        halves[i] = (uint16_t)i;
        memcpy(&values[i], &bits, sizeof bits);
        if (i % 3)
            values[i] = value_of(f, i) == value_of(f, i) ? (float)(value_of(f, i) * (1 + (i % 7) * 0x1p-12)) : NAN;
    }
    for (size_t count = 65519; count <= 65536; count++) {
        memset(wide, 0, sizeof wide);
        gn_type_load(f->type, halves, wide, count);
        for (size_t i = count == 65536 ? 0 : 65500; i < count; i++) {
            const float one = widen(f, (unsigned)i);
            ck_assert(!memcmp(&wide[i], &one, sizeof one));
        }
        memset(back, 0, sizeof back);
        gn_type_store(f->type, values, back, count);
        for (size_t i = count == 65536 ? 0 : 65500; i < count; i++) ck_assert_uint_eq(back[i], narrow(f, values[i]));
        for (size_t i = count; i < 65536; i++) ck_assert(wide[i] == 0 && !back[i]);
    }
}
END_TEST

START_TEST(integers)
{
    const int32_t a32[] = {INT32_MAX, -5, INT32_MIN}, b32[] = {1, 3, -1};
    const int64_t a64[] = {INT64_MAX, -5, INT64_MIN}, b64[] = {1, 3, -1};
    const uint8_t a8[] = {255, 5, 0}, b8[] = {1, 3, 255};
    int32_t r32[3];
    int64_t r64[3];
    uint8_t r8[3];
    gn_type_combine(GN_I32, GN_SUM, a32, b32, r32, 3);
    ck_assert(r32[0] == INT32_MIN && r32[1] == -2 && r32[2] == INT32_MAX);
    gn_type_combine(GN_I64, GN_SUM, a64, b64, r64, 3);
    ck_assert(r64[0] == INT64_MIN && r64[1] == -2 && r64[2] == INT64_MAX);
    gn_type_combine(GN_U8, GN_SUM, a8, b8, r8, 3);
    ck_assert(r8[0] == 0 && r8[1] == 8 && r8[2] == 255);
    gn_type_combine(GN_I32, GN_MIN, a32, b32, r32, 3);
    ck_assert(r32[0] == 1 && r32[1] == -5 && r32[2] == INT32_MIN);
    gn_type_combine(GN_I64, GN_MAX, a64, b64, r64, 3);
    ck_assert(r64[0] == INT64_MAX && r64[1] == 3 && r64[2] == -1);
    gn_type_combine(GN_U8, GN_MAX, a8, b8, r8, 3);
    ck_assert(r8[0] == 255 && r8[1] == 5 && r8[2] == 255);
}
END_TEST

// A NaN wins, and the sign of a zero counts: in any order the same bits.
START_TEST(least_and_most)
{
    const double strange[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, -NAN, 5e-324};
    const int n = sizeof strange / sizeof *strange;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (gn_op op = GN_MIN; op <= GN_MAX; op++) {
                const double a = strange[i], b = strange[j];
                const float x = (float)a, y = (float)b;
                double one, two;
                float three, four;
                gn_type_combine(GN_F64, op, &a, &b, &one, 1);
                gn_type_combine(GN_F64, op, &b, &a, &two, 1);
                gn_type_combine(GN_F32, op, &x, &y, &three, 1);
                gn_type_combine(GN_F32, op, &y, &x, &four, 1);
                ck_assert(!memcmp(&one, &two, sizeof one) && !memcmp(&three, &four, sizeof three));
                if (isnan(a) || isnan(b)) {
                    ck_assert(isnan(one) && isnan(three));
                    continue;
                }
                ck_assert(one == (op == GN_MIN ? fmin(a, b) : fmax(a, b)));
                ck_assert((double)three == (op == GN_MIN ? fmin((double)x, (double)y) : fmax((double)x, (double)y)));
                if (a == 0 && b == 0) {
                    const bool negative = op == GN_MIN ? signbit(a) || signbit(b) : signbit(a) && signbit(b);
                    ck_assert(!!signbit(one) == negative && !!signbit(three) == negative);
                }
            }
}
END_TEST

START_TEST(names)
{
    static const char *const wanted[] = {"f32", "bf16", "f16", "f64", "i32", "i64", "u8"};
    static const size_t bytes[] = {4, 2, 2, 8, 4, 8, 1};
    for (gn_type type = GN_F32; type < GN_TYPES; type++) {
        ck_assert_str_eq(gn_type_name(type), wanted[type]);
        ck_assert_uint_eq(gn_type_bytes(type), bytes[type]);
    }
    ck_assert_ptr_null(gn_type_name(GN_TYPES));
    ck_assert_ptr_null(gn_op_name(GN_OPS));
    ck_assert_ptr_null(gn_collective_name(GN_COLLECTIVES));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("types");
    TCase *tcase = tcase_create("types");
    tcase_add_loop_test(tcase, there_and_back, 0, 2);
    tcase_add_loop_test(tcase, nearest_even, 0, 2);
    tcase_add_loop_test(tcase, many, 0, 2);
    tcase_add_test(tcase, integers);
    tcase_add_test(tcase, least_and_most);
    tcase_add_test(tcase, names);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
