// SPDX-License-Identifier: Apache-2.0
#include "idx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

enum { TYPE_UNSIGNED_BYTE = 8, MAGIC_BYTES = 4, SIZE_BYTES = 4 };

static uint32_t read_be32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

gn_status gn_idx_parse(const uint8_t *bytes, size_t length, gn_idx *idx, gn_train_error *error)
{
    memset(idx, 0, sizeof *idx);
    if (length < MAGIC_BYTES)
        return gn_train_fail(error, GN_INVALID, "%zu bytes; an IDX file begins with 4 bytes of magic", length);
    if (bytes[0] || bytes[1])
        return gn_train_fail(error, GN_INVALID, "byte 0: magic %02x%02x%02x%02x: not an IDX file", bytes[0], bytes[1],
                             bytes[2], bytes[3]);
    if (bytes[2] != TYPE_UNSIGNED_BYTE)
        return gn_train_fail(error, GN_INVALID, "byte 2: element type 0x%02x; only 0x08 (unsigned byte) can be read",
                             bytes[2]);
    const unsigned dims = bytes[3];
    if (dims < 1 || dims > GN_IDX_DIMS_MAX)
        return gn_train_fail(error, GN_INVALID, "byte 3: %u dimensions, expected 1 to %d", dims, GN_IDX_DIMS_MAX);
    const size_t header = MAGIC_BYTES + (size_t)dims * SIZE_BYTES;
    if (length < header)
        return gn_train_fail(error, GN_INVALID, "%zu bytes; the header of %u dimensions alone has %zu", length, dims,
                             header);
    size_t count = 1;
    for (unsigned d = 0; d < dims; d++) {
        const size_t at = MAGIC_BYTES + (size_t)d * SIZE_BYTES, size = read_be32(bytes + at);
        if (!size) return gn_train_fail(error, GN_INVALID, "byte %zu: dimension %u is empty", at, d);
        if (size > GN_IDX_BYTES_MAX / count)
            return gn_train_fail(error, GN_INVALID, "byte %zu: dimension %u of %zu makes more than %d MiB", at, d, size,
                                 GN_IDX_BYTES_MAX >> 20);
        idx->size[d] = size;
        count *= size;
    }
    if (length - header != count)
        return gn_train_fail(error, GN_INVALID, "%zu bytes of elements where the header announces %zu", length - header,
                             count);
    idx->dims = dims;
    idx->count = count;
    idx->values = bytes + header;
    return GN_OK;
}

/// zlib's error, if there is one.
static gn_status check(gzFile file, const char *path, gn_train_error *error)
{
    int code;
    const char *why = gzerror(file, &code);
    if (code == Z_OK || code == Z_STREAM_END) return GN_OK;
    if (code == Z_ERRNO) return gn_train_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    if (code == Z_MEM_ERROR) return gn_train_fail(error, GN_NO_MEMORY, "%s: out of memory", path);
    if (code == Z_BUF_ERROR) return gn_train_fail(error, GN_TRUNCATED, "%s: the gzip file is truncated", path);
    return gn_train_fail(error, GN_CORRUPT, "%s: the gzip data is corrupt (%s)", path, why);
}

/// Reads to the end, and doubles the buffer as bytes come. A small file that announces much costs
/// nothing.
static gn_status read_whole(gzFile file, const char *path, uint8_t **bytes, size_t *length, gn_train_error *error)
{
    *bytes = NULL;
    *length = 0;
    for (size_t capacity = 1 << 16; capacity <= 2 * (size_t)GN_IDX_BYTES_MAX; capacity *= 2) {
        uint8_t *grown = realloc(*bytes, capacity);
        if (!grown) return gn_train_fail(error, GN_NO_MEMORY, "%s: out of memory after %zu bytes", path, *length);
        *bytes = grown;
        const int got = gzread(file, *bytes + *length, (unsigned)(capacity - *length));
        if (got > 0) *length += (size_t)got;
        if (*length < capacity) return check(file, path, error);
    }
    return gn_train_fail(error, GN_INVALID, "%s: more than %d MiB", path, GN_IDX_BYTES_MAX >> 20);
}

gn_status gn_idx_load(const char *path, gn_idx *idx, gn_train_error *error)
{
    memset(idx, 0, sizeof *idx);
    errno = 0;
    gzFile file = gzopen(path, "rb");  // reads unpacked files as well
    if (!file) return gn_train_fail(error, GN_IO, "%s: %s", path, strerror(errno ? errno : ENOMEM));
    uint8_t *bytes;
    size_t length;
    gn_status wrong = read_whole(file, path, &bytes, &length, error);
    gzclose(file);
    if (!wrong) {
        wrong = gn_idx_parse(bytes, length, idx, error);
        if (wrong) gn_train_fail(error, wrong, "%s: %s", path, error->text);
    }
    if (wrong)
        free(bytes);
    else
        idx->file = bytes;
    return wrong;
}

void gn_idx_free(gn_idx *idx)
{
    free(idx->file);
    memset(idx, 0, sizeof *idx);
}
