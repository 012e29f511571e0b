// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_ERROR_H
#define GRADNIC_EXAMPLES_TRAIN_ERROR_H
/// Errors in words. The library's functions return a gn_status, and a program adds the words.
/// Here a function that can fail has a gn_train_error as its last parameter, and fills it.

#include <gradnic/status.h>

enum { GN_TRAIN_TEXT = 400 };  ///< bytes of a text, its zero included

typedef struct gn_train_error {
    char text[GN_TRAIN_TEXT];
} gn_train_error;

/// Fills `error`; a long text is cut. The arguments may refer to the old text.
/// @return `status`, so that a failing function can return it
gn_status gn_train_fail(gn_train_error *error, gn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
