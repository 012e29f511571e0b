// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_DAEMON_CLIENT_H
#define GRADNIC_TOOLS_KIT_DAEMON_CLIENT_H
/// Commands that ask a running daemon, NIC or switch, over its control socket.

#include <argp.h>
#include <stdbool.h>

#include <jansson.h>

/// The options of these commands. A command's argp table has the rows that it takes; -c has its letter as key.
typedef struct gn_daemon_options {
    const char *control;  ///< the daemon's socket
    bool json;            ///< print the answer as it is
    bool prometheus;      ///< ask for Prometheus text, and print that
} gn_daemon_options;

enum { GN_DAEMON_JSON = 0x400, GN_DAEMON_PROMETHEUS };

// clang-format off
#define GN_DAEMON_JSON_OPTION {"json", GN_DAEMON_JSON, 0, 0, "as JSON", 0}
#define GN_DAEMON_PROMETHEUS_OPTION {"prometheus", GN_DAEMON_PROMETHEUS, 0, 0, "as Prometheus text", 0}
// clang-format on

/// Reads one option. False: `key` is none of these. At the end (ARGP_KEY_END, which is not counted as one of these) it exits with
/// GN_EXIT_USAGE and a message when they contradict each other.
bool gn_daemon_option_parse(int key, char *arg, struct argp_state *state, gn_daemon_options *options);

typedef struct gn_daemon_question {
    const char *program;  ///< for messages
    const char *daemon;   ///< what is asked: "NIC"
    gn_daemon_options options;
    json_t *request;                      ///< stays the caller's
    bool silent;                          ///< print nothing but a refusal
    void (*print)(const json_t *answer);  ///< for people; NULL: name and value, a line each
} gn_daemon_question;

/// @return exit status
int gn_daemon_ask(const gn_daemon_question *question);

#endif
