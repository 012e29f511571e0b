// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

gn_status gn_train_fail(gn_train_error *error, gn_status status, const char *format, ...)
{
    char text[GN_TRAIN_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(error->text, text, sizeof text);
    return status;
}
