// SPDX-License-Identifier: Apache-2.0
#include "net/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CONTINUATION = 0x80, CONTINUATION_MASK = 0xc0, C1_LEAD = 0xc2, C1_END = 0xa0 };

/// Bytes of the UTF-8 character at the start; 0: these bytes are none (RFC 3629, table 3-7 of
/// Unicode).
static size_t character(const uint8_t *s)
{
    size_t more;
    uint8_t low = 0x80, high = 0xbf;  // of the second byte
    if (*s < 0x80) return 1;
    if (*s < 0xc2 || *s > 0xf4) return 0;
    more = *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
    if (*s == 0xe0) low = 0xa0;   // shorter forms
    if (*s == 0xed) high = 0x9f;  // surrogates
    if (*s == 0xf0) low = 0x90;
    if (*s == 0xf4) high = 0x8f;  // beyond U+10FFFF
    if (s[1] < low || s[1] > high) return 0;
    for (size_t i = 2; i <= more; i++)
        if ((s[i] & CONTINUATION_MASK) != CONTINUATION) return 0;
    return more + 1;
}

static bool is_control(const uint8_t *s, size_t bytes)
{
    if (bytes == 1) return *s < 0x20 || *s == 0x7f;
    return bytes == 2 && *s == C1_LEAD && s[1] < C1_END;
}

size_t gn_utf8_bytes(const char *text)
{
    return *text ? character((const uint8_t *)text) : 0;
}

char *gn_escape(const char *text, const char *keep, char *out, size_t room)
{
    static const char hex[] = "0123456789abcdef";
    const uint8_t *in = (const uint8_t *)text;
    size_t at = 0;
    while (*in) {
        const size_t bytes = character(in);
        if (bytes && (!is_control(in, bytes) || (bytes == 1 && strchr(keep, *in)))) {
            if (at + bytes >= room) break;
            memcpy(out + at, in, bytes);
            at += bytes;
            in += bytes;
            continue;
        }
        if (at + GN_ESCAPE_GROWTH >= room) break;
        out[at++] = '\\', out[at++] = 'x', out[at++] = hex[*in >> 4], out[at++] = hex[*in & 15];
        in++;  // a C1 character's second byte is none by itself, and is escaped in the next turn
    }
    out[at] = 0;
    return out;
}

char *gn_escape_new(const char *text, const char *keep)
{
    const size_t room = GN_ESCAPE_GROWTH * strlen(text) + 1;
    char *out = malloc(room);
    return out ? gn_escape(text, keep, out, room) : NULL;
}
