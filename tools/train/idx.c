// SPDX-License-Identifier: Apache-2.0
#include "idx.h"

#include <stdlib.h>
#include <string.h>

#include "tools/files/input.h"

enum { TYPE_UNSIGNED_BYTE = 8, MAGIC_BYTES = 4, SIZE_BYTES = 4 };

static uint32_t read_be32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

gn_status gn_idx_parse(const uint8_t *bytes, size_t length, gn_idx *idx, gn_error *error)
{
    memset(idx, 0, sizeof *idx);
    if (length < MAGIC_BYTES)
        return gn_fail(error, GN_INVALID, "%zu bytes; an IDX file begins with 4 bytes of magic", length);
    if (bytes[0] || bytes[1])
        return gn_fail(error, GN_INVALID, "byte 0: magic %02x%02x%02x%02x: not an IDX file", bytes[0], bytes[1],
                       bytes[2], bytes[3]);
    if (bytes[2] != TYPE_UNSIGNED_BYTE)
        return gn_fail(error, GN_INVALID, "byte 2: element type 0x%02x; only 0x08 (unsigned byte) can be read",
                       bytes[2]);
    const unsigned dims = bytes[3];
    if (dims < 1 || dims > GN_IDX_DIMS_MAX)
        return gn_fail(error, GN_INVALID, "byte 3: %u dimensions, expected 1 to %d", dims, GN_IDX_DIMS_MAX);
    const size_t header = MAGIC_BYTES + (size_t)dims * SIZE_BYTES;
    if (length < header)
        return gn_fail(error, GN_INVALID, "%zu bytes; the header of %u dimensions alone has %zu", length, dims, header);
    size_t count = 1;
    for (unsigned d = 0; d < dims; d++) {
        const size_t at = MAGIC_BYTES + (size_t)d * SIZE_BYTES, size = read_be32(bytes + at);
        if (!size) return gn_fail(error, GN_INVALID, "byte %zu: dimension %u is empty", at, d);
        if (size > GN_IDX_BYTES_MAX / count)
            return gn_fail(error, GN_INVALID, "byte %zu: dimension %u of %zu makes more than %d MiB", at, d, size,
                           GN_IDX_BYTES_MAX >> 20);
        idx->size[d] = size;
        count *= size;
    }
    if (length - header != count)
        return gn_fail(error, GN_INVALID, "%zu bytes of elements where the header announces %zu", length - header,
                       count);
    idx->dims = dims;
    idx->count = count;
    idx->values = bytes + header;
    return GN_OK;
}

/// Doubles the buffer as the file turns out to be longer, so that a small file with large promises costs nothing.
static gn_status read_whole(gn_input *input, uint8_t **bytes, size_t *length, gn_error *error)
{
    size_t capacity = 1 << 16, got = 0;
    for (*bytes = NULL, *length = 0;; capacity *= 2) {
        if (capacity > 2 * (size_t)GN_IDX_BYTES_MAX)
            return gn_fail(error, GN_INVALID, "%s: more than %d MiB", gn_input_name(input), GN_IDX_BYTES_MAX >> 20);
        uint8_t *grown = realloc(*bytes, capacity);
        if (!grown)
            return gn_fail(error, GN_INVALID, "%s: out of memory after %zu bytes", gn_input_name(input), *length);
        *bytes = grown;
        gn_status wrong = gn_input_read(input, *bytes + *length, capacity - *length, &got, error);
        *length += got;
        if (wrong || *length < capacity) return wrong;
    }
}

gn_status gn_idx_load(const char *path, gn_idx *idx, gn_error *error)
{
    memset(idx, 0, sizeof *idx);
    gn_input *input;
    gn_status wrong = gn_input_open(&input, path, error);
    if (wrong) return wrong;
    uint8_t *bytes;
    size_t length;
    wrong = read_whole(input, &bytes, &length, error);
    if (!wrong) {
        wrong = gn_idx_parse(bytes, length, idx, error);
        if (wrong) wrong = gn_fail(error, GN_INVALID, "%s: %s", path, error->text);
    }
    gn_input_close(input);
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
