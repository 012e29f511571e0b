// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_SETTINGS_H
#define GRADNIC_TOOLS_KIT_SETTINGS_H
/// The settings of a daemon: its command line, and the file of --config, which SIGHUP reads again.
///
/// The file's keys are the long options. Both go through the command's own argp parser, so there is
/// one table and one meaning. The command line wins: an option that it gives replaces all lines of
/// the file with that key. An option without a value is written as "KEY", "KEY = yes" or
/// "KEY = no".
///
/// A parser must not end the program while a daemon runs. So it refuses with the functions of
/// option_values.h, and never with argp_error(): this header makes that an error.

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "config_file.h"
#include "old_names.h"

#pragma GCC poison argp_error argp_usage argp_failure

enum { GN_OPTION_CONFIG = 0x500, GN_OPTION_CHECK_CONFIG };

// clang-format off
/// Rows of an argp table.
#define GN_SETTINGS_OPTIONS(group) \
    {"config", GN_OPTION_CONFIG, "FILE", 0, \
     "read options from a file: a line KEY = VALUE for each, with the long names of these options as keys, and # " \
     "before a comment; the command line wins; SIGHUP reads it again", group}, \
    {"check-config", GN_OPTION_CHECK_CONFIG, 0, 0, \
     "check the file of --config and the command line, name each error with its line, and start nothing", group}
// clang-format on

/// What is special about an option. The table ends with {0}; an option that is not in it may stand
/// once in the file, and needs a restart.
typedef struct gn_settings_key {
    int key;
    bool repeats;  ///< may stand in the file more than once
    bool live;     ///< a reload changes it
} gn_settings_key;

typedef struct gn_setting {
    int key;
    char *value;    ///< NULL: the option takes none
    unsigned line;  ///< of the file; 0: from the command line
} gn_setting;

/// One reading of the file, with the command line.
typedef struct gn_reading {
    gn_config_file file;
    gn_setting *list;
    size_t count;
} gn_reading;

typedef struct gn_settings {
    const struct argp *argp;
    const gn_settings_key *keys;
    const gn_old_name *old_names;
    const char *program;  ///< argv[0]
    const char *path;     ///< NULL: no file
    bool check;
    gn_setting *given;  ///< by the command line
    size_t given_count;
    gn_reading first, last;  ///< at the start; the latest that holds
    gn_reading next;         ///< being read again
} gn_settings;

/// Parses command line and file into `input`, which the argp parser gets. It gets no old names
/// (old_names.h; NULL: there are none). Ends the program when
/// something is wrong (GN_EXIT_USAGE), and after --check-config. Strings in `input` belong to
/// `settings`, or to argv.
void gn_settings_parse(gn_settings *settings, const struct argp *argp, const gn_settings_key *keys,
                       const gn_old_name *old_names, int argc, char **argv, void *input);

/// Says so if SIGHUP will not be able to read the file. For after root has been given up.
void gn_settings_check_access(const gn_settings *settings);

/// Reads the file again, into a fresh `input`. Logs each error. Then either gn_settings_accept() or
/// gn_settings_reject() has to follow; strings in `input` are good until then.
gn_status gn_settings_reread(gn_settings *settings, void *input);
/// What was read again holds. Logs which keys have changed, and which need a restart.
void gn_settings_accept(gn_settings *settings);
/// It does not hold. `why`: for the log; NULL: that has been said.
void gn_settings_reject(gn_settings *settings, const char *why);

void gn_settings_free(gn_settings *settings);

#endif
