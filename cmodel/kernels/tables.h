// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TABLES_H
#define GRADNIC_TABLES_H
/// Internal: constant tables for kernels that move the payloads of 4 lanes with one byte shuffle. 4
/// lanes are half a group, with one byte of tags. The preprocessor writes the tables from the
/// definition of a record, so nothing is initialised at run time. Entries are for little-endian
/// machines.

#define GN_TABLE_4(entry, i) entry((i)), entry((i) + 1), entry((i) + 2), entry((i) + 3)
#define GN_TABLE_16(entry, i)                                                                                          \
    GN_TABLE_4(entry, (i)), GN_TABLE_4(entry, (i) + 4), GN_TABLE_4(entry, (i) + 8), GN_TABLE_4(entry, (i) + 12)
#define GN_TABLE_64(entry, i)                                                                                          \
    GN_TABLE_16(entry, (i)), GN_TABLE_16(entry, (i) + 16), GN_TABLE_16(entry, (i) + 32), GN_TABLE_16(entry, (i) + 48)
/// entry(0), entry(1), ... entry(255)
#define GN_TABLE_256(entry)                                                                                            \
    GN_TABLE_64(entry, 0), GN_TABLE_64(entry, 64), GN_TABLE_64(entry, 128), GN_TABLE_64(entry, 192)

// Of 4 lanes with tag byte i: payload bytes of lane j, and where they begin.
#define GN_TAG(i, j) ((i) >> (2 * (j)) & 3)
#define GN_LEN(i, j) (GN_TAG(i, j) + (GN_TAG(i, j) == 3))
#define GN_OFF_0(i) 0
#define GN_OFF_1(i) GN_LEN(i, 0)
#define GN_OFF_2(i) (GN_LEN(i, 0) + GN_LEN(i, 1))
#define GN_OFF_3(i) (GN_LEN(i, 0) + GN_LEN(i, 1) + GN_LEN(i, 2))

/// Payload bytes of 4 lanes.
#define GN_HALF_BYTES(i) (GN_OFF_3(i) + GN_LEN(i, 3))

// `len` consecutive byte numbers from `first`, as a little-endian integer
#define GN_RUN(first, len) ((0x03020100ull + 0x01010101ull * (unsigned)(first)) & ((1ull << (8 * (len))) - 1))

// ---- from 4 words of 4 bytes to the payloads. A payload is in the lowest (LOW) or highest (TOP)
// bytes of its word.

#define GN_FROM_LOW(i, j) (4 * (j))
#define GN_FROM_TOP(i, j) (4 * (j) + 4 - GN_LEN(i, j))
// The part of a lane's run at byte `off` of 16 that falls into bytes 0..7, and into 8..15.
#define GN_IN_FIRST(run, off) ((off) < 8 ? (run) << (8 * ((off)&7)) : 0)
#define GN_IN_SECOND(run, off)                                                                                         \
    ((off) >= 8 ? (run) << (8 * ((off)&7)) : (off) > 4 ? (run) >> (8 * ((8 - (off)) & 7)) : 0)
#define GN_PACK_LANE(in, from, i, j) in(GN_RUN(from(i, j), GN_LEN(i, j)), GN_OFF_##j(i))
#define GN_PACK_HALF(in, from, i)                                                                                      \
    (GN_PACK_LANE(in, from, i, 0) | GN_PACK_LANE(in, from, i, 1) | GN_PACK_LANE(in, from, i, 2) |                      \
     GN_PACK_LANE(in, from, i, 3))

/// Shuffle control, as 2 uint64_t; bytes past the payloads are unspecified.
#define GN_PACK_LOW(i)                                                                                                 \
    {                                                                                                                  \
        GN_PACK_HALF(GN_IN_FIRST, GN_FROM_LOW, i), GN_PACK_HALF(GN_IN_SECOND, GN_FROM_LOW, i)                          \
    }
#define GN_PACK_TOP(i)                                                                                                 \
    {                                                                                                                  \
        GN_PACK_HALF(GN_IN_FIRST, GN_FROM_TOP, i), GN_PACK_HALF(GN_IN_SECOND, GN_FROM_TOP, i)                          \
    }

// ---- from the payloads to 4 words; all other bytes of a word become 0.

#define GN_TO_TOP(len) (4 - (len))
#define GN_TO_SPLIT(len) ((len) == 1 ? 3 : 0)
#define GN_EXPAND_LANE(to, i, j)                                                                                       \
    ((uint32_t)((0x80808080u & ~(((1ull << (8 * GN_LEN(i, j))) - 1) << (8 * to(GN_LEN(i, j))))) |                      \
                GN_RUN(GN_OFF_##j(i), GN_LEN(i, j)) << (8 * to(GN_LEN(i, j)))))
#define GN_EXPAND(to, i)                                                                                               \
    {                                                                                                                  \
        GN_EXPAND_LANE(to, i, 0), GN_EXPAND_LANE(to, i, 1), GN_EXPAND_LANE(to, i, 2), GN_EXPAND_LANE(to, i, 3)         \
    }

/// Shuffle control, as 4 uint32_t: payloads go to the highest bytes of their words.
#define GN_EXPAND_TOP(i) GN_EXPAND(GN_TO_TOP, i)
/// The same: 1-byte payloads to the highest byte, 2-byte ones to the lowest two.
#define GN_EXPAND_SPLIT(i) GN_EXPAND(GN_TO_SPLIT, i)

#endif
