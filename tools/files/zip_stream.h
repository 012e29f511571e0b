// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_ZIP_STREAM_H
#define GRADNIC_TOOLS_FILES_ZIP_STREAM_H
/// minizip's input and output over a FILE that the caller opened and closes.

#include <stdio.h>

#include <ioapi.h>

/// `stream` must live as long as the archive.
zlib_filefunc64_def gn_zip_functions(FILE *stream);

#endif
