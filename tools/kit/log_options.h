// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_LOG_OPTIONS_H
#define GRADNIC_TOOLS_KIT_LOG_OPTIONS_H
/// Options of a daemon's log: -q (errors and warnings only), -v, --log-level, --log-time, --log.

#include <argp.h>
#include <stdbool.h>

#include "host/log.h"

enum { GN_OPTION_LOG = 0x510, GN_OPTION_LOG_LEVEL, GN_OPTION_LOG_TIME };

// clang-format off
/// Rows of an argp table, beside GN_QUIET_OPTION. -q and -v have their letters as keys.
#define GN_LOG_OPTIONS(group) \
    {"verbose", 'v', 0, 0, "log more: one level for each -v", group}, \
    {"log-level", GN_OPTION_LOG_LEVEL, "error|warn|info|debug", 0, \
     "log up to this level; the last of -q, -v and --log-level wins (default info)", group}, \
    {"log-time", GN_OPTION_LOG_TIME, 0, 0, "begin each line of the log with the time, in UTC", group}, \
    {"log", GN_OPTION_LOG, "text|json", 0, "form of the log; json is one object a line (default text)", group}
// clang-format on

/// Rows of a table of settings (settings.h): a reload changes all of them.
#define GN_LOG_KEYS                                                                                                    \
    {'q', false, true}, {'v', false, true}, {GN_OPTION_LOG_LEVEL, false, true}, {GN_OPTION_LOG_TIME, false, true},     \
    {                                                                                                                  \
        GN_OPTION_LOG, false, true                                                                                     \
    }

/// The defaults.
gn_log_settings gn_log_options_default(void);

/// Reads one option. False: `key` is another's.
bool gn_log_option_parse(int key, const char *arg, const struct argp_state *state, gn_log_settings *settings);

#endif
