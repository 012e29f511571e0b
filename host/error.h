// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_ERROR_H
#define GRADNIC_HOST_ERROR_H
/// What went wrong, in words for the user: names the file, field, device or peer and, where there is one, the remedy.

typedef struct gn_error {
    char text[320];
} gn_error;

/// Formats `error` (may be NULL). @return -1, so that a failing function can return it.
int gn_error_set(gn_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Says on stderr what somebody should know though the daemon goes on.
void gn_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
