// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_GUNZIP_H
#define GRADNIC_TOOLS_FILES_GUNZIP_H
/// Unpacks gzip (RFC 1952) from a stream, one member or several behind each other, with messages that name the byte of the
/// file. zlib's own gzread() would take what is no gzip file as it is, and ignore what stands behind one.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "net/error.h"

typedef struct gn_gunzip gn_gunzip;

enum { GN_GUNZIP_MAGIC = 4 };

/// Whether `bytes` (GN_GUNZIP_MAGIC of them) begin a gzip file: the magic, deflate, no reserved flag. Taken as binary32,
/// they are a number below 2^-64: no gradient begins so.
bool gn_gunzip_magic(const uint8_t *bytes);

/// `first`: bytes already read from `stream`, `count` <= 16 of them. `stream` and `name` (for messages) are borrowed.
gn_status gn_gunzip_open(gn_gunzip **gunzip, FILE *stream, const char *name, const uint8_t *first, size_t count,
                         gn_error *error);

/// Unpacks `bytes` bytes; fewer only at the end. Damage, a file that is cut short, and bytes that belong to no member
/// behind the last (other than zeros, with which tapes are padded) are errors.
gn_status gn_gunzip_read(gn_gunzip *gunzip, void *buffer, size_t bytes, size_t *got, gn_error *error);

/// Packed bytes consumed so far.
uint64_t gn_gunzip_position(const gn_gunzip *gunzip);

/// NULL is allowed.
void gn_gunzip_close(gn_gunzip *gunzip);

#endif
