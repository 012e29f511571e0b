// SPDX-License-Identifier: Apache-2.0
// Any bytes on standard input, which unpacks gzip where it sees it. Read in small pieces, gzip
// gives what zlib makes of the whole at once. Where zlib finds damage, there is a message too.
// Bytes that are not gzip come as they are.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "fuzz.h"
#include "tools/files/gunzip.h"
#include "tools/files/input.h"

enum { ROOM = 1 << 20 };  // of what is unpacked; more is not looked at

static bool zeros(const uint8_t *data, size_t size)
{
    while (size && !*data) data++, size--;
    return !size;
}

/// Member by member, all of it in memory. @return 1 good, 0 damaged, -1 more than ROOM
static int unpack(const uint8_t *data, size_t size, uint8_t *plain, size_t *bytes)
{
    z_stream zlib = {
        .next_in = (uint8_t *)(uintptr_t)data, .avail_in = (unsigned)size, .next_out = plain, .avail_out = ROOM};
    if (inflateInit2(&zlib, MAX_WBITS + 16) != Z_OK) abort();
    int code;
    while ((code = inflate(&zlib, Z_FINISH)) == Z_STREAM_END && zlib.avail_in >= GN_GUNZIP_MAGIC &&
           gn_gunzip_magic(zlib.next_in))
        inflateReset(&zlib);
    *bytes = ROOM - zlib.avail_out;
    const int good = !zlib.avail_out ? -1 : code == Z_STREAM_END && zeros(zlib.next_in, zlib.avail_in);
    inflateEnd(&zlib);
    return good;
}

/// The input in pieces; the last may be shorter. @return as unpack()
static int read_pieces(gn_input *input, size_t piece, uint8_t *read, size_t *bytes)
{
    gn_error error;
    for (*bytes = 0; *bytes + piece <= ROOM;) {
        size_t got;
        const gn_status wrong = gn_input_read(input, read + *bytes, piece, &got, &error);
        if (got > piece) abort();
        *bytes += got;
        if (wrong) return 0;
        if (got == piece) continue;
        if (gn_input_read(input, read + *bytes, piece, &got, &error) || got) abort();  // the end stays the end
        return 1;
    }
    return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t plain[ROOM], read[ROOM];
    if (!size || size > ROOM / 2) return 0;
    FILE *process = stdin;
    gn_error error;
    gn_input *input;
    if (!(stdin = fmemopen((void *)(uintptr_t)data, size, "rb"))) abort();
    const bool packed = size >= GN_GUNZIP_MAGIC && gn_gunzip_magic(data);
    size_t expected = size, bytes;
    int good = 1;
    if (packed)
        good = unpack(data, size, plain, &expected);
    else
        memcpy(plain, data, size);
    if (gn_input_open(&input, "-", &error)) abort();
    const int result = read_pieces(input, 1 + size % 61, read, &bytes);
    if (result >= 0 && good >= 0 && result != good) abort();
    if (result == 1 && good == 1 && (bytes != expected || memcmp(read, plain, bytes) != 0)) abort();
    if (result == 1 && gn_input_file_position(input) != size) abort();
    gn_input_close(input);
    fclose(stdin);
    stdin = process;
    return 0;
}
