// SPDX-License-Identifier: Apache-2.0
#include "net/host_list.h"

#include <ctype.h>
#include <string.h>

/// What may stand in a name, outside of brackets.
static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/// "08" of "08-11,14]". `*at` ends behind the bracket.
static bool read_brackets(const char **at, const char **number, size_t *digits, bool *only)
{
    const char *p = *at;
    bool first = true;
    for (;; first = false, *only = false, p++) {
        const size_t low = strspn(p, "0123456789");
        if (!low) return false;
        if (first) *number = p, *digits = low;
        p += low;
        if (*p == '-') {
            const size_t high = strspn(++p, "0123456789");
            if (!high) return false;
            if (low != high || strncmp(p - 1 - low, p, low) != 0) *only = false;
            p += high;
        }
        if (*p == ']') break;
        if (*p != ',') return false;
    }
    *at = p + 1;
    return true;
}

/// The first host of one element of the list. `*at` ends at its comma, or at the end.
static bool read_element(const char **at, char host[GN_HOST_TEXT], bool *only)
{
    size_t length = 0;
    while (**at && **at != ',') {
        const char *part = (*at)++;
        size_t bytes = 1;
        if (*part == '[' ? !read_brackets(at, &part, &bytes, only) : !is_of_name(*part)) return false;
        if (length + bytes >= GN_HOST_TEXT) return false;
        memcpy(host + length, part, bytes);
        length += bytes;
    }
    host[length] = 0;
    return length > 0;
}

bool gn_host_list_first(const char *list, char host[GN_HOST_TEXT], bool *only)
{
    char other[GN_HOST_TEXT];
    *only = true;
    if (!read_element(&list, host, only)) return false;
    while (*list) {  // the rest counts only as to whether it is a list
        list++;
        *only = false;
        if (!read_element(&list, other, only)) return false;
    }
    return true;
}
