// SPDX-License-Identifier: Apache-2.0
#include <gradnic/shim.h>

#include "bytes.h"

// v * x^8 modulo x^8 + x^2 + x + 1. v << 2 may put two more bits above the low eight.
static unsigned times_x8(unsigned v)
{
    return v ^ v << 1 ^ v << 2;
}

// CRC-8 of the first 7 bytes: polynomial 0x07, initial value 0, no reflection. It takes a byte at a
// time without a table, because the polynomial is so small.
static uint8_t check(const uint8_t *shim)
{
    unsigned crc = 0;
    for (int i = 0; i < 7; i++) {
        unsigned product = times_x8(crc ^ shim[i]);
        crc = (product & 0xff) ^ times_x8(product >> 8);
    }
    return (uint8_t)crc;
}

void gn_shim_write(const gn_shim *shim, uint8_t *out)
{
    gn_put16(out, GN_SHIM_MAGIC);
    out[2] = (uint8_t)(shim->version << 4 | shim->kind);
    out[3] = (uint8_t)shim->bound_exp;
    gn_put16(out + 4, shim->length);
    out[6] = shim->head;
    out[7] = check(out);
}

bool gn_shim_read(const uint8_t *in, gn_shim *shim)
{
    if (gn_get16(in) != GN_SHIM_MAGIC || in[7] != check(in)) return false;
    shim->version = in[2] >> 4;
    shim->kind = in[2] & 15;
    shim->bound_exp = (int8_t)in[3];
    shim->length = gn_get16(in + 4);
    shim->head = in[6];
    return true;
}
