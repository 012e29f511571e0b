// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_ENDING_H
#define GRADNIC_HOST_ENDING_H
/// The signals that end a daemon, and the one that makes it read its configuration again.

#include <stdbool.h>

typedef enum gn_ending {
    GN_ENDING_NONE,    ///< nothing has come
    GN_ENDING_RELOAD,  ///< SIGHUP
    GN_ENDING_NOW      ///< SIGTERM, SIGINT
} gn_ending;

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread and in those that it starts later, and ignores
/// SIGPIPE in all. Threads that are there already pass the three on to this one. @return a
/// descriptor (signalfd(2), non-blocking) that becomes readable when one of the three arrives. This
/// thread alone reads it. The caller closes it. -1: errno says why
int gn_ending_open(void);

/// Whether SIGTERM or SIGINT waits to be read: for waits ahead of gn_ending_next().
bool gn_ending_waits(void);

/// What the signals that have arrived ask for. The end goes before a reload. `reloads`: whether the
/// daemon can; otherwise SIGHUP ends it, too.
gn_ending gn_ending_next(int fd, bool reloads);

#endif
