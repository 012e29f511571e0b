// SPDX-License-Identifier: Apache-2.0
// .gn files: the bytes of a header and of a block (docs/container.md). container_io.c reads and
// writes whole files.
#include <gradnic/container.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <zlib.h>

#include "container_bytes.h"

static const uint8_t magic[7] = {'G', 'R', 'A', 'D', 'N', 'I', 'C'};

// Offsets of the header's fields.
enum {
    AT_MAGIC = 0,
    AT_VERSION = 7,  // '1' or '2'
    AT_PROFILE = 8,
    AT_BOUND_EXP = 9,
    AT_RESERVED = 10,
    AT_VALUES_PER_BLOCK = 12,
    AT_VALUE_COUNT = 16,
    AT_BLOCK_COUNT = 24,
    // version 1
    AT_CRC = 32,
    AT_ZERO = 36,
    // version 2
    AT_DIRECTORY_BYTES = 32,
    AT_CRC_2 = 36
};

gn_status gn_container_fail(gn_container_fault *fault, gn_status status, uint64_t block, uint64_t offset,
                            const char *format, ...)
{
    if (!fault) return status;
    fault->block = block;
    fault->offset = offset;
    size_t n = 0;
    if (block != GN_CONTAINER_UNKNOWN)
        n = (size_t)snprintf(fault->text, sizeof fault->text, "block %" PRIu64 ", ", block);
    n += (size_t)snprintf(fault->text + n, sizeof fault->text - n, "byte %" PRIu64 ": ", offset);
    va_list args;
    va_start(args, format);
    vsnprintf(fault->text + n, sizeof fault->text - n, format, args);
    va_end(args);
    return status;
}

uint32_t gn_container_crc(const void *data, size_t bytes)
{
    return (uint32_t)crc32_z(0, data, bytes);
}

static bool block_size_is_good(uint32_t values)
{
    return values && values % GN_GROUP == 0 && values <= GN_CONTAINER_BLOCK_VALUES_MAX;
}

static uint64_t blocks_for(uint64_t values, uint32_t values_per_block)
{
    return values / values_per_block + (values % values_per_block != 0);
}

gn_status gn_container_encode_header(const gn_container_info *info, uint8_t header[GN_CONTAINER_HEADER])
{
    int lowest, highest;
    if (!block_size_is_good(info->values_per_block) || info->value_count == GN_CONTAINER_UNKNOWN) return GN_INVALID;
    if (gn_profile_range(info->profile, &lowest, &highest) || info->bound_exp < lowest || info->bound_exp > highest)
        return GN_INVALID;
    memset(header, 0, GN_CONTAINER_HEADER);
    memcpy(header + AT_MAGIC, magic, sizeof magic);
    header[AT_PROFILE] = (uint8_t)info->profile;
    header[AT_BOUND_EXP] = (uint8_t)info->bound_exp;
    gn_store32(header + AT_VALUES_PER_BLOCK, info->values_per_block);
    gn_store64(header + AT_VALUE_COUNT, info->value_count);
    gn_store64(header + AT_BLOCK_COUNT, blocks_for(info->value_count, info->values_per_block));
    header[AT_VERSION] = info->directory_bytes ? '2' : '1';
    const unsigned at = info->directory_bytes ? AT_CRC_2 : AT_CRC;
    if (info->directory_bytes) gn_store32(header + AT_DIRECTORY_BYTES, info->directory_bytes);
    gn_store32(header + at, gn_container_crc(header, at));
    return GN_OK;
}

// Reads the header's fields, after magic and CRC.
static gn_status check_fields(const uint8_t *header, gn_container_info *info, gn_container_fault *fault)
{
    const uint8_t profile = header[AT_PROFILE];
    const char *name = gn_profile_name((gn_profile)profile);
    int lowest, highest;
    if (!name)
        return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, AT_PROFILE, "profile %u is unknown", profile);
    gn_profile_range((gn_profile)profile, &lowest, &highest);  // a named profile has a range
    info->profile = (gn_profile)profile;
    info->bound_exp = header[AT_BOUND_EXP] < 128 ? header[AT_BOUND_EXP] : header[AT_BOUND_EXP] - 256;
    if (info->bound_exp < lowest || info->bound_exp > highest)
        return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, AT_BOUND_EXP, "profile %s has no bound 2^%d",
                                 name, -info->bound_exp);
    if (header[AT_RESERVED] || header[AT_RESERVED + 1])
        return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, AT_RESERVED,
                                 "the reserved field is not zero");
    info->values_per_block = gn_load32(header + AT_VALUES_PER_BLOCK);
    if (!block_size_is_good(info->values_per_block))
        return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, AT_VALUES_PER_BLOCK,
                                 "%" PRIu32 " values per block: not a multiple of %d from %d to %d",
                                 info->values_per_block, GN_GROUP, GN_GROUP, GN_CONTAINER_BLOCK_VALUES_MAX);
    info->value_count = gn_load64(header + AT_VALUE_COUNT);
    if (info->value_count == GN_CONTAINER_UNKNOWN)
        return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, AT_VALUE_COUNT,
                                 "impossible number of values");
    info->block_count = gn_load64(header + AT_BLOCK_COUNT);
    const uint64_t blocks = blocks_for(info->value_count, info->values_per_block);
    if (info->block_count != blocks)
        return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, AT_BLOCK_COUNT,
                                 "%" PRIu64 " blocks; %" PRIu64 " values make %" PRIu64, info->block_count,
                                 info->value_count, blocks);
    return GN_OK;
}

