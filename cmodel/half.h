// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HALF_H
#define GRADNIC_HALF_H
/// Internal: binary16, the 16-bit float of IEEE 754. Integer arithmetic and additions that are
/// exact, so a program that flushes subnormal numbers to zero gets the same bits. Plain enough for
/// a compiler to make vectors of it.

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/// Whether the machine converts with instructions: F16C. Asking takes long in a virtual machine, so
/// the answer is kept. (Some compilers do not know F16C as a feature.)
static inline bool gn_half_has_f16c(void)
{
#if defined(__x86_64__)
    static atomic_int known;  // 0: not asked yet; 1: no; 2: yes
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (!answer) {
        unsigned a, b, c = 0, d;
        const bool has = __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
        answer = has ? 2 : 1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
#else
    return false;
#endif
}

static inline float gn_half_float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t gn_half_bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// The same number in binary32. A NaN becomes a quiet one.
static inline float gn_half_widen(uint16_t half)
{
    // No subnormal number of binary32 is made on the way: a program may have those flushed to zero.
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, size = (uint32_t)(half & 0x7FFF) << 13;
    const uint32_t normal = size + (112u << 23);
    const uint32_t small = gn_half_bits_of(gn_half_float_of(size + (113u << 23)) - 0x1p-14f);
    const uint32_t quiet = size > 31u << 23 ? 1u << 22 : 0;
    const uint32_t bits = size < 1u << 23 ? small : size < 31u << 23 ? normal : size | 0x7F800000 | quiet;
    return gn_half_float_of(sign | bits);
}

/// A number in binary16, rounded to nearest, ties to even.
static inline uint16_t gn_half_narrow(float value)
{
    const uint32_t bits = gn_half_bits_of(value), sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
    const uint32_t normal = (size + 0xFFF + (size >> 13 & 1) - (112u << 23)) >> 13;
    // Its last bit is worth 2^-24.
    const uint32_t small = gn_half_bits_of(gn_half_float_of(size) + 0.5f) - gn_half_bits_of(0.5f);
    const uint32_t huge = size > 0x7F800000 ? 0x7E00 | (size >> 13 & 0x3FF) : 0x7C00;
    return (uint16_t)(sign | (size < 113u << 23 ? small : size < 143u << 23 ? normal : huge));
}

#endif
