// SPDX-License-Identifier: Apache-2.0
#include "host/warn.h"

#include <stdarg.h>
#include <stdio.h>

#include "net/escape.h"

void gn_warn(const char *format, ...)
{
    char text[256], shown[2 * sizeof text];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "gradnic: warning: %s\n", gn_escape(text, "", shown, sizeof shown));
}
