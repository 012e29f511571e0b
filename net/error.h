// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_ERROR_H
#define GRADNIC_NET_ERROR_H
/// What went wrong, in words for the user. There are two idioms in gradnic:
///
/// * A function whose failure needs no text returns a gn_status alone.
/// * Any other function returns a gn_status and fills one gn_error, its last parameter.
///
/// The text names the file, field, device or peer, and says what to do where there is something
/// to do. It has no full stop, because callers put it into sentences of their own.

#include <gradnic/status.h>

enum {
    GN_ERROR_TEXT = 400,  ///< bytes of a text, its zero included
    GN_NOBODY = -1        ///< of gn_error.who: not the doing of one rank
};

typedef struct gn_error {
    gn_status status;
    int who;  ///< the rank that failed, or GN_NOBODY
    char text[GN_ERROR_TEXT];
} gn_error;

/// Fills `error`, which is not NULL; a long text is cut. @return `status`, so that a failing
/// function can return it.
gn_status gn_fail(gn_error *error, gn_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/// gn_fail() with GN_NO_MEMORY and the words that go with it.
gn_status gn_fail_memory(gn_error *error);

/// What helps against a lack of files or sockets, to go behind strerror(reason). Empty where the
/// user can do nothing.
const char *gn_files_hint(int reason);

#endif
