// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_CHECK_H
#define GRADNIC_SWITCH_CHECK_H
/// The CRC-32 of a header's first 28 bytes. For so few bytes, libraries take two to six times as
/// long.

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>

#include "packet.h"

/// For functions that gn_check_pclmul() is inline in. They may only be called where
/// gn_check_has_pclmul().
#define GN_PCLMUL __attribute__((target("pclmul")))

/// Whether this processor has the instruction.
static inline bool gn_check_has_pclmul(void)
{
    return __builtin_cpu_supports("pclmul");
}

/// The CRC-32 of 28 bytes, in polynomials over GF(2) whose highest coefficient is the lowest bit.
/// After Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction",
/// Intel 2009. The product of two registers is one power of x too high; the constants make up for
/// it.
GN_PCLMUL static inline uint32_t gn_check_pclmul(const uint8_t *header)
{
    // x^127 and x^191 mod P; x^96 mod P; P and x^95 / P
    const __m128i fold = _mm_set_epi64x((int64_t)0x9ba54c6f00000000, 0x65673b4600000000);
    const __m128i near = _mm_cvtsi64_si128(0xccaa009e);
    const __m128i reduce = _mm_set_epi64x(0x1db710641, (int64_t)0xb4e5b025f7011641);
    __m128i first = _mm_loadu_si128((const __m128i *)(const void *)header);
    __m128i last = _mm_loadu_si128((const __m128i *)(const void *)(header + AT_CRC - 16));
    first = _mm_xor_si128(first, _mm_cvtsi32_si128(-1));
    first = _mm_slli_si128(first, 4);  // bytes 0 to 11: the others are in `last`
    __m128i both = _mm_xor_si128(_mm_clmulepi64_si128(first, fold, 0x00), _mm_clmulepi64_si128(first, fold, 0x11));
    both = _mm_xor_si128(both, last);
    __m128i rest = _mm_xor_si128(_mm_clmulepi64_si128(both, near, 0x00), _mm_srli_si128(both, 8));
    // Barrett's reduction.
    __m128i multiple = _mm_clmulepi64_si128(_mm_clmulepi64_si128(rest, reduce, 0x00), reduce, 0x10);
    return ~(uint32_t)_mm_cvtsi128_si32(_mm_srli_si128(_mm_xor_si128(rest, multiple), 8));
}
#endif

#endif
