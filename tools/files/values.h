// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_VALUES_H
#define GRADNIC_TOOLS_FILES_VALUES_H
/// Values of a file, in order, whatever its format: .npy, raw .f32 (little-endian binary32, nothing else) or .gn
/// (decompressed on the way), each also packed with gzip (.gz), or standard input ("-"). Memory does not grow with
/// the file.
///
/// The format is the name's suffix; where that says nothing, the first bytes (.npy and .gn have a magic). Standard input
/// without a magic is raw .f32; a file without one needs `format`.

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

/// Opens a source. Messages name the file, and the byte where there is one.
gn_status gn_values_open(gn_values **values, const char *path, gn_format format, gn_error *error);

/// Takes over an input (closed by gn_values_close(), also when this fails).
gn_status gn_values_from_input(gn_values **values, gn_input *input, gn_format format, gn_error *error);

/// Reads up to `capacity` values; fewer only at the end (`*got` 0 when nothing is left). A file that ends within its
/// values, or goes on behind them, is an error.
gn_status gn_values_read(gn_values *values, float *buffer, size_t capacity, size_t *got, gn_error *error);

/// How many values there are in all; UINT64_MAX when that is not known before the end (raw values through gzip or a
/// pipe).
uint64_t gn_values_count(const gn_values *values);

/// What the file is.
gn_format gn_values_format(const gn_values *values);

/// The array's header; NULL unless the format is npy.
const gn_npy *gn_values_npy(const gn_values *values);

/// The container below, for whoever reads blocks itself (then not gn_values_read()); NULL unless the format is gn.
gn_container_reader *gn_values_container(const gn_values *values);

/// Passes on a status that the container returned, with the words that go with it.
gn_status gn_values_check_container(const gn_values *values, gn_status status, gn_error *error);

/// The bytes below, for names and progress.
gn_input *gn_values_input(gn_values *values);

/// NULL is allowed.
void gn_values_close(gn_values *values);

/// Reads a whole file into memory: `*all` holds `*count` values; the caller frees it.
gn_status gn_values_load(const char *path, gn_format format, float **all, size_t *count, gn_error *error);

#endif
