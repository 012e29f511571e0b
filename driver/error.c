// SPDX-License-Identifier: Apache-2.0
#include "driver/error.h"

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
