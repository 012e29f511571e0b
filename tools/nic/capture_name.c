// SPDX-License-Identifier: Apache-2.0
#include "tools/nic/capture_name.h"

#include <stdio.h>
#include <string.h>

// None of them brings a '/' or a space.
static const char known[] = "YmdHMSjFs%";

gn_status gn_capture_name(const char *name, time_t when, char *out, size_t room, gn_error *error)
{
    struct tm utc;
    gmtime_r(&when, &utc);
    size_t length = 0;
    for (const char *c = name; *c; c++) {
        char piece[32] = {*c};
        if (*c == '%') {
            c++;
            if (!*c || !strchr(known, *c))
                return gn_fail(error, GN_INVALID,
                               "a time in the name of a capture is %%Y %%m %%d %%H %%M %%S %%j %%F or %%s, and %%%% is "
                               "one %%");
            if (*c == '%')
                piece[0] = '%';
            else if (*c == 's')
                snprintf(piece, sizeof piece, "%lld", (long long)when);  // strftime's is of local time
            else
                strftime(piece, sizeof piece, (const char[]){'%', *c, 0}, &utc);
        }
        const size_t more = strlen(piece);
        if (length + more >= room)
            return gn_fail(error, GN_INVALID, "the name of a capture has over %zu bytes", room - 1);
        memcpy(out + length, piece, more);
        length += more;
    }
    out[length] = 0;
    return GN_OK;
}
