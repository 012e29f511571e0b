// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_LITTLE_ENDIAN_H
#define GRADNIC_LITTLE_ENDIAN_H
/// Little-endian words of values and files, at any alignment. bytes.h is for network headers.

#include <stdint.h>

static inline uint32_t gn_load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t gn_load64(const uint8_t *p)
{
    return gn_load32(p) | (uint64_t)gn_load32(p + 4) << 32;
}

static inline void gn_store32(uint8_t *p, uint32_t n)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(n >> 8 * i);
}

static inline void gn_store64(uint8_t *p, uint64_t n)
{
    gn_store32(p, (uint32_t)n);
    gn_store32(p + 4, (uint32_t)(n >> 32));
}

#endif
