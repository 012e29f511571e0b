// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_GUNZIP_H
#define GRADNIC_TOOLS_FILES_GUNZIP_H
/// Unpacks gzip (RFC 1952) from a stream: one member, or several in a row. Errors name the byte
/// of the file. zlib's own gzread() passes a file that is not gzip through, and ignores bytes
/// behind the last member.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "net/error.h"

typedef struct gn_gunzip gn_gunzip;

enum { GN_GUNZIP_MAGIC = 4 };

/// Whether GN_GUNZIP_MAGIC bytes begin a gzip file: the magic, deflate, no reserved flag. As a
/// binary32 value they are below 2^-64, which no gradient begins with.
bool gn_gunzip_magic(const uint8_t *bytes);

/// `first`: bytes already read from `stream`, `count` <= 16 of them. `stream` and `name` are
/// borrowed; `name` is for errors.
gn_status gn_gunzip_open(gn_gunzip **gunzip, FILE *stream, const char *name, const uint8_t *first, size_t count,
                         gn_error *error);

/// Unpacks `bytes` bytes; fewer only at the end. A corrupt or truncated file is an error, and so
/// are bytes behind the last member. Zeros are allowed there, because tapes are padded with them.
gn_status gn_gunzip_read(gn_gunzip *gunzip, void *buffer, size_t bytes, size_t *got, gn_error *error);

/// Packed bytes read so far.
uint64_t gn_gunzip_position(const gn_gunzip *gunzip);

/// NULL is allowed.
void gn_gunzip_close(gn_gunzip *gunzip);

#endif
