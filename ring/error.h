// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_ERROR_H
#define GRADNIC_RING_ERROR_H
/// A status with the sentence that explains it. Every internal function that can fail fills one.

#include <gradnic/status.h>

enum { GN_ERROR_TEXT = 400 };

typedef struct gn_error {
    gn_status status;
    char text[GN_ERROR_TEXT];
} gn_error;

/// Fills `error` (long texts are cut) and returns `status`.
gn_status gn_cause_set(gn_error *error, gn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
