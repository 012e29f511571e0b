// SPDX-License-Identifier: Apache-2.0
// Elements of other types than binary32: made from the inputs, and checked. The 16-bit floats are
// computed here from their definition, beside the library's own code.
#include <math.h>
#include <string.h>

#include "allreduce.h"

static const size_t widths[GN_TYPES] = {
    [GN_F32] = 4, [GN_BF16] = 2, [GN_F16] = 2, [GN_F64] = 8, [GN_I32] = 4, [GN_I64] = 8, [GN_U8] = 1};

size_t gn_allreduce_width(gn_type type)
{
    return widths[type];
}

const char *gn_allreduce_type_name(gn_type type)
{
    static const char *const names[GN_TYPES] = {
        [GN_F32] = "float", [GN_BF16] = "bfloat16", [GN_F16] = "half", [GN_F64] = "double",
        [GN_I32] = "int32", [GN_I64] = "int64",     [GN_U8] = "uint8"};
    return names[type];
}

const char *gn_allreduce_op_name(gn_op op)
{
    static const char *const names[GN_OPS] = {
        [GN_SUM] = "sum", [GN_AVERAGE] = "avg", [GN_MIN] = "min", [GN_MAX] = "max"};
    return names[op];
}

/// Bits of a 16-bit float's mantissa, and the exponent of its least normal number.
static int precision(gn_type type)
{
    return type == GN_BF16 ? 8 : 11;
}
static int least_exponent(gn_type type)
{
    return type == GN_BF16 ? -126 : -14;
}

/// The nearest 16-bit float, ties to even.
static double rounded(gn_type type, double value)
{
    int exponent;
    if (!isfinite(value) || value == 0) return value;
    (void)frexp(value, &exponent);  // value = [0.5, 1) * 2^exponent
    if (exponent < least_exponent(type) + 1) exponent = least_exponent(type) + 1;
    const int unit = exponent - precision(type);
    const double result = ldexp(rint(ldexp(value, -unit)), unit);
    const double most = type == GN_BF16 ? 0x1.FEp127 : 65504;
    return fabs(result) > most ? copysign(INFINITY, value) : result;
}

static uint16_t half_of(gn_type type, double value)
{
    const int mantissa = precision(type) - 1, least = least_exponent(type);
    const unsigned sign = signbit(value) ? 0x8000 : 0, infinite = 0x7FFFu >> mantissa << mantissa;
    int exponent;
    if (isnan(value)) return (uint16_t)(infinite | 1u << (mantissa - 1));
    if (isinf(value)) return (uint16_t)(sign | infinite);
    (void)frexp(value, &exponent);
    if (value == 0 || exponent < least + 1) exponent = least + 1;
    const unsigned whole = (unsigned)fabs(ldexp(value, mantissa + 1 - exponent));
    // The first bit of a normal number is not written, and counts as 1 of its exponent.
    return (uint16_t)(sign | (whole + ((unsigned)(exponent - least - 1) << mantissa)));
}

static double double_of(gn_type type, uint16_t half)
{
    const int mantissa = precision(type) - 1, least = least_exponent(type);
    const int size = half & 0x7FFF, exponent = size >> mantissa, part = size & ((1 << mantissa) - 1);
    const double sign = half & 0x8000 ? -1 : 1;
    if (exponent == 0x7FFF >> mantissa) return part ? NAN : sign * INFINITY;
    if (!exponent) return sign * ldexp(part, least - mantissa);
    return sign * ldexp(part + (1 << mantissa), exponent - 1 + least - mantissa);
}

double gn_allreduce_element(gn_type type, float value)
{
    switch (type) {
    case GN_BF16:
    case GN_F16:
        return rounded(type, (double)value);
    case GN_I32:
    case GN_I64:
        return isfinite(value) ? rint(fmin(fmax((double)value * 1000, -1e9), 1e9)) : 0;
    case GN_U8:
        return isfinite(value) ? rint(fmin(fabs((double)value) * 1000, 255)) : 0;
    default:
        return (double)value;
    }
}

void gn_allreduce_element_write(gn_type type, double value, void *elements, size_t index)
{
    const float single = (float)value;
    const int32_t i32 = (int32_t)(type == GN_I32 ? value : 0);
    const int64_t i64 = (int64_t)(type == GN_I64 ? value : 0);
    const uint8_t u8 = (uint8_t)(type == GN_U8 ? value : 0);
    const uint16_t half = type == GN_BF16 || type == GN_F16 ? half_of(type, value) : 0;
    const void *const from[GN_TYPES] = {[GN_F32] = &single, [GN_BF16] = &half, [GN_F16] = &half, [GN_F64] = &value,
                                        [GN_I32] = &i32,    [GN_I64] = &i64,   [GN_U8] = &u8};
    memcpy((uint8_t *)elements + index * widths[type], from[type], widths[type]);
}

double gn_allreduce_element_read(gn_type type, const void *elements, size_t index)
{
    const uint8_t *at = (const uint8_t *)elements + index * widths[type];
    float single;
    double twice;
    int32_t i32;
    int64_t i64;
    uint16_t half;
    switch (type) {
    case GN_F32:
        memcpy(&single, at, sizeof single);
        return (double)single;
    case GN_F64:
        memcpy(&twice, at, sizeof twice);
        return twice;
    case GN_I32:
        memcpy(&i32, at, sizeof i32);
        return i32;
    case GN_I64:
        memcpy(&i64, at, sizeof i64);
        return (double)i64;
    case GN_U8:
        return *at;
    default:
        memcpy(&half, at, sizeof half);
        return double_of(type, half);
    }
}

double gn_allreduce_rounding(gn_type type, double result)
{
    if (type == GN_F64) return fabs(result) * 0x1p-52;
    if (type != GN_BF16 && type != GN_F16) return 0;
    return fmax(ldexp(fabs(result), -precision(type)), ldexp(1, least_exponent(type) - precision(type)));
}

double gn_allreduce_rounded(gn_type type, double value)
{
    if (type == GN_U8) return value - 256 * floor(value / 256);
    return type == GN_BF16 || type == GN_F16 ? rounded(type, value) : value;
}
