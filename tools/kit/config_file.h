// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_CONFIG_FILE_H
#define GRADNIC_TOOLS_KIT_CONFIG_FILE_H
/// The form of a configuration file: lines of KEY = VALUE. settings.h says what they mean.
///
///     # from '#' to the end of the line is a comment, at the start of a line or behind a blank
///     rate = 1gbit
///     bypass                     # a key alone is an option that takes no value
///
/// A key has lower-case letters, digits and hyphens. Blanks around key and value do not count.

#include <stddef.h>

#include "net/error.h"

enum { GN_CONFIG_BYTES_MAX = 1 << 20 };

typedef struct gn_config_line {
    unsigned number;    ///< in the file, from 1
    const char *key;    ///< NULL: the line is wrong
    char *value;        ///< NULL: there is no '='
    const char *wrong;  ///< what is wrong with the line
} gn_config_line;

typedef struct gn_config_file {
    char *text;  ///< what the lines point into
    gn_config_line *lines;
    size_t count;  ///< without empty lines and comments
} gn_config_file;

/// Splits untrusted bytes into lines. @return GN_OK, also when lines are wrong; GN_INVALID,
/// GN_NO_MEMORY: nothing to free
gn_status gn_config_parse(gn_config_file *file, const char *bytes, size_t size, gn_error *error);

/// The same for a regular file of at most GN_CONFIG_BYTES_MAX bytes. @return also GN_IO
gn_status gn_config_load(gn_config_file *file, const char *path, gn_error *error);

/// Zeros are allowed.
void gn_config_free(gn_config_file *file);

#endif
