// SPDX-License-Identifier: Apache-2.0
// Record streams (paper and lattice): the largest size, and the walk that checks every record.
#include "record.h"

#include <assert.h>

static_assert(GN_RECORD_MAX == GN_TAG_WORD + GN_GROUP * 4, "a record of raw values is the largest");

size_t gn_record_bound(size_t count)
{
    size_t groups = gn_group_count(count);
    return groups <= SIZE_MAX / GN_RECORD_MAX ? groups * GN_RECORD_MAX : SIZE_MAX;
}

gn_status gn_record_walk(const uint8_t *stream, size_t bytes, size_t count, gn_tally *tally, size_t *error_offset)
{
    size_t groups = gn_group_count(count), offset = 0, low = 0, high = 0, both = 0;
    unsigned tags = 0;
    for (size_t g = 0; g < groups; g++) {
        *error_offset = offset;
        if (bytes - offset < GN_TAG_WORD) return GN_TRUNCATED;
        tags = gn_read_tags(stream + offset);
        size_t length = gn_record_bytes(tags);
        if (length > bytes - offset) return GN_TRUNCATED;
        offset += length;
        low += (size_t)__builtin_popcount(tags & 0x5555);
        high += (size_t)__builtin_popcount(tags & 0xaaaa);
        both += (size_t)__builtin_popcount(tags & tags >> 1 & 0x5555);
    }
    if (tags & gn_padding_mask(count)) return GN_CORRUPT;  // *error_offset is the last record's
    *error_offset = offset;
    if (offset != bytes) return GN_CORRUPT;
    *tally = (gn_tally){.values = count, .groups = groups, .stream_bytes = bytes};
    tally->tags[0] = count - (low + high - both);
    tally->tags[1] = low - both;
    tally->tags[2] = high - both;
    tally->tags[3] = both;
    return GN_OK;
}
