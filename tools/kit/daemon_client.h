// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_DAEMON_CLIENT_H
#define GRADNIC_TOOLS_KIT_DAEMON_CLIENT_H
/// Commands that ask a running daemon over its control socket: a NIC or a switch.

#include <argp.h>
#include <stdbool.h>

#include <jansson.h>

#include "result_options.h"

/// The options of these commands, and those of result_options.h. A command's argp table has the
/// rows that it takes; -c has its letter as key.
typedef struct gn_daemon_options {
    const char *control;  ///< the daemon's socket
    const char *metrics;  ///< ask for text in this format, and print it; NULL: JSON
    gn_result_options result;
} gn_daemon_options;

enum { GN_DAEMON_PROMETHEUS = 0x400, GN_DAEMON_OPENMETRICS };

// clang-format off
#define GN_DAEMON_CONTROL_OPTION(default) {"control", 'c', "PATH", 0, "control socket (default " default ")", 0}
#define GN_DAEMON_METRICS_OPTIONS \
    {"prometheus", GN_DAEMON_PROMETHEUS, 0, 0, "print Prometheus text", 0}, \
    {"openmetrics", GN_DAEMON_OPENMETRICS, 0, 0, "print OpenMetrics text", 0}
// clang-format on

/// Reads one option. False: `key` is another's. At ARGP_KEY_END it exits with GN_EXIT_USAGE if
/// the options contradict each other, and otherwise returns false.
bool gn_daemon_option_parse(int key, char *arg, struct argp_state *state, gn_daemon_options *options);

typedef struct gn_daemon_question {
    const char *program;  ///< argv[0], for messages
    const char *daemon;   ///< "NIC" or "switch", for messages
    gn_daemon_options options;
    json_t *request;                      ///< borrowed
    bool silent;                          ///< print a refusal only
    void (*print)(const json_t *answer);  ///< prints text; NULL: a line for each member
} gn_daemon_question;

/// @return exit status
int gn_daemon_ask(const gn_daemon_question *question);

#endif
