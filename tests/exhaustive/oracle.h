// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TEST_ORACLE_H
#define GRADNIC_TEST_ORACLE_H
/// The codec a second time, from its definition as mathematics on real numbers. It works in double,
/// in which every step below is exact. It shares nothing with the library, whose reference works on
/// the bits of the value.

#include <math.h>
#include <string.h>

#include <gradnic/codec.h>

static inline float oracle_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t oracle_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/// 2^exponent, of a normal double. (ldexp() is a call, and this is asked for billions of times.)
static inline double oracle_power(int exponent)
{
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/// Nearest integer, ties to even, of |x| < 2^51: the sum has no room for a fraction.
static inline double oracle_round(double x)
{
    volatile double sum = x + 0x1.8p52;
    return sum - 0x1.8p52;
}

static inline gn_code oracle_lattice_encode(int k, uint32_t bits)
{
    double scaled = (double)oracle_float(bits) * oracle_power(k - 1);
    if (!(fabs(scaled) < 40000)) return (gn_code){3, bits};
    double q = oracle_round(scaled);
    if (fabs(q) > 32767) return (gn_code){3, bits};
    if (q == 0) return (gn_code){0, 0};
    if (fabs(q) <= 127) return (gn_code){1, (uint8_t)(int)q};
    return (gn_code){2, (uint16_t)(int)q};
}

static inline gn_code oracle_paper_encode(int k, uint32_t bits)
{
    double f = (double)oracle_float(bits), a = fabs(f);
    if (!(a < 1)) return (gn_code){3, bits};
    if (a < oracle_power(-k)) return (gn_code){0, 0};
    int width = a >= oracle_power(-(k / 2)) ? 15 : 7;  // the middle exponent: k - ceil(k/2) = floor(k/2)
    uint32_t truncated = (uint32_t)(a * (1 << width));
    return (gn_code){width == 15 ? 2 : 1, truncated + (f < 0 ? 1u << width : 0)};
}

/// The value of any code, also of one that no encoder makes.
static inline uint32_t oracle_decode(gn_profile profile, int k, gn_code code)
{
    if (code.tag == 3) return code.payload;
    if (code.tag == 0) return 0;
    int width = code.tag == 1 ? 8 : 16, half = 1 << (width - 1), payload = (int)code.payload;
    double value;
    if (profile == GN_LATTICE)
        value = (payload < half ? payload : payload - 2 * half) * oracle_power(1 - k);
    else
        value = (payload < half ? payload : half - payload) / (double)half;
    return value == 0 ? 0 : oracle_bits((float)value);
}

#endif
