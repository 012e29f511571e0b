// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_VALUES_H
#define GRADNIC_TOOLS_FILES_VALUES_H
/// Values of a file or of standard input ("-"), in order, in any of three formats. .npy is
/// NumPy's, .f32 is raw little-endian binary32, .gn is decompressed on the way. Each may be
/// packed with gzip (.gz). Memory does not grow with the file.
///
/// The name's suffix tells the format. Otherwise the first bytes tell it: .npy and .gn have a
/// magic. Standard input without a magic is raw .f32. A file with neither needs `format`.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/container.h>

#include "input.h"
#include "net/error.h"
#include "npy.h"

typedef enum gn_format { GN_FORMAT_AUTO, GN_FORMAT_F32, GN_FORMAT_NPY, GN_FORMAT_GN } gn_format;

/// "f32", "npy", "gn", "auto".
gn_status gn_parse_format(const char *text, gn_format *format, gn_error *error);

typedef struct gn_values gn_values;

/// Opens a source. Errors name the file, and the byte if there is one.
gn_status gn_values_open(gn_values **values, const char *path, gn_format format, gn_error *error);

/// Takes over an input: gn_values_close() closes it, and so does a failure here.
gn_status gn_values_from_input(gn_values **values, gn_input *input, gn_format format, gn_error *error);

/// Reads up to `capacity` values; fewer only at the end, where `*got` is 0. It is an error if the
/// file ends within its values or goes on behind them.
gn_status gn_values_read(gn_values *values, float *buffer, size_t capacity, size_t *got, gn_error *error);

/// How many values there are; UINT64_MAX if only the end tells (raw values from gzip or a pipe).
uint64_t gn_values_count(const gn_values *values);

/// The format that was found.
gn_format gn_values_format(const gn_values *values);

/// The array's header; NULL unless the format is npy.
const gn_npy *gn_values_npy(const gn_values *values);

/// The container, for a caller that reads blocks itself instead of calling gn_values_read(). NULL
/// unless the format is gn.
gn_container_reader *gn_values_container(const gn_values *values);

/// Adds the words to a status that the container returned.
gn_status gn_values_check_container(const gn_values *values, gn_status status, gn_error *error);

/// The input, for names and progress.
gn_input *gn_values_input(gn_values *values);

/// NULL is allowed.
void gn_values_close(gn_values *values);

/// Reads a whole file into memory: `*all` holds `*count` values; the caller frees it.
gn_status gn_values_load(const char *path, gn_format format, float **all, size_t *count, gn_error *error);

#endif
