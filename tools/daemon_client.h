// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_DAEMON_CLIENT_H
#define GRADNIC_TOOLS_DAEMON_CLIENT_H
/// Commands that ask a running daemon, NIC or switch, over its control socket.

#include <stdbool.h>

#include <jansson.h>

typedef struct gn_daemon_question {
    const char *program;                  ///< for messages
    const char *daemon;                   ///< what is asked: "NIC"
    const char *control;                  ///< its socket
    json_t *request;                      ///< stays the caller's
    bool json;                            ///< print the answer as it is
    bool prometheus;                      ///< ask for Prometheus text, and print that
    bool silent;                          ///< print nothing but a refusal
    void (*print)(const json_t *answer);  ///< for people; NULL: name and value, a line each
} gn_daemon_question;

/// @return exit status
int gn_daemon_ask(const gn_daemon_question *question);

#endif
