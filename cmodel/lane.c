// SPDX-License-Identifier: Apache-2.0
// The codec for one value at a time, in the shape of the specification (docs/codec.md): read this
// first. Integer arithmetic only, no tables, nothing clever. Every faster path is compared with it.
#include "lane.h"

enum { EXPONENT_BIAS = 127, MANTISSA_BITS = 23 };

typedef struct fields {
    uint32_t sign;         // 0 or 1
    int exponent;          // biased, 0..255
    uint32_t significand;  // 24 bits, the leading one included; meaningful for normal numbers only
} fields;

static fields split(uint32_t bits)
{
    const uint32_t leading_one = 1u << MANTISSA_BITS;
    return (fields){bits >> 31, (int)(bits >> MANTISSA_BITS & 0xff), leading_one | (bits & (leading_one - 1))};
}

static gn_code raw(uint32_t bits)
{
    return (gn_code){3, bits};
}

// Bits of `magnitude` * 2^-scale, negated when `negative`. Exact, because magnitude < 2^24. A zero
// magnitude loses its sign, so that encoding a decoded value gives the same value again.
static uint32_t compose(uint32_t magnitude, int scale, uint32_t negative)
{
    if (magnitude == 0) return 0;
    int leading = 31 - __builtin_clz(magnitude);  // position of the leading one
    uint32_t mantissa = magnitude << (MANTISSA_BITS - leading) & ((1u << MANTISSA_BITS) - 1);
    return negative << 31 | (uint32_t)(EXPONENT_BIAS + leading - scale) << MANTISSA_BITS | mantissa;
}

// ---- paper: INCEPTIONN (MICRO 2018), Algorithms 2 and 3. A value below 1 becomes a fixed-point
// fraction of 7 or 15 bits. Its exponent alone decides which.

enum { PAPER_SHORT = 7, PAPER_LONG = 15 };  // fractional bits of tags 1 and 2

gn_code gn_paper_encode(int bound_exp, uint32_t value_bits)
{
    fields f = split(value_bits);
    int lowest = EXPONENT_BIAS - bound_exp;     // the paper's "error bound", a biased exponent
    int middle = lowest + (bound_exp + 1) / 2;  // lowest + ceil((127 - lowest) / 2)

    if (f.exponent >= EXPONENT_BIAS) return raw(value_bits);  // |f| >= 1, infinities, NaNs
    if (f.exponent < lowest) return (gn_code){0, 0};          // zeros and subnormals too

    int shift = EXPONENT_BIAS - f.exponent;  // >= 1
    uint32_t fixed = shift < 24 ? f.significand >> shift : 0;
    if (f.exponent >= middle) return (gn_code){2, f.sign << PAPER_LONG | fixed >> (MANTISSA_BITS - PAPER_LONG)};
    return (gn_code){1, f.sign << PAPER_SHORT | fixed >> (MANTISSA_BITS - PAPER_SHORT)};
}

uint32_t gn_paper_decode(int bound_exp, gn_code code)
{
    (void)bound_exp;
    if (code.tag == 0) return 0;
    if (code.tag == 3) return code.payload;
    int width = code.tag == 1 ? PAPER_SHORT : PAPER_LONG;
    return compose(code.payload & ((1u << width) - 1), width, code.payload >> width & 1);
}

// ---- lattice: a value becomes an integer multiple q of the step 2^(1-k), rounded to nearest, ties
// to even.

// significand / 2^shift, rounded to nearest, ties to even; 1 <= shift <= 31
static uint32_t round_shift(uint32_t significand, int shift)
{
    uint32_t quotient = significand >> shift;
    uint32_t guard = significand >> (shift - 1) & 1;
    uint32_t sticky = (significand & ((1u << (shift - 1)) - 1)) != 0;
    return quotient + (guard & (sticky | (quotient & 1)));
}

gn_code gn_lattice_encode(int bound_exp, uint32_t value_bits)
{
    fields f = split(value_bits);
    // |f| = significand * 2^(exponent - 150), so |q| = |f| * 2^(k-1) = significand / 2^shift
    int shift = 151 - f.exponent - bound_exp;
    // not finite, or significand >> 8 > GN_LATTICE_MAX
    if (f.exponent == 255 || shift < 9) return raw(value_bits);
    if (f.exponent == 0 || shift > 24) return (gn_code){0, 0};  // below half a step

    uint32_t magnitude = round_shift(f.significand, shift);
    uint32_t q = f.sign ? 0 - magnitude : magnitude;
    if (magnitude > GN_LATTICE_MAX) return raw(value_bits);
    if (magnitude == 0) return (gn_code){0, 0};
    if (magnitude <= 127) return (gn_code){1, q & 0xff};
    return (gn_code){2, q & 0xffff};
}

int32_t gn_lattice_integer(gn_code code)
{
    if (code.tag == 0) return 0;
    int32_t modulus = code.tag == 1 ? 0x100 : 0x10000, payload = (int32_t)code.payload;
    return payload >= modulus / 2 ? payload - modulus : payload;
}

uint32_t gn_lattice_value(int bound_exp, int32_t q)
{
    uint32_t magnitude = q < 0 ? 0 - (uint32_t)q : (uint32_t)q;
    int scale = bound_exp - 1;
    if (magnitude >> 24) {  // only sums are so large: round to the 24 bits of a binary32
        int shift = 8 - __builtin_clz(magnitude);
        magnitude = round_shift(magnitude, shift);
        scale -= shift;
        if (magnitude >> 24) magnitude >>= 1, scale--;  // rounded up to a power of two
    }
    return compose(magnitude, scale, q < 0);
}

uint32_t gn_lattice_decode(int bound_exp, gn_code code)
{
    return code.tag == 3 ? code.payload : gn_lattice_value(bound_exp, gn_lattice_integer(code));
}
