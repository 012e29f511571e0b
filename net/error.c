// SPDX-License-Identifier: Apache-2.0
#include "net/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

gn_status gn_fail(gn_error *error, gn_status status, const char *format, ...)
{
    char text[GN_ERROR_TEXT];  // the arguments may refer to the old text
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(error->text, sizeof error->text, "%s", text);
    error->status = status;
    error->who = GN_NOBODY;
    return status;
}

gn_status gn_fail_memory(gn_error *error)
{
    return gn_fail(error, GN_NO_MEMORY, "out of memory");
}

const char *gn_files_hint(int reason)
{
    return reason == EMFILE ? " (raise ulimit -n)" : "";
}
