// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_WARN_H
#define GRADNIC_HOST_WARN_H
/// Warnings: what the user should know, though the daemon goes on.

/// Writes a line to stderr: "gradnic: warning: " and the text.
void gn_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
