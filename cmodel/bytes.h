// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CMODEL_BYTES_H
#define GRADNIC_CMODEL_BYTES_H
/// Big-endian fields of network headers, at any alignment.

#include <stdint.h>

static inline uint16_t gn_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t gn_get32(const uint8_t *p)
{
    return (uint32_t)gn_get16(p) << 16 | gn_get16(p + 2);
}

static inline void gn_put16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void gn_put32(uint8_t *p, uint32_t v)
{
    gn_put16(p, (uint16_t)(v >> 16));
    gn_put16(p + 2, (uint16_t)v);
}

#endif
