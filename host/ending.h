// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_ENDING_H
#define GRADNIC_HOST_ENDING_H
/// How a daemon is told to end.

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread and those that it starts later, and ignores SIGPIPE in all.
/// @return a descriptor (signalfd(2), not blocking) that becomes readable when one of the three arrives; the caller closes it. -1: errno says why.
int gn_ending_open(void);

#endif
