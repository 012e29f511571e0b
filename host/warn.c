// SPDX-License-Identifier: Apache-2.0
#include "host/warn.h"

#include <stdarg.h>
#include <stdio.h>

void gn_warn(const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "gradnic: warning: %s\n", text);
}
