// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_TEMPORARY_H
#define GRADNIC_TOOLS_KIT_TEMPORARY_H
/// Temporary files, in the folder of net/temporary_folder.h.

#include <stdio.h>

#include "net/error.h"

/// An empty file without a name, to write and to read; fclose() removes it. An error names the
/// folder.
gn_status gn_temporary_open(FILE **stream, gn_error *error);

/// Copies all of a temporary file to the stream `to`, which is called `to_name` in errors.
gn_status gn_temporary_copy(FILE *from, FILE *to, const char *to_name, gn_error *error);

#endif