// Reads the last 8 bytes, which differ between the versions.
static gn_status check_end_of_header(const uint8_t *header, gn_container_info *info, gn_container_fault *fault)
{
    info->directory_bytes = 0;
    if (header[AT_VERSION] == '1') {
        if (!gn_load32(header + AT_ZERO)) return GN_OK;
        return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, AT_ZERO, "the last field is not zero");
    }
    info->directory_bytes = gn_load32(header + AT_DIRECTORY_BYTES);
    if (info->directory_bytes && info->directory_bytes <= GN_CONTAINER_DIRECTORY_MAX) return GN_OK;
    return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, AT_DIRECTORY_BYTES,
                             "a directory of %" PRIu32 " bytes; it has 1 to %d", info->directory_bytes,
                             GN_CONTAINER_DIRECTORY_MAX);
}

gn_status gn_container_decode_header(const uint8_t header[GN_CONTAINER_HEADER], gn_container_info *info,
                                     gn_container_fault *fault)
{
    if (memcmp(header, magic, sizeof magic) != 0)
        return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, AT_MAGIC, "not a .gn file");
    const uint8_t version = header[AT_VERSION];
    if (version != '1' && version != '2')
        return gn_container_fail(fault, GN_UNSUPPORTED, GN_CONTAINER_UNKNOWN, AT_VERSION,
                                 "version 0x%02x of .gn is unknown", version);
    const unsigned at = version == '2' ? AT_CRC_2 : AT_CRC;
    const uint32_t stated = gn_load32(header + at), found = gn_container_crc(header, at);
    if (stated != found)
        return gn_container_fail(fault, GN_CORRUPT, GN_CONTAINER_UNKNOWN, at,
                                 "the header's crc32 is %08" PRIx32 ", it says %08" PRIx32, found, stated);
    const gn_status status = check_fields(header, info, fault);
    return status ? status : check_end_of_header(header, info, fault);
}

size_t gn_container_block_bound(gn_profile profile, size_t count)
{
    const size_t stream = gn_stream_bound(profile, count);
    return stream > SIZE_MAX - GN_CONTAINER_BLOCK_HEADER ? SIZE_MAX : stream + GN_CONTAINER_BLOCK_HEADER;
}

gn_status gn_container_block_encode(const gn_codec *codec, const float *values, size_t count, uint8_t *block,
                                    size_t capacity, size_t *bytes)
{
    *bytes = 0;
    if (count > GN_CONTAINER_BLOCK_VALUES_MAX) return GN_INVALID;
    if (capacity < GN_CONTAINER_BLOCK_HEADER) return GN_NO_SPACE;
    uint8_t *stream = block + GN_CONTAINER_BLOCK_HEADER;
    size_t stream_bytes;
    const gn_status status =
        gn_stream_encode(codec, values, count, stream, capacity - GN_CONTAINER_BLOCK_HEADER, &stream_bytes);
    if (status) return status;
    gn_store32(block, (uint32_t)stream_bytes);
    gn_store32(block + 4, gn_container_crc(stream, stream_bytes));
    *bytes = GN_CONTAINER_BLOCK_HEADER + stream_bytes;
    return GN_OK;
}

gn_status gn_container_block_decode(const gn_codec *codec, const gn_container_block *block, float *values,
                                    gn_container_fault *fault)
{
    if (block->bytes < GN_CONTAINER_BLOCK_HEADER)
        return gn_container_fail(fault, GN_TRUNCATED, block->index, block->offset, "the block ends within its header");
    const uint8_t *stream = block->data + GN_CONTAINER_BLOCK_HEADER;
    const size_t bytes = block->bytes - GN_CONTAINER_BLOCK_HEADER;
    const uint32_t stated = gn_load32(block->data + 4), found = gn_container_crc(stream, bytes);
    if (stated != found)
        return gn_container_fail(fault, GN_CORRUPT, block->index, block->offset + 4,
                                 "the stream's crc32 is %08" PRIx32 ", its header says %08" PRIx32, found, stated);
    size_t at = 0;
    const gn_status status = gn_stream_decode(codec, stream, bytes, values, block->count, &at);
    if (!status) return GN_OK;
    const uint64_t offset = block->offset + GN_CONTAINER_BLOCK_HEADER + at;
    if (status == GN_TRUNCATED)
        return gn_container_fail(fault, status, block->index, offset,
                                 "the stream ends before the block's last value (of %zu)", block->count);
    return gn_container_fail(fault, status, block->index, offset,
                             "a bad record or run of zeros, or bytes behind the block's last value (of %zu)",
                             block->count);
}
