// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RECORD_H
#define GRADNIC_RECORD_H
/// Internal: layout of a record, and streams of records. A record begins with a 16-bit tag word,
/// little-endian, lane i in bits [2i+1:2i]. The lanes' payloads follow in lane order, each
/// little-endian.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

enum { GN_TAG_WORD = 2 };

static inline unsigned gn_payload_bytes(unsigned tag)
{
    return tag == 3 ? 4 : tag;
}

static inline unsigned gn_lane_tag(unsigned tags, unsigned lane)
{
    return tags >> (2 * lane) & 3;
}

/// Bytes of a whole record: a lane's tag t = 2h + l costs l + 2h + hl bytes (0, 1, 2, 4).
static inline unsigned gn_record_bytes(unsigned tags)
{
    unsigned low = tags & 0x5555, high = tags >> 1 & 0x5555;
    return GN_TAG_WORD +
           (unsigned)(__builtin_popcount(low) + 2 * __builtin_popcount(high) + __builtin_popcount(low & high));
}

static inline unsigned gn_read_tags(const uint8_t *record)
{
    return (unsigned)record[0] | (unsigned)record[1] << 8;
}

/// Groups that hold `count` values.
static inline size_t gn_group_count(size_t count)
{
    return count / 8 + (count % 8 != 0);
}

/// Bits of a tag word that must be 0 in the last group of `count` values: their lanes are padding.
static inline unsigned gn_padding_mask(size_t count)
{
    return count % 8 ? 0xffffu << (2 * (count % 8)) & 0xffffu : 0;
}

/// The rows `bound` and `walk` of gn_profile_row (profile.h) for paper and lattice.
size_t gn_record_bound(size_t count);
gn_status gn_record_walk(const uint8_t *stream, size_t bytes, size_t count, gn_tally *tally, size_t *error_offset);

#endif
