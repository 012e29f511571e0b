// SPDX-License-Identifier: Apache-2.0
#include "host/warn.h"

#include "host/log.h"

void gn_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    gn_log_list(GN_SEVERITY_WARN, format, arguments);
    va_end(arguments);
}
