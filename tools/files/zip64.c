// SPDX-License-Identifier: Apache-2.0
#include "zip64.h"

#include <stdlib.h>

#include <zlib.h>

#include "little.h"

enum { IN_BYTES = 1 << 16, CENTRAL_BYTES = 46, LOCAL_BYTES = 30, ZIP64_FIELD = 1, DEFLATED = 8 };

struct gn_zip64_reader {
    FILE *stream;
    z_stream zlib;
    uint64_t left;  // packed bytes that were not read yet
    uint32_t crc, wanted;
    bool deflated;
    uint8_t in[IN_BYTES];
};

static bool read_at(FILE *stream, uint64_t at, void *buffer, size_t bytes)
{
    return at <= INT64_MAX && !fseeko(stream, (off_t)at, SEEK_SET) && fread(buffer, 1, bytes, stream) == bytes;
}

/// Takes a value of 64 bits from the field, where the header's own 32 bits are all ones.
static bool widen(uint64_t *value, const uint8_t **field, size_t *bytes)
{
    if (*value != UINT32_MAX) return true;
    if (*bytes < 8) return false;
    *value = gn_little(*field, 8);
    *field += 8;
    *bytes -= 8;
    return true;
}

/// Finds the field in the `bytes` of all extra fields. @return NULL: it is not there
static const uint8_t *find_field(const uint8_t *extra, size_t bytes, size_t *length)
{
    while (bytes >= 4) {
        *length = (size_t)gn_little(extra + 2, 2);
        if (*length > bytes - 4) return NULL;
        if (gn_little(extra, 2) == ZIP64_FIELD) return extra + 4;
        extra += 4 + *length;
        bytes -= 4 + *length;
    }
    return NULL;
}

static bool find_data(FILE *stream, uint64_t at, gn_zip64_member *member)
{
    uint8_t local[LOCAL_BYTES];
    if (!read_at(stream, at, local, sizeof local) || gn_little(local, 4) != 0x04034b50) return false;
    member->begin = at + LOCAL_BYTES + gn_little(local + 26, 2) + gn_little(local + 28, 2);
    return true;
}

bool gn_zip64_find(FILE *stream, uint64_t at, gn_zip64_member *member)
{
    uint8_t central[CENTRAL_BYTES], extra[UINT16_MAX];
    if (!read_at(stream, at, central, sizeof central) || gn_little(central, 4) != 0x02014b50) return false;
    const uint64_t name_bytes = gn_little(central + 28, 2);
    size_t extra_bytes = (size_t)gn_little(central + 30, 2), length = 0;
    if (!read_at(stream, at + CENTRAL_BYTES + name_bytes, extra, extra_bytes)) return false;
    const uint8_t *field = find_field(extra, extra_bytes, &length);
    if (!field) return false;
    uint64_t place = gn_little(central + 42, 4);
    *member = (gn_zip64_member){.packed = gn_little(central + 20, 4),
                                .bytes = gn_little(central + 24, 4),
                                .crc = (uint32_t)gn_little(central + 16, 4),
                                .deflated = gn_little(central + 10, 2) == DEFLATED};
    return widen(&member->bytes, &field, &length) && widen(&member->packed, &field, &length) &&
           widen(&place, &field, &length) && find_data(stream, place, member);
}

gn_zip64_reader *gn_zip64_begin(FILE *stream, const gn_zip64_member *member)
{
    gn_zip64_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->stream = stream;
    reader->left = member->packed;
    reader->wanted = member->crc;
    reader->deflated = member->deflated;
    if (fseeko(stream, (off_t)member->begin, SEEK_SET)) reader->left = 0;  // it ends too early then
    if (!reader->deflated || inflateInit2(&reader->zlib, -MAX_WBITS) == Z_OK) return reader;
    free(reader);
    return NULL;
}

static size_t read_packed(gn_zip64_reader *reader, void *buffer, size_t bytes)
{
    const size_t n = fread(buffer, 1, bytes < reader->left ? bytes : (size_t)reader->left, reader->stream);
    reader->left = n ? reader->left - n : 0;
    return n;
}

/// As read(): until there is one byte at least, or the end.
static long inflate_some(gn_zip64_reader *reader, uint8_t *buffer, unsigned bytes)
{
    z_stream *zlib = &reader->zlib;
    zlib->next_out = buffer;
    zlib->avail_out = bytes;
    for (int code = Z_OK; code == Z_OK && zlib->avail_out == bytes;) {
        if (!zlib->avail_in) {
            zlib->next_in = reader->in;
            zlib->avail_in = (unsigned)read_packed(reader, reader->in, IN_BYTES);
        }
        code = inflate(zlib, Z_SYNC_FLUSH);
        if (code == Z_BUF_ERROR && !zlib->avail_in) return 0;
        if (code != Z_OK && code != Z_STREAM_END) return -1;
    }
    return (long)(bytes - zlib->avail_out);
}

long gn_zip64_read(gn_zip64_reader *reader, void *buffer, size_t bytes)
{
    const unsigned some = bytes < 1u << 30 ? (unsigned)bytes : 1u << 30;
    const long n = reader->deflated ? inflate_some(reader, buffer, some) : (long)read_packed(reader, buffer, some);
    if (n > 0) reader->crc = (uint32_t)crc32(reader->crc, buffer, (unsigned)n);
    return n;
}

bool gn_zip64_end(gn_zip64_reader *reader)
{
    if (!reader) return true;
    const bool right = reader->crc == reader->wanted;
    if (reader->deflated) inflateEnd(&reader->zlib);
    free(reader);
    return right;
}
