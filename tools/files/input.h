// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_INPUT_H
#define GRADNIC_TOOLS_FILES_INPUT_H
/// Bytes of a file or of standard input ("-"), in order. A file whose name ends in ".gz" is
/// unpacked on the way. So is standard input that begins with gzip's magic.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "net/error.h"

typedef struct gn_input gn_input;

/// Opens `path`; "-" is standard input.
gn_status gn_input_open(gn_input **input, const char *path, gn_error *error);

/// Reads from a stream that the caller opened. gn_input_close() closes it. `name` is for errors.
gn_status gn_input_from_stream(gn_input **input, FILE *stream, const char *name, gn_error *error);

/// Bytes that come from elsewhere, such as the member of a zip archive.
typedef struct gn_input_source {
    gn_status (*read)(void *context, void *buffer, size_t bytes, size_t *got, gn_error *error);  ///< as gn_input_read()
    void (*close)(void *context);
    void *context;
    uint64_t size;  ///< bytes of it; UINT64_MAX: not known
} gn_input_source;

/// Reads from `source`, which gn_input_close() closes, and so does a failure here. `name` is for
/// errors.
gn_status gn_input_from_source(gn_input **input, const gn_input_source *source, const char *name, gn_error *error);

/// Reads `bytes` bytes; fewer only at the end of the input, which is not an error. Errors begin
/// with the input's name.
gn_status gn_input_read(gn_input *input, void *buffer, size_t bytes, size_t *got, gn_error *error);

/// Looks at the next bytes (at most 16) without taking them.
gn_status gn_input_peek(gn_input *input, void *buffer, size_t bytes, size_t *got, gn_error *error);

/// "standard input" for "-", otherwise the path as given.
const char *gn_input_name(const gn_input *input);

/// Whether the name, without a ".gz", ends in `suffix` (".npy"). Never for standard input.
bool gn_input_has_suffix(const gn_input *input, const char *suffix);

/// Whether it is a named file: not standard input or the caller's stream.
bool gn_input_is_file(const gn_input *input);

/// Hands over the stream, from which nothing was read but what was peeked at, for a reader that
/// goes to and fro in the file. It stands at its beginning. An error says that the input has no
/// such stream: gzip, pipes. The caller closes the stream.
gn_status gn_input_take_stream(gn_input *input, FILE **stream, gn_error *error);

/// For commands that take several files: refuses a second "-".
gn_status gn_input_check_list(char *const *files, size_t count, gn_error *error);

/// How many bytes have been read, after unpacking.
uint64_t gn_input_offset(const gn_input *input);

/// Bytes of the whole input after unpacking; UINT64_MAX if only its end tells (gzip, pipes).
uint64_t gn_input_size(const gn_input *input);

/// For a progress line: how many bytes of the file were read, and how many it has (0: not known).
uint64_t gn_input_file_position(const gn_input *input);
uint64_t gn_input_file_size(const gn_input *input);

/// NULL is allowed.
void gn_input_close(gn_input *input);

#endif
