// SPDX-License-Identifier: Apache-2.0
#include "host/error.h"

#include <stdarg.h>
#include <stdio.h>

int gn_error_set(gn_error *error, const char *format, ...)
{
    if (!error) return -1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return -1;
}

void gn_warn(const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "gradnic: warning: %s\n", text);
}
