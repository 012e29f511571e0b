// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_ZIP64_H
#define GRADNIC_TOOLS_FILES_ZIP64_H
/// Members of a zip archive whose sizes or place take more than 32 bits. They stand in an extra
/// field then, which minizip 1.1 (Debian 12) passes over: it takes 2^32 - 1 for the value itself.
/// So such a member is found and read here. The bytes are untrusted.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct gn_zip64_member {
    uint64_t begin;          ///< of its packed bytes in the file
    uint64_t packed, bytes;  ///< packed and unpacked
    uint32_t crc;            ///< of the unpacked bytes
    bool deflated;           ///< or stored
} gn_zip64_member;

/// Reads the header at byte `at` of the archive's directory, and the member's own.
/// @return false: it has no such extra field, or a header is damaged
bool gn_zip64_find(FILE *stream, uint64_t at, gn_zip64_member *member);

typedef struct gn_zip64_reader gn_zip64_reader;

/// Nobody else may move `stream` until the end. @return NULL: out of memory
gn_zip64_reader *gn_zip64_begin(FILE *stream, const gn_zip64_member *member);

/// @return bytes read; 0: it ends here; -1: packed bytes are damaged
long gn_zip64_read(gn_zip64_reader *reader, void *buffer, size_t bytes);

/// Frees `reader`, which may be NULL. @return whether the CRC of what was read is the member's
bool gn_zip64_end(gn_zip64_reader *reader);

#endif
