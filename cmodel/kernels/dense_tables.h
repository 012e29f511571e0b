// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DENSE_TABLES_H
#define GRADNIC_DENSE_TABLES_H
/// Internal: constant tables for kernels of profile dense, written by the preprocessor from dense.h's classes. Entries are
/// for little-endian machines.

#include "../dense.h"
#include "tables.h"

// ---- from what the bits of a group are to its class. Index: bits 0 to 6, the planes that differ from the sign's; bit 7,
// whether any lane is negative.

#define GN_BITS(x) ((x)&64 ? 7 : (x)&32 ? 6 : (x)&16 ? 5 : (x)&8 ? 4 : (x)&4 ? 3 : (x)&2 ? 2 : (x)&1)
#define GN_NARROW_CLASS(i) ((i) == 0 ? 0 : (i) < 8 ? 8 + GN_BITS(i) : GN_BITS((i)&127) + 1)
#define GN_NARROW_BYTES(i) GN_CLASS_PLANES(GN_NARROW_CLASS(i))

// The same for 16 bits a lane, by the number of planes below the sign's that are needed (0 to 15).
#define GN_SIGNED_CLASS(bits)                                                                                          \
    ((bits) < GN_CLASS_PLANES(8)    ? (bits) + 1                                                                       \
     : (bits) < GN_CLASS_PLANES(12) ? 12                                                                               \
     : (bits) < GN_CLASS_PLANES(13) ? 13                                                                               \
                                    : 14)
#define GN_POSITIVE_CLASS(bits) ((bits) == 0 ? 0 : (bits) <= 3 ? 8 + (bits) : GN_SIGNED_CLASS(bits))

// ---- from a payload's bytes to planes: which byte becomes plane j; the sign's plane is repeated, 0x80 means zero.

#define GN_PLANE_FROM(c, j)                                                                                            \
    ((j) < GN_CLASS_PLANES(c) ? (j) : (c) == 0 || GN_CLASS_UNSIGNED(c) ? 0x80 : GN_CLASS_PLANES(c) - 1)
#define GN_PLANE_BYTE(c, j, from) ((unsigned long long)(GN_PLANE_FROM(c, j) | (from)) << (8 * ((j)&7)))
#define GN_PLANES_8(c, j, from)                                                                                        \
    (GN_PLANE_BYTE(c, (j), from) | GN_PLANE_BYTE(c, (j) + 1, from) | GN_PLANE_BYTE(c, (j) + 2, from) |                 \
     GN_PLANE_BYTE(c, (j) + 3, from) | GN_PLANE_BYTE(c, (j) + 4, from) | GN_PLANE_BYTE(c, (j) + 5, from) |             \
     GN_PLANE_BYTE(c, (j) + 6, from) | GN_PLANE_BYTE(c, (j) + 7, from))

/// A byte shuffle of two groups with 8 planes, at bytes 0 and 8 of a register; index: their classes, 4 bits each.
#define GN_EXPAND_PAIR(i)                                                                                              \
    {                                                                                                                  \
        GN_PLANES_8((i)&15, 0, 0), GN_PLANES_8((i) >> 4, 0, 8)                                                         \
    }
/// And of one group with 16 planes.
#define GN_EXPAND_16(c)                                                                                                \
    {                                                                                                                  \
        GN_PLANES_8(c, 0, 0), GN_PLANES_8(c, 8, 0)                                                                     \
    }

#define GN_FIRST_BYTES(i) GN_CLASS_PLANES((i)&15)
#define GN_PAIR_BYTES(i) (GN_CLASS_PLANES((i)&15) + GN_CLASS_PLANES((i) >> 4))

#endif
