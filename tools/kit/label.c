// SPDX-License-Identifier: Apache-2.0
#include "label.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static gn_label_text escape(const char *name, char separator)
{
    gn_label_text label;
    size_t n = 0;
    for (const char *at = name ? name : ""; *at; at++) {
        if (n + 8 > sizeof label.s) {
            memcpy(label.s + n, "...", 3);
            n += 3;
            break;
        }
        if (*at >= ' ' && *at <= '~' && *at != separator)
            label.s[n++] = *at;
        else
            n += (size_t)snprintf(label.s + n, sizeof label.s - n, "\\x%02x", (uint8_t)*at);
    }
    label.s[n] = 0;
    return label;
}

gn_label_text gn_label(const char *name)
{
    return escape(name, 0);
}

gn_label_text gn_cell(const char *name)
{
    return escape(name && *name ? name : "-", '|');
}
