// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_ENDING_H
#define GRADNIC_HOST_ENDING_H
/// The signals that end a daemon.

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread and in those that it starts later, and ignores
/// SIGPIPE in all. @return a descriptor (signalfd(2), non-blocking) that becomes readable when one
/// of the three arrives, for the caller to close; -1: errno says why
int gn_ending_open(void);

#endif
