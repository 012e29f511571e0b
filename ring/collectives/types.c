// SPDX-License-Identifier: Apache-2.0
#include "ring/collectives/types.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} types[GN_TYPES] = {[GN_F32] = {"f32", 4}, [GN_BF16] = {"bf16", 2}, [GN_F16] = {"f16", 2}, [GN_F64] = {"f64", 8},
                     [GN_I32] = {"i32", 4}, [GN_I64] = {"i64", 8},   [GN_U8] = {"u8", 1}};

const char *gn_type_name(gn_type type)
{
    return (unsigned)type < GN_TYPES ? types[type].name : NULL;
}

const char *gn_op_name(gn_op op)
{
    static const char *const names[GN_OPS] = {
        [GN_SUM] = "sum", [GN_AVERAGE] = "average", [GN_MIN] = "minimum", [GN_MAX] = "maximum"};
    return (unsigned)op < GN_OPS ? names[op] : NULL;
}

size_t gn_type_bytes(gn_type type)
{
    return types[type].bytes;
}

gn_type gn_type_staged(gn_type type)
{
    return type == GN_BF16 || type == GN_F16 ? GN_F32 : type;
}

bool gn_type_is_exact(gn_type type, gn_op op)
{
    return gn_type_staged(type) != GN_F32 || (op != GN_SUM && op != GN_AVERAGE);
}

// The 16-bit floats -------------------------------------------------------------------------------

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float widen_f16(uint16_t half)
{
    // No subnormal number of binary32 is made on the way: a program may have those flushed to zero.
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, size = (uint32_t)(half & 0x7FFF) << 13;
    const uint32_t normal = size + (112u << 23);
    const uint32_t small = bits_of(float_of(size + (113u << 23)) - 0x1p-14f);
    const uint32_t bits = size < 1u << 23 ? small : size < 31u << 23 ? normal : size | 0x7F800000;
    return float_of(sign | bits);
}

static uint16_t narrow_f16(float value)
{
    const uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
    const uint32_t normal = (size + 0xFFF + (size >> 13 & 1) - (112u << 23)) >> 13;
    const uint32_t small = bits_of(float_of(size) + 0.5f) - bits_of(0.5f);  // its last bit is worth 2^-24
    const uint32_t huge = size > 0x7F800000 ? 0x7E00 : 0x7C00;
    return (uint16_t)(sign | (size < 113u << 23 ? small : size < 143u << 23 ? normal : huge));
}

static uint16_t narrow_bf16(float value)
{
    const uint32_t bits = bits_of(value);
    const uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16, nan = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
}

void gn_type_load(gn_type type, const void *values, void *to, size_t count)
{
    const uint16_t *halves = values;
    float *wide = to;
    if (type == GN_BF16)
        for (size_t i = 0; i < count; i++) wide[i] = float_of((uint32_t)halves[i] << 16);
    else if (type == GN_F16)
        for (size_t i = 0; i < count; i++) wide[i] = widen_f16(halves[i]);
    else if (count)
        memcpy(to, values, count * gn_type_bytes(type));
}

void gn_type_store(gn_type type, const void *values, void *to, size_t count)
{
    const float *wide = values;
    uint16_t *halves = to;
    if (type == GN_BF16)
        for (size_t i = 0; i < count; i++) halves[i] = narrow_bf16(wide[i]);
    else if (type == GN_F16)
        for (size_t i = 0; i < count; i++) halves[i] = narrow_f16(wide[i]);
    else if (count)
        memcpy(to, values, count * gn_type_bytes(type));
}

// Arithmetic --------------------------------------------------------------------------------------

#define LESS(a, b) ((a) < (b) || ((a) == (b) && signbit(a) && !signbit(b)))
#define ANY_NAN(a, b) ((a) != (a) || (b) != (b))

/// sum, minimum and maximum of a type: LEAST and MOST say which of a, b.
#define COMBINE(name, element, sum, least, most)                                                                       \
    static void name(gn_op op, const element *x, const element *y, element *to, size_t count)                          \
    {                                                                                                                  \
        for (size_t i = 0; op < GN_MIN && i < count; i++) {                                                            \
            const element a = x[i], b = y[i];                                                                          \
            to[i] = (element)(sum);                                                                                    \
        }                                                                                                              \
        for (size_t i = 0; op == GN_MIN && i < count; i++) {                                                           \
            const element a = x[i], b = y[i];                                                                          \
            to[i] = least;                                                                                             \
        }                                                                                                              \
        for (size_t i = 0; op == GN_MAX && i < count; i++) {                                                           \
            const element a = x[i], b = y[i];                                                                          \
            to[i] = most;                                                                                              \
        }                                                                                                              \
    }

COMBINE(combine_f32, float, a + b, ANY_NAN(a, b) ? NAN : LESS(a, b) ? a : b, ANY_NAN(a, b) ? NAN : LESS(a, b) ? b : a)
COMBINE(combine_f64, double, a + b, ANY_NAN(a, b) ? NAN : LESS(a, b) ? a : b, ANY_NAN(a, b) ? NAN : LESS(a, b) ? b : a)
COMBINE(combine_i32, int32_t, (uint32_t)a + (uint32_t)b, a < b ? a : b, a < b ? b : a)
COMBINE(combine_i64, int64_t, (uint64_t)a + (uint64_t)b, a < b ? a : b, a < b ? b : a)
COMBINE(combine_u8, uint8_t, a + b, a < b ? a : b, a < b ? b : a)

void gn_type_combine(gn_type type, gn_op op, const void *a, const void *b, void *to, size_t count)
{
    switch (type) {
    case GN_F64:
        combine_f64(op, a, b, to, count);
        break;
    case GN_I32:
        combine_i32(op, a, b, to, count);
        break;
    case GN_I64:
        combine_i64(op, a, b, to, count);
        break;
    case GN_U8:
        combine_u8(op, a, b, to, count);
        break;
    default:
        combine_f32(op, a, b, to, count);
    }
}

void gn_type_divide(gn_type type, void *values, size_t count, double divisor)
{
    float *singles = values;
    double *doubles = values;
    const float single = (float)divisor;
    for (size_t i = 0; type == GN_F32 && i < count; i++) singles[i] /= single;
    for (size_t i = 0; type == GN_F64 && i < count; i++) doubles[i] /= divisor;
}
