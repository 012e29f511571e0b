// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_CODEC_EACH_FILE_H
#define GRADNIC_TOOLS_CODEC_EACH_FILE_H
/// compress and decompress take several files, as gzip does. Each becomes a file of its own. Where
/// one fails, the others go on, and the exit status says so.

#include <jansson.h>

#include "net/error.h"
#include "tools/files/file_options.h"

typedef struct gn_each_file gn_each_file;

/// The command's work on file `index` of the options. It asks gn_each_file_output() where to write.
/// `*summary` is what --json says about it.
typedef gn_status (*gn_each_file_work)(void *context, gn_each_file *each, size_t index, json_t **summary,
                                       gn_error *error);

/// Where the output of a file goes: to -o, into the folder of -o, or to `path`, the name by
/// default. It refuses a file that is an input, or that this run has written already. `*output`
/// belongs to `each`.
gn_status gn_each_file_output(gn_each_file *each, const char *path, const char **output, gn_error *error);

/// A name for an output: the first `length` bytes of `path`, the tensor's name (NULL: none) and the
/// suffix. What a file's name should not have becomes '_'. The caller frees it. NULL: out of
/// memory.
char *gn_each_file_name(const char *path, size_t length, const char *tensor, const char *suffix);

/// Whether -o names a folder: there is one, or the name ends in '/'.
bool gn_each_file_is_folder(const char *path);

/// Does the work on every file, and prints errors and JSON. @return the exit status
int gn_each_file_run(const gn_file_options *options, const char *program, gn_each_file_work work, void *context);

#endif
