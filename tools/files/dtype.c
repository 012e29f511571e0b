// SPDX-License-Identifier: Apache-2.0
#include "dtype.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} types[GN_DTYPE_COUNT] = {[GN_FLOAT32] = {"float32", 4},
                           [GN_FLOAT16] = {"float16", 2},
                           [GN_BFLOAT16] = {"bfloat16", 2},
                           [GN_FLOAT64] = {"float64", 8}};

const char *gn_dtype_name(gn_dtype dtype)
{
    return types[dtype].name;
}

size_t gn_dtype_bytes(gn_dtype dtype)
{
    return types[dtype].bytes;
}

static uint16_t load16(const uint8_t *from, bool big_endian)
{
    uint16_t bits;
    memcpy(&bits, from, sizeof bits);
    return big_endian ? __builtin_bswap16(bits) : bits;
}

static uint32_t load32(const uint8_t *from, bool big_endian)
{
    uint32_t bits;
    memcpy(&bits, from, sizeof bits);
    return big_endian ? __builtin_bswap32(bits) : bits;
}

static double load_double(const uint8_t *from, bool big_endian)
{
    uint64_t bits;
    memcpy(&bits, from, sizeof bits);
    if (big_endian) bits = __builtin_bswap64(bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/// The bits of the binary32 with the value of a binary16. A NaN keeps its payload.
static uint32_t widen_half(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31;
    uint32_t fraction = half & 0x3ff;
    if (exponent == 31) return sign | 0x7f800000 | fraction << 13;
    if (exponent) return sign | (exponent + 112) << 23 | fraction << 13;
    if (!fraction) return sign;
    const uint32_t shift = (uint32_t)__builtin_clz(fraction) - 21;  // brings the first one to bit 10
    fraction = fraction << shift & 0x3ff;
    return sign | (113 - shift) << 23 | fraction << 13;
}

static float narrow(double value, gn_cast *cast)
{
    const float rounded = (float)value;
    if (!isfinite(value)) return rounded;
    if (isinf(rounded)) {
        if (!cast->beyond++) cast->first = value;
        return rounded;
    }
    const double error = fabs((double)rounded - value);
    if (error > cast->largest_error) cast->largest_error = error;
    return rounded;
}

void gn_dtype_read(gn_dtype dtype, bool big_endian, const void *from, float *to, size_t count, gn_cast *cast)
{
    const uint8_t *at = from;
    for (size_t i = 0; i < count; i++, at += types[dtype].bytes) {
        uint32_t bits;
        switch (dtype) {
        case GN_FLOAT64:
            to[i] = narrow(load_double(at, big_endian), cast);
            continue;
        case GN_FLOAT16:
            bits = widen_half(load16(at, big_endian));
            break;
        case GN_BFLOAT16:
            bits = (uint32_t)load16(at, big_endian) << 16;
            break;
        default:
            bits = load32(at, big_endian);
            break;
        }
        memcpy(&to[i], &bits, sizeof bits);
    }
    cast->values += count;
}
