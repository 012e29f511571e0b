// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_OUTPUT_H
#define GRADNIC_TOOLS_KIT_OUTPUT_H
/// Files that appear under their name only when they are complete. What is written goes to a temporary file in the
/// same folder, which is renamed at the end, or removed: by gn_output_abort(), at exit(), and on SIGINT, SIGTERM,
/// SIGHUP, SIGPIPE and SIGXFSZ (where the command has no handler of its own; the signal then has its usual effect).
///
///     gn_output *out;
///     gn_message wrong = gn_output_open(&out, path, force);
///     ... fwrite(..., gn_output_stream(out)) ...
///     wrong = gn_output_commit(out);          // or gn_output_abort(out)
///
/// Call open, commit and abort from one thread.

#include <stdbool.h>
#include <stdio.h>

#include "cli.h"

typedef struct gn_output gn_output;

/// Opens `path` for writing; "-" is standard output. An existing regular file is refused unless `force`. What is
/// neither (a FIFO, /dev/null) is written to directly. A symbolic link is followed.
/// A refusal reads "grads.gn: exists already; -f overwrites it".
gn_message gn_output_open(gn_output **output, const char *path, bool force);

/// Before gn_output_open(): refuses a `path` that is one of the files that the command reads, by whatever name ("-" is
/// standard input), which -f would let it overwrite. `inputs` that do not exist are for whoever reads them to refuse.
gn_message gn_output_check_inputs(const char *path, const char *const *inputs, size_t count);

/// The stream to write to. Binary; owned by the output; errors may be left to gn_output_commit().
FILE *gn_output_stream(gn_output *output);

/// Whether fseeko() works on the stream (not for pipes).
bool gn_output_seekable(const gn_output *output);

/// The name for messages: the path as given, "standard output" for "-".
const char *gn_output_name(const gn_output *output);

/// Flushes, closes and gives the file its name; frees `output` in any case. On failure the file is removed.
gn_message gn_output_commit(gn_output *output);

/// Removes what was written and frees `output`; NULL is allowed.
void gn_output_abort(gn_output *output);

#endif
