// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DENSE_TABLES_H
#define GRADNIC_DENSE_TABLES_H
/// Internal: constant tables for kernels of profile dense. The preprocessor writes them from the
/// classes of dense.h. Entries are for little-endian machines.

#include "../dense.h"
#include "tables.h"

// ---- from the bits of a group to its class. Bits 0 to 6 of the index: the planes that differ from
// the sign's. Bit 7: whether any lane is negative.

#define GN_BITS(x) ((x)&64 ? 7 : (x)&32 ? 6 : (x)&16 ? 5 : (x)&8 ? 4 : (x)&4 ? 3 : (x)&2 ? 2 : (x)&1)
#define GN_NARROW_CLASS(i) ((i) == 0 ? 0 : (i) < 8 ? 8 + GN_BITS(i) : GN_BITS((i)&127) + 1)
#define GN_NARROW_BYTES(i) GN_CLASS_PLANES(GN_NARROW_CLASS(i))

// The same for 16 bits per lane. Index: how many planes are needed below the sign's (0 to 15).
#define GN_SIGNED_CLASS(bits)                                                                                          \
    ((bits) < GN_CLASS_PLANES(8)    ? (bits) + 1                                                                       \
     : (bits) < GN_CLASS_PLANES(12) ? 12                                                                               \
     : (bits) < GN_CLASS_PLANES(13) ? 13                                                                               \
                                    : 14)
#define GN_POSITIVE_CLASS(bits) ((bits) == 0 ? 0 : (bits) <= 3 ? 8 + (bits) : GN_SIGNED_CLASS(bits))

// ---- from a payload's bytes to planes: the byte that becomes plane j. The sign's plane repeats.
// 0x80 means zero.

#define GN_PLANE_FROM(c, j)                                                                                            \
    ((j) < GN_CLASS_PLANES(c) ? (j) : (c) == 0 || GN_CLASS_UNSIGNED(c) ? 0x80 : GN_CLASS_PLANES(c) - 1)
#define GN_PLANE_BYTE(c, j, from) ((unsigned long long)(GN_PLANE_FROM(c, j) | (from)) << (8 * ((j)&7)))
#define GN_PLANES_8(c, j, from)                                                                                        \
    (GN_PLANE_BYTE(c, (j), from) | GN_PLANE_BYTE(c, (j) + 1, from) | GN_PLANE_BYTE(c, (j) + 2, from) |                 \
     GN_PLANE_BYTE(c, (j) + 3, from) | GN_PLANE_BYTE(c, (j) + 4, from) | GN_PLANE_BYTE(c, (j) + 5, from) |             \
     GN_PLANE_BYTE(c, (j) + 6, from) | GN_PLANE_BYTE(c, (j) + 7, from))

/// A byte shuffle of two groups with 8 planes, at bytes 0 and 8 of a register. Index: their
/// classes, 4 bits each.
#define GN_EXPAND_PAIR(i)                                                                                              \
    {                                                                                                                  \
        GN_PLANES_8((i)&15, 0, 0), GN_PLANES_8((i) >> 4, 0, 8)                                                         \
    }
/// A byte shuffle of one group with 16 planes. Index: its class.
#define GN_EXPAND_16(c)                                                                                                \
    {                                                                                                                  \
        GN_PLANES_8(c, 0, 0), GN_PLANES_8(c, 8, 0)                                                                     \
    }

#define GN_FIRST_BYTES(i) GN_CLASS_PLANES((i)&15)
#define GN_PAIR_BYTES(i) (GN_CLASS_PLANES((i)&15) + GN_CLASS_PLANES((i) >> 4))

#endif
