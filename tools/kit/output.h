// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_OUTPUT_H
#define GRADNIC_TOOLS_KIT_OUTPUT_H
/// Output files. A file appears under its name only when it is complete: gradnic writes a
/// temporary file in the same folder, and names it at the end. The temporary file has no name, so
/// nothing can leave it behind. Where the file system has no such files (NFS), it is removed by
/// gn_output_abort(), at exit(), and on signals that end a program, but SIGKILL. A command that
/// handles such a signal itself removes the file itself.
///
///     gn_output *out;
///     if (gn_output_open(&out, path, force, &error)) ...
///     fwrite(..., gn_output_stream(out));
///     if (gn_output_commit(out, &error)) ...          // or gn_output_abort(out)
///
/// Call open, commit and abort from one thread.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "net/error.h"

typedef struct gn_output gn_output;

/// Opens `path` for writing; "-" is standard output. An existing regular file is refused unless
/// `force`: "grads.gn: exists already; --force overwrites it". So is a file that another open
/// output will become. FIFOs and devices are written to
/// directly. Symbolic links are followed.
gn_status gn_output_open(gn_output **output, const char *path, bool force, gn_error *error);

/// Refuses a `path` that is one of the command's inputs, by whatever name: -f would overwrite it.
/// Call it before gn_output_open(). "-" is standard input. Inputs that do not exist are refused
/// where they are read.
gn_status gn_output_check_inputs(const char *path, const char *const *inputs, size_t count, gn_error *error);

/// The command reads this file. From now on no output takes its place, by whatever name. Inputs of
/// gn_input_open() are spared already.
void gn_output_spare(int fd);
void gn_output_spare_path(const char *path);

/// Refuses a `path` that is spared, as gn_output_open() and gn_output_commit() do. For files that
/// other code writes.
gn_status gn_output_check_spared(const char *path, gn_error *error);

/// Refuses a `path` that exists already, as gn_output_open() does. For files that other code
/// writes.
gn_status gn_output_check_exists(const char *path, bool force, gn_error *error);

/// The stream to write to. It is binary and belongs to the output. gn_output_commit() reports its
/// errors too.
FILE *gn_output_stream(gn_output *output);

/// Whether fseeko() works on the stream: not for pipes.
bool gn_output_seekable(const gn_output *output);

/// Refuses to begin with `bytes` that the file system has no room for. Pipes and devices take
/// anything.
gn_status gn_output_check_room(const gn_output *output, uint64_t bytes, gn_error *error);

/// The path as given; "standard output" for "-".
const char *gn_output_name(const gn_output *output);

/// Flushes and closes the file, and gives it its name. Frees `output` in any case. Removes the
/// file if something failed.
gn_status gn_output_commit(gn_output *output, gn_error *error);

/// Removes what was written and frees `output`; NULL is allowed.
void gn_output_abort(gn_output *output);

#endif
