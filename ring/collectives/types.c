// SPDX-License-Identifier: Apache-2.0
#include "ring/collectives/types.h"

#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cmodel/half.h"

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

static uint16_t narrow_bf16(float value)
{
    const uint32_t bits = gn_half_bits_of(value);
    const uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16, nan = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
}

static void load_f16(const uint16_t *halves, float *wide, size_t count)
{
    for (size_t i = 0; i < count; i++) wide[i] = gn_half_widen(halves[i]);
}

static void store_f16(const float *wide, uint16_t *halves, size_t count)
{
    for (size_t i = 0; i < count; i++) halves[i] = gn_half_narrow(wide[i]);
}

#if defined(__x86_64__)
/// The same bits, of eight values at a time. @return how many are done
__attribute__((target("avx,f16c"))) static size_t load_f16c(const uint16_t *halves, float *wide, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(wide + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(halves + i))));
    return i;
}

__attribute__((target("avx,f16c"))) static size_t store_f16c(const float *wide, uint16_t *halves, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(halves + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(wide + i), _MM_FROUND_TO_NEAREST_INT));
    return i;
}
#else
static size_t load_f16c(const uint16_t *halves, float *wide, size_t count)
{
    (void)halves, (void)wide, (void)count;
    return 0;
}
static size_t store_f16c(const float *wide, uint16_t *halves, size_t count)
{
    (void)halves, (void)wide, (void)count;
    return 0;
}
#endif

void gn_type_load(gn_type type, const void *values, void *to, size_t count)
{
    const uint16_t *halves = values;
    float *wide = to;
    const size_t done = type == GN_F16 && gn_half_has_f16c() ? load_f16c(halves, wide, count) : 0;
    if (type == GN_BF16)
        for (size_t i = 0; i < count; i++) wide[i] = gn_half_float_of((uint32_t)halves[i] << 16);
    else if (type == GN_F16)
        load_f16(halves + done, wide + done, count - done);
    else if (count)
        memcpy(to, values, count * gn_type_bytes(type));
}

void gn_type_store(gn_type type, const void *values, void *to, size_t count)
{
    const float *wide = values;
    uint16_t *halves = to;
    const size_t done = type == GN_F16 && gn_half_has_f16c() ? store_f16c(wide, halves, count) : 0;
    if (type == GN_BF16)
        for (size_t i = 0; i < count; i++) halves[i] = narrow_bf16(wide[i]);
    else if (type == GN_F16)
        store_f16(wide + done, halves + done, count - done);
    else if (count)
        memcpy(to, values, count * gn_type_bytes(type));
}

// Arithmetic --------------------------------------------------------------------------------------

/// The minimum (`way` 0) or maximum (-1). Signed integers order the bits of numbers: -0 is below
/// +0.
static float extreme(float a, float b, int32_t way)
{
    const uint32_t x = gn_half_bits_of(a), y = gn_half_bits_of(b);
    const int32_t left = (int32_t)(x ^ (x >> 31 ? 0x7FFFFFFFu : 0)), right = (int32_t)(y ^ (y >> 31 ? 0x7FFFFFFFu : 0));
    const uint32_t first = (uint32_t)(-(int32_t)(left < right) ^ way);
    const uint32_t nan = (uint32_t)(-(int32_t)((x & 0x7FFFFFFF) > 0x7F800000 || (y & 0x7FFFFFFF) > 0x7F800000));
    return gn_half_float_of((((x & first) | (y & ~first)) & ~nan) | (0x7FC00000 & nan));
}

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

COMBINE(combine_f32, float, a + b, extreme(a, b, 0), extreme(a, b, -1))
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
