// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_ZIP_READER_H
#define GRADNIC_TOOLS_FILES_ZIP_READER_H
/// Zip archives (.npz, .pt): stored and deflated members, read with minizip, and zip64. The bytes
/// are untrusted. A member is read as a stream. So memory does not grow with what an archive
/// claims. Members that share bytes of the file are refused: a small file could then unpack
/// without end.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "input.h"
#include "net/error.h"

enum { GN_ZIP_NAME_MAX = 1100, GN_ZIP_MEMBERS_MAX = 1 << 17 };

typedef struct gn_zip gn_zip;

typedef struct gn_zip_member {
    char *name;      ///< any bytes but 0
    uint64_t bytes;  ///< unpacked, as the archive claims
} gn_zip_member;

/// Reads the list of members. `stream` can seek. The archive closes it, and so does a failure here.
/// `name` is for errors, and is copied.
gn_status gn_zip_open(gn_zip **zip, FILE *stream, const char *name, gn_error *error);

size_t gn_zip_count(const gn_zip *zip);
const gn_zip_member *gn_zip_member_at(const gn_zip *zip, size_t index);

/// The member with this name; -1: there is none.
long gn_zip_find(const gn_zip *zip, const char *name);

/// Opens a member for reading. Close it before the next one is opened. At its end, its CRC is
/// checked.
gn_status gn_zip_read(gn_zip *zip, size_t index, gn_input **input, gn_error *error);

/// Whether the member was read to its end once, and its CRC was right.
bool gn_zip_is_checked(const gn_zip *zip, size_t index);

/// NULL is allowed.
void gn_zip_close(gn_zip *zip);

#endif
